package enginetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rumbench/engine"
	"rumbench/model"
)

var (
	pushOp  = model.Op{Kind: model.Insert, Table: "queue", Columns: []string{"v"}, Rows: 5}
	countOp = model.Op{Kind: model.Scan, Table: "queue", Aggregate: model.Count}
)

func ints(n ...int64) []model.Value {
	out := make([]model.Value, len(n))
	for i, x := range n {
		out[i] = model.IntValue(x)
	}
	return out
}

// testNumbering: the engine numbers rows in ascending order, and returns the
// last number to inserts with ReturnNumber.
func (s Suite) testNumbering(t *testing.T) {
	c := newClient(t, s.open(t, false))
	ask := pushOp
	for i := range int64(3) {
		ask.ReturnNumber = i > 0
		want := model.Value{}
		if ask.ReturnNumber {
			want = model.IntValue(5 * (i + 1))
		}
		r, _ := c.do(ask, ints(1, 2, 3, 4, 5)...)
		failIf(t, r.Value.Compare(want) != 0 || r.Rows != 5, "insert %d returns %v for %d rows, want %v for 5", i, r.Value,
			r.Rows, want)
	}
	_, rows := c.do(model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"id", "v"}})
	for i, row := range rows {
		fatalIf(t, row[0].Int() != int64(i+1) || row[1].Int() != int64(i%5+1), "row %d is %v", i, row)
	}
	failIf(t, len(rows) != 15, "%d rows, want 15", len(rows))
	_, last := c.do(model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"id"}, Desc: true, Limit: 1})
	failIf(t, len(last) != 1 || last[0][0].Int() != 15, "greatest number %v, want 15", last)
}

// testConflicts: a failed insert of several rows changes nothing.
func (s Suite) testConflicts(t *testing.T) {
	c := newClient(t, s.open(t, true))
	insert := func(n int, conflict model.Conflict) model.Op {
		return model.Op{Kind: model.Insert, Table: "things", Columns: []string{"id", "a", "n"}, Rows: n, OnConflict: conflict}
	}
	c.do(insert(1, model.Fail), ints(3, 0, 0)...)
	_, _, err := c.try(insert(3, model.Fail), ints(1, 0, 0, 2, 0, 0, 3, 0, 0)...)
	failIf(t, engine.ClassOf(err) != engine.Duplicate, "got %v, want an error of class duplicate", err)
	for _, index := range []string{"", "things_a"} {
		r, _ := c.do(model.Op{Kind: model.Scan, Table: "things", Index: index, Columns: []string{"id"}})
		failIf(t, r.Rows != 1, "by %q: %d rows after a failed insert, want 1", index, r.Rows)
	}
	_, _, err = c.try(insert(1, model.Fail), model.IntValue(9), model.Value{}, model.Value{})
	failIf(t, err == nil, "NULL was stored in a NOT NULL column")
}

// testLowest: the lowest rows at or above the cursor are deleted.
func (s Suite) testLowest(t *testing.T) {
	c := newClient(t, s.open(t, true))
	for range 4 {
		c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	}
	pop := c.prepare(model.Op{Kind: model.DeleteLowest, Table: "queue", Rows: 6})
	for _, step := range []struct{ cursor, deleted, left, first int64 }{
		{0, 6, 14, 7}, {7, 6, 8, 13}, {15, 6, 2, 13}, {15, 0, 2, 13}, {0, 2, 0, 0}, {0, 0, 0, 0},
	} {
		r, _, err := collect(pop, model.IntValue(step.cursor))
		check(t, err)
		left, _ := c.do(countOp)
		fatalIf(t, r.Rows != step.deleted || left.Value.Int() != step.left, "from %d: deleted %d, %v left; want %d, %d",
			step.cursor, r.Rows, left.Value, step.deleted, step.left)
		_, first := c.do(model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"id"}, Limit: 1})
		if step.left > 0 && first[0][0].Int() != step.first {
			t.Fatalf("from %d: first row %v, want %d", step.cursor, first[0], step.first)
		}
	}
	r, _ := c.do(model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v"}})
	failIf(t, r.Rows != 0, "%d index entries are left of deleted rows", r.Rows)
}

