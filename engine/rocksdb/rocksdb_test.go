//go:build native && cgo && linux

package rocksdb_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/native"
	"rumbench/engine/rocksdb"
	"rumbench/internal/need"
	"rumbench/model"
)

// variants are the configurations that pass the suite, by name. Those that repeat are left to
// make test-long, as are those of the old version, which make setup-long installs.
var variants = []struct {
	name    string
	options map[string]any
	long    bool
}{
	{"newest", map[string]any{"rocksdb": "write_buffer_size=1048576;block_based_table_factory={filter_policy=bloomfilter:10:false}"}, false},
	{"oldest", map[string]any{"library": "6.29.5"}, true},
	{"families", map[string]any{"families": true}, true},
	{"optimistic", map[string]any{"transactions": "optimistic"}, true},
	{"locks", map[string]any{"transactions": "locks", "families": true}, false},
	{"oldest optimistic", map[string]any{"library": "6.29.5", "transactions": "optimistic"}, true},
}

// variantEnv is the variant that a child runs.
const variantEnv = "RUMBENCH_ROCKSDB_VARIANT"

// needLibrary skips the test without a library, and fails it in CI.
func needLibrary(t *testing.T, version string) {
	t.Helper()
	_, err := native.Find("librocksdb", version)
	need.Installed(t, err)
}

// TestConformance runs the suite for each variant in a process of its own, as one
// can load only one version.
func TestConformance(t *testing.T) {
	name := os.Getenv(variantEnv)
	for _, v := range variants {
		switch name {
		case "":
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				if v.long {
					need.Long(t)
				}
				needLibrary(t, "11.8.1")
				cmd := exec.Command(os.Args[0], "-test.run=^TestConformance$")
				cmd.Env = append(os.Environ(), variantEnv+"="+v.name)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			})
		case v.name:
			s := suite(v.options)
			s.Again = v.name != "newest"
			if v.options["library"] == "6.29.5" {
				for _, o := range []map[string]any{{"transactions": "locks"}, {"transactions": "optimistic", "updates": "merge"}} {
					o["library"] = "6.29.5"
					s.Refused = append(s.Refused, enginetest.Refusal{Knob: "options.transactions", Config: engine.Config{Options: o}})
				}
			}
			s.Switches = slices.DeleteFunc(s.Switches, func(o map[string]any) bool {
				merges := o["updates"] != nil || o["upserts"] != nil
				return v.options["transactions"] != nil && (o["deletes"] != nil || merges && v.options["library"] == "6.29.5")
			})
			enginetest.Run(t, s)
		}
	}
}

// switches are as Pebble's: the answers depend on none.
var switches = []map[string]any{
	{"updates": "merge"}, {"upserts": "merge"}, {"indexes": "blind"}, {"deletes": "single"}, {"unique": "filter"},
	{"indexes": "blind", "cleanup": "read"}, {"updates": "merge", "upserts": "merge", "indexes": "blind", "cleanup": "settle"},
}

func suite(options map[string]any) enginetest.Suite {
	yes := true
	option := func(name string, value any) engine.Config {
		return engine.Config{Options: map[string]any{name: value}}
	}
	return enginetest.Suite{
		Engine: rocksdb.Engine{},
		Config: engine.Config{
			Durability: model.DurabilityProcess, Cache: 8 << 20, Compression: model.CompressionLZ4, Page: 4096, DirectIO: &yes, Options: options,
		},
		Switches: switches,
		Refused: []enginetest.Refusal{
			{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityInterval}},
			{Knob: "compression", Config: engine.Config{Compression: "lzma"}},
			{Knob: "page", Config: engine.Config{Page: 100}},
			{Knob: "options.library", Config: option("library", "1.0.0")},
			{Knob: "options.library", Config: option("library", "/bin/true")},
			{Knob: "options.families", Config: option("families", "yes")},
			{Knob: "options.transactions", Config: option("transactions", "many")},
			{Knob: "options.deletes", Config: engine.Config{Options: map[string]any{"transactions": "optimistic", "deletes": "single"}}},
			{Knob: "options.rocksdb", Config: option("rocksdb", "block_based_table_factory={block_cache=1}")},
			{Knob: "options.rocksdb", Config: option("rocksdb", "wal_dir=/tmp")},
			{Knob: "options.rocksdb", Config: option("rocksdb", "table_factory=BlockBasedTable")},
		},
	}
}

// Open refuses options that RocksDB does not know.
func TestUnknownOption(t *testing.T) {
	needLibrary(t, "11.8.1")
	for _, text := range []string{"no_such_option=1", "block_based_table_factory={no_such_option=1}", "write_buffer_size=many"} {
		_, err := rocksdb.Engine{}.Open(t.Context(), engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Options: map[string]any{"rocksdb": text}})
		if knob, ok := errors.AsType[*engine.KnobError](err); !ok || knob.Knob != "options.rocksdb" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
