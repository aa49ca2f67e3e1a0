package serve

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// A step about queries shows all varieties of them, which have no line of their own, and nothing else.
func TestTrackOfVarieties(t *testing.T) {
	groups := []result.Group{{Name: "insert", Ops: []string{"insert"}}, {Name: "query", Ops: []string{"range a", "range b"},
		Of: map[string]string{"range a": "query", "range b": "query"}}}
	tr := newTrack(&result.Step{Primary: "query", Groups: groups})
	for _, l := range []result.Line{
		{Source: "ops", T: 1, DT: 1, Group: "insert", Op: "insert", Rows: 100, P50: 9},
		{Source: "ops", T: 1, DT: 1, Group: "query", Op: "range a", Rows: 20, P50: 2, P99: 5},
		{Source: "ops", T: 1, DT: 1, Group: "query", Op: "range b", Rows: 30, P50: 3, P99: 4},
	} {
		tr.Add(&l)
	}
	p := tr.Points[0]
	expect.True(t, p.Rows == 50 && p.OpsTime == 1 && p.ServiceP50 == 3 && p.ServiceP99 == 5, p)
}
