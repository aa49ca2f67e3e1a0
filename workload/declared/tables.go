package declared

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload/gen"
)

// readNames reads the tables' names: values may refer to any table.
func (c *compiler) readNames(n *strictyaml.Node) {
	if n == nil || !c.Is(n, strictyaml.Mapping, "tables is a map of tables by name",
		"as in {queue: {columns: {id: {auto: true}, state: {value: 0}}}}") {
		return
	}
	if len(n.Entries) == 0 {
		c.At(n, "there are no tables", "as in {queue: {columns: {id: {auto: true}, state: {value: 0}}}}")
	}
	distinct(c, n)
	for _, e := range n.Entries {
		c.tables = append(c.tables, &tableDef{Table: &model.Table{Name: e.Key.Text}})
	}
}

// tableReader reads a table.
type tableReader struct {
	*compiler
	t *tableDef
}

func (c *tableReader) read(e strictyaml.Entry) {
	t := c.t
	previous := len(c.Problems)
	defer func() { t.wrong = len(c.Problems) > previous || len(t.lost) > 0 }()
	f := c.Fields(e.Value, "table "+t.Name, tableKeys.Names())
	if f.Of.Kind != e.Value.Kind && !e.Value.IsNull() {
		return // already reported
	}
	n := f.Value("columns")
	if n == nil {
		if f.Of.Get("columns") == nil {
			c.At(e.Key, "table "+t.Name+" has no columns", "as in {columns: {id: {auto: true}, state: {value: 0}}}")
		}
		return
	}
	if !c.Is(n, strictyaml.Mapping, "columns is a map of columns by name", "as in {id: {auto: true}, state: {value: 0}}") {
		return
	}
	if len(n.Entries) == 0 {
		c.At(n, "table "+t.Name+" has no columns", "as in {id: {auto: true}, state: {value: 0}}")
		return
	}
	t.lost = map[string]bool{}
	distinct(c.compiler, n)
	for _, column := range n.Entries {
		known := len(t.columns)
		if c.column(column); len(t.columns) == known {
			t.lost[column.Key.Text] = true
		}
	}
	if len(t.columns) == 0 {
		return // already reported
	}
	c.typeColumns(n)
	t.Key = f.Words("key", "names of columns", c.known)
	if f.Of.Get("key") == nil && len(t.lost) == 0 {
		t.Key = []string{t.Columns[0].Name}
	}
	for _, name := range t.Key {
		if i := t.Column(name); i >= 0 && t.columns[i].fraction {
			c.At(t.columns[i].node, "column "+name+" of the key is a float, as its value is",
				"give it type: int64, which cuts fractions off, or type: float")
		}
	}
	c.autoKey()
	if n := f.Value("indexes"); n != nil &&
		c.Is(n, strictyaml.Mapping, "indexes is a map of indexes by name", "as in {by_state: [state, id]}") {
		distinct(c.compiler, n)
		for _, ix := range n.Entries {
			c.index(ix)
		}
	}
	if err := t.Validate(); err != nil && len(c.Problems) == previous && len(t.lost) == 0 {
		c.At(e.Key, err.Error(), hint.Of(err))
	}
}

// autoKey checks that a column numbered by the engine is the whole key.
func (c *tableReader) autoKey() {
	t := c.t
	i := t.AutoColumn()
	if i < 0 || len(t.Key) == 0 || len(t.lost) > 0 || len(t.Key) == 1 && t.Key[0] == t.Columns[i].Name {
		return
	}
	c.At(t.columns[i].node, fmt.Sprintf("column %s is auto, and must be the whole key, which is %s", t.Columns[i].Name,
		strings.Join(t.Key, ", ")), "make it the key, or number the rows by {value: {sequence: [1]}}")
}

// distinct refuses names that some engines do not distinguish.
func distinct(c *compiler, n *strictyaml.Node) {
	c.Names(n)
	for i, e := range n.Entries {
		if previous := slices.IndexFunc(n.Entries[:i], func(o strictyaml.Entry) bool {
			return strings.EqualFold(o.Key.Text, e.Key.Text)
		}); previous >= 0 {
			c.At(e.Key, fmt.Sprintf("%s and %s differ only in case", n.Entries[previous].Key.Text, e.Key.Text),
				"MySQL and SQLite take them for the same name")
		}
	}
}

// known accepts the names of columns.
func (c *tableReader) known(name string) (string, error) {
	if c.t.Column(name) < 0 && !c.t.lost[name] {
		return "", hint.Errorf(hint.OneOf(name, c.t.ColumnNames()), "table %s has no column %q", c.t.Name, name)
	}
	return name, nil
}

