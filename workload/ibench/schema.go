package ibench

import (
	"fmt"

	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload"
)

// The columns.
const (
	colID       = "transactionid"
	colTime     = "dateandtime"
	colRegister = "cashregisterid"
	colCustomer = "customerid"
	colProduct  = "productid"
	colPrice    = "price"
	colData     = "data"
)

// insertColumns are all columns except the key, which the engine numbers.
var insertColumns = []string{colTime, colRegister, colCustomer, colProduct, colPrice, colData}

func tableName(n int) string { return fmt.Sprintf("pi%d", n+1) }

// Schema returns one table per client, or one for all.
func (r *run) Schema() model.Schema {
	var s model.Schema
	for n := range r.tables {
		s.Tables = append(s.Tables, r.table(n))
	}
	return s
}

func (r *run) table(n int) model.Table {
	name := tableName(n)
	price := model.Column{Name: colPrice, Type: model.Int, Width: 4, NotNull: true}
	if r.classic {
		price = model.Column{Name: colPrice, Type: model.Float, NotNull: true}
	}
	t := model.Table{
		Name: name,
		Columns: []model.Column{
			{Name: colID, Type: model.Int, Auto: true, AutoCache: 1000}, // as in the original
			{Name: colTime, Type: model.Time},
			{Name: colRegister, Type: model.Int, Width: 4, NotNull: true},
			{Name: colCustomer, Type: model.Int, Width: 4, NotNull: true},
			{Name: colProduct, Type: model.Int, Width: 4, NotNull: true},
			price,
			{Name: colData, Type: model.String, Width: maxData},
		},
		Key: []string{colID},
	}
	for _, ix := range r.indexes() {
		t.Indexes = append(t.Indexes, model.Index{Name: name + "_" + ix.name, Columns: ix.columns})
	}
	return t
}

type index struct {
	name    string
	short   string // in the names of queries
	columns []string
}

// indexes returns the secondary indexes in creation order.
func (r *run) indexes() []index {
	all := []index{
		{"marketsegment", "market", []string{colProduct, colCustomer, colPrice}},
		{"registersegment", "register", []string{colRegister, colCustomer, colPrice}},
		{"pdc", "pdc", []string{colPrice, colTime, colCustomer}},
	}
	if r.classic {
		all[0].columns = []string{colPrice, colCustomer}
		all[1].columns = []string{colRegister, colPrice, colCustomer}
	}
	return all[:r.p.Int("secondary")]
}

func (r *run) indexNames(table int) []string {
	return quantity.Texts(r.indexes(), func(ix index) string { return tableName(table) + "_" + ix.name })
}

// width returns the user bytes of a column other than the data column.
func (r *run) width(column string) int64 {
	switch column {
	case colID, colTime:
		return 8
	case colPrice:
		if r.classic {
			return 8
		}
	}
	return 4
}

// rowBytes returns the user bytes of a row without its data column, optionally with its
// index entries.
func (r *run) rowBytes(indexed bool) int64 {
	n := r.width(colID)
	for _, c := range insertColumns {
		if c != colData {
			n += r.width(c)
		}
	}
	if !indexed {
		return n
	}
	for _, ix := range r.indexes() {
		n += r.width(colID)
		for _, c := range ix.columns {
			n += r.width(c)
		}
	}
	return n
}

// live returns the user data of a number of rows.
func (r *run) live(rows int64, indexed bool) workload.Live {
	data := float64(r.p.Int("data_min")+r.p.Int("data_max")) / 2
	return workload.Live{Rows: rows, Bytes: int64(float64(rows) * (float64(r.rowBytes(indexed)) + data))}
}
