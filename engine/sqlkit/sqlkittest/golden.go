// Package sqlkittest shows a dialect's SQL for one example of every table,
// index and operation, so that a reader can check it by eye. It is for the
// tests of sqlkit and of the engines that are made with it.
package sqlkittest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Schema has a table with numbered rows and one with a composite key.
func Schema() model.Schema {
	return model.Schema{Tables: []model.Table{
		{
			Name: "sale",
			Columns: []model.Column{
				{Name: "id", Type: model.Int, Auto: true, AutoCache: 1000},
				{Name: "at", Type: model.Time},
				{Name: "product", Type: model.Int, Width: 4, NotNull: true},
				{Name: "price", Type: model.Float, NotNull: true},
				{Name: "count", Type: model.Int},
				{Name: "note", Type: model.String, Width: 200},
				{Name: "code", Type: model.String, Width: 10, NotNull: true, Fixed: true},
			},
			Key: []string{"id"},
			Indexes: []model.Index{
				{Name: "product", Columns: []string{"product", "price"}},
				{Name: "at", Columns: []string{"at"}, Include: []string{"price"}},
			},
		},
		{
			Name: "link",
			Columns: []model.Column{
				{Name: "from", Type: model.Int},
				{Name: "to", Type: model.String, Width: 100},
				{Name: "data", Type: model.Bytes, Width: 1000},
				{Name: "version", Type: model.Int, NotNull: true},
			},
			Key:     []string{"from", "to"},
			Indexes: []model.Index{{Name: "to", Columns: []string{"to", "version"}, Unique: true}},
		},
	}}
}

// example is an operation with a name.
type example struct {
	name string
	op   model.Op
}

// examples are all operations on the tables of Schema.
func examples() []example {
	some := []string{"product", "price"}
	all := []string{"from", "to", "data", "version"}
	return []example{
		{"insert, numbered", model.Op{Kind: model.Insert, Table: "sale", Columns: some, Rows: 2}},
		{"insert, numbered, number wanted", model.Op{Kind: model.Insert, Table: "sale", Columns: some, Rows: 2, ReturnNumber: true}},
		{"insert, number given", model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"id", "product", "price"}, Rows: 1}},
		{"insert, ignore", model.Op{Kind: model.Insert, Table: "link", Columns: all, Rows: 1, OnConflict: model.Ignore}},
		{"insert, replace all columns", model.Op{Kind: model.Insert, Table: "link", Columns: all, Rows: 2, OnConflict: model.Replace}},
		{"insert, replace some columns", model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "version"}, Rows: 1, OnConflict: model.Replace}},
		{"insert, add", model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "version"}, Rows: 1, OnConflict: model.Add, AddColumns: []string{"version"}}},
		{"insert, add to nullable", model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"id", "product", "price", "count"}, Rows: 1, OnConflict: model.Add, AddColumns: []string{"count", "price"}}},
		{"get", model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "note"}}},
		{"get, three keys", model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "note"}, Keys: 3}},
		{"get, locked", model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "note"}, Lock: true}},
		{"get, composite key", model.Op{Kind: model.Get, Table: "link", Columns: []string{"data"}}},
		{"get, two composite keys", model.Op{Kind: model.Get, Table: "link", Columns: []string{"data"}, Keys: 2}},
		{"get, no columns", model.Op{Kind: model.Get, Table: "sale"}},
		{"get, by index", model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "product"}, Index: "product", Equal: 1}},
		{"get, by index, three keys", model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "product"}, Index: "product", Equal: 1, Keys: 3}},
		{"get, by index, two composite keys", model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id"}, Index: "product", Equal: 2, Keys: 2}},
		{"scan, by key", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Lower: model.Inclusive, Limit: 10}},
		{"scan, greatest key", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Desc: true, Limit: 1}},
		{"scan, by index", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product", "price", "id"}, Index: "product", Lower: model.Exclusive, Upper: model.Inclusive}},
		{"scan, equal prefix, down", model.Op{Kind: model.Scan, Table: "sale", Columns: some, Index: "product", Equal: 1, Upper: model.Exclusive, Desc: true, Limit: 5}},
		{"scan, all equal", model.Op{Kind: model.Scan, Table: "sale", Columns: some, Index: "product", Equal: 2}},
		{"scan, nullable order", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"at", "price"}, Index: "at", Limit: 10}},
		{"scan, nullable order, down", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"at", "price"}, Index: "at", Desc: true, Limit: 10}},
		{"scan, count", model.Op{Kind: model.Scan, Table: "sale", Aggregate: model.Count, Lower: model.Inclusive, Upper: model.Exclusive}},
		{"scan, count with limit", model.Op{Kind: model.Scan, Table: "sale", Index: "product", Equal: 1, Aggregate: model.Count, Limit: 1000}},
		{"scan, count distinct", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product"}, Index: "product", Aggregate: model.Count, Distinct: true}},
		{"scan, sum", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"count"}, Aggregate: model.Sum, Lower: model.Inclusive, Upper: model.Inclusive}},
		{"scan, order by", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"note"}, OrderBy: "note", Lower: model.Inclusive, Upper: model.Inclusive}},
		{"scan, distinct", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product", "note"}, Distinct: true, OrderBy: "note", Desc: true, Limit: 3}},
		{"scan, free", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product"}, Free: true, Lower: model.Inclusive, Upper: model.Inclusive}},
		{"scan, free, order by", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product"}, Free: true, Lower: model.Inclusive, Upper: model.Inclusive, OrderBy: "product"}},
		{"scan, free, distinct, order by", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product", "price"}, Free: true, Lower: model.Inclusive, Upper: model.Inclusive, Distinct: true, OrderBy: "product"}},
		{"scan, free, sum", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product"}, Free: true, Lower: model.Inclusive, Upper: model.Inclusive, Aggregate: model.Sum}},
		{"scan, free, count of three ranges", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product"}, Free: true, Index: "product", Ranges: 3, Lower: model.Inclusive, Upper: model.Inclusive, Aggregate: model.Count}},
		{"scan, free, two ranges of short ones", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Free: true, Ranges: 2, Lower: model.Inclusive, Upper: model.Inclusive, Where: []model.Condition{{Column: "note", Is: model.ShorterThan}}}},
		{"scan, free, count of short ones", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Free: true, Aggregate: model.Count, Where: []model.Condition{{Column: "note", Is: model.ShorterThan}}}},
		{"scan, free, short ones with an equal prefix", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Free: true, Index: "product", Equal: 1, Upper: model.Exclusive, Where: []model.Condition{{Column: "code", Is: model.ShorterThan}}}},
		{"scan, limited, two conditions", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Desc: true, Limit: 3, Lower: model.Exclusive,
			Where: []model.Condition{{Column: "count", Is: model.Equals}, {Column: "price", Is: model.AtLeast}, {Column: "note", Is: model.AtMost}}}},
		{"update", model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "note"}, {Column: "count", Add: true}, {Column: "price", Add: true}}}},
		{"update, composite key", model.Op{Kind: model.Update, Table: "link", Set: []model.Assign{{Column: "version", Add: true}}}},
		{"update, three keys", model.Op{Kind: model.Update, Table: "sale", Keys: 3, Set: []model.Assign{{Column: "count", Add: true}, {Column: "note"}}}},
		{"update, two composite keys", model.Op{Kind: model.Update, Table: "link", Keys: 2, Set: []model.Assign{{Column: "version", Add: true}}}},
		{"update, by index", model.Op{Kind: model.Update, Table: "sale", Index: "product", Equal: 1, Set: []model.Assign{{Column: "note"}}}},
		{"delete", model.Op{Kind: model.Delete, Table: "sale"}},
		{"delete, two composite keys", model.Op{Kind: model.Delete, Table: "link", Keys: 2}},
		{"delete lowest", model.Op{Kind: model.DeleteLowest, Table: "sale", Rows: 50}},
	}
}

