// Package enginetest is the conformance suite that every engine passes: an
// engine's test calls Run with a Suite.
//
// It checks behaviour against its own naive model, not against another engine,
// and measures no time.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/internal/need"
	"rumbench/model"
)

// Suite is an engine under test.
type Suite struct {
	Engine engine.Engine
	// Config is the configuration that it is opened with; Run sets Dir and Schema.
	Config engine.Config
	// Switches are sets of options that must not change the answers.
	Switches []map[string]any
	// Volatile engines keep nothing when they are closed.
	Volatile bool
	// StandIn: the server only speaks the engine's protocol. It does not compare the
	// lengths of columns, nor isolate concurrent operations, nor classify errors of
	// updates, and the suite does not ask for that.
	StandIn bool
	// Refused are configurations that Check must refuse. They need only the
	// fields that matter: the rest is taken from Config.
	Refused []Refusal

	// Alone: the server cannot hold the databases of several cases.
	Alone bool
	// Again: another suite has the same server or library in another form. What needs servers of its
	// own or waits, except one kill, is left to make test-long.
	Again bool

	shared *Shared // the server of the cases that need no separate one; nil: each opens its own database
}

// Refusal is a configuration that an engine cannot honour, and the knob that its
// error must name.
type Refusal struct {
	Knob   string
	Config engine.Config
}

// Run runs the suite. The calling test must be named TestConformance: the kill
// tests run it in a child process.
func Run(t *testing.T, s Suite) {
	if crashChild(t, s) {
		return
	}
	t.Run("info", s.testInfo)
	t.Run("refusals", s.testRefusals)
	own := s
	t.Run("observation", once(own, s.testObservation))
	if len(s.Engine.Info().Servers) > 0 && !s.Alone {
		s.shared = Share(t, s.Engine, s.config(""))
	}
	t.Run("values", s.testValues)
	t.Run("random", s.testRandom)
	for _, options := range s.Switches {
		t.Run(fmt.Sprint("random ", options), func(t *testing.T) { testSwitched(t, s, options) })
	}
	t.Run("numbering", s.testNumbering)
	t.Run("conflicts", s.testConflicts)
	t.Run("lowest", s.testLowest)
	t.Run("dead entries", func(t *testing.T) { testDeadEntries(t, s) })
	t.Run("aggregates", s.testAggregates)
	t.Run("conditions", func(t *testing.T) { testConditions(t, s) })
	t.Run("indexes", s.testIndexes)
	t.Run("clear", func(t *testing.T) { testClear(t, s) })
	if !s.StandIn {
		t.Run("concurrent adds", s.testConcurrentAdds)
	}
	t.Run("concurrent lowest", s.testConcurrentLowest)
	t.Run("explain", once(own, own.testExplain))
	t.Run("joined", once(own, func(t *testing.T) { testJoined(t, own) }))
	if len(s.Engine.Info().Servers) > 0 {
		t.Run("died", once(own, func(t *testing.T) { testDied(t, own) }))
	}
	if can(s, model.CapTransactions) {
		t.Run("transactions", s.testTransactions)
		t.Run("half-way", s.testHalfWay)
		t.Run("lock", func(t *testing.T) { testLock(t, s) })
	}
	if can(s, model.CapUnique) {
		t.Run("unique", s.testUnique)
	}
	if s.Engine.Info().Native {
		t.Run("syncs", func(t *testing.T) { testSyncs(t, s) })
	}
	if !s.Volatile {
		t.Run("reopen", once(own, own.testReopen))
		t.Run("forgets", once(own, func(t *testing.T) { testForgets(t, own) }))
		t.Run("kill", own.testKill)
		t.Run("kill interval", once(own, own.testKillInterval))
		t.Run("power cut", once(own, own.testPowerCut))
	}
}

// once leaves a case of a suite that has Again to make test-long.
func once(s Suite, f func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) {
		if s.Again {
			need.Long(t)
		}
		f(t)
	}
}

// seeds runs a test with four seeds, or leaves all but one to make test-long.
func seeds(t *testing.T, long bool, f func(t *testing.T, seed uint64)) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			if long && seed > 0 {
				need.Long(t)
			}
			f(t, seed)
		})
	}
}

// can reports whether the engine has a capability with the suite's configuration.
func can(s Suite, c model.Capability) bool {
	return slices.Contains(engine.InfoOf(s.Engine, s.Config).Capabilities, c)
}

// schema returns a table with a column of every type, one with an Auto column,
// and one with a unique index if the engine has them.
func (s Suite) schema() model.Schema {
	things := model.Table{
		Name: "things",
		Columns: []model.Column{
			{Name: "id", Type: model.Int, NotNull: true},
			{Name: "a", Type: model.Int, Width: 4, NotNull: true},
			{Name: "f", Type: model.Float},
			{Name: "at", Type: model.Time},
			{Name: "s", Type: model.String, Width: 64},
			{Name: "b", Type: model.Bytes, Width: 64},
			{Name: "n", Type: model.Int},
			{Name: "c", Type: model.String, Width: 16, Fixed: true},
			{Name: "u", Type: model.UUID, Width: 16},
		},
		Key: []string{"id"},
		Indexes: []model.Index{
			{Name: "things_a", Columns: []string{"a", "s"}},
			{Name: "things_f", Columns: []string{"f"}},
			{Name: "things_at", Columns: []string{"at", "n"}},
			{Name: "things_n", Columns: []string{"n"}},
			{Name: "things_c", Columns: []string{"c", "n"}},
			{Name: "things_u", Columns: []string{"u"}},
		},
	}
	notes, sums := things, things // with fewer indexes
	notes.Name, notes.Indexes = "notes",
		[]model.Index{{Name: "notes_s", Columns: []string{"s"}}, {Name: "notes_id", Columns: []string{"id"}}}
	sums.Name, sums.Indexes = "sums", []model.Index{{Name: "sums_id", Columns: []string{"id"}}}
	queue := model.Table{
		Name: "queue",
		Columns: []model.Column{
			{Name: "id", Type: model.Int, Auto: true},
			{Name: "v", Type: model.Int, NotNull: true},
		},
		Key:     []string{"id"},
		Indexes: []model.Index{{Name: "queue_v", Columns: []string{"v"}}},
	}
	tables := []model.Table{things, queue}
	if len(s.Switches) > 0 {
		tables = append(tables, notes, sums)
	}
	if can(s, model.CapUnique) {
		tables = append(tables, model.Table{
			Name: "names",
			Columns: []model.Column{
				{Name: "id", Type: model.Int, NotNull: true},
				{Name: "name", Type: model.String, Width: 32},
			},
			Key:     []string{"id"},
			Indexes: []model.Index{{Name: "names_name", Columns: []string{"name"}, Unique: true}},
		})
	}
	return model.Schema{Tables: tables}
}

