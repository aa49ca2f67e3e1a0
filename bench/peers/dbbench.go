package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/engine/native"
	"rumbench/internal/cli/catalog"
	"rumbench/model"
	"rumbench/workload"
)

// dbBench compares rumbench with RocksDB's own benchmark on the same library and
// options: keys of 10 bytes, values of 100, one client, no syncs. Each side has
// its own database, in memory, so that the device plays no part.
//
// The differences: db_bench calls the library directly, rumbench goes through
// kvkit and crosses from Go to C once per operation. Rumbench's keys begin with
// the two bytes of their table, db_bench's end with two bytes of padding.
// Rumbench decodes the rows that it reads. Both time each operation.
//
// Of the extra cost of fillseq, perf found half in rumbench's own code, spread
// over the kit, the driver, the histogram and cgo, a quarter in the kernel (Go's
// scheduler switches threads 3,000 times a second), and a fifth in the library,
// which finds less of its data in the CPU's caches.
type dbBench struct{ dir string }

const (
	// benchLibrary is Debian's library, which its db_bench is linked with.
	benchLibrary = "/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8"
	benchCache   = 256 << 20
	benchValue   = 99 // plus one byte for its length
	benchKeys    = 500_000
)

// compareEmbedded runs the tests of dbBench.
func (o *options) compareEmbedded(ctx context.Context) error {
	if _, err := os.Stat(benchLibrary); !native.Built || err != nil {
		fmt.Printf("\ndb_bench is not compared: %v\n", errors.Join(err, native.Missing("rocksdb")))
		return nil
	}
	dir, err := os.MkdirTemp("/dev/shm", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &dbBench{dir}
	for _, test := range []string{"fillseq", "fillrandom", "readrandom"} {
		if o.tests != "" && !slices.Contains(strings.Split(o.tests, ","), test) {
			continue
		}
		if err := o.embeddedTest(ctx, d, test); err != nil {
			return fmt.Errorf("%s: %w", test, err)
		}
	}
	return d.printDifferences()
}

func (o *options) embeddedTest(ctx context.Context, d *dbBench, test string) error {
	sides := []func(context.Context, embedded) (result, error){d.theirs, d.ours}
	const probe = 20_000
	one := embedded{Test: test, Ops: probe}
	var idle [2]result
	rate := 0.0
	for side, run := range sides {
		if test == "readrandom" {
			if _, err := run(ctx, embedded{Test: "fillrandom", Ops: benchKeys, Settle: true}); err != nil {
				return err
			}
		}
		r, err := run(ctx, one)
		if err != nil {
			return err
		}
		rate = r.rate()
		one.Ops = 1
		if idle[side], err = run(ctx, one); err != nil {
			return err
		}
		one.Ops = probe
	}
	one.Ops = max(probe, int64(rate*float64(o.seconds)))
	c, err := o.alternate(func(side int) (result, error) {
		r, err := sides[side](ctx, one)
		r.CPU -= idle[side].CPU // opening the database
		return r, err
	})
	if err != nil {
		return err
	}
	c.print("db_bench", test, 1, 0)
	return nil
}

// embedded is one side's test. Fills begin with an empty database.
type embedded struct {
	Test   string
	Dir    string
	Ops    int64
	Settle bool // after a fill
}

func (e *embedded) fills() bool { return e.Test != "readrandom" }

func (d *dbBench) path(side string) string { return filepath.Join(d.dir, side) }

var opsLine = regexp.MustCompile(`(?m)^\s*(?:fillseq|fillrandom|readrandom)\s*:.* ([0-9.]+) seconds (\d+) operations`)

// theirs runs db_bench.
func (d *dbBench) theirs(ctx context.Context, e embedded) (r result, err error) {
	benchmarks := e.Test
	if e.Settle {
		benchmarks += ",flush,waitforcompaction"
	}
	keys := int64(benchKeys)
	if e.fills() {
		keys = e.Ops
	}
	cmd := exec.Command("db_bench", "--db="+d.path("theirs"), "--benchmarks="+benchmarks,
		fmt.Sprint("--use_existing_db=", !e.fills()),
		fmt.Sprint("--num=", keys), fmt.Sprint("--reads=", e.Ops), "--key_size=10",
		fmt.Sprint("--value_size=", benchValue+1), "--compression_type=none",
		fmt.Sprint("--cache_size=", benchCache), "--cache_index_and_filter_blocks=true", "--statistics=true",
		"--histogram=true",
		// RocksDB's own defaults, which rumbench keeps:
		"--enable_pipelined_write=false", "--delayed_write_rate=16777216",
		"--hard_pending_compaction_bytes_limit=274877906944",
		"--perf_level=2", "--dump_malloc_stats=false", "--index_shortening_mode=1", "--table_cache_numshardbits=6",
		"--pin_top_level_index_and_filter=true")
	output, err := run(ctx, cmd, nil)
	if err != nil {
		return r, err
	}
	m := opsLine.FindStringSubmatch(output)
	if m == nil {
		return r, fmt.Errorf("db_bench prints no result:\n%s", output)
	}
	seconds, _ := strconv.ParseFloat(m[1], 64)
	r.Transactions, err = strconv.ParseInt(m[2], 10, 64)
	r.Window = time.Duration(seconds * float64(time.Second))
	r.CPU = cpuOf(cmd)
	return r, err
}

// ours runs rumbench's client.
func (d *dbBench) ours(ctx context.Context, e embedded) (r result, err error) {
	e.Dir = d.path("ours")
	if e.fills() {
		if err := errors.Join(os.RemoveAll(e.Dir), os.Mkdir(e.Dir, 0o755)); err != nil {
			return r, err
		}
	}
	r, cpu, err := runSelf(ctx, "-embedded", e, nil)
	r.CPU = cpu // includes start-up, as for db_bench
	return r, err
}

// printDifferences prints the options that differ between the two sides.
func (d *dbBench) printDifferences() error {
	options := map[string][2]string{}
	for i, side := range []string{"theirs", "ours"} {
		files, err := filepath.Glob(filepath.Join(d.path(side), "OPTIONS-*[0-9]"))
		if err != nil || len(files) == 0 {
			return errors.Join(err, fmt.Errorf("%s has no OPTIONS file", d.path(side)))
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

// ownEmbedded runs a test and prints its result.
func ownEmbedded(ctx context.Context, text string) (err error) {
	var e embedded
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	rocks, _ := catalog.Plugins{}.Engine("rocksdb")
	db, err := rocks.Open(ctx, engine.Config{
		Dir: e.Dir, Schema: e.schema(), Durability: model.DurabilityProcess, Cache: benchCache,
		Compression: model.CompressionNone,
		Options:     map[string]any{"library": benchLibrary},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if e.fills() {
		if err := db.CreateTables(ctx); err != nil {
			return err
		}
	}
	out, err := measure(ctx, db, e.step())
	if err != nil {
		return err
	}
	if e.Settle {
		if _, err := db.Settle(ctx); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func (e *embedded) schema() model.Schema {
	return model.Schema{Tables: []model.Table{{Name: "t", Key: []string{"id"}, Columns: []model.Column{
		{Name: "id", Type: model.Int, Auto: e.Test == "fillseq"},
		{Name: "v", Type: model.Bytes, Width: benchValue, NotNull: true},
	}}}}
}

func (e *embedded) step() *workload.Step {
	return &workload.Step{
		Name: e.Test, Primary: "op",
		Groups: []workload.Group{{Name: "clients", Clients: 1, Work: e.Ops,
			Ops: []workload.OpKind{{Name: "op", Unit: "row"}}}},
		Open: func(context.Context, workload.Env) (workload.Stage, error) { return embeddedStage{e}, nil },
	}
}

type embeddedStage struct{ *embedded }

func (s embeddedStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	op := &model.Op{Kind: model.Get, Table: "t", Columns: []string{"v"}}
	switch s.Test {
	case "fillseq": // the engine numbers the keys, so that nothing is read
		op = &model.Op{Kind: model.Insert, Table: "t", Columns: []string{"v"}, Rows: 1}
	case "fillrandom":
		op = &model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "v"}, Rows: 1, OnConflict: model.Replace}
	}
	stmt, err := seat.Session.Prepare(ctx, op)
	c := &embeddedClient{embedded: s.embedded, stmt: stmt, random: rand.New(rand.NewPCG(1, uint64(s.Ops)))}
	for range 1 << 17 {
		c.text = binary.LittleEndian.AppendUint64(c.text, c.random.Uint64())
	}
	return c, err
}

func (embeddedStage) Finish(context.Context, workload.Totals) (workload.Finding, error) {
	return workload.Finding{}, nil
}

// embeddedClient executes the statement with random keys and values.
type embeddedClient struct {
	*embedded
	stmt   engine.Stmt
	random *rand.Rand
	text   []byte // values are parts of it, one after the other, as in db_bench
	at     int
	args   [2]model.Value
	r      engine.Result
}

func (c *embeddedClient) Do(ctx context.Context, out *workload.Outcome) error {
	args := c.args[:1]
	switch c.Test {
	case "readrandom":
		args[0] = model.IntValue(c.random.Int64N(benchKeys))
	case "fillseq":
		args[0] = c.value()
	case "fillrandom":
		args = c.args[:2]
		args[0], args[1] = model.IntValue(c.random.Int64N(c.Ops)), c.value()
	}
	err := c.stmt.Exec(ctx, args, &c.r)
	out.Rows = c.r.Rows
	return err
}

func (c *embeddedClient) value() model.Value {
	if c.at += benchValue; c.at+benchValue > len(c.text) {
		c.at = 0
	}
	return model.BytesValue(c.text[c.at : c.at+benchValue])
}
