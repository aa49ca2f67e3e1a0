package compare

import (
	"math"
	"strings"
	"testing"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Of two rates that are printed as 0 there is no ratio, and certainly not 1.
func TestRatioOfNothing(t *testing.T) {
	c := New([]*result.Trial{tested("old", 1, "", map[string]float64{"scan": 0.4, "range": 5}), tested("new", 1, "", map[string]float64{"scan": 0.3, "range": 5})})
	for _, compatible := range []bool{false, true} {
		r := c.Relative(RelativeOptions{Compatible: compatible})
		q := r.QPS(false, false, nil)
		if got := strings.Join([]string{q.Rows[0].Test, q.Rows[0].Cells[0], q.Rows[1].Test, q.Rows[1].Cells[0]}, " "); got != "range 1.00 scan NA" {
			t.Errorf("compatible %v: %s", compatible, got)
		}
		if cell := group(t, r, Range).Rows[1].Cells[1]; compatible && !math.IsNaN(cell.Ratio) {
			t.Errorf("ratio %g of numbers that are printed as 0", cell.Ratio)
		}
	}
}

// Published tables of rates have the warm-up of the scan, and no other warm-up.
func TestWarmUpsOfPublishedTables(t *testing.T) {
	rates := map[string]float64{"scan": 1, "scan.warm": 2, "scan.warmpre": 3, "point-query.warm": 4, "point-query.pre": 5, "insert": 6, "points-covered-si.warm": 7, "read-only": 8}
	r := New([]*result.Trial{tested("a", 1, "", rates)}).Relative(RelativeOptions{})
	for warmUps, want := range map[bool]string{
		false: "read-only scan scan.warm insert",
		true:  "read-only scan scan.warm insert point-query.pre point-query.warm points-covered-si.warm scan.warmpre",
	} {
		var got []string
		for _, row := range r.QPS(true, warmUps, nil).Rows {
			got = append(got, row.Test)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("warm-ups %v: %s, want %s", warmUps, got, want)
		}
	}
}

// What a log does not say is no difference; what rumbench was not asked for is.
func TestUnlikeUnknown(t *testing.T) {
	of := func(target string, params map[string]any, imported bool) *result.Trial {
		tr := tested(target, 1, "", map[string]float64{"scan": 1})
		if tr.Params = params; imported {
			tr.Imported = &result.Imported{}
		}
		return tr
	}
	for _, imported := range []bool{false, true} {
		c := New([]*result.Trial{of("a", map[string]any{"rows": 5, "tables": 1}, imported), of("b", map[string]any{"rows": 6}, imported)})
		want := map[bool]string{false: "rows 5 and 6; tables 1 and not known", true: "rows 5 and 6"}[imported]
		if got := strings.Join(Unlike(c.Targets[0], c.Targets[1]), "; "); got != want {
			t.Errorf("imported %v: %q, want %q", imported, got, want)
		}
	}
}

// A summary has costs per row and a rate, but no count and no length.
func TestSummaryOfSummary(t *testing.T) {
	tr := tested("a", 1, "", map[string]float64{"l.i1": 1000})
	tr.Steps[0].Rows = append(tr.Steps[0].Rows, metric.Row{Target: "a", Trial: 1, Step: "l.i1", Metric: "read_kb", Per: "query", Value: 2.048, Unit: "KB"})
	c := New([]*result.Trial{tr})
	if got := c.Steps[0].summary(c.Targets[0]).ReadMB; math.Abs(got-2) > 1e-12 {
		t.Errorf("%g MB a second, want 2", got)
	}
}
