package tarantool

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// needServer skips a test where the server is not installed; in CI it must be.
func needServer(t testing.TB) {
	t.Helper()
	_, err := server.Find(t.Context(), server.Tarantool, server.Source{})
	need.Installed(t, err)
}

// storageEnv names the storage under test to the process that the crash tests start.
const storageEnv = "RUMBENCH_TEST_STORAGE"

func TestConformance(t *testing.T) {
	needServer(t)
	yes := true
	refused := []enginetest.Refusal{
		{Knob: "storage", Config: engine.Config{Storage: "blackhole"}},
		{Knob: "durability", Config: engine.Config{Durability: model.DurabilityInterval}},
		{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
		{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
		{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
		{Knob: "isolation", Config: engine.Config{Isolation: model.ReadCommitted}},
		{Knob: "schema", Config: engine.Config{Server: engine.ServerConfig{Schema: "a.b"}}},
		{Knob: "options.work_dir", Config: engine.Config{Options: map[string]any{"work_dir": "/tmp"}}},
		{Knob: "options.vinyl_memory", Config: engine.Config{Options: map[string]any{"vinyl_memory": []any{1}}}},
	}
	byName := map[string][]enginetest.Refusal{
		memtx: {
			{Knob: "cache", Config: engine.Config{Cache: 1 << 20}},
			{Knob: "page", Config: engine.Config{Page: 8192}},
			{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}},
		},
		vinyl: {
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityNone}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionNone}},
			{Knob: "page", Config: engine.Config{Page: 100}},
		},
	}
	for _, storage := range []string{memtx, vinyl} {
		switch os.Getenv(storageEnv) {
		case "", storage:
		default:
			continue
		}
		t.Run(storage, func(t *testing.T) {
			t.Setenv(storageEnv, storage)
			c := engine.Config{Durability: model.DurabilityProcess, Storage: storage}
			if storage == vinyl {
				c.Cache, c.Page = 8<<20, 4096
			}
			enginetest.Run(t, enginetest.Suite{
				Engine: Engine{}, Config: c, Refused: append(byName[storage], refused...),
				// With rows of others in it, 2.6 never ends creating a second space's index
				// (an endless loop in tx_manager_abort_writers_for_ddl).
				Alone: storage == vinyl, Again: storage == vinyl,
			})
		})
	}
}