// testDeadEntries: an engine that counts the entries of deleted rows that reads pass over counts
// them, and no others.
func testDeadEntries(t *testing.T, s Suite) {
	const pushes, deleted = 40, 150
	db := s.open(t, false)
	passed := func() (sum float64, counted bool) {
		var sample engine.Sample
		check(t, db.Counters(context.Background(), &sample))
		for _, p := range sample.Points {
			if p.Name == engine.DeadEntries {
				sum, counted = sum+p.Value, true
			}
		}
		return sum, counted
	}
	c := newClient(t, db)
	for range pushes {
		c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	}
	read := model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"id", "v"}}
	c.do(read)
	first, counted := passed()
	if !counted {
		t.Skip("it does not count them")
	}
	c.do(model.Op{Kind: model.DeleteLowest, Table: "queue", Rows: deleted}, ints(0)...)
	previous, _ := passed()
	c.do(read)
	last, _ := passed()
	failIf(t, first > pushes, "%v entries before anything was deleted", first)
	failIf(t, last-previous < deleted, "%v entries, after %d of %d rows were deleted", last-previous, deleted, 5*pushes)
}

func (s Suite) testAggregates(t *testing.T) {
	c := newClient(t, s.open(t, true))
	for i := range int64(4) {
		c.do(pushOp, ints(1, 1, 2, 3, 10*i)...)
	}
	scan := model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v"}, Lower: model.Exclusive,
		Upper: model.Inclusive}
	got := func(f func(*model.Op)) (engine.Result, []int64) {
		op := scan
		f(&op)
		r, rows := c.do(op, ints(0, 20)...)
		var out []int64
		for _, row := range rows {
			out = append(out, row[0].Int())
		}
		return r, out
	}
	r, _ := got(func(o *model.Op) { o.Aggregate = model.Count })
	failIf(t, r.Value.Int() != 18, "count %v, want 18", r.Value)
	r, _ = got(func(o *model.Op) { o.Aggregate = model.Sum })
	failIf(t, r.Value.Int() != 4*7+30, "sum %v, want 58", r.Value)
	if _, rows := got(func(o *model.Op) { o.Distinct = true; o.OrderBy = "v" }); !slices.Equal(rows,
		[]int64{1, 2, 3, 10, 20}) {
		t.Errorf("distinct %v", rows)
	}
	_, rows := c.do(model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"v"}, Upper: model.Inclusive,
		OrderBy: "v"}, ints(5)...)
	failIf(t, len(rows) != 5 || rows[0][0].Int() != 0 || rows[4][0].Int() != 3, "ordered by another column: %v", rows)
}

// testIndexes: indexes are built on existing rows, dropped, and refused when
// they exist or are missing.
func (s Suite) testIndexes(t *testing.T) {
	ctx := context.Background()
	db := s.open(t, false)
	failIf(t, db.CreateTables(ctx) == nil, "existing tables were created again")
	c := newClient(t, db)
	for range 100 {
		c.do(pushOp, ints(5, 4, 3, 2, 1)...)
	}
	byV := model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v", "id"}}
	free := byV
	free.Free = true
	get := model.Op{Kind: model.Get, Table: "queue", Index: "queue_v", Equal: 1, Columns: []string{"id"}}
	update := model.Op{Kind: model.Update, Table: "queue", Index: "queue_v", Equal: 1, Set: []model.Assign{{Column: "v"}}}
	for _, op := range []model.Op{byV, free, get, update} {
		_, err := c.s.Prepare(ctx, &op)
		failIf(t, err == nil, "an operation on a missing index was prepared: %s", op.Label())
	}
	check(t, db.CreateIndexes(ctx, "queue", "queue_v"))
	failIf(t, db.CreateIndexes(ctx, "queue", "queue_v") == nil, "an existing index was created again")
	c = newClient(t, db)
	_, rows := c.do(byV)
	failIf(t, len(rows) != 500 || rows[0][0].Int() != 1 || rows[499][0].Int() != 5,
		"the index built on existing rows has %d entries", len(rows))
	c.do(pushOp, ints(0, 0, 0, 0, 0)...)
	_, rows = c.do(byV)
	failIf(t, len(rows) != 505, "index has %d entries after an insert, want 505", len(rows))
	check(t, c.s.Close())
	check(t, db.DropIndex(ctx, "queue", "queue_v"))
	c = newClient(t, db)
	_, err := c.s.Prepare(ctx, &byV)
	failIf(t, err == nil, "an operation on a dropped index was prepared")
	check(t, db.CreateIndexes(ctx, "queue", "queue_v"))
	_, rows = newClient(t, db).do(byV)
	failIf(t, len(rows) != 505, "the rebuilt index has %d entries, want 505", len(rows))
}

