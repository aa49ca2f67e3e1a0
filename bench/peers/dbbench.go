package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/engine/native"
)

// benchLibrary is Debian's library, which its db_bench is linked with.
const benchLibrary = "/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8"

// dbBench is RocksDB's own benchmark, with rumbench's options, or both sides' own defaults where
// they are the same.
//
// The differences: db_bench calls the library directly, rumbench goes through
// kvkit and crosses from Go to C once per operation. Rumbench's keys begin with
// the two bytes of their table, db_bench's end with two bytes of padding.
// Rumbench decodes the rows that it reads.
//
// Of the extra cost of fillseq, perf found half in rumbench's own code, spread
// over the kit, the driver, the histogram and cgo, a quarter in the kernel (Go's
// scheduler switches threads 3,000 times a second), and a fifth in the library,
// which finds less of its data in the CPU's caches.
var dbBench = rival{
	name: "db_bench", engine: "rocksdb", options: map[string]any{"library": benchLibrary},
	rate: 0.93, cpu: 1.08,
	missing: func() error {
		if !native.Built {
			return native.Missing("rocksdb")
		}
		_, err := os.Stat(benchLibrary)
		return err
	},
	command: func(_ context.Context, _ string, e embedded) (*exec.Cmd, error) {
		benchmarks := e.Test
		if e.Settle {
			benchmarks += ",flush,waitforcompaction"
		}
		return exec.Command("db_bench", "--db="+e.Dir, "--benchmarks="+benchmarks,
			fmt.Sprint("--use_existing_db=", !e.fills()),
			fmt.Sprint("--num=", e.keys()), fmt.Sprint("--reads=", e.Ops), "--key_size=10",
			fmt.Sprint("--value_size=", benchValue+1), "--compression_type=none",
			fmt.Sprint("--cache_size=", benchCache), "--cache_index_and_filter_blocks=true", "--statistics=true",
			"--histogram=true",
			// RocksDB's own defaults, which rumbench keeps:
			"--enable_pipelined_write=false", "--delayed_write_rate=16777216",
			"--hard_pending_compaction_bytes_limit=274877906944",
			"--perf_level=2", "--dump_malloc_stats=false", "--index_shortening_mode=1", "--table_cache_numshardbits=6",
			"--pin_top_level_index_and_filter=true"), nil
	},
	after: printDifferences,
}

// printDifferences prints the options that differ between the two sides.
func printDifferences(dirs ...string) error {
	options := map[string][2]string{}
	for i, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "OPTIONS-*[0-9]"))
		if err != nil || len(files) == 0 {
			return errors.Join(err, fmt.Errorf("%s has no OPTIONS file", dir))
		}
		text, err := os.ReadFile(slices.Max(files))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				both := options[name]
				both[i] = value
				options[name] = both
			}
		}
	}
	fmt.Println("\noptions that differ: db_bench, rumbench")
	for name, both := range options {
		if both[0] != both[1] {
			fmt.Printf("  %s: %q, %q\n", name, both[0], both[1])
		}
	}
	return nil
}
