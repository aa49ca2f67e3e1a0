package tarantool

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/server"
	"rumbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// needServer skips a test where the server is not installed; in CI it must be.
func needServer(t testing.TB) {
	t.Helper()
	if _, err := server.Find(t.Context(), server.Tarantool, ""); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
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
	of := map[string][]enginetest.Refusal{
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
		case dumping:
			enginetest.Run(t, dumpingSuite)
			return
		default:
			continue
		}
		t.Run(storage, func(t *testing.T) {
			t.Setenv(storageEnv, storage)
			c := engine.Config{Durability: model.DurabilityProcess, Storage: storage}
			if storage == vinyl {
				c.Cache, c.Page = 8<<20, 4096
			}
			enginetest.Run(t, enginetest.Suite{Engine: Engine{}, Config: c, Refused: append(of[storage], refused...)})
		})
	}
}

// dumping names vinyl with so little memory that it dumps all the time.
const dumping = "dumping"

var dumpingSuite = enginetest.Suite{Engine: Engine{}, Config: engine.Config{
	Durability: model.DurabilityOS, Storage: vinyl, Options: map[string]any{"vinyl_memory": 100_000},
}}

// The promise of level os on vinyl is what a power cut leaves of a server that
// has dumped since its last checkpoint: its log is whole, but it does not start.
// A release of which this test fails keeps more.
func TestPowerCutAfterDump(t *testing.T) {
	needServer(t)
	t.Setenv(storageEnv, dumping)
	acked, dir := enginetest.PowerCut(t, dumpingSuite)
	rows, err := dumpingSuite.Rows(t, dir)
	t.Logf("%d of %d rows are there; %v", rows, acked, err)
	if err == nil && rows >= acked {
		t.Log("all commits are there: the kernel has written the list of files in time")
	}
	if promise := engine.PromiseOf(Engine{}, dumpingSuite.Config); !strings.Contains(promise, "may not start") {
		t.Errorf("promised: %s", promise)
	}
}
