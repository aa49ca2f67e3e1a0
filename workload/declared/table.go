package declared

import (
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload/gen"
)

// tableDef is a table with the knowledge about its rows.
type tableDef struct {
	*model.Table
	columns []*columnDef
	means   []float64       // bytes of the columns' values
	loaded  int64           // maximum rows from the loads
	wrong   bool            // it has been reported
	lost    map[string]bool // columns that have been reported
	deletes bool            // some operation deletes rows
	again   bool            // some operation inserts rows that may exist
	inexact bool            // it is unknown which rows exist
	unknown bool            // it is unknown how many rows exist
	newest  bool            // clients ask for the newest rows
	rowState
}

// columnDef is a column as declared; each copy has its own.
type columnDef struct {
	name  string
	group string // of copies: the name that they share
	auto  bool
	node  *strictyaml.Node // its value; for an auto column, its name
	// fraction is whether the column is a float because its value is.
	fraction bool
}

// columns are the values of a table's columns for one client.
type columns struct {
	def  *tableDef
	list []column
}

type column struct {
	def    *columnDef
	stream gen.Stream
	value  value
}

// indexNames returns the names of the indexes.
func (t *tableDef) indexNames() []string {
	return quantity.Texts(t.Indexes, func(ix model.Index) string { return ix.Name })
}

// live returns how many rows exist, as far as this is known.
func (t *tableDef) live() int64 { return t.rows() - t.dead.size.Load() - t.gone.Load() }

// mean returns the mean bytes of a column's values. If it does not follow from the
// generator of a text, drawn rows are averaged.
func (t *tableDef) mean(col *column) float64 {
	if known := col.value.size(); known != 0 || col.value.fixed {
		return known
	}
	const samples, enough = 1000, 16 << 20 // rows, and bytes
	whole := t.loaded
	if whole == 0 {
		whole = samples
	}
	rows := gen.NewSource(gen.NewStream(0, "declared", "mean"))
	e := env{}
	sum, n := 0, 0
	for ; n < samples && sum < enough; n++ {
		e.text = e.text[:0]
		v := col.at(&e, rows.Uniform(whole))
		sum += v.Size()
	}
	return float64(sum) / float64(n)
}

// named returns a column's value for use in another column.
func (cols *columns) named(name string) (value, bool) {
	for i := range cols.list {
		if cols.list[i].def.name != name {
			continue
		}
		column := &cols.list[i]
		v := column.value
		switch {
		case v.fixed: // arithmetic computes it at once
		case v.num != nil:
			v.num = func(e *env) int64 { return column.at(e, e.row).Int() }
		case v.real != nil:
			v.real = func(e *env) float64 { return column.at(e, e.row).Float() }
		case v.text != nil:
			v.text = func(e *env) []byte { return column.at(e, e.row).Buf() }
		}
		return v, true
	}
	return value{}, false
}

// at computes the column's value in a row. It is a function of the seed and the row.
func (col *column) at(e *env, row int64) model.Value {
	src, previous := e.src, e.row
	e.src, e.row = *gen.NewSource(col.stream.Sub(uint64(row))), row
	v := col.value.get(e)
	e.src, e.row = src, previous
	return v
}

// anew computes the column's value in a row from the draws of the operation.
func (col *column) anew(e *env, row int64) model.Value {
	previous := e.row
	e.row = row
	v := col.value.get(e)
	e.row = previous
	return v
}

// rowBytes returns the mean user bytes of a row, with its entries in some indexes.
func (t *tableDef) rowBytes(indexes []string) (sum float64) {
	for _, m := range t.means {
		sum += m
	}
	for i := range t.Indexes {
		if slices.Contains(indexes, t.Indexes[i].Name) {
			sum += t.entryBytes(&t.Indexes[i])
		}
	}
	return sum
}

// entryBytes returns the mean user bytes of an index entry: its columns and the key.
func (t *tableDef) entryBytes(ix *model.Index) (sum float64) {
	for _, name := range slices.Concat(ix.Columns, ix.Include, t.Key) {
		if i := t.Column(name); i >= 0 && i < len(t.means) {
			sum += t.means[i]
		}
	}
	return sum
}

// group returns the positions of the columns that a name matches: one column, one of
// several copies, or, with a star, all copies; choose is whether one of the copies must be
// chosen.
func (t *tableDef) group(name string) (at []int, choose bool) {
	all := strings.HasSuffix(name, "*")
	name = strings.TrimSuffix(name, "*")
	if i := t.Column(name); i >= 0 && !all {
		return []int{i}, false
	}
	for i, c := range t.columns {
		if c.group == name {
			at = append(at, i)
		}
	}
	return at, !all && len(at) > 0
}

// ask notes that clients ask for the newest rows of a table; nil: it is none.
func (t *tableDef) ask() {
	if t != nil && !t.newest {
		t.newest = true
	}
}

// rowCount is what is known of the rows of a table.
type rowCount struct{ next, live int64 }

func (t *tableDef) count() rowCount {
	next := t.next.Load()
	return rowCount{next, t.live() + next - t.rows() - t.pending()}
}

// given returns the columns to which an insert gives values: all except those that the
// engine numbers.
func (t *tableDef) given() (names []string) {
	for _, c := range t.Columns {
		if !c.Auto {
			names = append(names, c.Name)
		}
	}
	return names
}
