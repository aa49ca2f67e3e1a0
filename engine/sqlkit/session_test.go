package sqlkit_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/sqlkittest"
	"rumbench/model"
)

func open(t *testing.T, f *fake, d *sqlkit.Dialect) *sqlkit.DB {
	t.Helper()
	db, err := sqlkit.Open(t.Context(), f, d, sqlkittest.Schema())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func session(t *testing.T, f *fake, d *sqlkit.Dialect) *sqlkit.Session {
	t.Helper()
	s, err := open(t, f, d).NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func prepare(t *testing.T, s *sqlkit.Session, op model.Op) engine.Stmt {
	t.Helper()
	st, err := s.Prepare(t.Context(), &op)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func run(t *testing.T, st engine.Stmt, args ...model.Value) engine.Result {
	t.Helper()
	var r engine.Result
	if err := st.Exec(t.Context(), args, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func want(t *testing.T, f *fake, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, f.log); diff != "" {
		t.Error(diff)
	}
	f.log = nil
}

var two = model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"product", "price"}, Rows: 2, ReturnNumber: true}

func TestNumbers(t *testing.T) {
	args := []model.Value{model.IntValue(1), model.FloatValue(2), model.IntValue(3), model.FloatValue(4)}

	f := &fake{lastID: 7, count: 2}
	if r := run(t, prepare(t, session(t, f, mysqlLike()), two), args...); r.Value.Int() != 8 || r.Rows != 2 {
		t.Errorf("first of two is 7: %+v", r)
	}

	f = &fake{rows: map[string][][]driver.Value{
		`INSERT INTO "sale" ("product", "price") VALUES ($1, $2), ($3, $4) RETURNING "id"`: {{int64(7)}, {int64(9)}},
	}}
	if r := run(t, prepare(t, session(t, f, postgresLike()), two), args...); r.Value.Int() != 9 || r.Rows != 2 {
		t.Errorf("7 and 9 are returned: %+v", r)
	}

	f = &fake{lastID: 7, count: 2}
	if r := run(t, prepare(t, session(t, f, generic()), two), args...); !r.Value.IsNull() || r.Rows != 2 {
		t.Errorf("none is told: %+v", r)
	}
}

func TestArguments(t *testing.T) {
	f := &fake{}
	s := session(t, f, mysqlLike())
	update := prepare(t, s, model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "count", Add: true}, {Column: "at"}}})
	run(t, update, model.IntValue(5), model.TimeValue(time.Unix(0, 0)), model.IntValue(9))
	const text = "UPDATE `sale` SET `count` = COALESCE(`count` + ?, `count`, ?), `at` = ? WHERE `id` = ?"
	want(t, f, "prepare "+text, "exec "+text+" [5] [5] [1970-01-01 00:00:00 +0000 UTC] [9]")
	var r engine.Result
	if err := update.Exec(t.Context(), []model.Value{{}}, &r); err == nil || engine.ClassOf(err) != engine.Fatal {
		t.Errorf("too few arguments: %v", err)
	}
}

func TestResults(t *testing.T) {
	const text = `SELECT "at", "price", "count", "note" FROM "sale" WHERE "id" = ?`
	at := time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
	f := &fake{rows: map[string][][]driver.Value{
		text:                              {{at, "1.5", []byte("-3"), []byte("x")}, {int64(1), int64(2), float64(3), "y"}, {nil, nil, nil, nil}},
		`SELECT SUM("count") FROM "sale"`: {{[]byte("12345678901")}},
	}}
	s := session(t, f, generic())
	get := prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"at", "price", "count", "note"}})
	var got []string
	r := engine.Result{Each: func(row []model.Value) {
		for _, v := range row {
			got = append(got, v.String())
		}
	}}
	if err := get.Exec(t.Context(), []model.Value{model.IntValue(1)}, &r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"2020-01-02T03:04:05.000006Z", "1.5", "-3", `"x"`,
		"1970-01-01T00:00:00.000001Z", "2", "3", `"y"`,
		"NULL", "NULL", "NULL", "NULL",
	}, got); diff != "" {
		t.Error(diff)
	}
	sum := prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"count"}, Aggregate: model.Sum})
	if r := run(t, sum); r.Value.Int() != 12345678901 || r.Rows != 1 {
		t.Errorf("sum %v", r.Value)
	}
	f.rows[text] = [][]driver.Value{{"yesterday", 1.0, 1.0, "z"}}
	if err := get.Exec(t.Context(), []model.Value{model.IntValue(1)}, &r); err == nil {
		t.Error("text was taken for a time")
	}
}

