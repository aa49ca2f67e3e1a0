package sqlkit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/model"
)

// Statement is an operation in a dialect.
type Statement struct {
	Text string
	// Args are the arguments that the placeholders take; nil: in order.
	Args []int
	// Types are those of the columns returned; nil if no rows are.
	Types []model.Type

	places []place
}

// Statement turns an operation on a table into SQL. Transactions are not
// statements of a table; see Dialect.Begin.
func (d *Dialect) Statement(t *model.Table, op *model.Op) (Statement, error) {
	if n := op.Args(t); d.MaxArgs > 0 && n > d.MaxArgs {
		return Statement{}, fmt.Errorf("operation %s: %d values in one statement, the engine takes at most %d", op.Label(),
			n, d.MaxArgs)
	}
	b := &builder{d: d}
	switch op.Kind {
	case model.Insert:
		return b.insert(t, op), nil
	case model.Get:
		return b.get(t, op), nil
	case model.Scan:
		return b.scan(t, op), nil
	case model.Update:
		return b.update(t, op), nil
	case model.Delete:
		return b.text("DELETE FROM ").text(b.d.Table(t.Name)).text(" WHERE ").keys(t.Key, op.KeyCount(), 0).statement(), nil
	case model.DeleteLowest:
		return b.deleteLowest(t, op), nil
	}
	return Statement{}, fmt.Errorf("operation %s is not a statement", op.Label())
}

// get lets the database choose how to find the keys: users write no hint for that.
func (b *builder) get(t *model.Table, op *model.Op) Statement {
	b.selected(op).text(" FROM ").text(b.d.Table(t.Name)).text(" WHERE ")
	b.keys(keyColumns(t, op), op.KeyCount(), 0)
	if op.Lock {
		b.text(b.d.Lock)
	}
	return b.statement(types(t, op.Columns)...)
}

// keyColumns returns the columns that an operation compares with keys.
func keyColumns(t *model.Table, op *model.Op) []string {
	if op.Index == "" {
		return t.Key
	}
	return t.Order(op.Index)[:op.Equal]
}

// selected lists the columns wanted; a row without columns is still a row.
func (b *builder) selected(op *model.Op) *builder {
	b.text("SELECT ")
	if op.Distinct {
		b.text("DISTINCT ")
	}
	if len(op.Columns) == 0 {
		return b.text("1")
	}
	return b.names(op.Columns)
}

func types(t *model.Table, columns []string) []model.Type {
	if len(columns) == 0 {
		return []model.Type{model.Int}
	}
	out := make([]model.Type, len(columns))
	for i, c := range columns {
		out[i] = t.Columns[t.Column(c)].Type
	}
	return out
}

// keys compares columns with n keys, in the arguments that begin with first.
func (b *builder) keys(columns []string, n, first int) *builder {
	width := len(columns)
	if n == 1 {
		return b.equal(columns, first)
	}
	if width == 1 {
		return b.name(columns[0]).text(" IN ").values(first, n)
	}
	b.tuple(columns).text(" IN (")
	if b.d.RowsAsValues {
		b.text("VALUES ")
	}
	for i := range n {
		b.comma(i).values(first+i*width, width)
	}
	return b.text(")")
}

func (b *builder) insert(t *model.Table, op *model.Op) Statement {
	b.text("INSERT ")
	if op.OnConflict == model.Ignore && b.d.OnDuplicateKey {
		b.text("IGNORE ")
	}
	b.text("INTO ").text(b.d.Table(t.Name)).text(" ").tuple(op.Columns).text(" VALUES ")
	width := len(op.Columns)
	for i := range op.Rows {
		b.comma(i).values(i*width, width)
	}
	b.onConflict(t, op)
	if auto := numbered(t, op); auto != "" && op.ReturnNumber && b.d.Number == ReturnedNumber {
		return b.text(" RETURNING ").name(auto).statement(model.Int)
	}
	return b.statement()
}

// numbered returns the column that the engine numbers in this insert, "" if none.
func numbered(t *model.Table, op *model.Op) string {
	if i := t.AutoColumn(); i >= 0 && !slices.Contains(op.Columns, t.Columns[i].Name) {
		return t.Columns[i].Name
	}
	return ""
}

func (b *builder) onConflict(t *model.Table, op *model.Op) {
	change := op.AddColumns
	if op.OnConflict == model.Replace {
		change = slices.DeleteFunc(t.ColumnNames(), func(c string) bool { return slices.Contains(t.Key, c) })
	}
	switch {
	case op.OnConflict == model.Fail, op.OnConflict == model.Ignore && b.d.OnDuplicateKey:
		return
	case b.d.OnDuplicateKey:
		b.text(" ON DUPLICATE KEY UPDATE ")
		if len(change) == 0 { // all columns are the key's: the rows are equal
			b.name(t.Key[0]).text(" = ").name(t.Key[0])
		}
	case len(change) == 0:
		b.text(" ON CONFLICT ").tuple(t.Key).text(" DO NOTHING")
	default:
		b.text(" ON CONFLICT ").tuple(t.Key).text(" DO UPDATE SET ")
	}
	for i, c := range change {
		b.comma(i).name(c).text(" = ")
		switch {
		case op.OnConflict == model.Add:
			old := b.d.Name(t.Name) + "." + b.d.Name(c)
			b.sum(t, c, old, func() { b.excluded(c) })
		case slices.Contains(op.Columns, c):
			b.excluded(c)
		default:
			b.text("NULL")
		}
	}
}