// config returns the suite's configuration for a directory.
func (s Suite) config(dir string) engine.Config {
	c := s.Config
	c.Dir, c.Schema = dir, s.schema()
	return c
}

// open opens a database with its tables, and optionally with their indexes.
func (s Suite) open(t *testing.T, indexed bool) engine.DB {
	t.Helper()
	c := s.config(need.TempDir(t))
	if s.shared != nil {
		c = s.shared.Config(s.schema())
	}
	db := openConfig(t, s.Engine, c)
	check(t, db.CreateTables(context.Background()))
	if indexed {
		createIndexes(t, db, s.schema())
	}
	return db
}

func createIndexes(t *testing.T, db engine.DB, schema model.Schema) {
	t.Helper()
	for _, table := range schema.Tables {
		for _, ix := range table.Indexes {
			check(t, db.CreateIndexes(context.Background(), table.Name, ix.Name))
		}
	}
}

func (s Suite) openAt(t *testing.T, dir string) engine.DB {
	t.Helper()
	return openConfig(t, s.Engine, s.config(dir))
}

func openConfig(t *testing.T, e engine.Engine, c engine.Config) engine.DB {
	t.Helper()
	db, err := e.Open(context.Background(), c)
	check(t, err)
	t.Cleanup(func() { Discard(db) })
	return db
}

// client is a session with helpers that fail the test.
type client struct {
	t *testing.T
	s engine.Session
}

func newClient(t *testing.T, db engine.DB) *client {
	t.Helper()
	s, err := db.Session(context.Background())
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return &client{t, s}
}

func (c *client) prepare(op model.Op) engine.Stmt {
	c.t.Helper()
	st, err := c.s.Prepare(context.Background(), &op)
	fatalIf(c.t, err != nil, "prepare %s: %v", op.Label(), err)
	return st
}

// do executes an operation once and returns its result and rows.
func (c *client) do(op model.Op, args ...model.Value) (engine.Result, [][]model.Value) {
	c.t.Helper()
	r, rows, err := c.try(op, args...)
	fatalIf(c.t, err != nil, "%s %v: %v", op.Label(), args, err)
	return r, rows
}

func (c *client) try(op model.Op, args ...model.Value) (engine.Result, [][]model.Value, error) {
	c.t.Helper()
	return collect(c.prepare(op), args...)
}

func collect(st engine.Stmt, args ...model.Value) (engine.Result, [][]model.Value, error) {
	var rows [][]model.Value
	r := engine.Result{Each: func(row []model.Value) { rows = append(rows, engine.CloneRow(row)) }}
	err := st.Exec(context.Background(), args, &r)
	return r, rows, err
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// failIf fails the test on a condition.
func failIf(t testing.TB, wrong bool, format string, args ...any) {
	t.Helper()
	if wrong {
		t.Errorf(format, args...)
	}
}

// fatalIf fails the test on a condition and ends it.
func fatalIf(t testing.TB, wrong bool, format string, args ...any) {
	t.Helper()
	if wrong {
		t.Fatalf(format, args...)
	}
}

func (s Suite) testInfo(t *testing.T) {
	i := engine.InfoOf(s.Engine, s.Config)
	failIf(t, i.Name == "" || i.Structure == "" || i.Doc == "" || i.Version == "", "incomplete info: %+v", i)
	check(t, s.Engine.Check(s.config(need.TempDir(t))))
}

func (s Suite) testRefusals(t *testing.T) {
	unknown := Refusal{"options.no_such_option", engine.Config{Options: map[string]any{"no_such_option": int64(1)}}}
	for _, r := range append(s.Refused, unknown) {
		c := merge(s.config(need.TempDir(t)), r.Config)
		err := s.Engine.Check(c)
		var knob *engine.KnobError
		if !errors.As(err, &knob) {
			t.Errorf("%s %+v: got error %v, want a KnobError", r.Knob, r.Config, err)
		} else if knob.Knob != r.Knob || knob.Reason == "" {
			t.Errorf("refused knob %q (%s), want %q", knob.Knob, knob.Reason, r.Knob)
		}
		if db, err := s.Engine.Open(context.Background(), c); err == nil {
			db.Close()
			t.Errorf("%s: Open accepts a configuration that Check refuses", r.Knob)
		}
	}
}

func merge(c, over engine.Config) engine.Config {
	dst, src := reflect.ValueOf(&c).Elem(), reflect.ValueOf(over)
	for i := range src.NumField() {
		if !src.Field(i).IsZero() {
			dst.Field(i).Set(src.Field(i))
		}
	}
	return c
}