// Golden compares the dialect's SQL with a file.
func Golden(t *testing.T, d *sqlkit.Dialect, path string) {
	t.Helper()
	got, err := describe(d)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("SQL differs from %s (run with -update if it should):\n%s", path, diff)
	}
}

// describe returns the dialect's SQL for Schema and the examples.
func describe(d *sqlkit.Dialect) (string, error) {
	var b strings.Builder
	schema := Schema()
	for i := range schema.Tables {
		t := &schema.Tables[i]
		if err := t.Validate(); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "-- table %s\n%s\n", t.Name, d.CreateTable(t))
		var indexes []*model.Index
		for j := range t.Indexes {
			indexes = append(indexes, &t.Indexes[j])
		}
		fmt.Fprintf(&b, "%s\n", strings.Join(d.CreateIndexes(t, indexes), "\n"))
		fmt.Fprintf(&b, "%s\n%s\n\n", d.DropIndex(t, indexes[0].Name), d.DropTable(t, false))
	}
	for _, c := range examples() {
		t, err := schema.Table(c.op.Table)
		if err != nil {
			return "", err
		}
		if err := c.op.Validate(t); err != nil {
			return "", err
		}
		s, err := d.Statement(t, &c.op)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "-- %s\n%s\n", c.name, s.Text)
		if s.Args != nil {
			fmt.Fprintf(&b, "-- arguments %v\n", s.Args)
		}
		b.WriteByte('\n')
	}
	for _, level := range []model.Isolation{model.DefaultIsolation, model.RepeatableRead} {
		fmt.Fprintf(&b, "-- begin at level %d\n", level)
		for _, writes := range []bool{false, true} {
			fmt.Fprintf(&b, "%s\n", strings.Join(d.Begin(level, writes), "; "))
		}
	}
	return b.String(), nil
}
