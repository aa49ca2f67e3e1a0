package declared

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
)

func (r *reading) insert() {
	r.rowsKey()
	r.scope.dead = true // the insert makes it exist again
	r.s.fresh = !r.byRow()
	if r.s.row != nil && r.s.row.chosen != &r.t.rowState { // the row may not exist
		r.t.inexact, r.t.unknown = true, true
	}
	r.op.Rows = int(r.s.count)
	set := r.f.Value("set")
	if set != nil && !r.Is(set, strictyaml.Mapping, "set of an insert is a map of columns to values",
		"as in {set: {state: 0}}") {
		return
	}
	for i := range r.t.Columns {
		col := &r.t.Columns[i]
		given := set.Get(col.Name)
		if col.Auto && given == nil {
			if r.s.row != nil {
				r.At(r.f.Of.Get("row"), "the engine numbers the rows of table "+r.t.Name, "remove row")
			}
			continue
		}
		a := source{col: &r.cols.list[i], anew: r.s.row != nil && !slices.Contains(r.t.Key, col.Name)}
		if given != nil {
			a = r.stored(given, i)
		}
		r.op.Columns, r.args = append(r.op.Columns, col.Name), append(r.args, a)
	}
	if set != nil {
		for _, e := range set.Entries {
			r.column(e.Key)
		}
	}
	r.conflict()
	if n := r.f.Value("number"); n != nil {
		r.op.ReturnNumber = true
		r.carry(n, -1, model.Int, 0)
	}
}

func (r *reading) conflict() {
	n := r.f.Value("conflict")
	if n == nil {
		if r.s.row != nil {
			r.At(r.f.Of.Get("row"), "an insert of a row that is chosen has no conflict",
				"say what it does where the row exists: ignore, replace, or {add: [COLUMN]}")
		}
		return
	}
	switch {
	case n.Kind == strictyaml.Mapping:
		f := r.Fields(n, "conflict", []string{"add"})
		r.op.OnConflict, r.op.AddColumns = model.Add, f.Words("add", "the columns that are added", nil)
		for _, name := range r.op.AddColumns {
			if i := r.t.Column(name); i >= 0 {
				addable(r.compiler, n.Get("add"), r.t, i)
			}
		}
	case n.Text == "ignore":
		r.op.OnConflict = model.Ignore
	case n.Text == "replace":
		r.op.OnConflict = model.Replace
	default:
		r.At(n, fmt.Sprintf("conflict is %q", n.Text), "ignore, replace, or {add: [COLUMN]}")
	}
}

func (r *reading) get() {
	r.rowsKey()
	r.op.Keys = int(r.s.count)
	r.access()
	strictyaml.Bind(r.f, "lock", strictyaml.Boolean, func(v bool) { r.op.Lock = v })
	r.expect()
	r.returned()
}

func (r *reading) delete() {
	r.access()
	r.expect()
	r.known()
}

// known determines which row a key belongs to, so that no client chooses it after the
// delete.
func (r *reading) known() {
	if r.s.row == nil && len(r.args) == 1 {
		r.s.rowOf = r.cols.list[r.t.Column(r.t.Key[0])].value.rowOf
	}
}

func (r *reading) update() {
	n, add := r.f.Value("set"), r.f.Value("add")
	switch {
	case n == nil && add == nil:
		r.At(r.s.at, "the update changes nothing", "as in {set: {state: 1}} or {add: {count: 1}}")
	case n != nil && n.Kind == strictyaml.Mapping:
		for _, e := range n.Entries {
			r.assign(e, false)
		}
	case n != nil:
		for _, name := range r.f.Words("set", "columns that get new values, or a map of columns to values", nil) {
			r.redraw(n, name)
		}
	}
	if add != nil && r.Is(add, strictyaml.Mapping, "add is a map of columns to numbers", "as in {add: {count: 1}}") {
		for _, e := range add.Entries {
			r.assign(e, true)
		}
	}
	r.access()
	r.expect()
	r.op.Blind = r.s.row != nil && r.s.exact
}

func (r *reading) assign(e strictyaml.Entry, add bool) {
	switch i := r.column(e.Key); {
	case i < 0:
	case slices.Contains(r.t.Key, e.Key.Text):
		r.At(e.Key, "column "+e.Key.Text+" belongs to the key, and cannot be changed",
			"delete the row, and insert another one")
	case add && !addable(r.compiler, e.Key, r.t, i):
	default:
		r.op.Set = append(r.op.Set, model.Assign{Column: e.Key.Text, Add: add})
		r.args = append(r.args, r.stored(e.Value, i))
	}
}

// addable reports whether numbers can be added to a column in place. If not, it adds the
// problem.
func addable(c *compiler, at *strictyaml.Node, t *tableDef, i int) bool {
	column := &t.Columns[i]
	help := ""
	if column.Type == model.Time {
		help = fmt.Sprintf("read it, and set it to a later one: {get: %s, …, read: {%s: until}}, then {update: %s, …, "+
			"set: {%s: until + 60}}", t.Name, column.Name, t.Name, column.Name)
	}
	if !isNumber(column.Type) {
		c.At(at, fmt.Sprintf("add adds numbers, and column %s is of type %s", column.Name, typeName(column)), help)
	}
	return isNumber(column.Type)
}

