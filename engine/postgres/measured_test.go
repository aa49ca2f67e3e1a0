package postgres

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

func points(t *testing.T, d interface {
	Counters(context.Context, *engine.Sample) error
}) map[string]engine.Point {
	t.Helper()
	var s engine.Sample
	expect.NoError(t, d.Counters(t.Context(), &s))
	out := map[string]engine.Point{}
	for _, p := range s.Points {
		if _, twice := out[p.Key()]; twice {
			t.Errorf("%s is reported twice", p.Key())
		}
		expect.True(t, p.Unit != "" && (strings.HasPrefix(p.Name, "postgres.") || strings.HasPrefix(p.Name, "engine.")) && strings.ToLower(p.Name) == p.Name && p.Value >= 0, p)
		out[p.Key()] = p
	}
	return out
}

func testCounters(t *testing.T, d *db) {
	before := points(t, d)
	s, err := d.Session(t.Context())
	expect.NoError(t, err)
	insert := prepare(t, s, enginetest.SaleInsert(50))
	for i := range 40 {
		insert.OK(saleRows(i*50, 50)...)
	}
	expect.NoError(t, s.Close()) // a session that ends reports all that it has counted
	// Old releases report commits later, and those of who samples later than they are subtracted.
	commits := 40.0
	if d.about.release/10000 < reportsAsked {
		commits = 30
	}
	counted := func(name string, n float64) bool { return points(t, d)[name].Value >= before[name].Value+n }
	for i := 0; !counted(`postgres.table.rows_inserted{table="sale"}`, 2000) || !counted("postgres.database.commits", commits); i++ {
		expect.Must(t, i <= 100, "no rows, or no commits, were counted")
		time.Sleep(50 * time.Millisecond)
	}
	after := points(t, d)
	for name, lowest := range map[string]float64{
		engine.BytesWritten: 100_000, "postgres.wal.position": 100_000,
		"postgres.database.pages_hit": 2000, "postgres.database.rows_inserted": 2000, "postgres.database.commits": commits, `postgres.index.pages_hit{index="sale.market"}`: 2000, `postgres.table.index_pages_hit{table="sale"}`: 2000,
	} {
		p, ok := after[name]
		if grew := p.Value - before[name].Value; !ok || p.Kind != engine.Counter || grew < lowest {
			t.Errorf("%s grew by %v: %+v", name, grew, p)
		}
	}
	// Tables and indexes have grown, and nothing was read for that.
	for name, bounds := range map[string][2]float64{engine.CacheMisses: {0, 50}, engine.BytesRead: {0, 50 * 8192}, engine.CacheLookups: {2000, 1e6}} {
		p, ok := after[name]
		if apart := d.about.release/10000 >= readsApart; ok != apart {
			t.Errorf("%s is reported: %v", name, ok)
		} else if grew := p.Value - before[name].Value; ok && (p.Kind != engine.Counter || grew < bounds[0] || grew > bounds[1]) {
			t.Errorf("%s grew by %v", name, grew)
		}
	}
	// Who samples is not counted.
	if n := after["postgres.sessions.active"].Value; n > 0 {
		t.Errorf("%v sessions are active", n)
	}
	for _, name := range []string{engine.CheckpointAge, "postgres.sessions.open", `postgres.table.rows_dead{table="link"}`} {
		if p, ok := after[name]; !ok || p.Kind != engine.Gauge {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, name := range []string{"postgres.database.pages_read", "postgres.checkpoint.requested", "postgres.bgwriter.pages_written_by_sessions", `postgres.index.scans{index="link_pkey"}`} {
		if p, ok := after[name]; !ok || p.Kind != engine.Counter {
			t.Errorf("%s: %+v", name, p)
		}
	}
	// What is dropped is not reported any more.
	expect.NoError(t, d.DropIndex(t.Context(), "sale", "wide"))
	if p, ok := points(t, d)[`postgres.index.scans{index="sale.wide"}`]; ok {
		t.Errorf("%+v", p)
	}
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "wide"))
	var wg sync.WaitGroup
	for range 4 { // from several goroutines
		wg.Go(func() { points(t, d) })
	}
	wg.Wait()
}

// What our own queries read and commit is in no counter, and is not taken from the clients'.
func TestObserversDoNotCount(t *testing.T) {
	c := config(need.TempDir(t))
	c.Options = map[string]any{"autovacuum": false} // whose transactions are the server's own, and count
	d := open(t, c)
	fill(t, d)
	a, err := d.Activity(t.Context())
	expect.NoError(t, err)
	defer a.Close()
	look := func() {
		expect.NoError(t, a.Sample(t.Context(), func(engine.SessionActivity, int) {}))
		points(t, d)
	}
	look()
	if d.Report(t.Context()) > 0 {
		t.Skipf("release %d reports late", d.about.release)
	}
	before := points(t, d)
	for range 30 {
		look()
	}
	time.Sleep(1100 * time.Millisecond) // after a second a session reports by itself
	look()
	d.Report(t.Context())
	after := points(t, d)
	for _, name := range []string{engine.Commits, engine.RowsExamined, engine.CacheHits, engine.CacheLookups, engine.CacheMisses,
		"postgres.database.commits", "postgres.database.rows_read", "postgres.database.rows_fetched", "postgres.database.pages_hit"} {
		expect.Equal(t, after[name].Value-before[name].Value, 0, name, "grew by")
	}
	insert := prepare(t, newSession(t, d), enginetest.SaleInsert(50))
	d.Report(t.Context())
	before = points(t, d)
	for i := range 40 {
		insert.OK(saleRows(i*50, 50)...)
		look()
	}
	// The counters are current, as soon as the sessions have reported them.
	if lag := d.Report(t.Context()); lag > 0 {
		t.Errorf("the counters lag by %v", lag)
	}
	after = points(t, d)
	for name, want := range map[string]float64{engine.Commits: 40, "postgres.database.rows_inserted": 2000, `postgres.table.rows_inserted{table="sale"}`: 2000} {
		expect.Equal(t, after[name].Value-before[name].Value, want, name, "grew by")
	}
}