// testConcurrentAdds: sessions that add to the same rows lose no update.
func (s Suite) testConcurrentAdds(t *testing.T) {
	concurrentAdds(t, s, "things",
		model.Op{Kind: model.Update, Table: "things", Index: "things_a", Equal: 1,
			Set: []model.Assign{{Column: "n", Add: true}}})
}

// concurrentAdds adds to two rows of a table by key, by an insert, and by another
// operation that adds to the row whose key and column a is 1.
func concurrentAdds(t *testing.T, s Suite, table string, otherOp model.Op) {
	db := s.open(t, true)
	c := newClient(t, db)
	c.do(model.Op{Kind: model.Insert, Table: table, Columns: []string{"id", "a", "n"}, Rows: 2}, ints(1, 1, 0, 2, 1, 0)...)
	set := []model.Assign{{Column: "n", Add: true}}
	ops := []model.Op{
		{Kind: model.Update, Table: table, Set: set},
		otherOp,
		{Kind: model.Insert, Table: table, Columns: []string{"n", "id", "a"}, Rows: 1, OnConflict: model.Add,
			AddColumns: []string{"n"}},
		{Kind: model.Update, Table: table, Set: set},
	}
	args := [][]model.Value{ints(1, 1), ints(1, 1), ints(1, 2, 1), ints(1, 2)}
	const each = 100
	parallel(t, db, len(ops), func(i int, c *client) error {
		st := c.prepare(ops[i])
		for done := 0; done < each; {
			_, _, err := collect(st, args[i]...)
			if engine.ClassOf(err).Yields() {
				continue
			}
			if err != nil {
				return err
			}
			done++
		}
		return nil
	})
	_, rows := c.do(model.Op{Kind: model.Scan, Table: table, Columns: []string{"n"}})
	second := int64(2 * each)
	if otherOp.Index != "" {
		second += each // it finds both rows
	}
	failIf(t, len(rows) != 2 || rows[0][0].Int() != 2*each || rows[1][0].Int() != second, "sums %v, want %d and %d", rows,
		2*each, second)
}

// testConcurrentLowest: sessions that delete the lowest rows concurrently count
// every row once.
func (s Suite) testConcurrentLowest(t *testing.T) {
	db := s.open(t, true)
	c := newClient(t, db)
	rows, rounds := int64(500), 40
	if s.StandIn { // which reads all rows for each
		rows, rounds = 60, 5
	}
	for range rows / 5 {
		c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	}
	var mu sync.Mutex
	var deleted int64
	parallel(t, db, 3, func(_ int, c *client) error {
		st := c.prepare(model.Op{Kind: model.DeleteLowest, Table: "queue", Rows: 3})
		for range rounds {
			r, _, err := collect(st, model.IntValue(0))
			if err != nil && !engine.ClassOf(err).Yields() {
				return err
			}
			mu.Lock()
			deleted += r.Rows
			mu.Unlock()
		}
		return nil
	})
	left, _ := c.do(countOp)
	failIf(t, left.Value.Int()+deleted != rows, "%d deleted and %v left of %d", deleted, left.Value, rows)
}

