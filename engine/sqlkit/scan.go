package sqlkit

import (
	"slices"

	"rumbench/model"
)

// scan reads in the order of the index's columns. Entries that are equal in
// them come as the index holds them, by key in most engines: asking for that
// order would make others sort.
func (b *builder) scan(t *model.Table, op *model.Op) Statement {
	order := t.Key
	if op.Index != "" {
		ix, _ := t.Index(op.Index)
		order = ix.Columns
	}
	result := types(t, op.Columns)
	// A limit and DISTINCT apply to the rows, an aggregate to what they leave.
	nested := op.Aggregate != model.NoAggregate && (op.Limit > 0 || op.Distinct)
	switch {
	case op.Aggregate == model.Count:
		b.text("SELECT COUNT(*)")
		result = []model.Type{model.Int}
	case op.Aggregate == model.Sum:
		b.text("SELECT SUM(").name(op.Columns[0]).text(")")
	default:
		b.text("SELECT ").distinct(op).selected(op.Columns)
	}
	if nested {
		b.text(" FROM (SELECT ").distinct(op).selected(op.Columns)
	}
	b.text(" FROM ").name(t.Name).text(b.d.hint(t, op.Index))
	b.where(op, order)
	if op.Limit > 0 || op.Aggregate == model.NoAggregate {
		b.orderBy(t, op, order).limit(op.Limit)
	}
	if nested {
		b.text(") AS rows_read")
	}
	return b.statement(result...)
}

func (b *builder) distinct(op *model.Op) *builder {
	if op.Distinct {
		b.text("DISTINCT ")
	}
	return b
}

func (b *builder) where(op *model.Op, order []string) {
	bounded := op.Lower != model.Open || op.Upper != model.Open
	if op.Equal == 0 && !bounded {
		return
	}
	b.text(" WHERE ").equal(order[:op.Equal], 0)
	n := op.Equal
	bound := func(kind model.Bound, inclusive, exclusive string) {
		if kind == model.Open {
			return
		}
		if n > 0 {
			b.text(" AND ")
		}
		b.name(order[op.Equal])
		if kind == model.Inclusive {
			b.text(inclusive)
		} else {
			b.text(exclusive)
		}
		b.arg(n)
		n++
	}
	bound(op.Lower, " >= ", " > ")
	bound(op.Upper, " <= ", " < ")
}

// orderBy sorts distinct rows by their columns, others by the index's columns
// that are not fixed by equality.
func (b *builder) orderBy(t *model.Table, op *model.Op, order []string) *builder {
	var by []string
	if op.OrderBy != "" {
		by = append(by, op.OrderBy)
	}
	switch {
	case op.Distinct:
		for _, c := range op.Columns {
			if !slices.Contains(by, c) {
				by = append(by, c)
			}
		}
	case op.OrderBy == "":
		by = order[op.Equal:]
	}
	if len(by) > 0 {
		b.text(" ORDER BY ").ordered(t, by, op.Desc)
	}
	return b
}
