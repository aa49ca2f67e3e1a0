package report

import (
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/text/quantity"
)

// percentilePlots returns plots of latency over percentiles: for the primary
// operation, and separately for the others.
func percentilePlots(s *step) (own, others []page.Plot) {
	type curve struct {
		subject
		measure string
	}
	var curves []curve
	byKey := map[curve][]indexed{}
	for t, r := range s.leaders() {
		for _, cv := range r.Step.Curves {
			if len(cv.Points) > 0 && !(cv.Measure == "statement" && s.c.crowded()) {
				one := curve{subject{cv.Group, cv.Op}, cv.Measure}
				curves, byKey[one] = compare.AppendNew(curves, one), append(byKey[one], indexed{t.Index, cv})
			}
		}
	}
	for _, one := range curves {
		if one.measure == "service" && byKey[curve{one.subject, "response"}] != nil {
			continue // the other curve shows the waits of users
		}
		p := curvePlot(byKey[one])
		p.Title = strings.Replace(one.measure+" time", "lateness time", "lateness", 1) + " by percentile: " + one.String()
		if (one.op == s.Primary || one.group == s.Primary) && one.measure != "lateness" {
			own = append(own, p)
		} else {
			others = append(others, p)
		}
	}
	return own, others
}

// morePercentiles returns the plots that are not among a step's pictures.
func morePercentiles(s *step) []page.Block {
	own, others := percentilePlots(s)
	if own = append(own, others...); len(own) < 2 {
		return nil
	}
	out := []page.Block{page.Plots{Plots: own[1:]}}
	if name := oneTrial(s); name != "" {
		out = append(out, onScreen("Curves: "+name))
	}
	return out
}

type indexed struct {
	index int
	metric.Curve
}

// nines returns a percentile's position on an axis with equal distances between
// 90, 99, 99.9 ….
func nines(percentile float64) float64 { return min(6, -math.Log10(max(1e-6, 1-percentile/100))) }

// curvePlot draws percentile curves: x in nines, y in µs, logarithmic.
func curvePlot(curves []indexed) page.Plot {
	p := page.Plot{Label: "latency over percentiles", Height: 280, X: page.Axis{Caption: "percentile of operations"}}
	far := 1.0
	for _, cv := range curves {
		for _, point := range cv.Points {
			if point[0] < 100 {
				far = max(far, math.Ceil(nines(point[0])))
			}
		}
	}
	// The maximum has no position among the nines: it is drawn one step to the
	// right of the last.
	p.X.To = far + 1
	for i, text := range []string{"0", "90", "99", "99.9", "99.99", "99.999", "99.9999"} {
		if float64(i) <= far {
			p.X.Ticks = append(p.X.Ticks, page.Tick{At: float64(i), Text: text})
		}
	}
	p.X.Ticks = append(p.X.Ticks, page.Tick{At: p.X.To, Text: "max"})
	for _, cv := range curves {
		line := page.Line{Series: cv.index}
		for _, at := range cv.Points {
			point := page.Gap(p.X.To)
			if point.Y = max(0.1, at[1]); at[0] < 100 {
				point.X = nines(at[0])
			}
			line.Points = append(line.Points, point)
		}
		p.Lines = append(p.Lines, line)
	}
	p.Y = page.Scale{Format: roundDuration, Spread: 1}.Axis(page.Reach(p.Lines))
	return p
}

// roundDuration formats a time for an axis.
func roundDuration(us float64) string {
	return strings.NewReplacer(".00 ", " ", ".0 ", " ").Replace(quantity.Micros(us))
}

// barsIn returns the bars of the primary operation and of the writes next to
// it.
func barsIn(s *step) []page.Bars {
	var out []page.Bars
	for _, op := range compare.AppendNew([]string{s.Primary}, s.WritesPer) {
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
	goal := ""
	if promised > 0 {
		goal = quantity.Digits(promised) + "/s promised"
		b.Key = "The dashed line is at " + goal + "."
	}
	limit := promised
	for _, t := range s.c.Targets {
		limit = max(limit, s.number(t, k).High)
	}
	for _, t := range s.c.Targets {
		n := s.number(t, k)
		bar := page.Bar{Head: t.Name, Series: t.Index, Cell: s.cell(t, s.c.Targets[0], k, &page.Notes{}), GoalTitle: goal}
		if limit > 0 && n.Missing == "" {
			bar.Length, bar.Low, bar.Range = 100*n.Value/limit, 100*n.Low/limit, 100*(n.High-n.Low)/limit
			bar.Spread, bar.Goal = len(n.Rows) > 1, 100*promised/limit
		}
		b.Rows = append(b.Rows, bar)
	}
	return b
}
