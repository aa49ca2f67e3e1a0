package declared

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
)

// ownReader reads the SQL that replaces a statement, or forms a statement alone.
type ownReader struct{ *reading }

func (r ownReader) read() {
	n := r.f.Value(sOwn)
	if n == nil || !r.Is(n, strictyaml.Mapping, "sql is a map of engines to texts",
		"as in {mysql: SELECT …, postgres: SELECT …}") {
		return
	}
	if len(n.Entries) == 0 {
		r.At(n, "there is no SQL", "as in {mysql: SELECT …, postgres: SELECT …}")
	}
	var returns []model.Type
	switch {
	case r.s.kind == sOwn:
		returns = r.returns()
	case r.s.count > 1 || r.op.ReturnNumber || r.some != nil || r.op.LimitGiven:
		r.At(n, "SQL of your own cannot stand for several rows, a number that is assigned, one of several copies, or a "+
			"limit that is drawn", "write it as a statement that is SQL alone")
		return
	case r.op.Aggregate != model.NoAggregate:
		returns = []model.Type{r.scope.vars[r.s.carries[0].name].typ}
	default:
		for _, name := range r.op.Columns {
			if r.op.Kind != model.Insert {
				returns = append(returns, r.t.Columns[r.t.Column(name)].Type)
			}
		}
	}
	r.s.own = ownSQL{}
	for _, e := range n.Entries {
		if !slices.Contains(engine.Spoken, e.Key.Text) {
			r.At(e.Key, fmt.Sprintf("no engine speaks the SQL of %q", e.Key.Text), hint.OneOf(e.Key.Text, engine.Spoken))
			continue
		}
		if !r.Is(e.Value, strictyaml.Scalar, "SQL is a text", "as in {"+e.Key.Text+": SELECT …}") {
			continue
		}
		pieces, names := split(e.Value.Text)
		v := variant{op: model.Op{Kind: model.Own, SQL: pieces, Returns: returns}}
		for _, name := range names {
			v.args = append(v.args, r.bound(e.Value, name))
		}
		r.s.own[e.Key.Text] = v
	}
}

// returns reads the columns that SQL alone returns: all are carried to later statements.
func (r ownReader) returns() (list []model.Type) {
	n := r.f.Value("returns")
	if n == nil || !r.Is(n, strictyaml.Mapping, "returns is a map of names to types",
		"as in {returns: {balance: int64}}") {
		return nil
	}
	for _, e := range n.Entries {
		i := slices.Index(typeNames(), e.Value.Text)
		if i < 0 {
			r.At(e.Value, fmt.Sprintf("%q is not a type", e.Value.Text), "the types are "+strings.Join(typeNames(), ", "))
			return nil
		}
		r.carry(e.Key, len(list), types[i].subject, 0)
		list = append(list, types[i].subject)
	}
	return list
}

// bound compiles a name in SQL: a value, or a column of the row.
func (r ownReader) bound(n *strictyaml.Node, name string) source {
	if r.t != nil && (r.s.row != nil || r.s.fresh) {
		if i := r.t.Column(name); i >= 0 {
			return source{col: &r.cols.list[i], anew: r.s.kind == sUpdate && !slices.Contains(r.t.Key, name)}
		}
	}
	at := *n
	at.Text, at.Value = name, name
	v, ok := r.expression(&at, r.scope)
	if !ok {
		return source{}
	}
	return source{value: &v}
}

// split returns the pieces of SQL between its arguments, :NAME, and their names. A colon
// in quotes, in comments, or before another colon does not start an argument.
func split(text string) (pieces, names []string) {
	start := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = end(text, i+1, string(c))
		case strings.HasPrefix(text[i:], "--"):
			i = end(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = end(text, i, "*/")
		case strings.HasPrefix(text[i:], "::"):
			i++
		case c == ':':
			n := 0
			for i+1+n < len(text) && isName(text[i+1:i+2+n]) {
				n++
			}
			if n > 0 {
				pieces, names = append(pieces, text[start:i]), append(names, text[i+1:i+1+n])
				i += n
				start = i + 1
			}
		}
	}
	return append(pieces, text[start:]), names
}

// end returns the last position of a text that ends with a mark, from a start position.
func end(text string, start int, mark string) int {
	if position := strings.Index(text[min(start, len(text)):], mark); position >= 0 {
		return start + position + len(mark) - 1
	}
	return len(text)
}

// on adapts the statement to a database: it uses custom SQL if there is some for the
// engine, and reports whether it does.
func (s *statement) on(db engine.DB) (own bool) {
	if len(s.own) == 0 {
		return false
	}
	v, ok := variant{}, false
	if speaker, speaks := db.(engine.Speaker); speaks {
		v, ok = s.own[speaker.Speaks()]
	}
	if !ok && s.kind != sOwn {
		return false
	}
	if !ok { // an engine that executes nothing
		for _, v = range s.own {
			break
		}
	}
	s.variants, s.exact, s.late, s.rowOf = []variant{v}, false, false, nil
	for i := range s.carries {
		s.carries[i].column = max(s.carries[i].column, 0)
	}
	for _, a := range v.args {
		s.late = s.late || a.value != nil && a.value.late
	}
	s.late = s.late || s.row != nil && s.row.late
	return true
}

// reads reports whether SQL alone returns rows.
func (s *statement) reads() bool {
	for _, v := range s.own {
		return len(v.op.Returns) > 0
	}
	return false
}

// writtenTo finds what SQL writes to; the keys, locks and conflicts of other clauses have a word before "update".
var writtenTo = regexp.MustCompile(
	`(?i)(?:\b(key|do|for)\s+)?\b(?:into|update|delete\s+from|truncate|table)\s+(?:only\s+|if\s+(?:not\s+)?exists\s+)?([\w."` + "`" + `]+)`)

// writesOtherTables reports whether SQL alone may write to other tables than these.
func (s *statement) writesOtherTables(tables []*tableDef) bool {
	for _, v := range s.own {
		found := false
		for _, m := range writtenTo.FindAllStringSubmatch(strings.Join(v.op.SQL, "1"), -1) {
			parts := strings.Split(m[2], ".")
			name := strings.Trim(parts[len(parts)-1], "\"`")
			if m[1] != "" {
				continue
			}
			found = true
			if !slices.ContainsFunc(tables, func(t *tableDef) bool { return strings.EqualFold(t.Name, name) }) {
				return true
			}
		}
		if !found { // a call of a procedure, say
			return true
		}
	}
	return false
}
