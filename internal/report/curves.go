package report

import (
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
)

// curveBlocks returns plots of latency over percentiles: those of the primary
// operation, and separately the others.
func curveBlocks(s *step) (out []page.Block) {
	type curve struct {
		subject
		measure string
	}
	var all []curve
	of := map[curve][]indexed{}
	for t, r := range s.leaders() {
		for _, cv := range r.Step.Curves {
			if len(cv.Points) > 0 && !(cv.Measure == "statement" && s.c.crowded()) {
				one := curve{subject{cv.Group, cv.Op}, cv.Measure}
				all = compare.AppendNew(all, one)
				of[one] = append(of[one], indexed{t.Index, cv})
			}
		}
	}
	first := page.Plots{ID: s.id + "-percentiles", Title: "Latency by percentile"}
	more := page.Plots{Title: "More percentile curves", Folded: true}
	for _, one := range all {
		p := curvePlot(of[one])
		p.Title = one.String() + ": " + strings.Replace(one.measure+" time", "lateness time", "lateness", 1)
		if (one.op == s.Primary || one.group == s.Primary) && one.measure != "lateness" && len(first.Plots) < 2 {
			first.Plots = append(first.Plots, p)
		} else {
			more.Plots = append(more.Plots, p)
		}
	}
	for _, p := range []page.Plots{first, more} {
		if len(p.Plots) > 0 {
			out = append(out, p)
		}
	}
	return out
}

type indexed struct {
	index int
	metric.Curve
}

// nines returns a percentile's position on an axis with equal distances between
// 90, 99, 99.9 ….
func nines(percentile float64) float64 {
	return min(6, -math.Log10(max(1e-6, 1-percentile/100)))
}

// curvePlot draws percentile curves: x in nines, y in µs, logarithmic.
func curvePlot(curves []indexed) page.Plot {
	p := page.Plot{Label: "latency over percentiles", Height: 280, Y: page.Axis{Log: true}, X: page.Axis{Caption: "percentile of operations"}}
	low, high, far := math.Inf(1), 0.0, 1.0
	for _, cv := range curves {
		for _, point := range cv.Points {
			low, high = min(low, max(0.1, point[1])), max(high, point[1])
			if point[0] < 100 {
				far = max(far, nines(point[0]))
			}
		}
	}
	// The maximum has no position among the nines: it is drawn one step to the
	// right of the last.
	end := math.Ceil(far) + 1
	p.X.To, p.Y.From = end, math.Floor(math.Log10(low))
	p.Y.To = max(math.Ceil(math.Log10(max(high, low))), p.Y.From+1)
	for i, text := range []string{"0", "90", "99", "99.9", "99.99", "99.999", "99.9999"} {
		if float64(i) <= math.Ceil(far) {
			p.X.Ticks = append(p.X.Ticks, page.Tick{At: float64(i), Text: text})
		}
	}
	p.X.Ticks = append(p.X.Ticks, page.Tick{At: end, Text: "max"})
	for e := p.Y.From; e <= p.Y.To; e++ {
		p.Y.Ticks = append(p.Y.Ticks, page.Tick{At: math.Pow(10, e), Text: roundDuration(math.Pow(10, e))})
	}
	for _, cv := range curves {
		line := page.Line{Series: cv.index}
		for _, point := range cv.Points {
			x := end
			if point[0] < 100 {
				x = nines(point[0])
			}
			line.Points = append(line.Points, page.Point{X: x, Y: max(0.1, point[1]), Low: math.NaN(), High: math.NaN()})
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}

// roundDuration formats a time for an axis.
func roundDuration(us float64) string {
	return strings.NewReplacer(".00 ", " ", ".0 ", " ").Replace(quantity.Micros(us))
}