// redraw sets columns to newly drawn values.
func (r *reading) redraw(n *strictyaml.Node, name string) {
	at, some := r.t.group(name)
	if len(at) == 0 {
		r.At(n, fmt.Sprintf("table %s has no column %q", r.t.Name, name), hint.OneOf(name, r.t.ColumnNames()))
		return
	}
	if some {
		at = r.choose(n, at, len(r.op.Set))
	}
	for _, i := range at {
		r.op.Set = append(r.op.Set, model.Assign{Column: r.t.Columns[i].Name})
		r.args = append(r.args, source{col: &r.cols.list[i], anew: true})
	}
}

// choose notes that each variant has one of the copies, and returns the first copy.
func (r *reading) choose(n *strictyaml.Node, at []int, place int) []int {
	if r.some != nil {
		r.At(n, "only one of the columns may be one of several copies", "NAME* means all copies")
	}
	r.some, r.place = at, place
	return at[:1]
}

func (r *reading) scan() {
	order := r.t.Key
	if index := r.f.Value("index"); index != nil {
		r.byIndex(index)
		for _, ix := range r.t.Indexes {
			if ix.Name == index.Text {
				order = ix.Columns
			}
		}
	} else if n := r.f.Value("equal"); n != nil {
		r.equals(n, order, false)
	}
	r.bounds(order)
	strictyaml.Bind(r.f, "descending", strictyaml.Boolean, func(v bool) { r.op.Desc = v })
	r.limit()
	r.expect()
	r.returned()
}

// bounds reads the bounds of the column that follows those compared for equality.
func (r *reading) bounds(order []string) {
	if r.byRow() {
		if r.op.Index != "" || r.op.Equal > 0 || len(order) > 1 {
			r.At(r.f.Of.Get("row"), "a scan begins at a row in the order of a key of one column", "use from")
			return
		}
		r.keyOf()
		r.op.Lower = model.Inclusive
	}
	for _, b := range []struct {
		name string
		dst  *model.Bound
		is   model.Bound
	}{
		{"from", &r.op.Lower, model.Inclusive}, {"above", &r.op.Lower, model.Exclusive},
		{"to", &r.op.Upper, model.Inclusive}, {"below", &r.op.Upper, model.Exclusive},
	} {
		n := r.f.Value(b.name)
		if n == nil {
			continue
		}
		if *b.dst != model.Open {
			r.At(n, "the scan has two bounds on the same side", "")
			return
		}
		if r.op.Equal >= len(order) {
			r.At(n, "no column is left for a bound: "+strings.Join(order, ", ")+" are all compared for equality", "")
			return
		}
		*b.dst = b.is
		r.args = append(r.args, r.typed(n, r.t.Column(order[r.op.Equal])))
	}
}

func (r *reading) limit() {
	n := r.f.Value("limit")
	if n == nil {
		return
	}
	v, ok := r.value(n, r.scope)
	as, fits := v.as(model.Int)
	switch {
	case !ok:
	case !fits:
		r.At(n, fmt.Sprintf("limit is a number of rows, not a value of type %s", nameOf(v.typ)), "")
	case as.fixed && as.num(nil) < 1:
		r.At(n, fmt.Sprintf("limit is %d, and must be at least 1", as.num(nil)), "")
	case as.fixed:
		r.op.Limit = int(as.num(nil))
	case as.limit < 1:
		r.At(n, "the greatest limit is not known", "as in {uniform: [1, 100]}")
	default:
		r.op.Limit, r.op.LimitGiven = int(as.limit), true
		limit := as.num
		as.num = func(e *env) int64 { return min(max(limit(e), 1), as.limit) }
		r.args = append(r.args, source{value: &as})
	}
}

