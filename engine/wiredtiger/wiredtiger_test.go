//go:build native && cgo && linux

package wiredtiger_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/native"
	"rumbench/engine/wiredtiger"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

// The versions that the tests need: make test that of Debian, which is built soon.
const debian, newest = "3.2.1", "11.3.1"

var versions = []string{debian, newest}

// variantEnv is the version and storage that a child runs, with a space between.
const variantEnv = "RUMBENCH_WIREDTIGER_VARIANT"

// onDebian is the configuration of most tests.
func onDebian(t *testing.T, storage string) engine.Config {
	t.Helper()
	needLibrary(t, debian)
	return engine.Config{Dir: t.TempDir(), Schema: wide, Durability: model.DurabilityProcess, Storage: storage,
		Options: map[string]any{"library": debian}}
}

// TestConformance runs the suite for each version and storage in a process of its
// own, as one can load only one version.
func TestConformance(t *testing.T) {
	if v := os.Getenv(variantEnv); v != "" {
		version, storage, _ := strings.Cut(v, " ")
		conform(t, version, storage)
		return
	}
	for _, version := range versions {
		for _, storage := range []string{"btree", "lsm"} {
			t.Run(version+" "+storage, func(t *testing.T) {
				t.Parallel()
				needLibrary(t, version)
				inChild(t, version+" "+storage)
			})
		}
	}
}

// inChild runs the test again in a process of its own, for a variant, and returns what that prints.
func inChild(t *testing.T, variant string, flags ...string) string {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], append(flags, "-test.run=^"+name+"$")...)
	cmd.Env = append(os.Environ(), variantEnv+"="+variant)
	out, err := cmd.CombinedOutput()
	expect.True(t, err == nil, err, out)
	return string(out)
}

// needLibrary skips the test without a library, and fails it in CI.
func needLibrary(t *testing.T, version string) {
	t.Helper()
	if version == newest {
		need.Long(t)
	}
	_, err := native.Find("rumbench-wiredtiger", version)
	need.Installed(t, err)
}

func conform(t *testing.T, version, storage string) {
	yes := true
	option := func(name string, value any) engine.Config {
		return engine.Config{Options: map[string]any{"library": version, name: value}}
	}
	switches := []map[string]any{{"indexes": "blind"}, {"indexes": "blind", "cleanup": "read"}, {"indexes": "blind", "cleanup": "settle"}}
	if storage == "lsm" { // which takes long to settle
		switches = nil
	}
	enginetest.Run(t, enginetest.Suite{
		Engine: wiredtiger.Engine{},
		Config: engine.Config{
			Durability: model.DurabilityProcess, Cache: 32 << 20, Compression: model.CompressionSnappy, Page: 8192,
			Storage: storage, Options: map[string]any{"library": version, "table_config": "lsm=(chunk_size=512KB)"},
		},
		Switches: switches, Again: storage == "lsm",
		Refused: []enginetest.Refusal{
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityInterval}},
			{Knob: "storage", Config: engine.Config{Storage: "heap"}},
			{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "cache", Config: engine.Config{Cache: 1000}},
			{Knob: "page", Config: engine.Config{Page: 5000}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "options.library", Config: option("library", "0.0.1")},
			{Knob: "options.config", Config: option("config", int64(1))},
			{Knob: "options.config", Config: option("config", "transaction_sync=(enabled=false)")},
			{Knob: "options.config", Config: option("config", `"cache_size":"1MB"`)},
			{Knob: "options.config", Config: option("config", "checkpoint=(wait=5), readonly")},
			{Knob: "options.table_config", Config: option("table_config", "memory_page_max=1MB,leaf_page_max=4KB")},
		},
	})
}

// Transactions of the B-tree read a snapshot, and what they read may change before they commit.
func TestSkew(t *testing.T) {
	c := onDebian(t, "btree")
	expect.Equal(t, enginetest.Skew(t, enginetest.Suite{Engine: wiredtiger.Engine{}, Config: c}), 2,
		"of 2 transactions commit")
}
