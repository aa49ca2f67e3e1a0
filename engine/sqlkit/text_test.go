package sqlkit_test

import (
	"math"
	"testing"
	"time"
	"unicode/utf8"

	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/sqlkittest"
	"rumbench/internal/expect"
	"rumbench/model"
)

func TestTextStatements(t *testing.T) {
	f := &fake{count: 3, rows: map[string][][]model.Value{
		`INSERT INTO "sale" ("product", "price") VALUES (1, 2e+00), (3, 1e+300) RETURNING "id"`: {{model.IntValue(7)}, {model.IntValue(9)}},
	}}
	s := session(t, f, dialect(asText, numbered(sqlkit.ReturnedNumber)))
	update := prepare(t, s, model.Op{Kind: model.Update, Table: "sale", Keys: 2, Set: []model.Assign{{Column: "count", Add: true}, {Column: "at"}, {Column: "note"}, {Column: "price"}}})
	r := run(t, update, model.IntValue(-5), model.TimeValue(time.Unix(0, 1000)), text(`it's a \`), model.FloatValue(0.25), model.IntValue(math.MinInt64), model.Value{})
	expect.Equal(t, r.Rows, 3, "rows")
	want(t, f, `text UPDATE "sale" SET "count" = COALESCE("count" + -5, "count", -5), "at" = '1970-01-01 00:00:00.000001', "note" = 'it''s a \\', "price" = 2.5e-01 WHERE "id" IN ((-9223372036854775807 - 1), NULL)`)

	if r := run(t, prepare(t, s, two), model.IntValue(1), model.FloatValue(2), model.IntValue(3), model.FloatValue(1e300)); r.Value.Int() != 9 || r.Rows != 2 {
		t.Errorf("7 and 9 are returned: %+v", r)
	}
	f.log = nil
	run(t, prepare(t, s, model.Op{Kind: model.Begin}))
	run(t, prepare(t, s, model.Op{Kind: model.Commit}))
	want(t, f, "text BEGIN", "text COMMIT")
}

// Values that come as text, or as numbers of another kind.
func TestValues(t *testing.T) {
	type value = func() (model.Value, error)
	asText := func(s string, as model.Type) value {
		return func() (model.Value, error) { return sqlkit.TextValue([]byte(s), as) }
	}
	for _, c := range []struct {
		value value
		want  string // "" for an error
	}{
		{asText("-12", model.Int), "-12"},
		{asText("2.5e-3", model.Float), "0.0025"},
		{asText("x", model.String), `"x"`},
		{asText("x", model.Bytes), "x'78'"},
		{asText("1969-12-31 23:59:59.999999", model.Time), "1969-12-31T23:59:59.999999Z"},
		{asText("2020-01-02 03:04:05", model.Time), "2020-01-02T03:04:05Z"},
		{asText("-1000001", model.Time), "1969-12-31T23:59:58.999999Z"},
		{asText("1.5", model.Int), ""},
		{asText("yesterday", model.Time), ""},
		{asText("x", model.Null), ""},
		{func() (model.Value, error) { return sqlkit.IntValue(2, model.Float) }, "2"},
		{func() (model.Value, error) { return sqlkit.IntValue(1, model.Time) }, "1970-01-01T00:00:00.000001Z"},
		{func() (model.Value, error) { return sqlkit.IntValue(1, model.String) }, ""},
		{func() (model.Value, error) { return sqlkit.FloatValue(3, model.Int) }, "3"},
		{func() (model.Value, error) { return sqlkit.FloatValue(3, model.Time) }, ""},
	} {
		if got, err := c.value(); (err != nil) != (c.want == "") || err == nil && got.String() != c.want {
			t.Errorf("got %v, %v; want %s", got, err, c.want)
		}
	}
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
			expect.Equal(t, string(sqlkit.AppendQuoted(nil, []byte(text), backslashes)), wanted[i], text)
		}
	}
	expect.Equal(t, dialect().QuotedList([]string{"a", "b'"}), "('a', 'b''')", "a list is")
	expect.Equal(t, dialect().Name(`a"b`), `"a""b"`, "a name is")
}

func TestStatementRefusesTooManyValues(t *testing.T) {
	schema := sqlkittest.Schema()
	op := &model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"product", "price"}, Rows: 2}
	_, err := dialect(func(d *sqlkit.Dialect) { d.MaxArgs = 3 }).Statement(&schema.Tables[0], op)
	expect.True(t, err != nil && err.Error() == "operation insert sale: 4 values in one statement, the engine takes at most 3", err)
}

// A name that is too long is refused, also that of an index, which holds its table's.
func TestCheckSchemaRefusesLongNames(t *testing.T) {
	limited := dialect(func(d *sqlkit.Dialect) { d.LongestName, d.NameLength = 12, utf8.RuneCountInString })
	table := func(name, column, index string) model.Schema {
		return model.Schema{Tables: []model.Table{{Name: name, Columns: []model.Column{{Name: column}}, Key: []string{column},
			Indexes: []model.Index{{Name: index, Columns: []string{column}}}}}}
	}
	for _, c := range []struct {
		table, column, index string
		fits                 bool
	}{
		{"größe", "ключключключ", "länger", true}, {"größe", "id", "longest", false}, {"t", "thirteen_long", "i", false},
		{"thirteen_long", "id", "", false},
	} {
		if err := limited.CheckSchema(table(c.table, c.column, c.index)); (err == nil) != c.fits {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestCheckSchemaRefusesUniqueInclude(t *testing.T) {
	s := sqlkittest.Schema()
	s.Tables[1].Indexes[0].Include = []string{"data"}
	expect.Error(t, dialect().CheckSchema(s), "", "a unique index that includes columns was accepted")
	expect.NoError(t, dialect(func(d *sqlkit.Dialect) { d.IncludeClause = true }).CheckSchema(s))
}