func parallel(t *testing.T, db engine.DB, n int, f func(i int, c *client) error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		c := newClient(t, db)
		wg.Go(func() { errs[i] = f(i, c) })
	}
	wg.Wait()
	for _, err := range errs {
		check(t, err)
	}
}

// testObservation: settings are read back, sizes and counters are plausible.
func (s Suite) testObservation(t *testing.T) {
	ctx := context.Background()
	db := s.open(t, true)
	settings, err := db.Settings(ctx)
	check(t, err)
	failIf(t, !slices.ContainsFunc(settings, func(x engine.Setting) bool {
		return x.Name == "durability" && x.Value == string(s.Config.Durability)
	}), "the settings lack durability %s: %v", s.Config.Durability, settings)
	packed := slices.IndexFunc(settings, func(x engine.Setting) bool { return x.Name == "compression" })
	failIf(t, packed < 0 || settings[packed].Value == "", "the settings lack the compression: %v", settings)
	var previousSample, after engine.Sample
	check(t, db.Counters(ctx, &previousSample))
	pushWatched(t, db, 500)
	check(t, db.Counters(ctx, &after))
	growing := 0
	for _, p := range after.Points {
		failIf(t, strings.HasPrefix(p.Name, "engine.") && !slices.ContainsFunc(engine.Meanings(), p.Means),
			"%+v is none of engine.Meanings", p)
		i := slices.IndexFunc(previousSample.Points, func(q engine.Point) bool { return q.Key() == p.Key() })
		if i < 0 || p.Kind != engine.Counter {
			continue
		}
		failIf(t, p.Value < previousSample.Points[i].Value, "counter %s decreased", p.Key())
		if p.Value > previousSample.Points[i].Value {
			growing++
		}
	}
	failIf(t, len(after.Points) > 0 && growing == 0, "no counter grew by 2500 inserts")
	if structured, ok := db.(engine.Structured); ok {
		known, err := structured.Structure(ctx)
		check(t, err)
		failIf(t, known.Shape == "" && known != engine.Structure{}, "%+v has no shape", known)
	}
	actions, err := db.Settle(ctx)
	check(t, err)
	failIf(t, len(actions) == 0, "settle reports no actions")
	sizes, err := db.Sizes(ctx)
	check(t, err)
	checkSizes(t, sizes)
}

// pushWatched pushes n times, and reads the counters all the while: the race detector
// sees concurrent changes by the engine.
func pushWatched(t *testing.T, db engine.DB, n int) {
	t.Helper()
	c := newClient(t, db)
	var pushed atomic.Bool
	var watching sync.WaitGroup
	watching.Go(func() {
		for !pushed.Load() && !t.Failed() {
			var sample engine.Sample
			err := db.Counters(context.Background(), &sample)
			failIf(t, err != nil, "counters while a client inserts: %v", err)
		}
	})
	defer watching.Wait()
	defer pushed.Store(true)
	for range n {
		c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	}
}

func checkSizes(t *testing.T, sizes []engine.Size) {
	t.Helper()
	var total, parts int64
	exact := true
	for _, z := range sizes {
		if z.Object == "" {
			total = z.Bytes
			continue
		}
		parts += z.Bytes
		exact = exact && z.Kind == engine.Exact
		failIf(t, z.Object == "queue" && z.Bytes == 0, "a table with 2500 rows has no size")
	}
	failIf(t, total == 0, "no total size: %v", sizes)
	failIf(t, exact && parts > total, "tables and indexes have %d bytes, the database %d", parts, total)
}

