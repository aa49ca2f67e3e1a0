package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/sqlkit"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
)

// answer is the answer to a query: the first column of its rows.
func answer(t *testing.T, c *sqlkit.Admin, query string) string {
	t.Helper()
	var out []string
	expect.NoError(t, c.Query(t.Context(), query, func(row []string) error {
		out = append(out, row[0])
		return nil
	}))
	return strings.Join(out, "\n")
}

// clear empties the tables.
func clear(t *testing.T, d *db) {
	t.Helper()
	expect.NoError(t, d.Admin().Exec(t.Context(), "TRUNCATE sale, link RESTART IDENTITY"))
}

// TestOperations runs on one server, since starting one takes a second.
func TestOperations(t *testing.T) { testOperations(t, config(need.TempDir(t))) }

// An old and a new release, fetched by scripts/postgres.sh, do the same.
func TestReleases(t *testing.T) {
	for _, release := range []string{"12.22", "18.0"} {
		t.Run(release, func(t *testing.T) {
			need.Long(t)
			c := config(need.TempDir(t))
			c.Server.Binary = "/opt/rumbench/postgres-" + release + ".0/bin/postgres"
			p, err := server.Find(t.Context(), server.Postgres, server.Source{Binary: c.Server.Binary})
			need.Installed(t, err)
			expect.Equal(t, p.Version, release, c.Server.Binary, "is release")
			testOperations(t, c)
		})
	}
}

func testOperations(t *testing.T, c engine.Config) {
	d := open(t, c)
	fill(t, d)
	for _, c := range []struct {
		name string
		f    func(*testing.T, *db)
	}{
		{"values", testValues},
		{"conflicts", testConflicts},
		{"rows that come twice", testRepeated},
		{"aggregates", testAggregates},
		{"failed transactions", testFailedTransactions},
		{"classes", testClasses},
		{"deadlock", testDeadlock},
		{"contexts", testContexts},
		{"commands", testCommands},
		{"indexes at the same time", testParallelIndexes},
		{"counters", testCounters},
		{"rest", testRest},
		{"plans", testPlans},
	} {
		t.Run(c.name, func(t *testing.T) {
			clear(t, d)
			c.f(t, d)
		})
	}
}

func testValues(t *testing.T, d *db) {
	s := newSession(t, d)
	insert := prepare(t, s, enginetest.SaleInsert(1))
	get := prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"at", "register", "price", "data"}})
	before := model.TimeValue(time.Date(1969, 12, 31, 23, 59, 59, 123456000, time.UTC))
	for i, c := range []struct {
		at       any
		register int
		price    float64
		data     any
	}{
		{before, math.MaxInt32, 1, "with ' and \" and \\ and ü"},
		{nil, math.MinInt32, -0.1, nil},
		{model.MicrosValue(0), -1, math.MaxFloat64, ""},
		{model.MicrosValue(946_684_800_000_000), 0, 1e-300, strings.Repeat("x", 100_000)},
		{model.MicrosValue(math.MaxInt64), 0, 1e300, "2024-01-01"},
	} {
		insert.Gives(fmt.Sprint(i+1), c.at, c.register, 2, 3, c.price, c.data)
		v := enginetest.Values([]any{c.at, c.price, c.data})
		get.Want([]any{i + 1}, fmt.Sprintf("%s %d %s %s", v[0], c.register, v[1], v[2]))
	}
	for _, row := range [][]any{
		{nil, 1 << 40, 2, 3, 1.0, ""},                        // too large for its column
		{model.MicrosValue(math.MinInt64), 1, 2, 3, 1.0, ""}, // out of the range of times
		{nil, 1, 2, 3, 1.0, "a\x00b"},                        // not in a text
		{model.FloatValue(1), 1, 2, 3, 1.0, ""},              // of another type
		{nil, nil, 2, 3, 1.0, ""},                            // NULL
	} {
		expect.Equal(t, engine.ClassOf(insert.Run(row...)), engine.Fatal, row)
	}
	three := prepare(t, s, enginetest.SaleInsert(3))
	three.OK(saleRows(0, 3)...)
	if n := three.Value.Int(); three.Rows != 3 || n < 8 {
		t.Errorf("%d rows, the last is %d", three.Rows, n)
	}
}

