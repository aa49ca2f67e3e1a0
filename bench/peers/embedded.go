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
	"rumbench/internal/cli/catalog"
	"rumbench/model"
	"rumbench/workload"
)

// rival does what an embedded engine of rumbench does, on the same library with the same
// options: keys of 8 bytes (10 with that of the table), values of 100, one client, no
// syncs, a transaction for each operation. It is the engine's own benchmark, or a plain
// loop, whose rate is the ceiling. Both sides time each operation. Each has a database
// of its own, in memory, so that the device plays no part.
type rival struct {
	name    string
	engine  string
	options map[string]any // of rumbench's engine
	mapped  bool           // the engine has no cache and no compression of its own
	// rate is the least part of the rival's rate, and cpu the most of its CPU time, that rumbench is to have; 0: any
	rate, cpu float64
	missing   func() error // nil: it can be compared
	// command returns the program for a test, built below a directory if need be.
	command func(ctx context.Context, dir string, e embedded) (*exec.Cmd, error)
	after   func(dirs ...string) error // nil: nothing
}

const (
	benchCache = 256 << 20
	benchValue = 99 // plus one byte for its length
	benchKeys  = 500_000
)

var rivals = []rival{dbBench, plainLMDB, plainWiredTiger, plainSQLite,
	plainGo("pebble", false), plainGo("badger", false), plainGo("bbolt", true)}

// compareEmbedded runs the tests of the rivals.
func (o *options) compareEmbedded(ctx context.Context) error {
	for _, r := range rivals {
		if o.peer != "" && o.peer != r.name {
			continue
		}
		if r.missing != nil && r.missing() != nil {
			fmt.Fprintf(os.Stderr, "%s is not compared: %v\n", r.name, r.missing())
			continue
		}
		if err := o.compareRival(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (o *options) compareRival(ctx context.Context, r rival) error {
	dir, err := os.MkdirTemp("/dev/shm", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &duel{rival: r, dir: dir}
	for _, test := range []string{"fillseq", "fillrandom", "readrandom"} {
		if o.tests != "" && !slices.Contains(strings.Split(o.tests, ","), test) {
			continue
		}
		if err := o.embeddedTest(ctx, d, test); err != nil {
			return fmt.Errorf("%s: %w", test, err)
		}
	}
	if r.after != nil && !o.brief {
		return r.after(d.path("theirs"), d.path("ours"))
	}
	return nil
}

// duel is a rival and rumbench, with their databases below a directory.
type duel struct {
	rival
	dir string
}

func (o *options) embeddedTest(ctx context.Context, d *duel, test string) error {
	sides := []func(context.Context, embedded) (result, error){d.runRival, d.runRumbench}
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
	o.show(&c, outcome{Peer: d.name, Test: test, Clients: 1, CPULimit: d.cpu, RateLimit: d.rate})
	return nil
}

// embedded is one side's test. Fills begin with an empty database.
type embedded struct {
	Test    string
	Engine  string
	Options map[string]any
	Mapped  bool
	Dir     string
	Ops     int64
	Settle  bool // after a fill
}

func (e *embedded) fills() bool { return e.Test != "readrandom" }

// keys returns how many keys are drawn from.
func (e *embedded) keys() int64 {
	if e.fills() {
		return e.Ops
	}
	return benchKeys
}

func (d *duel) path(side string) string { return filepath.Join(d.dir, side) }

// prepare gives a test its directory, empty if it fills it.
func (d *duel) prepare(side string, e embedded) (embedded, error) {
	e.Dir, e.Engine, e.Options, e.Mapped = d.path(side), d.engine, d.options, d.mapped
	if !e.fills() {
		return e, nil
	}
	return e, errors.Join(os.RemoveAll(e.Dir), os.Mkdir(e.Dir, 0o755))
}

var opsLine = regexp.MustCompile(`(?m)^\s*(?:fillseq|fillrandom|readrandom)\s*:.* ([0-9.]+) seconds (\d+) operations`)

// runRival runs the rival.
func (d *duel) runRival(ctx context.Context, e embedded) (r result, err error) {
	if e, err = d.prepare("theirs", e); err != nil {
		return r, err
	}
	cmd, err := d.command(ctx, d.dir, e)
	if err != nil {
		return r, err
	}
	output, err := run(ctx, cmd, nil)
	if err != nil {
		return r, err
	}
	m := opsLine.FindStringSubmatch(output)
	if m == nil {
		return r, fmt.Errorf("it prints no result:\n%s", output)
	}
	seconds, _ := strconv.ParseFloat(m[1], 64)
	r.Transactions, err = strconv.ParseInt(m[2], 10, 64)
	r.Window = time.Duration(seconds * float64(time.Second))
	r.CPU = cpuOf(cmd)
	return r, err
}

// runRumbench runs rumbench's client.
func (d *duel) runRumbench(ctx context.Context, e embedded) (r result, err error) {
	if e, err = d.prepare("ours", e); err != nil {
		return r, err
	}
	r, cpu, err := runSelf(ctx, "-embedded", e, nil)
	r.CPU = cpu // includes start-up, as for the rival
	return r, err
}

// ownEmbedded runs a test and prints its result.
func ownEmbedded(ctx context.Context, text string) (err error) {
	var e embedded
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	own, ok := catalog.Plugins{}.Engine(e.Engine)
	if !ok {
		return fmt.Errorf("there is no engine %q", e.Engine)
	}
	c := engine.Config{Dir: e.Dir, Schema: e.schema(), Durability: model.DurabilityProcess, Options: e.Options}
	if !e.Mapped {
		c.Cache, c.Compression = benchCache, model.CompressionNone
	}
	db, err := own.Open(ctx, c)
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
