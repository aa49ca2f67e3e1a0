package report

import (
	"math"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
)

// overTheSteps shows how the data and the engine change from step to step.
func overTheSteps(v *view) []page.Section {
	sec := page.Section{ID: "behind", Title: "Space, amplification and memory over the steps", Nav: "Over the steps"}
	n := page.NewNotes(sec.ID)
	t := spaceTable(v.campaign, n)
	if plots := stepPlots(t); len(plots) > 0 {
		sec.Blocks = append(sec.Blocks,
			page.Paragraph{Class: "about", Spans: []page.Span{{Text: "At the end of each step; memory and amplification are of the step itself. A gap: not " +
				"known there, or 0 on an axis of powers.", Screen: true}}},
			legend(v.Targets, "small"), page.Plots{Plots: plots})
	}
	sec.Blocks = append(sec.Blocks, t, n)
	return []page.Section{sec}
}

// spaceTable shows how space grows from step to step.
func spaceTable(c *campaign, n *page.Notes) page.Table {
	measures := spaceMeasures()
	steps, leftOut := c.columns(measures)
	t := page.Table{Head: "target", Note: leftOut, Columns: stepColumns(steps)}
	for _, m := range measures {
		if g := scoreGroup(c, m, steps, n); len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t
}

// spaceMeasures returns the measures of the data and the engine at a step's
// end.
func spaceMeasures() []measure {
	var out []measure
	for _, name := range []string{
		"db_bytes", "data_bytes", "log_bytes", "live_bytes", "space_amplification", "write_amplification", "read_amplification", "server_memory_bytes",
	} {
		out = append(out, measure{name: metric.Label(name), metric: name})
	}
	return out
}

// stepPlots draws the groups of a table whose columns are steps, with a line
// per target.
func stepPlots(t page.Table) (out []page.Plot) {
	if len(t.Columns) < 2 {
		return nil // one point makes no line
	}
	for _, g := range t.Groups {
		if g.Link == "m-live_bytes" {
			continue // nearly the same on all targets
		}
		if p, ok := stepPlot(t.Columns, g); ok {
			out = append(out, p)
		}
	}
	return out
}

// spreadOut is the ratio of the greatest to the least value above which an axis
// is logarithmic: otherwise an LSM tree next to a B-tree would be drawn near 0.
const spreadOut = 30

func stepPlot(steps []page.Column, g page.Group) (page.Plot, bool) {
	p := page.Plot{Title: g.Name, Label: g.Name + " over the steps", Height: 210}
	low, high := math.Inf(1), 0.0
	points := 0
	for _, r := range g.Rows {
		line := page.Line{Series: r.Series, Each: true}
		for i, cell := range r.Cells {
			point := page.Point{X: float64(i), Y: math.NaN(), Low: math.NaN(), High: math.NaN()}
			if !cell.Absent && quantity.Finite(cell.Value) {
				if point.Y = cell.Value; cell.Value > 0 {
					low, high = min(low, cell.Value), max(high, cell.Value)
				}
				points++
			}
			line.Points = append(line.Points, point)
		}
		p.Lines = append(p.Lines, line)
	}
	if points < 2 || high == 0 {
		return p, false
	}
	p.X, p.Y = stepsAxis(steps), valuesAxis(strings.TrimPrefix(g.Link, "m-"), low, high)
	return p, true
}

// stepsAxis names the steps; where there are many, in two rows.
func stepsAxis(steps []page.Column) page.Axis {
	const crowded = 6
	a := page.Axis{From: -0.3, To: float64(len(steps)-1) + 0.3, Deep: true}
	for i, s := range steps {
		name := []rune(s.Name)
		if limit := max(4, 90/len(steps)); len(name) > limit {
			name = append(name[:limit-1], '…')
		}
		a.Ticks = append(a.Ticks, page.Tick{At: float64(i), Text: string(name), Low: len(steps) > crowded && i%2 == 1})
	}
	return a
}

func valuesAxis(name string, low, high float64) page.Axis {
	format := quantity.Tick
	m := metric.ByName(name)
	bytes := m != nil && m.Unit == "B"
	if bytes {
		format = func(v float64) string { return quantity.BytesAs(v, quantity.Round) }
	}
	switch {
	case high/low > spreadOut:
		return page.Powers(low, high, 0.08, format)
	case bytes:
		return page.Binary(high*1.08, format)
	}
	return page.Linear(0, high*1.08, format)
}