// excluded writes a column of the row that met a conflict.
func (b *builder) excluded(column string) {
	if b.d.OnDuplicateKey {
		b.text("VALUES(").name(column).text(")")
	} else {
		b.text("excluded.").name(column)
	}
}

// sum adds to a column's old value. NULL counts as zero, but two of them make NULL.
func (b *builder) sum(t *model.Table, column, old string, added func()) {
	if !nullable(t, column) {
		b.text(old, " + ")
		added()
		return
	}
	b.text("COALESCE(", old, " + ")
	added()
	b.text(", ", old, ", ")
	added()
	b.text(")")
}

func (b *builder) update(t *model.Table, op *model.Op) Statement {
	b.text("UPDATE ").text(b.d.Table(t.Name))
	if op.Index != "" {
		b.text(b.d.hint(t, op.Index))
	}
	b.text(" SET ")
	for i, a := range op.Set {
		b.comma(i).name(a.Column).text(" = ")
		if a.Add {
			b.sum(t, a.Column, b.d.Name(a.Column), func() { b.arg(i) })
		} else {
			b.arg(i)
		}
	}
	return b.text(" WHERE ").keys(keyColumns(t, op), op.KeyCount(), len(op.Set)).statement()
}

func (b *builder) deleteLowest(t *model.Table, op *model.Op) Statement {
	b.text("DELETE FROM ").text(b.d.Table(t.Name)).text(" WHERE ").name(t.Key[0])
	if !b.d.DeleteLimit {
		b.text(" IN (SELECT ").name(t.Key[0]).text(" FROM ").text(b.d.Table(t.Name)).text(" WHERE ").name(t.Key[0])
	}
	b.text(" >= ").arg(0).text(" ORDER BY ").name(t.Key[0]).limit(op.Rows)
	if !b.d.DeleteLimit {
		b.text(")")
	}
	return b.statement()
}

// builder writes the text of one statement and notes where its placeholders are.
type builder struct {
	strings.Builder
	d      *Dialect
	places []place
}

// place is the position of a placeholder in the text, and the argument that it takes.
type place struct{ start, end, arg int }

func (b *builder) text(parts ...string) *builder {
	for _, p := range parts {
		b.WriteString(p)
	}
	return b
}

// comma separates item i of a list from the one before it.
func (b *builder) comma(i int) *builder {
	if i > 0 {
		b.WriteString(", ")
	}
	return b
}

func (b *builder) name(s string) *builder { return b.text(b.d.Name(s)) }

func (b *builder) names(columns []string) *builder {
	for i, c := range columns {
		b.comma(i).name(c)
	}
	return b
}

// tuple writes a parenthesised list of names.
func (b *builder) tuple(columns []string) *builder { return b.text("(").names(columns).text(")") }

// arg writes a placeholder for argument i.
func (b *builder) arg(i int) *builder {
	start := b.Len()
	if b.d.Numbered != "" {
		b.text(b.d.Numbered, strconv.Itoa(i+1))
	} else {
		b.text("?")
	}
	b.places = append(b.places, place{start, b.Len(), i})
	return b
}

// values writes a parenthesised list of placeholders for n arguments, beginning with first.
func (b *builder) values(first, n int) *builder {
	b.text("(")
	for i := range n {
		b.comma(i).arg(first + i)
	}
	return b.text(")")
}

// equal compares columns with the arguments that begin with first.
func (b *builder) equal(columns []string, first int) *builder {
	for i, c := range columns {
		if i > 0 {
			b.text(" AND ")
		}
		b.name(c).text(" = ").arg(first + i)
	}
	return b
}

// ordered lists columns to sort by, with NULL first, or last if desc.
func (b *builder) ordered(t *model.Table, columns []string, desc bool) *builder {
	for i, c := range columns {
		b.comma(i).name(c)
		nulls := " NULLS FIRST"
		if desc {
			b.text(" DESC")
			nulls = " NULLS LAST"
		}
		if b.d.NullsLast && nullable(t, c) {
			b.text(nulls)
		}
	}
	return b
}

func (b *builder) limit(n int) {
	if n > 0 {
		b.text(" LIMIT ", strconv.Itoa(n))
	}
}

// statement returns the statement built. The arguments are listed only if they
// are not taken in order.
func (b *builder) statement(types ...model.Type) Statement {
	s := Statement{Text: b.String(), Types: types, places: b.places}
	asTheyCome := true
	for i, p := range b.places {
		asTheyCome = asTheyCome && p.arg == i
		s.Args = append(s.Args, p.arg)
	}
	if b.d.Numbered != "" || asTheyCome {
		s.Args = nil
	}
	return s
}