func testConflicts(t *testing.T, d *db) {
	s := newSession(t, d)
	op := linkInsert(2)
	fail := prepare(t, s, op)
	op.OnConflict = model.Ignore
	ignore := prepare(t, s, op)
	op.OnConflict = model.Replace
	replace := prepare(t, s, op)
	all := prepare(t, s, model.Op{Kind: model.Scan, Table: "link", Columns: []string{"to", "version", "code"}})

	fail.Changes(2, 1, "a", nil, 1, 1, 1, "b", nil, 2, 2)
	fail.Fails(engine.Duplicate, 1, "c", nil, 3, 3, 1, "a", nil, 9, 9)
	fail.Fails(engine.Duplicate, 1, "c", nil, 3, 3, 1, "d", nil, 9, 2) // the unique index
	all.Want(nil, `"a" 1 1`, `"b" 2 2`)
	ignore.Changes(1, 1, "a", nil, 9, 9, 1, "c", nil, 3, 3)
	ignore.Changes(1, 1, "e", nil, 5, 5, 1, "e", nil, 6, 6)
	all.Want(nil, `"a" 1 1`, `"b" 2 2`, `"c" 3 3`, `"e" 5 5`)
	replace.Changes(2, 1, "a", nil, 10, 10, 1, "d", nil, 4, 4)
	replace.Fails(engine.Duplicate, 1, "f", nil, 5, 55, 1, "a", nil, 0, 2) // another row has the code
	all.Want(nil, `"a" 10 10`, `"b" 2 2`, `"c" 3 3`, `"d" 4 4`, `"e" 5 5`)
}

// Rows with one key in one statement are inserted one after the other, and
// still all or none.
func testRepeated(t *testing.T, d *db) {
	s, other := newSession(t, d), newSession(t, d)
	op := linkInsert(3)
	op.OnConflict = model.Replace
	replace := prepare(t, s, op)
	op.OnConflict, op.AddColumns = model.Add, []string{"version"}
	add := prepare(t, s, op)
	all := prepare(t, other, model.Op{Kind: model.Scan, Table: "link", Columns: []string{"to", "version", "code"}})
	begin, commit, rollback := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Commit}), prepare(t, s, model.Op{Kind: model.Rollback})

	replace.Changes(3, 1, "a", nil, 1, 1, 1, "b", nil, 2, 2, 1, "a", nil, 3, 3)
	all.Want(nil, `"a" 3 3`, `"b" 2 2`)
	add.Changes(3, 1, "a", nil, 10, 9, 1, "a", nil, 20, 9, 1, "c", nil, nil, 5)
	all.Want(nil, `"a" 33 3`, `"b" 2 2`, `"c" NULL 5`)
	replace.Fails(engine.Duplicate, 1, "a", nil, 0, 0, 1, "a", nil, 0, 0, 1, "d", nil, 4, 5) // c has the code
	all.Want(nil, `"a" 33 3`, `"b" 2 2`, `"c" NULL 5`)
	begin.OK()
	add.Changes(3, 1, "b", nil, 1, 9, 1, "b", nil, 1, 9, 1, "b", nil, 1, 9)
	all.Want(nil, `"a" 33 3`, `"b" 2 2`, `"c" NULL 5`)
	commit.OK()
	all.Want(nil, `"a" 33 3`, `"b" 5 2`, `"c" NULL 5`)
	begin.OK()
	replace.Fails(engine.Duplicate, 1, "x", nil, 0, 7, 1, "x", nil, 0, 8, 1, "y", nil, 4, 5)
	rollback.OK()
	all.Want(nil, `"a" 33 3`, `"b" 5 2`, `"c" NULL 5`)
}

func testAggregates(t *testing.T, d *db) {
	s := newSession(t, d)
	insert := prepare(t, s, linkInsert(2))
	insert.OK(1, "a", []byte{0, 1}, math.MaxInt64, 1, 1, "b", nil, math.MaxInt64, 2)
	sum := prepare(t, s, model.Op{Kind: model.Scan, Table: "link", Columns: []string{"version"}, Aggregate: model.Sum, Lower: model.Inclusive})
	expect.Error(t, sum.Run(1), "", "a sum that is too large was returned")
	prepare(t, s, model.Op{Kind: model.Update, Table: "link", Set: []model.Assign{{Column: "version"}}}).Changes(1, -12345678901, 1, "b")
	sum.Gives(fmt.Sprint(math.MaxInt64-12345678901), 1)
	sum.Gives("NULL", 2)
	prepare(t, s, model.Op{Kind: model.Scan, Table: "link", Columns: []string{"data"}, Aggregate: model.Count, Distinct: true}).Gives("1")
	prices := prepare(t, s, enginetest.SaleInsert(4))
	prices.OK(saleRows(1, 4)...)
	prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"price"}, Aggregate: model.Sum}).Gives("5")
	prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"register"}, Aggregate: model.Sum}).Gives("10")
	prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Index: "pdc", Columns: []string{"at"}, Limit: 1, Desc: true}).Want(nil, "1970-01-01T00:00:04.000012Z")
}

