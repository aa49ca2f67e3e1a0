package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func schema() model.Schema {
	s := enginetest.SaleSchema(0)
	s.Tables[0].Indexes = append(s.Tables[0].Indexes,
		model.Index{Name: "register", Columns: []string{"register", "customer", "price"}})
	return s
}

func config(dir string) engine.Config {
	return engine.Config{Dir: dir, Durability: model.DurabilityProcess, Schema: schema()}
}

func open(t testing.TB, c engine.Config) engine.DB {
	t.Helper()
	db, err := Engine{}.Open(context.Background(), c)
	expect.NoError(t, err)
	t.Cleanup(func() {
		expect.NoError(t, db.Close())
	})
	return db
}

// fresh opens a database with all tables and indexes.
func fresh(t testing.TB) engine.DB {
	t.Helper()
	db := open(t, config(t.TempDir()))
	expect.NoError(t, db.CreateTables(t.Context()))
	expect.NoError(t, db.CreateIndexes(t.Context(), "sale", "market", "register", "pdc", "wide"))
	expect.NoError(t, db.CreateIndexes(t.Context(), "link", "code"))
	return db
}

func TestCheck(t *testing.T) {
	yes, no := true, false
	base := func() engine.Config { return config(t.TempDir()) }
	enginetest.CheckKnobs(t, Engine{}, base, []struct {
		Name string
		Set  func(*engine.Config)
		Knob string // refused; "" if accepted
	}{
		{"plain", func(c *engine.Config) {}, ""},
		{"all knobs", func(c *engine.Config) {
			c.Cache, c.Page, c.Compression, c.DirectIO = 1<<20, 8192, model.CompressionNone, &no
			c.Options = map[string]any{"wal_autocheckpoint": 0, "mmap_size": 1 << 20, "temp_store": "memory"}
		}, ""},
		{"durability", func(c *engine.Config) { c.Durability = "often" }, "durability"},
		{"small cache", func(c *engine.Config) { c.Cache = 1000 }, "cache"},
		{"compression", func(c *engine.Config) { c.Compression = model.CompressionZstd }, "compression"},
		{"odd page", func(c *engine.Config) { c.Page = 5000 }, "page"},
		{"large page", func(c *engine.Config) { c.Page = 1 << 17 }, "page"},
		{"direct input and output", func(c *engine.Config) { c.DirectIO = &yes }, "direct_io"},
		{"unknown option", func(c *engine.Config) { c.Options = map[string]any{"speed": 9} }, "options.speed"},
		{"wrong type", func(c *engine.Config) { c.Options = map[string]any{"mmap_size": "much"} }, "options.mmap_size"},
		{"wrong word", func(c *engine.Config) { c.Options = map[string]any{"temp_store": "tape"} }, "options.temp_store"},
	})
}

func TestSettings(t *testing.T) {
	c := config(t.TempDir())
	c.Cache, c.Page, c.Durability = 8<<20, 16384, model.DurabilityOS
	c.Options = map[string]any{"wal_autocheckpoint": 500, "mmap_size": 1 << 20, "temp_store": "memory"}
	settings, err := open(t, c).Settings(t.Context())
	expect.NoError(t, err)
	got := map[string]string{}
	for _, s := range settings {
		got[s.Name] = s.Value
	}
	for name, want := range map[string]string{
		"sqlite_version": Engine{}.Info().Version, "journal_mode": "wal", "synchronous": "full", "durability": "os", "page_size": "16384",
		"cache_size": "-8192", "wal_autocheckpoint": "500", "mmap_size": "1048576", "temp_store": "memory", "auto_vacuum": "none",
	} {
		expect.True(t, got[name] == want, name, got[name], want)
	}
}

// The cache is that of all sessions together, so that two engines with one
// setting have the same memory; one that works alone has all of it.
func TestSessionsShareTheCache(t *testing.T) {
	c := config(t.TempDir())
	c.Cache = 12 << 20
	db := open(t, c)
	expect.NoError(t, db.CreateTables(t.Context()))
	var sessions []*session
	add := func() {
		s, err := db.Session(t.Context())
		expect.NoError(t, err)
		sessions = append(sessions, s.(*session))
	}
	check := func(want string) {
		t.Helper()
		for _, s := range sessions {
			st, err := s.Prepare(t.Context(), &model.Op{Kind: model.Scan, Table: c.Schema.Tables[0].Name, Aggregate: model.Count, Free: true})
			expect.NoError(t, err)
			expect.NoError(t, st.Exec(t.Context(), nil, &engine.Result{}))
			expect.NoError(t, s.Query(t.Context(), "PRAGMA cache_size", func(row []string) error {
				expect.Equal(t, row[0], want, len(sessions), "sessions one has a cache_size of")
				return nil
			}))
		}
	}
	add()
	check("-12288")
	add()
	add()
	check("-4096")
	expect.NoError(t, sessions[2].Close())
	expect.NoError(t, sessions[2].Close()) // counts once
	sessions = sessions[:2]
	check("-6144")
}

