package sqlkit

import (
	"rumbench/engine"
	"rumbench/model"
)

// scan reads in the order of the index's columns, unless rows may come in any
// order. Entries that are equal in them come in the index's order, by key in
// most engines: asking for that order would make other engines sort.
func (b *builder) scan(t *model.Table, op *model.Op) Statement {
	order := t.Order(op.Index)
	result := types(t, op.Columns)
	// A limit and DISTINCT apply to the rows, an aggregate to the remaining ones.
	nested := op.Aggregate != model.NoAggregate && (op.Limit > 0 || op.Distinct)
	switch {
	case op.Aggregate == model.Count:
		counted := "*" // rows, or the values of one column
		if len(op.Columns) == 1 {
			counted = b.d.Name(op.Columns[0])
		}
		b.text("SELECT COUNT(", counted, ")")
		result = []model.Type{model.Int}
	case op.Aggregate == model.Sum:
		b.text("SELECT SUM(").name(op.Columns[0]).text(")")
	default:
		b.selected(op)
	}
	if nested {
		b.text(" FROM (").selected(op)
	}
	b.text(" FROM ").text(b.d.Table(t.Name))
	if !op.Free {
		b.text(b.d.hint(t, op.Index))
	}
	b.where(t, op, order)
	switch {
	case op.LimitGiven:
		b.orderBy(t, op, order).text(" LIMIT ").arg(op.Args(t) - 1)
	case op.Limit > 0 || op.Aggregate == model.NoAggregate:
		b.orderBy(t, op, order).limit(op.Limit)
	}
	if nested {
		b.text(") AS rows_read")
	}
	return b.statement(result...)
}

func (b *builder) where(t *model.Table, op *model.Op, order []string) {
	bounded := op.Lower != model.Open || op.Upper != model.Open
	if op.Equal == 0 && !bounded && len(op.Where) == 0 {
		return
	}
	b.text(" WHERE ").equal(order[:op.Equal], 0)
	and := " AND "
	if op.Equal == 0 {
		and = ""
	}
	if bounded {
		b.text(and).ranges(op, order[op.Equal])
		and = " AND "
	}
	first := op.Args(t) - len(op.Where)
	for i, c := range op.Where {
		compared := b.d.Name(c.Column)
		if c.Is == model.ShorterThan {
			compared = b.d.byteLength(&t.Columns[t.Column(c.Column)])
		}
		b.text(and, compared, comparisons[c.Is]).arg(first + i)
		and = " AND "
	}
}

var comparisons = map[model.Comparison]string{model.Equals: " = ", model.AtLeast: " >= ", model.AtMost: " <= ",
	model.ShorterThan: " < "}

// ranges compares a column with all pairs of bounds.
func (b *builder) ranges(op *model.Op, column string) {
	n, each := op.RangeCount(), 1
	if op.Lower != model.Open && op.Upper != model.Open {
		each = 2
	}
	enclosed := n > 1 && len(op.Where) > 0
	if enclosed {
		b.text("(")
	}
	for i := range n {
		if i > 0 {
			b.text(" OR ")
		}
		b.bounds(op, column, op.Equal+i*each)
	}
	if enclosed {
		b.text(")")
	}
}

// bounds compares a column with the bounds in the arguments that begin with first.
func (b *builder) bounds(op *model.Op, column string, first int) {
	if op.Lower == model.Inclusive && op.Upper == model.Inclusive {
		b.name(column).text(" BETWEEN ").arg(first).text(" AND ").arg(first + 1)
		return
	}
	if op.Lower != model.Open {
		b.name(column).text(" >", orEqual(op.Lower)).arg(first)
		first++
	}
	if op.Upper == model.Open {
		return
	}
	if op.Lower != model.Open {
		b.text(" AND ")
	}
	b.name(column).text(" <", orEqual(op.Upper)).arg(first)
}

func orEqual(b model.Bound) string {
	if b == model.Inclusive {
		return "= "
	}
	return " "
}

// orderBy sorts distinct rows by their columns, others by the index's columns that are
// not fixed by equality. Rows that may come in any order are sorted only on request.
func (b *builder) orderBy(t *model.Table, op *model.Op, order []string) *builder {
	var by []string
	if op.OrderBy != "" {
		by = append(by, op.OrderBy)
	}
	switch {
	case op.Free:
	case op.Distinct:
		by = engine.Unique(append(by, op.Columns...))
	case op.OrderBy == "":
		by = order[op.Equal:]
	}
	if len(by) > 0 {
		b.text(" ORDER BY ").ordered(t, by, op.Desc)
	}
	return b
}
