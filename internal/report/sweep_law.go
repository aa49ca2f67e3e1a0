package report

import (
	"fmt"
	"math"
	"slices"

	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// lawTable fits the Universal Scalability Law if the axis is the number of
// clients.
func lawTable(w *sweep) page.Table {
	t := page.Table{Title: "Scalability", Head: "target",
		Note: "The Universal Scalability Law (N. Gunther), fitted to throughput over clients: X(N) = g·N ÷ (1 + a·(N−1) + " +
			"b·N·(N−1)). It describes the levels that were measured; beyond them it is a guess. Small: the fits of the single " +
			"trials.", Columns: []page.Column{
			{Name: "g", Sub: "/s of one client", Title: "Gain: the law's throughput of one client"},
			{Name: "a", Sub: "contention",
				Title: "Share of the work that only one client at a time can do: with it alone throughput goes to g ÷ a"},
			{Name: "b", Sub: "coherency", Title: "Cost of the clients' agreeing with each other: with it throughput falls " +
				"beyond a peak"},
			{Name: "N*", Sub: "clients at the peak",
				Title: "√((1 − a) ÷ b): the number of clients with the greatest throughput"},
			{Name: "peak/s", Sub: "by the law", Title: "The law's throughput at N*"},
			{Name: "residual", Title: "Root of the mean square of the relative errors of the fit: above 10 % the law does not " +
				"describe these throughputs"},
			{Name: "R²", Title: "Share of the variance that the law explains"},
			{Name: "levels", Title: "How many numbers of clients it is fitted to"},
		}}
	if w.Axis != clientsAxis {
		return page.Table{}
	}
	for _, p := range w.panels {
		g := page.Group{Name: p.name}
		for _, tg := range w.c.Targets {
			g.Rows = append(g.Rows, targetRow(tg, lawCells(p, tg, len(t.Columns))...))
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// poorFit is the residual above which the law does not describe the measurements.
const poorFit = 0.10

// scaling is throughput over clients.
type scaling struct{ n, x []float64 }

// lawCells returns the law's parameters on a target.
func lawCells(p panel, t *target, columns int) []page.Cell {
	all, trials, reason := scalingOf(p, t)
	law, ok := stat.FitUSL(all.n, all.x)
	if reason == "" && !ok {
		reason = fmt.Sprintf("not fitted: throughput is known and comparable at %d levels, at least %d are needed",
			len(all.n), stat.LeastLevels)
	}
	if reason != "" {
		cells := slices.Repeat([]page.Cell{page.Absent(reason)}, columns)
		cells[0] = page.Words(reason)
		return cells
	}
	var fits []stat.USL
	for _, trial := range t.Trials {
		if own, ok := trials[trial]; ok && len(t.Trials) > 1 && len(own.n) == len(all.n) {
			if u, ok := stat.FitUSL(own.n, own.x); ok {
				fits = append(fits, u)
			}
		}
	}
	cell := func(value func(stat.USL) float64) page.Cell {
		c := page.Cell{Text: lawText(value(law)), Number: true}
		var values []float64
		for _, u := range fits {
			if v := value(u); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			c.Ratio = lawText(slices.Min(values)) + "…" + lawText(slices.Max(values))
		}
		return c
	}
	last := slices.Max(all.n)
	peak, limit := cell(stat.USL.Peak), cell(func(u stat.USL) float64 { return u.At(u.Peak()) })
	if law.Peak() > last {
		peak.Title = fmt.Sprintf("beyond the greatest level measured, %s clients", quantity.Amount(last))
		peak.Text, limit = "> "+quantity.Amount(last), page.Absent("the law has no peak among the levels measured")
	}
	r2 := page.Absent("throughput does not vary")
	if !math.IsNaN(law.R2) {
		r2 = page.Exact(quantity.Digits(law.R2), quantity.Full(law.R2))
	}
	residual := page.Exact(quantity.RoughShare(law.Residual), quantity.Full(law.Residual))
	if law.Residual > poorFit {
		residual.Tag = "poor fit"
	}
	contention := cell(func(u stat.USL) float64 { return u.Contention })
	if law.Contention > 1 { // it is a share
		contention.Tag = "poor fit"
	}
	return []page.Cell{cell(func(u stat.USL) float64 { return u.Gain }), contention,
		cell(func(u stat.USL) float64 { return u.Coherency }),
		peak, limit, residual, r2, {Text: fmt.Sprint(len(all.n)), Number: true}}
}

func lawText(v float64) string {
	switch {
	case math.IsNaN(v):
		return quantity.Unknown
	case math.IsInf(v, 0):
		return "∞"
	}
	return quantity.Digits(v)
}

// scalingOf returns a target's throughput over clients: of the medians, and of
// each trial; reason is why no law can be fitted.
func scalingOf(p panel, t *target) (all scaling, trials map[*result.Trial]scaling, reason string) {
	trials = map[*result.Trial]scaling{}
	for _, l := range p.levels {
		if l.rated() {
			return all, nil, "not fitted: a rate was promised, so throughput is not what the clients could do"
		}
		k, ok := l.Rate(l.Primary)
		n := l.number(t, k)
		if !ok || n.Missing != "" || len(l.Refusals(t)) > 0 || n.Disturbed() || n.Value <= 0 {
			continue
		}
		all.n, all.x = append(all.n, l.value), append(all.x, n.Value)
		for i, trial := range n.Trials {
			own := trials[trial]
			own.n, own.x = append(own.n, l.value), append(own.x, n.Rows[i].Value)
			trials[trial] = own
		}
	}
	return all, trials, ""
}
