package report

import (
	"slices"

	"rumbench/internal/page"
	"rumbench/internal/text/quantity"
)

// barsIn returns the bars of the primary operation and of the writes next to
// it.
func barsIn(s *step) []page.Bars {
	var out []page.Bars
	kinds := []string{s.Primary}
	if s.WritesPer != s.Primary {
		kinds = append(kinds, s.WritesPer)
	}
	for _, op := range kinds {
		if k, ok := s.Rate(op); ok {
			out = append(out, barsOf(s, k))
		}
	}
	return out
}

func barsOf(s *step, k key) page.Bars {
	b := page.Bars{Title: s.units(k.Op) + "/s (" + k.Op + ")"}
	promised := 0.0
	for _, g := range s.Groups() {
		if g.Name == k.Op || slices.Contains(g.Ops, k.Op) {
			promised = g.Promised(k.Op)
		}
	}
	limit := promised
	for _, t := range s.c.Targets {
		limit = max(limit, s.number(t, k).High)
	}
	for _, t := range s.c.Targets {
		n := s.number(t, k)
		bar := page.Bar{Head: t.Name, Series: t.Index, Cell: s.cell(t, s.c.Targets[0], k, &page.Notes{})}
		if limit > 0 && n.Missing == "" {
			bar.Length, bar.Low, bar.Range = 100*n.Value/limit, 100*n.Low/limit, 100*(n.High-n.Low)/limit
			bar.Spread = len(n.Rows) > 1
			bar.Goal = 100 * promised / limit
		}
		if promised > 0 {
			bar.GoalTitle = quantity.Digits(promised) + "/s promised"
		}
		b.Rows = append(b.Rows, bar)
	}
	if promised > 0 {
		b.Key = "The dashed line is at " + quantity.Digits(promised) + "/s promised."
	}
	return b
}
