package report

import (
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/text/quantity"
)

// overTheSteps shows how the data and the engine change from step to step.
func overTheSteps(v *campaign) []page.Section {
	sec := page.Section{ID: "behind", Title: "Space, amplification and memory over the steps", Nav: "Over the steps"}
	n := page.NewNotes(sec.ID)
	t, metrics := spaceTable(v, n)
	if t.Empty() {
		return nil
	}
	sec.Folded = len(t.Columns) < 2 // it is in the step's own table
	fold := page.Fold{Title: "Space, amplification and memory in numbers", Blocks: []page.Block{t}}
	if plots := stepPlots(t, metrics); len(plots) > 0 {
		row := min(plotsInRow, len(plots))
		sec.Blocks = append(sec.Blocks, onScreen("At the end of each step; memory and amplification are of the step itself. "+
			"A gap: not known there, or 0 on an axis of powers."), legend(v.Targets, "small"), page.Plots{Plots: plots[:row]})
		if extra := plots[row:]; len(extra) > 0 {
			fold.Blocks = []page.Block{page.Plots{Plots: extra}, t}
		}
	}
	return []page.Section{withBlocks(sec, page.Folds{fold}, n)}
}

// plotsInRow is the number of plots that fit side by side.
const plotsInRow = 3

// spaceTable shows how space grows from step to step, with the metrics of its
// groups.
func spaceTable(c *campaign, n *page.Notes) (t page.Table, metrics []string) {
	steps, leftOut := c.columns(c.stepsWith(spaceMeasures()))
	t = page.Table{Head: "target", Note: leftOut, Columns: stepColumns(steps)}
	for _, m := range measuresIn(spaceMeasures(), steps...) {
		t.Groups, metrics = append(t.Groups, scoreGroup(c, m, steps, n)), append(metrics, m.metric)
	}
	return t, metrics
}

// spaceMeasures returns the measures of the data and the engine at a step's
// end.
func spaceMeasures() []measure {
	return measuresOf(metric.DBBytes, metric.SpaceAmplification, metric.WriteAmplification, metric.ServerMemoryBytes,
		metric.ReadAmplification, metric.DataBytes, metric.LogBytes, metric.LiveBytes)
}

// stepPlots draws the groups of a table whose columns are steps, with a line
// per target; metrics are those of the groups.
func stepPlots(t page.Table, metrics []string) (out []page.Plot) {
	for i, g := range t.Groups {
		p := page.Plot{Title: g.Name, Label: g.Name + " over the steps", Height: 210, X: stepsAxis(t.Columns)}
		for _, r := range g.Rows {
			line := page.Line{Series: r.Series, Each: true}
			for i, cell := range r.Cells {
				point := page.Gap(float64(i))
				if !cell.Absent {
					point.Y = cell.Value
				}
				line.Points = append(line.Points, point)
			}
			p.Lines = append(p.Lines, line)
		}
		scale := page.Scale{Format: quantity.Tick, Spread: spreadOut}
		if m := metric.ByName(metrics[i]); m != nil && m.Unit == "B" {
			scale.Binary, scale.Format = true, func(v float64) string { return quantity.BytesAs(v, quantity.Round) }
		}
		// One step makes no line, and live bytes are nearly the same on all targets.
		if list := page.Reach(p.Lines); len(t.Columns) > 1 && len(list) > 1 && slices.Max(list) > 0 &&
			metrics[i] != metric.LiveBytes {
			p.Y = scale.Axis(list)
			out = append(out, p)
		}
	}
	return out
}

// spreadOut is the ratio of the greatest to the least value above which an axis
// is logarithmic: otherwise an LSM tree next to a B-tree would be drawn near 0.
const spreadOut = 30

// stepsAxis names the steps; if there are many, in two rows.
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