func TestDurabilityIsReadBack(t *testing.T) {
	for level, want := range map[model.Durability]string{"none": "off", "process": "off", "os": "full"} {
		c := config(t.TempDir())
		c.Durability = level
		settings, err := open(t, c).Settings(t.Context())
		expect.NoError(t, err)
		for _, s := range settings {
			expect.True(t, s.Name != "synchronous" || s.Value == want && s.Source == engine.ReadBack, level, s)
		}
	}
}

func TestOpenRefusesAnotherPageSize(t *testing.T) {
	c := config(t.TempDir())
	c.Page = 4096
	db := open(t, c)
	expect.NoError(t, db.Close())
	c.Page = 8192
	_, err := Engine{}.Open(t.Context(), c)
	var knob *engine.KnobError
	expect.True(t, errors.As(err, &knob) && knob.Knob == "page", "got", err)
}

func TestOpenInOddlyNamedDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "50% of ?a#b 'c'")
	open(t, config(dir))
	if _, err := os.Stat(filepath.Join(dir, fileName)); err != nil {
		t.Error(err)
	}
}

func TestOpenWhereNothingCanBe(t *testing.T) {
	dir := t.TempDir()
	expect.NoError(t, os.Mkdir(filepath.Join(dir, fileName), 0o755))
	_, err := Engine{}.Open(t.Context(), config(dir))
	expect.Must(t, err != nil, "opened a directory")
	t.Log(err)
}

func TestCreateTablesFailsWhole(t *testing.T) {
	dir := t.TempDir()
	c := config(dir)
	c.Schema.Tables = c.Schema.Tables[1:]
	db := open(t, c)
	expect.NoError(t, db.CreateTables(t.Context()))
	expect.NoError(t, db.Close())

	both := open(t, config(dir))
	err := both.CreateTables(t.Context())
	expect.Must(t, err != nil, "created a table twice")
	t.Log(err)
	s := newSession(t, both)
	if _, err := s.Prepare(t.Context(), &model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id"}}); err == nil {
		t.Error("the other table was left behind")
	}
}

func TestIndexes(t *testing.T) {
	db := open(t, config(t.TempDir()))
	expect.NoError(t, db.CreateTables(t.Context()))
	s := newSession(t, db)
	insert := prepare(t, s, model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "code"}, Rows: 2})
	insert.OK(1, "a", 7, 2, "b", 7)

	err := db.CreateIndexes(t.Context(), "link", "code")
	expect.Equal(t, engine.ClassOf(err), engine.Duplicate, "a unique index on equal values", err)
	expect.NoError(t, db.CreateIndexes(t.Context(), "sale", "market", "pdc"))
	expect.Error(t, db.CreateIndexes(t.Context(), "sale", "register", "pdc"), "", "created an index twice")
	expect.NoError(t, db.CreateIndexes(t.Context(), "sale", "register")) // the failure left none
	expect.NoError(t, db.DropIndex(t.Context(), "sale", "pdc"))
	expect.Error(t, db.DropIndex(t.Context(), "sale", "pdc"), "", "dropped an index twice")
	expect.NoError(t, db.CreateIndexes(t.Context(), "sale", "pdc"))
}

func TestSizesCountersAndSettle(t *testing.T) {
	db := fresh(t)
	s := newSession(t, db)
	insert := prepare(t, s, enginetest.SaleInsert(1))
	for i := range 500 {
		insert.OK(enginetest.SaleRow(i)...)
	}
	var sample engine.Sample
	expect.NoError(t, db.Counters(t.Context(), &sample))
	points := map[string]float64{}
	for _, p := range sample.Points {
		points[p.Name] = p.Value
	}
	for _, name := range []string{"sqlite.pages", "sqlite.wal.bytes", "sqlite.wal.frames", "sqlite.cache.hits", "sqlite.cache.pages_written"} {
		expect.True(t, points[name] > 0, name, points[name])
	}
	actions, err := db.Settle(t.Context())
	expect.NoError(t, err)
	for _, a := range actions {
		t.Logf("%s %v: %s", a.Name, a.Duration, a.Detail)
	}
	sample.Reset()
	expect.NoError(t, db.Counters(t.Context(), &sample))
	for _, p := range sample.Points {
		expect.True(t, p.Name != "sqlite.wal.bytes" || p.Value == 0, p.Value, "bytes of log after settling")
	}
	sizes, err := db.Sizes(t.Context())
	expect.NoError(t, err)
	got := map[string]int64{}
	for _, size := range sizes {
		got[size.Object] = size.Bytes
	}
	for _, object := range []string{"sale", "sale.market", "sale.pdc", "link", "link.code", ""} {
		expect.True(t, got[object] > 0, object, got[object], got)
	}
	expect.True(t, got["sale"] < got[""], "a table is larger than the database", got)
}
