package serve

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/report"
	"rumbench/internal/result"
)

// A step about queries shows all varieties of them, which have no line of their own, and nothing else.
func TestTrackOfVarieties(t *testing.T) {
	groups := []result.Group{{Name: "insert", Ops: []string{"insert"}}, {Name: "query", Ops: []string{"range a", "range b"},
		Of: map[string]string{"range a": "query", "range b": "query"}}}
	tr := &track{primary: report.KindsOf("query", groups)}
	for _, l := range []result.Line{
		{Source: "ops", T: 1, DT: 1, Group: "insert", Op: "insert", Rows: 100, P50: 9},
		{Source: "ops", T: 1, DT: 1, Group: "query", Op: "range a", Rows: 20, P50: 2, P99: 5},
		{Source: "ops", T: 1, DT: 1, Group: "query", Op: "range b", Rows: 30, P50: 3, P99: 4},
	} {
		tr.add(&l)
	}
	p := tr.points[0]
	expect.True(t, p.rows == 50 && p.seconds == 1 && p.p50 == 3 && p.p99 == 5, p)
}
