package report

import (
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
)

// What all names begin and end with is said once, in whole words.
func TestShorten(t *testing.T) {
	for _, c := range []struct{ names, want, common string }{
		{"x.my5744_rel.z12.pk1 x.my8043_rel.z12.pk1", "my5744 my8043", "x.…_rel.z12.pk1"},
		{"mysql-8.0-prod mysql-8.4-prod", "8.0 8.4", "mysql-…-prod"},
		{"bbolt pebble", "bbolt pebble", ""},
		{"a.long.name a.long.name.more", "name name.more", "a.long.…"},
		{"only.one.of.them", "only.one.of.them", ""},
	} {
		var columns []page.Column
		for _, n := range strings.Fields(c.names) {
			columns = append(columns, page.Column{Name: n})
		}
		common := shorten(columns)
		var got []string
		for _, col := range columns {
			got = append(got, col.Name)
		}
		expect.Equal(t, strings.Join(got, " "), c.want, c.names, got)
		expect.Equal(t, common, c.common, c.names, got)
	}
}

// A number that was measured several times is the mean with its deviation; as
// published tables have it, it is rounded.
func TestRepeats(t *testing.T) {
	var rows []*metric.Row
	for _, v := range []float64{900, 1000, 1400} {
		rows = append(rows, &metric.Row{Value: v})
	}
	n := compare.Number{Key: compare.Key{Metric: "rows_per_s"}, Unit: "1/s", Value: 1000, Rows: rows}
	if got := absoluteText(n, false); got != "1,100 ±24.1 %" { // the deviation is 264.6
		t.Error(got)
	}
	expect.Equal(t, absoluteText(n, true), "1000")
	n.Rows = rows[:1]
	expect.Equal(t, absoluteText(n, false), "1,000")
}