// After an error in a transaction all that follows fails, the commit too, with
// the class of what went wrong.
func testFailedTransactions(t *testing.T, d *db) {
	s, other := newSession(t, d), newSession(t, d)
	begin, commit, rollback := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Commit}), prepare(t, s, model.Op{Kind: model.Rollback})
	insert := prepare(t, s, linkInsert(1))
	count := prepare(t, other, model.Op{Kind: model.Scan, Table: "link", Aggregate: model.Count})
	begin.OK()
	insert.OK(1, "a", nil, 1, 1)
	insert.Fails(engine.Duplicate, 1, "b", nil, 1, 1)
	insert.Fails(engine.Duplicate, 1, "c", nil, 1, 3)
	commit.Fails(engine.Duplicate)
	count.Gives("0")
	insert.OK(1, "a", nil, 1, 1)
	begin.OK()
	insert.Fails(engine.Duplicate, 1, "a", nil, 1, 1)
	rollback.OK()
	begin.OK()
	insert.OK(1, "b", nil, 1, 2)
	commit.OK()
	count.Gives("2")
}

// Real errors of the server get their classes.
func testClasses(t *testing.T, d *db) {
	holder, waiter := newSession(t, d), newSession(t, d)
	prepare(t, holder, linkInsert(2)).OK(1, "a", nil, 1, 1, 1, "b", nil, 2, 2)
	update := model.Op{Kind: model.Update, Table: "link", Set: []model.Assign{{Column: "version", Add: true}}}
	mine, theirs := prepare(t, holder, update), prepare(t, waiter, update)
	serializable := model.Op{Kind: model.Begin, Isolation: model.RepeatableRead}
	begin, commit, rollback := prepare(t, holder, serializable), prepare(t, holder, model.Op{Kind: model.Commit}), prepare(t, holder, model.Op{Kind: model.Rollback})

	set(t, waiter, "lock_timeout = 20")
	begin.OK()
	mine.OK(1, 1, "a")
	theirs.Fails(engine.LockTimeout, 1, 1, "a")
	set(t, waiter, "lock_timeout = 0")
	set(t, waiter, "statement_timeout = 20")
	theirs.Fails(engine.Timeout, 1, 1, "a")
	set(t, waiter, "statement_timeout = 0")
	rollback.OK()

	// The row was changed after the snapshot was taken.
	begin.OK()
	prepare(t, holder, model.Op{Kind: model.Get, Table: "link", Columns: []string{"to"}}).OK(1, "b")
	theirs.OK(1, 1, "a")
	mine.Fails(engine.Conflict, 1, 1, "a")
	commit.Fails(engine.Conflict)

	// A session that is ended from outside is gone.
	expect.NoError(t, d.Admin().Exec(t.Context(), fmt.Sprintf("SELECT pg_terminate_backend(%d)", waiter.conn().PID())))
	theirs.Fails(engine.Gone, 1, 1, "a")
	theirs.Fails(engine.Gone, 1, 1, "a")
	expect.Equal(t, engine.ClassOf(d.Admin().Exec(t.Context(), "SELECT 1/0")), engine.Fatal)
}

// set changes a setting of one session.
func set(t *testing.T, s *session, text string) {
	t.Helper()
	_, _, err := s.conn().ExecText(t.Context(), "SET "+text)
	expect.NoError(t, err)
}

func testDeadlock(t *testing.T, d *db) {
	var errs [2]error
	var sessions [2]*session
	for i := range sessions {
		sessions[i] = newSession(t, d)
		set(t, sessions[i], "deadlock_timeout = 50")
	}
	prepare(t, sessions[0], linkInsert(2)).OK(1, "a", nil, 1, 1, 1, "b", nil, 2, 2)
	var both, done sync.WaitGroup
	both.Add(2)
	for i, s := range sessions {
		begin, rollback := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Rollback})
		update := prepare(t, s, model.Op{Kind: model.Update, Table: "link", Set: []model.Assign{{Column: "version", Add: true}}})
		keys := []string{"a", "b"}
		done.Go(func() {
			errs[i] = errors.Join(begin.Run(), update.Run(1, 1, keys[i]))
			both.Done()
			both.Wait()
			errs[i] = errors.Join(errs[i], update.Run(1, 1, keys[1-i]), rollback.Run())
		})
	}
	done.Wait()
	expect.Must(t, (errs[0] == nil) != (errs[1] == nil), errs[0], errs[1])
	if err := errors.Join(errs[:]...); engine.ClassOf(err) != engine.Deadlock {
		t.Errorf("%v of class %q", err, engine.ClassOf(err))
	}
}

