package declared

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
)

// statement is a statement, compiled for one client. It has many fields: most belong to
// some kinds of statements only.
type statement struct {
	kind  string
	at    *strictyaml.Node
	table *tableDef
	// variants differ in the copy of a column that they use; one is drawn.
	variants []variant
	// row chooses rows by number; nil: the statement names its keys, or inserts new rows.
	row   *value
	fresh bool  // it inserts new rows
	count int64 // rows inserted, or keys
	late  bool  // it needs a value that an earlier statement returned
	// expected is how many rows it should find; 0: unknown. exact is whether these are
	// existing rows, and ofRows whether each of the chosen rows counts once.
	expected int64
	exact    bool
	ofRows   bool
	required int64                 // with fewer rows the transaction is repeated
	rowOf    func(key int64) int64 // for a delete: the row that the key belongs to, if known
	carries  []carry
	needed   bool // a later statement uses its carried values
	own      ownSQL
	proofs   []int // returned columns whose texts contain their checksum
	returns  bool  // the bytes that it returns are those of the operation
	entries  int64 // bytes of the index entries that it writes, on average per row
	progress
}

// progress is a statement's part of the operation in progress.
type progress struct {
	variant int
	rows    []int64 // chosen, or new
	args    []model.Value
	result  engine.Result
	seen    bool // a row has been returned
}

// variant is an executable form of the statement: its arguments are those of each row in
// turn.
type variant struct {
	op   model.Op
	args []source
	stmt engine.Stmt
}

// source is the origin of an argument: a value, or a column of the row, with its existing
// or a new value.
type source struct {
	value *value
	col   *column
	anew  bool
}

func (s source) get(e *env, row int64) model.Value {
	switch {
	case s.value != nil:
		e.row = row
		return s.value.get(e)
	case s.anew:
		return s.col.anew(e, row)
	}
	return s.col.at(e, row)
}

// carry takes a column of the first row returned, or the aggregate, to later
// statements.
type carry struct {
	name   string
	column int // -1: the aggregate, or the number assigned
	slot   int
	memory []byte // of a text
}

// reading is a statement during its compilation.
type reading struct {
	*compiler
	f     strictyaml.Fields
	s     *statement
	op    model.Op
	t     *tableDef
	cols  *columns
	scope scope
	args  []source
	// some are the copies of a column of which each variant has one, at position place of
	// Set or of Columns.
	some  []int
	place int
}

// typed compiles a value for a column.
func (r *reading) typed(n *strictyaml.Node, column int) source {
	v, ok := r.value(n, r.scope)
	if !ok {
		return source{}
	}
	target := r.t.Columns[column]
	as, ok := v.as(target.Type)
	if !ok {
		r.At(n, fmt.Sprintf("the value is of type %s, and column %s of type %s",
			nameOf(v.typ), target.Name, typeName(&target)), "")
	}
	if err := as.fits(&target); ok && err != nil {
		r.At(n, err.Error(), hint.Of(err))
	}
	if ok {
		as = as.within(&target)
	}
	return source{value: &as}
}

// stored compiles a value for storing in a column.
func (r *reading) stored(n *strictyaml.Node, column int) source {
	previous := len(r.Problems)
	s := r.typed(n, column)
	target := r.t.Columns[column]
	switch isText := target.Type.IsText(); {
	case len(r.Problems) > previous || !isText:
	case r.cols.list[column].value.proven && !s.value.proven:
		r.At(n, "the texts of column "+target.Name+" are checked when they are read, and this one has no proof",
			"make it by text or bytes with check: true, or let the column make it: {set: ["+target.Name+"]}")
	case !known(*s.value):
		r.At(n, fmt.Sprintf("the greatest length of the value is not known, and column %s has at most %d bytes", target.Name,
			target.Width), "use a size whose greatest is known")
	}
	return s
}

// column returns the position of the column that a node names.
func (r *reading) column(n *strictyaml.Node) int {
	i := r.t.Column(n.Text)
	if i < 0 {
		r.At(n, fmt.Sprintf("table %s has no column %q", r.t.Name, n.Text), hint.OneOf(n.Text, r.t.ColumnNames()))
	}
	return i
}

// byRow reads the key row, if present.
func (r *reading) byRow() bool {
	n := r.f.Value("row")
	if n == nil {
		return false
	}
	v, ok := r.value(n, r.scope)
	if as, fits := v.as(model.Int); fits && ok {
		r.s.row = &as
	} else if ok {
		r.At(n, fmt.Sprintf("row is the number of a row, not a value of type %s", nameOf(v.typ)), "")
	}
	return true
}

// rowsKey reads the number of rows or keys of one statement.
func (r *reading) rowsKey() {
	r.s.count = r.wholeOf(r.f, "rows", 1, mostBatch, r.s.count)
}

