package sqlkit_test

import (
	"database/sql/driver"
	"math"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// inText makes a dialect send text.
func inText(d *sqlkit.Dialect) *sqlkit.Dialect {
	d.Literal = func(dst []byte, v model.Value) []byte {
		if v.Type() == model.Time {
			return v.Time().AppendFormat(dst, "'"+sqlkit.TimeLayout+"'")
		}
		return sqlkit.AppendQuoted(dst, v.Buf(), true)
	}
	return d
}

func TestTextStatements(t *testing.T) {
	f := &fake{count: 3}
	s := session(t, f, inText(mysqlLike()))
	update := prepare(t, s, model.Op{Kind: model.Update, Table: "sale", Keys: 2, Set: []model.Assign{{Column: "count", Add: true}, {Column: "at"}, {Column: "note"}, {Column: "price"}}})
	r := run(t, update, model.IntValue(-5), model.TimeValue(time.Unix(0, 1000)), model.StringValue([]byte(`it's a \`)), model.FloatValue(0.25), model.IntValue(math.MinInt64), model.Value{})
	if r.Rows != 3 {
		t.Errorf("%d rows", r.Rows)
	}
	want(t, f, "text UPDATE `sale` SET `count` = COALESCE(`count` + -5, `count`, -5), `at` = '1970-01-01 00:00:00.000001', `note` = 'it''s a \\\\', `price` = 2.5e-01 WHERE `id` IN ((-9223372036854775807 - 1), NULL)")

	f = &fake{lastID: 7, count: 2}
	s = session(t, f, inText(mysqlLike()))
	if r := run(t, prepare(t, s, two), model.IntValue(1), model.FloatValue(2), model.IntValue(3), model.FloatValue(1e300)); r.Value.Int() != 8 || r.Rows != 2 {
		t.Errorf("first of two is 7: %+v", r)
	}
	want(t, f, "text INSERT INTO `sale` (`product`, `price`) VALUES (1, 2e+00), (3, 1e+300)")

	f = &fake{rows: map[string][][]driver.Value{
		`INSERT INTO "sale" ("product", "price") VALUES (1, 2e+00), (3, 4e+00) RETURNING "id"`: {{"7"}, {"9"}},
	}}
	if r := run(t, prepare(t, session(t, f, inText(postgresLike())), two), model.IntValue(1), model.FloatValue(2), model.IntValue(3), model.FloatValue(4)); r.Value.Int() != 9 || r.Rows != 2 {
		t.Errorf("7 and 9 are returned: %+v", r)
	}
}

// An index that no statement names must exist all the same.
func TestTextNamesIndexes(t *testing.T) {
	f := &fake{}
	s := session(t, f, inText(mysqlLike()))
	prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Index: "product", Equal: 1, Columns: []string{"id"}})
	want(t, f, "ask SELECT 1 FROM `sale` FORCE INDEX (`sale.product`) WHERE 1 = 0")
	f = &fake{fail: map[string]error{"SELECT 1 FROM `sale` FORCE INDEX (`sale.product`) WHERE 1 = 0": driver.ErrBadConn}}
	s = session(t, f, mysqlLike())
	if _, err := s.Prepare(t.Context(), &model.Op{Kind: model.Scan, Free: true, Table: "sale", Index: "product", Columns: []string{"id"}}); err == nil {
		t.Error("an index that is missing was not missed")
	}
}

func TestTextAnswers(t *testing.T) {
	const text = `SELECT "id", "at", "price", "note" FROM "sale" WHERE "id" = 1`
	f := &fake{rows: map[string][][]driver.Value{text: {
		{"-12", []byte("1969-12-31 23:59:59.999999"), "2.5e-3", "x"},
		{"1", "2020-01-02 03:04:05", "1", ""},
		{"1", "-1000001", "1", ""},
	}}}
	s := session(t, f, inText(generic()))
	get := prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "at", "price", "note"}})
	wanted := [][]string{
		{"-12", "1969-12-31T23:59:59.999999Z", "0.0025", `"x"`},
		{"1", "2020-01-02T03:04:05Z", "1", `""`},
		{"1", "1969-12-31T23:59:58.999999Z", "1", `""`},
	}
	r := engine.Result{Each: func(row []model.Value) {
		for i, v := range row {
			if v.String() != wanted[0][i] {
				t.Errorf("got %s, want %s", v, wanted[0][i])
			}
		}
		wanted = wanted[1:]
	}}
	if err := get.Exec(t.Context(), []model.Value{model.IntValue(1)}, &r); err != nil || len(wanted) > 0 {
		t.Errorf("%v, %d rows are missing", err, len(wanted))
	}
}

func TestTextTransactions(t *testing.T) {
	f := &fake{}
	s := session(t, f, inText(generic()))
	run(t, prepare(t, s, model.Op{Kind: model.Begin}))
	run(t, prepare(t, s, model.Op{Kind: model.Commit}))
	want(t, f, "text BEGIN", "text COMMIT")
}

func TestQuoted(t *testing.T) {
	for text, wanted := range map[string][2]string{
		"":         {"''", "''"},
		"a":        {"'a'", "'a'"},
		"'":        {"''''", "''''"},
		`\`:        {`'\'`, `'\\'`},
		`'\x\''é'`: {`'''\x\''''é'''`, `'''\\x\\''''é'''`},
		"\x00;--":  {"'\x00;--'", "'\x00;--'"},
	} {
		for i, backslashes := range []bool{false, true} {
			if got := string(sqlkit.AppendQuoted(nil, []byte(text), backslashes)); got != wanted[i] {
				t.Errorf("%q: got %s, want %s", text, got, wanted[i])
			}
		}
	}
}

// A statement in text costs no memory of its own.
func TestTextAllocations(t *testing.T) {
	f := &fake{quiet: true}
	s := session(t, f, inText(generic()))
	insert := prepare(t, s, model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"product", "at", "price", "note"}, Rows: 1})
	args := []model.Value{model.IntValue(1 << 40), model.MicrosValue(1), model.FloatValue(1.5), model.StringValue([]byte("a long text with ' in it"))}
	var r engine.Result
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _ = insert.Exec(ctx, args, &r) }); n > 0 {
		t.Errorf("%v allocations of an insert", n)
	}
}
