package mysql

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit/sqlkittest"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

// storageEnv names the storage under test to the process that the crash test starts.
const storageEnv = "RUMBENCH_TEST_STORAGE"

// needServer skips a test where the server is not installed; in CI it fails.
func needServer(t *testing.T) {
	t.Helper()
	_, err := server.Find(t.Context(), server.MariaDB, server.Source{})
	need.Installed(t, err)
}

func TestConformance(t *testing.T) {
	needServer(t)
	cases := []struct {
		storage  string
		protocol engine.Protocol
	}{{"innodb", engine.Prepared}, {"innodb", engine.Text}, {"rocksdb", engine.Prepared}}
	if s := os.Getenv(storageEnv); s != "" {
		cases = cases[:1]
		cases[0].storage = s
	}
	for _, c := range cases {
		storage := c.storage
		suite := enginetest.Suite{
			Engine: Engine{}, Again: storage != "innodb" || c.protocol != engine.Prepared,
			Config: engine.Config{Durability: model.DurabilityProcess, Storage: storage, Protocol: c.protocol, Cache: 64 * mb, Options: map[string]any{"innodb_log_file_size": "16M"}},
			Refused: []enginetest.Refusal{
				{Knob: "page", Config: engine.Config{Page: 1000}},
				{Knob: "cache", Config: engine.Config{Cache: 1000}},
				{Knob: "server", Config: engine.Config{Server: engine.ServerConfig{Kind: "postgres"}}},
				{Knob: "binary", Config: engine.Config{Server: engine.ServerConfig{Binary: "/no/such/program"}}},
				{Knob: "dsn", Config: engine.Config{Server: engine.ServerConfig{DSN: "nonsense"}}},
			},
		}
		if storage == "rocksdb" {
			suite.Refused = append(suite.Refused,
				enginetest.Refusal{Knob: "isolation", Config: engine.Config{Isolation: model.ReadUncommitted}},
				enginetest.Refusal{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}})
		}
		if storage == "innodb" {
			suite.Refused = append(suite.Refused,
				enginetest.Refusal{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
				enginetest.Refusal{Knob: "options.bulk_load", Config: engine.Config{Options: map[string]any{"bulk_load": true}}})
		}
		if os.Getenv(storageEnv) != "" {
			enginetest.Run(t, suite)
			return
		}
		t.Run(storage+" "+string(c.protocol), func(t *testing.T) {
			t.Setenv(storageEnv, storage)
			enginetest.Run(t, suite)
		})
	}
}

func TestStatements(t *testing.T) {
	options := func(t *model.Table) string {
		return strings.Replace(innodb.tableOptions(t, ""), serverkit.MakerOf(t.Name), engine.Mark, 1)
	}
	sqlkittest.Golden(t, newDialect(options, true), "testdata/statements.sql")
}
