package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// SaleSchema returns the tables of the tests of SQL engines: sales, whose numbers are cached
// by sessions, and links, whose key has two columns.
func SaleSchema(cached int) model.Schema {
	return model.Schema{Tables: []model.Table{
		{
			Name: "sale",
			Columns: []model.Column{
				{Name: "id", Type: model.Int, Auto: true, AutoCache: cached},
				{Name: "at", Type: model.Time},
				{Name: "register", Type: model.Int, Width: 4, NotNull: true},
				{Name: "customer", Type: model.Int, Width: 4, NotNull: true},
				{Name: "product", Type: model.Int, Width: 4, NotNull: true},
				{Name: "price", Type: model.Float, NotNull: true},
				{Name: "data", Type: model.String, Width: 4000},
			},
			Key: []string{"id"},
			Indexes: []model.Index{
				{Name: "market", Columns: []string{"product", "customer", "price"}},
				{Name: "pdc", Columns: []string{"price", "at", "customer"}},
				{Name: "wide", Columns: []string{"customer"}, Include: []string{"data"}},
			},
		},
		{
			Name: "link",
			Columns: []model.Column{
				{Name: "from", Type: model.Int},
				{Name: "to", Type: model.String, Width: 100},
				{Name: "data", Type: model.Bytes, Width: 1000},
				{Name: "version", Type: model.Int},
				{Name: "code", Type: model.Int},
			},
			Key:     []string{"from", "to"},
			Indexes: []model.Index{{Name: "code", Columns: []string{"code"}, Unique: true}},
		},
	}}
}

// SaleInsert inserts sales and reads the number of the last.
func SaleInsert(rows int) model.Op {
	return model.Op{Kind: model.Insert, Table: "sale", Rows: rows, ReturnNumber: true,
		Columns: []string{"at", "register", "customer", "product", "price", "data"}}
}

// SaleRow is what SaleInsert inserts, for any number.
func SaleRow(i int) []any {
	return []any{model.MicrosValue(int64(i) * 1_000_003), i % 1000, i * 7919 % 100000, i * 31 % 10000, float64(i%500) / 2,
		fmt.Sprintf("row %012d", i)}
}

// CheckKnobs checks what an engine refuses: changes of a configuration, and the knob that the error
// names; "" if it is accepted. The password of a dsn is secret, and not shown.
func CheckKnobs(t *testing.T, e engine.Engine, config func() engine.Config, knobs []struct {
	Name string
	Set  func(*engine.Config)
	Knob string
}) {
	t.Helper()
	for _, k := range knobs {
		t.Run(k.Name, func(t *testing.T) {
			c := config()
			k.Set(&c)
			err := e.Check(c)
			var knob *engine.KnobError
			switch {
			case k.Knob == "" && err != nil:
				t.Error(err)
			case k.Knob != "" && (!errors.As(err, &knob) || knob.Knob != k.Knob):
				t.Errorf("got %v, want an error about %s", err, k.Knob)
			case err != nil && strings.Contains(err.Error()+hint.Of(err), "secret"):
				t.Errorf("it shows a password: %v", err)
			}
		})
	}
}