// returned reads which columns a statement returns, and which values it carries.
func (r *reading) returned() {
	read := r.f.Value("read")
	count, sum := r.f.Value("count"), r.f.Value("sum")
	switch {
	case count != nil:
		r.op.Aggregate = model.Count
		r.carry(count, -1, model.Int, 0)
	case sum != nil:
		if sum.Kind != strictyaml.Mapping || len(sum.Entries) != 1 {
			r.At(sum, "sum is a map of one column to a name", "as in {sum: {amount: total}}")
			return
		}
		e := sum.Entries[0]
		switch i := r.column(e.Key); {
		case i < 0:
		case !isNumber(r.t.Columns[i].Type):
			r.At(e.Key, fmt.Sprintf("column %s is of type %s, and cannot be summed", e.Key.Text, nameOf(r.t.Columns[i].Type)),
				"")
		default:
			r.op.Aggregate, r.op.Columns = model.Sum, []string{e.Key.Text}
			r.carry(e.Value, -1, r.t.Columns[i].Type, 0)
		}
	case read == nil:
		r.op.Columns = r.t.ColumnNames()
	case read.Kind == strictyaml.Mapping:
		for _, e := range read.Entries {
			if i := r.column(e.Key); i >= 0 {
				r.carry(e.Value, len(r.op.Columns), r.t.Columns[i].Type, int64(r.t.Columns[i].Width))
				if s, ok := r.scope.vars[e.Value.Text]; ok {
					s.proven = r.cols.list[i].value.proven
					r.scope.vars[e.Value.Text] = s
				}
				r.op.Columns = append(r.op.Columns, e.Key.Text)
			}
		}
	default:
		for _, name := range r.f.Words("read", "columns, or a map of columns to names", nil) {
			at, some := r.t.group(name)
			if len(at) == 0 {
				r.At(read, fmt.Sprintf("table %s has no column %q", r.t.Name, name), hint.OneOf(name, r.t.ColumnNames()))
			}
			if some {
				at = r.choose(read, at, len(r.op.Columns))
			}
			for _, i := range at {
				r.op.Columns = append(r.op.Columns, r.t.Columns[i].Name)
			}
		}
	}
	if (count != nil || sum != nil) && (read != nil || count != nil && sum != nil) {
		r.At(r.s.at, "a scan reads columns, counts, or sums", "keep one of read, count and sum")
	}
	if n := r.f.Value("expect"); n != nil && sum != nil {
		r.At(n, "expect is a number of rows, and a sum does not report how many it added", "count them, or remove expect")
	}
	for i, name := range r.op.Columns {
		if r.op.Aggregate == model.NoAggregate && r.cols.list[r.t.Column(name)].value.proven {
			r.s.proofs = append(r.s.proofs, i)
		}
	}
}

// statement compiles a statement, and adds its carried values to the scope.
func (c *compiler) statement(n *strictyaml.Node, s scope) *statement {
	if !c.Is(n, strictyaml.Mapping, "a statement is a map", "as in {get: TABLE, row: {any: {}}}") {
		return nil
	}
	var kind string
	for _, k := range generic {
		switch {
		case n.Get(k) == nil:
		case kind != "":
			c.At(n, fmt.Sprintf("the statement is both %s and %s", kind, k), "")
			return nil
		default:
			kind = k
		}
	}
	if kind == "" && n.Get(sOwn) != nil {
		kind = sOwn
	}
	if kind == "" {
		c.At(n, "the statement does nothing", "it has one of the keys "+strings.Join(kinds, ", "))
		return nil
	}
	var t *tableDef
	var cols *columns
	if kind != sOwn {
		if t = c.tableOf(n.Get(kind)); t == nil || t.wrong {
			return nil
		}
		cols = c.columns(t)
	}
	s.tableDef = t
	previous := len(c.Problems)
	r := &reading{compiler: c, f: c.Fields(n, kind, keysOf(kind).Names()), t: t, cols: cols, scope: s}
	if len(c.Problems) > previous {
		return nil // else the unknown key would cause further problems
	}
	r.s = &statement{kind: kind, at: n, table: t, count: 1}
	r.op.Kind = modelKinds[kind]
	if t != nil {
		r.op.Table = t.Name
	}
	map[string]func(){sInsert: r.insert, sGet: r.get, sScan: r.scan, sUpdate: r.update, sDelete: r.delete,
		sOwn: r.expect}[kind]()
	ownReader{r}.read()
	if len(c.Problems) > previous {
		return nil
	}
	return r.finish()
}

var modelKinds = map[string]model.Kind{sInsert: model.Insert, sGet: model.Get, sScan: model.Scan,
	sUpdate: model.Update, sDelete: model.Delete, sOwn: model.Own}

// finish makes the variants, and checks them against the vocabulary.
func (r *reading) finish() *statement {
	if r.some == nil {
		r.s.variants = []variant{{op: r.op, args: r.args}}
	}
	for _, index := range r.some {
		v := variant{op: r.op, args: slices.Clone(r.args)}
		if r.op.Kind == model.Update {
			v.op.Set = slices.Clone(r.op.Set)
			v.op.Set[r.place].Column = r.t.Columns[index].Name
			v.args[r.place] = source{col: &r.cols.list[index], anew: true}
		} else {
			v.op.Columns = slices.Clone(r.op.Columns)
			v.op.Columns[r.place] = r.t.Columns[index].Name
		}
		r.s.variants = append(r.s.variants, v)
	}
	for i := range r.s.variants {
		if r.s.kind == sOwn {
			break
		}
		for k, a := range r.s.variants[i].op.Set {
			if slices.ContainsFunc(r.s.variants[i].op.Set[:k], func(b model.Assign) bool { return a.Column == b.Column }) {
				r.At(r.s.at, "column "+a.Column+" is changed twice", "keep one of them")
				return nil
			}
		}
		if err := r.s.variants[i].op.Validate(r.t.Table); err != nil {
			r.At(r.s.at, err.Error(), hint.Of(err))
			return nil
		}
	}
	for _, a := range r.args {
		r.s.late = r.s.late || a.value != nil && a.value.late
	}
	r.s.late = r.s.late || r.s.row != nil && r.s.row.late
	return r.s
}
