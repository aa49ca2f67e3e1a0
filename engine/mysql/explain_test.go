package mysql

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/model"
)

// Lines of both layouts are read; those about other tables are text only.
func TestExplainRow(t *testing.T) {
	table := &model.Table{Name: "t"}
	row := func(cells string) (out []string) {
		for _, c := range strings.Split(cells, "|") {
			if c == "-" {
				c = "" // NULL
			}
			out = append(out, c)
		}
		return out
	}
	for _, o := range []struct {
		cells string
		want  *engine.Access
	}{
		{"1|SIMPLE|t|range|t.k|t.k|4|-|99|Using where", &engine.Access{Index: "k", How: engine.Seek, As: "range", Rows: 99}},
		{"1|SIMPLE|t|-|range|t.k|t.k|4|-|99|100.00|Using where", &engine.Access{Index: "k", How: engine.Seek, As: "range", Rows: 99}},
		{"1|SIMPLE|t|const|PRIMARY|PRIMARY|4|const|1|", &engine.Access{Index: engine.PrimaryKey, How: engine.Seek, As: "const", Rows: 1}},
		{"1|SIMPLE|t|index|-|PRIMARY|4|-|1|", &engine.Access{Index: engine.PrimaryKey, How: engine.Walk, As: "index", Rows: 1}},
		{"1|SIMPLE|t|ALL|-|-|-|-|39528|Using where", &engine.Access{How: engine.WholeTable, As: "ALL", Rows: 39528}},
		{"1|PRIMARY|<derived2>|ALL|-|-|-|-|10|", nil},
		{"1|SIMPLE|-|-|-|-|-|-|-|Impossible WHERE", nil},
	} {
		text, got, err := explainRow(table, row(o.cells))
		expect.True(t, err == nil && (got == nil) == (o.want == nil) && (got == nil || *got == *o.want),
			o.cells, got, err, "want", o.want)
		expect.True(t, text != "", o.cells, "no text")
	}
	if _, _, err := explainRow(table, row("1|SIMPLE")); err == nil {
		t.Error("a line of two columns is read")
	}
}
