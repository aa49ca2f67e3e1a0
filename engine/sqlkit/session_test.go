package sqlkit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/sqlkittest"
	"rumbench/internal/expect"
	"rumbench/model"
)

var two = model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"product", "price"}, Rows: 2, ReturnNumber: true}

var errLost = engine.Errorf(engine.Gone, "the connection is lost")

func text(s string) model.Value { return model.StringValue([]byte(s)) }

func TestNumbers(t *testing.T) {
	args := []model.Value{model.IntValue(1), model.FloatValue(2), model.IntValue(3), model.FloatValue(4)}
	returned := map[string][][]model.Value{
		`INSERT INTO "sale" ("product", "price") VALUES (?, ?), (?, ?) RETURNING "id"`: {{model.IntValue(7)}, {model.IntValue(9)}},
	}
	for _, c := range []struct {
		number sqlkit.Number
		want   string
	}{{sqlkit.NoNumber, "NULL"}, {sqlkit.FirstNumber, "8"}, {sqlkit.LastNumber, "7"}, {sqlkit.ReturnedNumber, "9"}} {
		f := &fake{id: 7, count: 2, rows: returned}
		if r := run(t, prepare(t, session(t, f, dialect(numbered(c.number))), two), args...); r.Value.String() != c.want || r.Rows != 2 {
			t.Errorf("%d: %+v, want %s", c.number, r, c.want)
		}
	}
}

func TestArguments(t *testing.T) {
	f := &fake{}
	s := session(t, f, dialect())
	update := prepare(t, s, model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "count", Add: true}, {Column: "at"}}})
	run(t, update, model.IntValue(5), model.TimeValue(time.Unix(0, 0)), model.IntValue(9))
	const text = `UPDATE "sale" SET "count" = COALESCE("count" + ?, "count", ?), "at" = ? WHERE "id" = ?`
	want(t, f, "prepare "+text, "exec "+text+" [5 5 1970-01-01T00:00:00Z 9]")
	var r engine.Result
	if err := update.Exec(t.Context(), []model.Value{{}}, &r); err == nil || engine.ClassOf(err) != engine.Fatal {
		t.Errorf("too few arguments: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	expect.Is(t, update.Exec(ended, make([]model.Value, 3), &r), context.Canceled, "the context has ended")
	want(t, f)
}

func TestResults(t *testing.T) {
	const get = `SELECT "note", "count" FROM "sale" WHERE "id" = ?`
	f := &fake{count: 3, fail: map[string]error{}, rows: map[string][][]model.Value{
		get:                               {{text("ab"), model.IntValue(5)}, {{}, {}}},
		`SELECT SUM("count") FROM "sale"`: {{model.IntValue(12345678901)}},
	}}
	s := session(t, f, dialect())
	st := prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"note", "count"}})
	var got string
	r := engine.Result{Each: func(row []model.Value) { got += row[0].String() + row[1].String() + " " }}
	expect.NoError(t, st.Exec(t.Context(), []model.Value{model.IntValue(1)}, &r))
	expect.True(t, got == `"ab"5 NULLNULL ` && r.Rows == 2 && r.Bytes == 10, r.Rows, "rows", r.Bytes, "bytes", got)
	sum := prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"count"}, Aggregate: model.Sum})
	if r := run(t, sum); r.Value.Int() != 12345678901 || r.Rows != 1 {
		t.Errorf("sum %v", r.Value)
	}
	if r := run(t, prepare(t, s, model.Op{Kind: model.Delete, Table: "sale"}), model.IntValue(1)); r.Rows != 3 {
		t.Errorf("%+v", r)
	}
	f.fail[get] = errLost
	expect.Equal(t, engine.ClassOf(st.Exec(t.Context(), []model.Value{model.IntValue(1)}, &r)), engine.Gone)
}

// A scan ends with its context, though the connection goes on.
func TestLongScan(t *testing.T) {
	const all = `SELECT "id" FROM "sale"`
	f := &fake{quiet: true, rows: map[string][][]model.Value{}}
	for i := range 1000 {
		f.rows[all] = append(f.rows[all], []model.Value{model.IntValue(int64(i))})
	}
	scan := prepare(t, session(t, f, dialect()), model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Free: true})
	ctx, cancel := context.WithCancel(t.Context())
	r := engine.Result{Each: func([]model.Value) { cancel() }}
	if err := scan.Exec(ctx, nil, &r); !errors.Is(err, context.Canceled) || r.Rows > 256 {
		t.Errorf("%v after %d rows", err, r.Rows)
	}
}