// keyOf adds the key of a row that is chosen to the arguments.
func (r *reading) keyOf() {
	for _, name := range r.t.Key {
		r.args = append(r.args, source{col: &r.cols.list[r.t.Column(name)]})
	}
}

// access reads which rows a get, update or delete uses: by row, by key, or by an index.
func (r *reading) access() {
	key, index := r.f.Value("key"), r.f.Value("index")
	byRow := r.byRow()
	ways := 0
	for _, given := range []bool{byRow, key != nil, index != nil} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		r.At(r.s.at, fmt.Sprintf("%s needs one of row, key and index", r.s.kind),
			"row is a row's number, as in {row: {any: {}}}; key are its columns, as in {key: {id: job}}")
		return
	}
	switch {
	case byRow:
		r.keyOf()
		r.s.expected, r.s.exact = r.s.count, !r.t.deletes && !r.t.inexact && r.t.AutoColumn() < 0
		r.s.ofRows = true
		if r.s.row != nil && (r.s.row.late || r.s.row.chosen != &r.t.rowState) {
			r.s.expected, r.s.exact = 0, false
		}
	case key != nil:
		r.equals(key, r.t.Key, true)
	default:
		r.byIndex(index)
	}
}

// byIndex reads an index and its columns that are compared for equality.
func (r *reading) byIndex(index *strictyaml.Node) {
	var order []string
	for _, ix := range r.t.Indexes {
		if ix.Name == index.Text {
			order = ix.Columns
		}
	}
	if order == nil {
		known := r.t.indexNames()
		help := hint.OneOf(index.Text, known)
		if known == nil {
			help = "declare it in the table, as in indexes: {" + index.Text + ": [COLUMN]}"
		}
		r.At(index, fmt.Sprintf("table %s has no index %q", r.t.Name, index.Text), help)
		return
	}
	r.op.Index = index.Text
	if n := r.f.Value("equal"); n != nil {
		r.equals(n, order, false)
	}
}

// equals reads columns that are compared for equality: the leading ones of an order,
// or all.
func (r *reading) equals(n *strictyaml.Node, order []string, all bool) {
	if !r.Is(n, strictyaml.Mapping, "columns are compared as a map", "as in {"+order[0]+": 1}") {
		return
	}
	previous := len(r.Problems)
	for _, e := range n.Entries {
		if !slices.Contains(order, e.Key.Text) {
			r.At(e.Key, fmt.Sprintf("%q is not among the columns %s", e.Key.Text, strings.Join(order, ", ")),
				hint.OneOf(e.Key.Text, order))
		}
	}
	if len(r.Problems) > previous {
		return
	}
	needed, help := order[:len(n.Entries)],
		"the columns that are compared are the first ones of "+strings.Join(order, ", ")
	if all {
		needed, help = order, "all columns of the key are given: "+strings.Join(order, ", ")
	}
	for _, name := range needed {
		v := n.Get(name)
		if v == nil {
			r.At(n, "column "+name+" is missing", help)
			return
		}
		r.args = append(r.args, r.typed(v, r.t.Column(name)))
	}
	r.op.Equal = len(n.Entries)
	if all {
		r.op.Equal = 0
	}
}

// expect reads how many rows there should be, or must be.
func (r *reading) expect() {
	if n := r.f.Value("expect"); n != nil {
		r.s.expected, _ = r.whole(n, "expect", 0, manyRows)
		r.s.exact, r.s.ofRows = false, false
	}
	if n := r.f.Value("require"); n != nil && (r.s.kind == sUpdate || r.s.kind == sDelete) {
		r.s.required, _ = r.whole(n, "require", 1, manyRows)
		r.s.expected, r.s.exact = r.s.required, false
	}
}

// ownSQL is a statement in custom SQL, by engine.
type ownSQL map[string]variant

// carry makes a column, or for -1 the aggregate, available to later statements under a
// name; its values have at most limit bytes.
func (r *reading) carry(n *strictyaml.Node, column int, t model.Type, limit int64) {
	if n.Kind != strictyaml.Scalar || !isName(n.Text) {
		r.At(n, fmt.Sprintf("%q is not a name", n.Text), "letters, digits and _")
		return
	}
	if _, exists := r.scope.vars[n.Text]; exists || r.info.Param(n.Text) != nil {
		r.At(n, fmt.Sprintf("there is a value called %q already", n.Text), "")
		return
	}
	s := slot{at: len(r.scope.vars), typ: t, late: true, limit: limit}
	r.scope.vars[n.Text] = s
	r.s.carries = append(r.s.carries, carry{name: n.Text, column: column, slot: s.at})
}