func (c *tableReader) column(e strictyaml.Entry) {
	t := c.t
	f := c.Fields(e.Value, "column "+e.Key.Text, columnKeys.Names())
	if f.Of.Kind != e.Value.Kind && !e.Value.IsNull() {
		return // already reported
	}
	col := model.Column{Name: e.Key.Text, NotNull: true}
	def := columnDef{name: e.Key.Text, node: f.Value("value")}
	strictyaml.Bind(f, "type", strictyaml.OneOf(typeNames()...), func(v string) {
		i := slices.Index(typeNames(), v)
		col.Type, col.Width = types[i].subject, types[i].width
	})
	strictyaml.Bind(f, "auto", strictyaml.Boolean, func(v bool) { col.Auto, def.auto = v, v })
	col.Width = int(c.wholeOf(f, "max", 1, mostBytes, int64(col.Width)))
	switch {
	case def.auto && def.node == nil:
		col.Type, def.node = model.Int, e.Key
	case def.auto:
		c.At(def.node, "an auto column has no value: the engine numbers rows", "remove auto or value")
		return
	case def.node == nil && f.Of.Get("value") != nil:
		return // already reported
	case def.node == nil:
		c.At(e.Key, "column "+col.Name+" has no value", "a number, an expression, or a generator such as {uniform: [1, 100]}")
		return
	}
	if f.Value("copies") == nil {
		t.Columns, t.columns = append(t.Columns, col), append(t.columns, &def)
		return
	}
	for i := range c.wholeOf(f, "copies", 1, mostCopies, 1) {
		one, own := col, def
		one.Name = col.Name + strconv.FormatInt(i, 10)
		own.name, own.group = one.Name, col.Name
		t.Columns, t.columns = append(t.Columns, one), append(t.columns, &own)
	}
}

// mostCopies is more than the columns that a table can have.
const mostCopies = 1000

// typeColumns sets the types and widths that follow from values, and the means.
func (c *tableReader) typeColumns(at *strictyaml.Node) {
	t := c.t
	cols := c.columns(t)
	for i := range t.Columns {
		col, v := &t.Columns[i], &cols.list[i].value
		if v.typ == model.Null {
			t.lost[col.Name] = true
		}
		if col.Auto || v.typ == model.Null {
			t.means = append(t.means, 8)
			continue
		}
		node := t.columns[i].node
		if col.Type == model.Null {
			col.Type = v.typ
			t.columns[i].fraction = v.typ == model.Float
		}
		if _, ok := v.as(col.Type); !ok {
			c.At(node, fmt.Sprintf("the value is of type %s, and column %s of type %s", nameOf(v.typ), col.Name, typeName(col)),
				"")
		}
		if col.Type.IsText() && col.Width == 0 {
			if col.Width = int(v.limit); v.limit == 0 {
				c.At(node, fmt.Sprintf("the greatest length of column %s is not known", col.Name), "give the column a max")
			}
		} else if err := v.fits(col); err != nil {
			c.At(node, err.Error(), hint.Of(err))
		}
		t.means = append(t.means, t.mean(&cols.list[i]))
	}
}

func (c *tableReader) index(e strictyaml.Entry) {
	ix := model.Index{Name: e.Key.Text}
	if e.Value.Kind == strictyaml.List || e.Value.Kind == strictyaml.Scalar {
		field := strictyaml.Node{Kind: strictyaml.Mapping, Entries: []strictyaml.Entry{e}}
		ix.Columns = strictyaml.Fields{In: &c.Document, Of: &field}.Words(e.Key.Text, "names of columns", c.known)
	} else {
		f := c.Fields(e.Value, "index "+ix.Name, indexKeys.Names())
		ix.Columns, ix.Include = f.Words("columns", "names of columns", c.known),
			f.Words("include", "names of columns", c.known)
		strictyaml.Bind(f, "unique", strictyaml.Boolean, func(v bool) { ix.Unique = v })
	}
	c.t.Indexes = append(c.t.Indexes, ix)
}

// columnsOf compiles the values of a table's columns.
func (c *compiler) columnsOf(t *tableDef) *columns {
	cols := &columns{def: t, list: make([]column, len(t.columns))}
	for i, def := range t.columns {
		cols.list[i].def = def
		cols.list[i].stream = gen.NewStream(c.seed, "declared", t.Name, def.name)
	}
	for i, def := range t.columns {
		if def.auto {
			cols.list[i].value = value{typ: model.Int, num: func(e *env) int64 { return e.row + 1 },
				rowOf: func(key int64) int64 { return key - 1 }}
			continue
		}
		// The value may use the columns before it.
		v, ok := c.value(def.node, scope{table: &columns{def: t, list: cols.list[:i]}, lost: t.lost})
		if !ok {
			v = value{}
		}
		if typ := t.Columns[i].Type; typ != model.Null && v.typ != model.Null {
			if as, ok := v.as(typ); ok {
				v = as.within(&t.Columns[i])
			}
		}
		cols.list[i].value = v
	}
	return cols
}

// columns returns the values of a table's columns, which are compiled once.
func (c *compiler) columns(t *tableDef) *columns {
	if c.values == nil {
		c.values = map[*tableDef]*columns{}
	}
	if c.values[t] == nil {
		c.values[t] = c.columnsOf(t)
	}
	return c.values[t]
}
