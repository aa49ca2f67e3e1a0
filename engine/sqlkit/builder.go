package sqlkit

import (
	"strconv"
	"strings"

	"rumbench/model"
)

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