// testTransactions: a rollback leaves nothing, and uncommitted rows are
// invisible to others.
func (s Suite) testTransactions(t *testing.T) {
	db := s.open(t, true)
	c, otherClient := newClient(t, db), newClient(t, db)
	count := otherClient.prepare(countOp)
	seen := func() int64 {
		r, _, err := collect(count)
		check(t, err)
		return r.Value.Int()
	}
	begin, commit, rollback := model.Op{Kind: model.Begin}, model.Op{Kind: model.Commit}, model.Op{Kind: model.Rollback}
	c.do(begin)
	c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	counted, _ := c.do(countOp)
	failIf(t, counted.Value.Int() != 5, "a transaction sees %v of its own 5 rows", counted.Value)
	expect := func(want int64, when string) {
		t.Helper()
		n := seen()
		failIf(t, n != want, "another session sees %d rows %s, want %d", n, when, want)
	}
	expect(0, "before a commit")
	c.do(rollback)
	expect(0, "after a rollback")
	c.do(begin)
	c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	c.do(model.Op{Kind: model.Update, Table: "queue", Index: "queue_v", Equal: 1,
		Set: []model.Assign{{Column: "v", Add: true}}}, ints(10, 5)...)
	c.do(commit)
	expect(5, "after a commit")
	_, rows := otherClient.do(model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v"},
		Desc:  true,
		Limit: 1})
	failIf(t, rows[0][0].Int() != 15, "greatest value %v, want 15", rows[0][0])
}

// testHalfWay: an operation that fails half-way within a transaction leaves
// nothing: either it alone is undone, or the whole transaction.
func (s Suite) testHalfWay(t *testing.T) {
	db := s.open(t, true)
	c := newClient(t, db)
	insert := func(n int) model.Op {
		return model.Op{Kind: model.Insert, Table: "things", Columns: []string{"id", "a"}, Rows: n}
	}
	c.do(model.Op{Kind: model.Begin})
	c.do(insert(1), ints(1, 1)...)
	_, _, err := c.try(insert(2), model.IntValue(2), model.IntValue(1), model.IntValue(3), model.Value{})
	fatalIf(t, err == nil, "NULL was stored in a NOT NULL column")
	want := int64(1)
	if _, _, err := c.try(model.Op{Kind: model.Commit}); err != nil {
		want = 0
		c.do(model.Op{Kind: model.Rollback})
	}
	for _, index := range []string{"", "things_a"} {
		r, _ := newClient(t, db).do(model.Op{Kind: model.Scan, Table: "things", Index: index, Columns: []string{"id"}})
		failIf(t, r.Rows != want, "by %q: %d rows, want %d", index, r.Rows, want)
	}
	c.do(insert(1), ints(9, 9)...) // the session continues
}

// testUnique: a unique index refuses equal values, but not NULL.
func (s Suite) testUnique(t *testing.T) {
	c := newClient(t, s.open(t, true))
	insert := model.Op{Kind: model.Insert, Table: "names", Columns: []string{"id", "name"}, Rows: 1}
	name := func(s string) model.Value { return model.StringValue([]byte(s)) }
	c.do(insert, model.IntValue(1), name("a"))
	c.do(insert, model.IntValue(2), model.Value{})
	c.do(insert, model.IntValue(3), model.Value{})
	c.do(insert, model.IntValue(4), name("ab"))
	duplicate := func(err error) {
		t.Helper()
		failIf(t, err == nil || engine.ClassOf(err) != engine.Duplicate && !s.StandIn,
			"got %v, want an error of class duplicate", err)
	}
	_, _, err := c.try(insert, model.IntValue(5), name("a"))
	duplicate(err)
	set := model.Op{Kind: model.Update, Table: "names", Set: []model.Assign{{Column: "name"}}}
	_, _, err = c.try(set, name("a"), model.IntValue(4))
	duplicate(err)
	c.do(set, name("ab"), model.IntValue(4)) // its own value is no conflict
	if r, _ := c.do(model.Op{Kind: model.Scan, Table: "names", Index: "names_name",
		Columns: []string{"id"}}); r.Rows != 4 {
		t.Errorf("%d rows, want 4", r.Rows)
	}
}