func testRest(t *testing.T, d *db) {
	s := newSession(t, d)
	insert, remove := prepare(t, s, enginetest.SaleInsert(50)), prepare(t, s, model.Op{Kind: model.DeleteLowest, Table: "sale", Rows: 500})
	for i := range 40 {
		insert.OK(saleRows(i*50, 50)...)
	}
	remove.Changes(500, 0)
	actions, err := d.Settle(t.Context())
	expect.NoError(t, err)
	var names []string
	for _, a := range actions {
		t.Logf("%s %v: %s", a.Name, a.Duration, a.Detail)
		names = append(names, a.Name)
		expect.True(t, a.Duration > 0 && a.Detail != "", a)
	}
	expect.True(t, slices.Equal(names, []string{"vacuum sale", "vacuum link", "checkpoint"}), names)
	expect.Equal(t, answer(t, d.Admin(), "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'sale'"), "0",
		"dead rows")
	if age := points(t, d)[engine.CheckpointAge].Value; age > 1<<20 {
		t.Errorf("%v bytes of log since the checkpoint", age)
	}
	sizes, err := d.Sizes(t.Context())
	expect.NoError(t, err)
	got := map[string]int64{}
	var parts int64
	for _, z := range sizes {
		got[z.Object] = z.Bytes
		if z.Object != "" {
			parts += z.Bytes
		}
	}
	for _, object := range []string{"sale", "sale.market", "sale.pdc", "sale.wide", "link", "link.code", ""} {
		expect.True(t, got[object] > 0, object, got[object])
	}
	expect.True(t, len(got) == 7 && parts < got[""], got)
	// The files of the class data are those of tables and indexes.
	var files int64
	class, err := d.FileClass(t.Context())
	expect.NoError(t, err)
	expect.NoError(t, filepath.WalkDir(d.DataDir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(d.DataDir(), path)
		if info, err := e.Info(); err == nil && class(rel) == engine.DataFile {
			files += info.Size()
		}
		return nil
	}))
	if files < parts || files > parts+64<<10 { // a sequence is there, too
		t.Errorf("files of %d bytes for parts of %d", files, parts)
	}
}

// A range that an index covers is read from the index alone.
func testPlans(t *testing.T, d *db) {
	s := newSession(t, d)
	insert := prepare(t, s, enginetest.SaleInsert(500))
	for i := range 40 {
		insert.OK(saleRows(i*500, 500)...)
	}
	_, err := d.Settle(t.Context())
	expect.NoError(t, err)
	table := schema().Tables[0]
	for _, c := range []struct {
		name string
		op   model.Op
		want string
	}{
		{"covered", model.Op{Index: "market", Columns: []string{"product", "customer", "price"}, Lower: model.Inclusive, Limit: 10}, `Index Only Scan using "sale.market" on sale`},
		{"covered, nullable", model.Op{Index: "pdc", Columns: []string{"price", "at", "customer"}, Lower: model.Inclusive, Limit: 10}, `Index Only Scan using "sale.pdc" on sale`},
		{"covered, down", model.Op{Index: "pdc", Columns: []string{"price", "at", "customer"}, Desc: true, Limit: 10}, `Index Only Scan Backward using "sale.pdc" on sale`},
		{"covered by inclusion", model.Op{Index: "wide", Columns: []string{"data"}, Equal: 1}, `Index Only Scan using "sale.wide" on sale`},
		{"not covered", model.Op{Index: "market", Columns: []string{"data"}, Lower: model.Inclusive, Limit: 10}, `Index Scan using "sale.market" on sale`},
		{"key", model.Op{Columns: []string{"data"}, Lower: model.Inclusive, Limit: 10}, `Index Scan using sale_pkey on sale`},
		{"least key", model.Op{Columns: []string{"id"}, Limit: 1}, `Index Only Scan using sale_pkey on sale`},
	} {
		c.op.Kind, c.op.Table = model.Scan, "sale"
		st, err := newDialect().Statement(&table, &c.op)
		expect.NoError(t, err)
		plan := answer(t, d.Admin(), "EXPLAIN (COSTS OFF) "+strings.ReplaceAll(st.Text, "$1", "5"))
		expect.True(t, strings.Contains(plan, c.want) && !strings.Contains(plan, "Sort"), c.name, st.Text, plan)
	}
}