func TestTransactionStatements(t *testing.T) {
	f := &fake{fail: map[string]error{}}
	s := session(t, f, generic())
	begin, commit := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Commit})
	run(t, begin)
	run(t, commit)
	run(t, begin)
	want(t, f, "prepare BEGIN", "exec BEGIN", "prepare COMMIT", "exec COMMIT", "exec BEGIN")
	f.fail["COMMIT"] = driver.ErrBadConn
	var r engine.Result
	if err := commit.Exec(t.Context(), nil, &r); engine.ClassOf(err) != engine.Gone {
		t.Errorf("got %v", err)
	}
	want(t, f, "exec COMMIT", "prepare ROLLBACK", "exec ROLLBACK")

	f = &fake{}
	s = session(t, f, mysqlLike())
	run(t, prepare(t, s, model.Op{Kind: model.Begin, Isolation: model.RepeatableRead}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := prepare(t, s, model.Op{Kind: model.Rollback}).Exec(ctx, nil, &r); err != nil {
		t.Error(err) // a transaction can always be ended
	}
	want(t, f, "text SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "text START TRANSACTION", "text ROLLBACK")
}

func TestDefinitionsAreUndone(t *testing.T) {
	f := &fake{}
	db := open(t, f, generic())
	tables := sqlkittest.Schema().Tables
	second := generic().CreateTable(&tables[1])
	f.fail = map[string]error{second: errors.New("it exists")}
	if err := db.CreateTables(t.Context()); err == nil {
		t.Error("no error")
	}
	want(t, f, "text "+generic().CreateTable(&tables[0]), "text "+second, `text DROP TABLE "sale"`)
	if err := db.CreateIndexes(t.Context(), "sale", "product", "none"); err == nil {
		t.Error("an index that is not declared was created")
	}
	want(t, f)
}

func TestParallelIndexes(t *testing.T) {
	f := &fake{}
	d := generic()
	d.Parallel = true
	db := open(t, f, d)
	if err := db.CreateIndexes(t.Context(), "sale", "product"); err != nil {
		t.Error(err)
	}
	want(t, f, `text CREATE INDEX "sale.product" ON "sale" ("product", "price")`, "close connection")
}

func TestCloseEndsSessions(t *testing.T) {
	f := &fake{}
	db := open(t, f, generic())
	s, err := db.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	get := prepare(t, s, model.Op{Kind: model.Delete, Table: "sale"})
	f.log = nil
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const text = `DELETE FROM "sale" WHERE "id" = ?`
	want(t, f, "close "+text, "close connection", "close connection")
	var r engine.Result
	if err := get.Exec(t.Context(), []model.Value{{}}, &r); engine.ClassOf(err) != engine.Gone {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Error(err)
	}
	want(t, f)
}

// TestAllocations guards the hot path: the kit adds nothing to what the driver
// and the interface of its values cost. Small numbers and the driver here cost nothing.
func TestAllocations(t *testing.T) {
	f := &fake{rows: map[string][][]driver.Value{}}
	s := session(t, f, generic())
	insert := prepare(t, s, two)
	f.quiet = true
	args := []model.Value{model.IntValue(1), {}, model.IntValue(3), {}}
	var r engine.Result
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _ = insert.Exec(ctx, args, &r) }); n > 0 {
		t.Errorf("%v allocations of an insert", n)
	}
	get := prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"count"}})
	if n := testing.AllocsPerRun(100, func() { _ = get.Exec(ctx, args[:1], &r) }); n > 1 { // the driver's rows
		t.Errorf("%v allocations of a get", n)
	}
}