// An operation ends when its context does, and the session goes on.
func testContexts(t *testing.T, d *db) {
	holder, s := newSession(t, d), newSession(t, d)
	insert := prepare(t, s, linkInsert(1))
	insert.OK(1, "a", nil, 1, 1)
	update := model.Op{Kind: model.Update, Table: "link", Set: []model.Assign{{Column: "version", Add: true}}}
	mine, theirs := prepare(t, holder, update), prepare(t, s, update)
	begin, rollback := prepare(t, holder, model.Op{Kind: model.Begin}), prepare(t, holder, model.Op{Kind: model.Rollback})
	begin.OK()
	mine.OK(1, 1, "a")
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := theirs.Stmt.Exec(ctx, enginetest.Values([]any{1, 1, "a"}), &theirs.Result)
		cancel()
		expect.True(t, errors.Is(err, context.DeadlineExceeded) && engine.ClassOf(err) == engine.Timeout,
			"got", err, "of class", engine.ClassOf(err))
		insert.OK(2+i, "a", nil, 1, 10+i) // the session goes on
	}
	rollback.OK()

	ctx, cancel := context.WithCancel(t.Context())
	expect.NoError(t, theirs.Stmt.Exec(ctx, enginetest.Values([]any{1, 1, "a"}), &theirs.Result))
	cancel() // while nothing runs
	expect.Is(t, theirs.Stmt.Exec(ctx, enginetest.Values([]any{1, 1, "a"}), &theirs.Result), context.Canceled)
	theirs.OK(1, 1, "a")

	// A query is given up in the middle of its rows.
	big := prepare(t, s, enginetest.SaleInsert(1000))
	for i := range 20 {
		big.OK(saleRows(i*1000, 1000)...)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	all := prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id", "data"}})
	all.Each = func([]model.Value) { cancel() }
	if err := all.Stmt.Exec(ctx, nil, &all.Result); !errors.Is(err, context.Canceled) || all.Rows > 1000 {
		t.Errorf("got %v after %d rows", err, all.Rows)
	}
	insert.OK(1, "b", nil, 1, 2)
}

// Statements by text do all or nothing, and take no arguments.
func testCommands(t *testing.T, d *db) {
	expect.Error(t, d.Admin().Exec(t.Context(), "CREATE TABLE one (a int); CREATE TABLE sale (a int)"), "",
		"a table was made twice")
	expect.Equal(t, answer(t, d.Admin(), "SELECT count(*) FROM pg_tables WHERE tablename = 'one'"), "0",
		"half of the text was done")
	expect.Error(t, d.CreateTables(t.Context()), "", "tables were made twice")
	if err := d.Admin().Query(t.Context(), "SELECT 1 / (3 - a) FROM generate_series(1, 9) a", func([]string) error { return nil }); engine.ClassOf(err) != engine.Fatal {
		t.Errorf("an error in the middle of rows: %v", err)
	}
	s := newSession(t, d)
	if _, err := s.Prepare(t.Context(), &model.Op{Kind: model.Get, Table: "none"}); err == nil {
		t.Error("a table that does not exist was prepared")
	}
	expect.NoError(t, d.DropIndex(t.Context(), "sale", "pdc"))
	scan := model.Op{Kind: model.Scan, Table: "sale", Index: "pdc", Columns: []string{"price"}}
	expect.Refused(s.Prepare(t.Context(), &scan))(t, "", "an index that does not exist was prepared")
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "pdc"))
	prepare(t, s, scan).Want(nil)
	get := prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id"}})
	expect.NoError(t, s.Close())
	get.Fails(engine.Gone, 1)
}

// Indexes of several tables are built at the same time: each waits for a lock
// that the test holds, so that all of them must have begun.
func testParallelIndexes(t *testing.T, d *db) {
	expect.NoError(t, d.DropIndex(t.Context(), "sale", "pdc"))
	expect.NoError(t, d.DropIndex(t.Context(), "link", "code"))
	holder := newSession(t, d)
	_, _, err := holder.conn().ExecText(t.Context(), "BEGIN; LOCK TABLE sale, link IN ROW EXCLUSIVE MODE")
	expect.NoError(t, err)
	errs := make(chan error)
	go func() { errs <- d.CreateIndexes(context.Background(), "sale", "pdc") }()
	go func() { errs <- d.CreateIndexes(context.Background(), "link", "code") }()
	for answer(t, d.Admin(), "SELECT count(*) FROM pg_locks WHERE NOT granted") != "2" {
		select {
		case err := <-errs:
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	_, _, err = holder.conn().ExecText(t.Context(), "ROLLBACK")
	expect.NoError(t, errors.Join(err, <-errs, <-errs))
}