func TestTransactionStatements(t *testing.T) {
	f := &fake{fail: map[string]error{}}
	s := session(t, f, dialect())
	begin, commit := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Commit})
	run(t, begin)
	run(t, commit)
	run(t, begin)
	want(t, f, "prepare BEGIN", "exec BEGIN []", "prepare COMMIT", "exec COMMIT []", "exec BEGIN []")
	f.fail["COMMIT"] = errLost
	var r engine.Result
	expect.Equal(t, engine.ClassOf(commit.Exec(t.Context(), nil, &r)), engine.Gone)
	want(t, f, "exec COMMIT []", "prepare ROLLBACK", "exec ROLLBACK []")
	undo := prepare(t, s, model.Op{Kind: model.Rollback})
	run(t, undo)
	want(t, f) // the transaction is over
	run(t, begin)
	run(t, undo)
	want(t, f, "exec BEGIN []", "exec ROLLBACK []")

	f = &fake{fail: map[string]error{}}
	s = session(t, f, dialect(func(d *sqlkit.Dialect) { d.CommitEnds = true }))
	commit = prepare(t, s, model.Op{Kind: model.Commit})
	run(t, commit)
	f.fail["COMMIT"] = errLost
	expect.Error(t, commit.Exec(t.Context(), nil, &r), "", "the commit failed without an error")
	want(t, f, "prepare COMMIT", "exec COMMIT []", "exec COMMIT []")

	f = &fake{}
	s = session(t, f, dialect(func(d *sqlkit.Dialect) { d.PlainCommands = true }))
	run(t, prepare(t, s, model.Op{Kind: model.Begin, Isolation: model.RepeatableRead}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := prepare(t, s, model.Op{Kind: model.Rollback}).Exec(ctx, nil, &r); err != nil {
		t.Error(err) // a transaction can always be ended
	}
	want(t, f, "text SET repeatable-read", "text BEGIN", "text ROLLBACK")
}

func TestDefinitionsAreUndone(t *testing.T) {
	f := &fake{}
	d := dialect()
	db := open(t, f, d)
	tables := sqlkittest.Schema().Tables
	first, second := d.CreateTable(&tables[0]), d.CreateTable(&tables[1])
	f.fail = map[string]error{second: errors.New("it exists")}
	expect.Error(t, db.CreateTables(t.Context()), "", "no error")
	want(t, f, "text "+first, "text "+second, `text DROP TABLE "sale"`)
	f.fail, db.Replace = nil, true
	expect.NoError(t, db.CreateTables(t.Context()))
	want(t, f, `text DROP TABLE IF EXISTS "sale"`, "text "+first, `text DROP TABLE IF EXISTS "link"`, "text "+second)
	expect.Error(t, db.CreateIndexes(t.Context(), "sale", "product", "none"), "",
		"an index that is not declared was created")
	want(t, f)

	db = open(t, f, dialect(func(d *sqlkit.Dialect) {
		d.Batch = true
		d.AfterTable = func(_ *sqlkit.Dialect, t *model.Table) []string { return []string{"ALTER " + t.Name} }
	}))
	expect.NoError(t, db.CreateTables(t.Context()))
	want(t, f, "text "+first+"; ALTER sale; "+second+"; ALTER link")
}

func TestParallelIndexes(t *testing.T) {
	f := &fake{}
	db := open(t, f, dialect(func(d *sqlkit.Dialect) { d.Parallel = true }))
	expect.NoError(t, db.CreateIndexes(t.Context(), "sale", "product"))
	want(t, f, `text CREATE INDEX "sale.product" ON "sale" ("product", "price")`, "close connection")
}

// An operation names an index that exists, even if no statement names it.
func TestIndexesExist(t *testing.T) {
	db := open(t, &fake{}, dialect())
	s, err := db.NewSession(t.Context())
	expect.NoError(t, err)
	get := &model.Op{Kind: model.Get, Table: "sale", Index: "product", Equal: 1, Columns: []string{"id"}}
	exists := func() bool {
		_, err := s.Prepare(t.Context(), get)
		return err == nil
	}
	before := exists()
	err = db.CreateIndexes(t.Context(), "sale", "product")
	made := exists()
	err = errors.Join(err, db.DropIndex(t.Context(), "sale", "product"))
	expect.True(t, err == nil && !before && made && !exists(), "before", before, "made", made, "dropped", exists(), err)
}

// What exists is compared with the schema, part by part.
func TestCompare(t *testing.T) {
	words := sqlkit.Definitions{
		Queries: []string{"tables", "indexes"},
		Table:   func(t *model.Table) string { return strings.Join(t.ColumnNames(), ", ") },
		Index:   func(_ *model.Table, ix *model.Index) string { return strings.Join(ix.Columns, ", ") },
		Primary: func(t *model.Table) string { return t.Name + " key" },
	}
	columns := func(table string, names ...string) (rows [][]model.Value) {
		for _, n := range names {
			rows = append(rows, []model.Value{text(table), text(table), text(n)})
		}
		return rows
	}
	link := columns("link", "from", "to", "data", "version")
	index := []model.Value{text("link.to"), text("link"), text("to, version")}
	for _, c := range []struct {
		name    string
		tables  [][]model.Value
		indexes [][]model.Value
		words   string // of the error
	}{
		{"nothing", nil, nil, ""},
		{"as wanted", link, [][]model.Value{index}, ""},
		{"a column is missing", link[:3], nil, `link exists with another definition: it is "from, to, data", and "from, to, data, version" is wanted`},
		{"another key", link, [][]model.Value{{text("link key"), text("link"), text("from")}}, "link key exists with another definition"},
		{"another table", columns("more", "id"), nil, "the database holds more, which is not wanted"},
	} {
		f := &fake{rows: map[string][][]model.Value{"tables": c.tables, "indexes": c.indexes}}
		err := open(t, f, dialect()).Compare(t.Context(), words, false)
		expect.True(t, (err == nil) == (c.words == "") && (err == nil || strings.Contains(err.Error(), c.words)),
			c.name, err)
		// In a schema that others use, only the use of a table is refused.
		db := open(t, f, dialect())
		if err := db.Compare(t.Context(), words, true); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		used := db.Usable(&model.Op{Table: "link"})
		expect.True(t, (used == nil) == (c.words == "" || c.name == "another table") && (used == nil || strings.Contains(used.Error(), c.words)), c.name, used)
		if err := db.Usable(&model.Op{Table: "link", Index: "to"}); (err == nil) != (c.name == "as wanted") {
			t.Errorf("%s: index: %v", c.name, err)
		}
	}
}

func TestAdmin(t *testing.T) {
	f := &fake{fail: map[string]error{"bad": errLost}, rows: map[string][][]model.Value{"q": {{text("a"), {}}, {text("b"), text("c")}}}}
	c := open(t, f, dialect()).Admin()
	got := ""
	err := c.Query(t.Context(), "q", func(row []string) error {
		got += strings.Join(row, "|") + " "
		return nil
	})
	expect.True(t, err == nil && got == "a| b|c ", got, err)
	if v, err := c.Value(t.Context(), "q"); v != "c" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	enough := errors.New("enough")
	expect.Equal(t, c.Query(t.Context(), "q", func([]string) error { return enough }), enough, "an error of who reads")
	if err := c.Exec(t.Context(), "bad"); engine.ClassOf(err) != engine.Gone || !strings.HasPrefix(err.Error(), "bad: ") {
		t.Error(err)
	}
	expect.NoError(t, errors.Join(c.Close(), c.Close()))
	expect.Equal(t, engine.ClassOf(c.Exec(t.Context(), "q")), engine.Gone)
}

func TestCloseEndsSessions(t *testing.T) {
	f := &fake{}
	db := open(t, f, dialect())
	s, err := db.NewSession(t.Context())
	expect.NoError(t, err)
	get := prepare(t, s, model.Op{Kind: model.Delete, Table: "sale"})
	f.log = nil
	expect.NoError(t, db.Close())
	const text = `DELETE FROM "sale" WHERE "id" = ?`
	want(t, f, "close "+text, "close connection", "close connection")
	var r engine.Result
	expect.Equal(t, engine.ClassOf(get.Exec(t.Context(), []model.Value{{}}, &r)), engine.Gone)
	expect.NoError(t, errors.Join(s.Close(), db.Close()))
	want(t, f)
}

// TestAllocations guards the hot path: the kit adds nothing to what the
// connection costs, by either protocol.
func TestAllocations(t *testing.T) {
	for _, d := range []*sqlkit.Dialect{dialect(), dialect(asText), dialect(numbered(sqlkit.ReturnedNumber))} {
		f := &fake{rows: map[string][][]model.Value{}}
		s := session(t, f, d)
		insert, get := prepare(t, s, two), prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"count"}})
		f.rows[`SELECT "count" FROM "sale" WHERE "id" = ?`] = [][]model.Value{{model.IntValue(1 << 40)}}
		f.quiet = true
		args := []model.Value{model.IntValue(1 << 40), model.FloatValue(1.5), model.MicrosValue(1), text("a long text with ' in it")}
		var r engine.Result
		ctx := t.Context()
		if n := testing.AllocsPerRun(100, func() { _ = insert.Exec(ctx, args, &r) }); n > 0 {
			t.Errorf("%v allocations of an insert", n)
		}
		if n := testing.AllocsPerRun(100, func() { _ = get.Exec(ctx, args[:1], &r) }); n > 0 {
			t.Errorf("%v allocations of a get", n)
		}
	}
}
