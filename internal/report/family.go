package report

import (
	"cmp"
	"fmt"
	"math"

	"rumbench/internal/compare"
)

// family compares the targets that differ in one knob with the first of them,
// level by level: whoever has to choose the knob's value reads it here.
func (w *sweep) family(f compare.Family, n *notes) SweepFamily {
	base := f.Targets[0]
	out := SweepFamily{Knob: f.Knob, Title: fmt.Sprintf("What %s does: relative to %s", f.Knob, knobName(f, base))}
	ratio := w.ratioCurve(f)
	for i, p := range w.panels {
		if svg, ok := ratio.draw(i); ok {
			title := fmt.Sprintf("rate/s ÷ that of %s over %s", base.Name, w.Axis)
			if p.name != "" {
				title = p.name + ": " + title
			}
			out.Plots = append(out.Plots, Plot{title, svg})
		}
		out.Tables = append(out.Tables, w.familyTable(f, p, n))
	}
	for _, t := range f.Targets[1:] {
		if text := w.familySentence(f, t); text != "" {
			out.Summary = append(out.Summary, text)
		}
	}
	return out
}

// knobName is a target with what it has for the knob.
func knobName(f compare.Family, t *target) string {
	return fmt.Sprintf("%s (%s)", t.Name, cmp.Or(t.Trials[0].Knobs[f.Knob], "not set"))
}

// familySentence says in words what the knob does to throughput.
func (w *sweep) familySentence(f compare.Family, t *target) string {
	base := f.Targets[0]
	mean := w.MeanOver(base, t, w.Steps())
	if mean.Tests == 0 {
		return ""
	}
	text := fmt.Sprintf("%s does %s", knobName(f, t), times(mean.Ratio))
	if mean.Why == "" {
		text += fmt.Sprintf(" (95 %% interval %s to %s)", times(mean.Low), times(mean.High))
	}
	text += fmt.Sprintf(" what %s does, in the geometric mean of %d steps", base.Name, mean.Tests)
	if mean.Why != "" {
		text += " (" + mean.Why + ")"
	}
	counts := map[compare.Verdict]int{}
	low, high := math.Inf(1), math.Inf(-1)
	var lowest, highest string
	for _, p := range w.panels {
		for _, l := range p.levels {
			k, _ := l.Rate(l.Primary)
			e := l.effect(t, base, k)
			if e == nil || math.IsNaN(e.Ratio) || e.Verdict == "" {
				continue
			}
			counts[e.Verdict]++
			if e.Ratio < low {
				low, lowest = e.Ratio, l.Name
			}
			if e.Ratio > high {
				high, highest = e.Ratio, l.Name
			}
		}
	}
	if lowest != "" && lowest != highest {
		text += fmt.Sprintf("; from %s in %s to %s in %s", times(low), lowest, times(high), highest)
	}
	var verdicts []string
	for _, v := range []compare.Verdict{compare.Better, compare.Worse, compare.Same, compare.Unclear, compare.Unstable} {
		if counts[v] > 0 {
			verdicts = append(verdicts, fmt.Sprintf("%s in %d", v, counts[v]))
		}
	}
	if len(verdicts) > 0 {
		text += "; " + joined(verdicts)
	}
	return text + "."
}

// familyTable is the matrix of a panel: values of the knob × levels.
func (w *sweep) familyTable(f compare.Family, p panel, n *notes) Table {
	base := f.Targets[0]
	t := Table{Title: p.name, Head: "target", Note: "Ratios to " + knobName(f, base) + " at the same level, with the numbers themselves below; what is tried again and given up is per completed operation."}
	for _, l := range p.levels {
		t.Columns = append(t.Columns, Column{Name: amount(l.value), Sub: w.Axis, Title: "step " + l.Name, Link: l.id})
	}
	t.Columns = append(t.Columns, Column{Name: "mean", Title: "Geometric mean over the levels, with its 95 % interval; only of throughput"})
	var steps []*compare.Step
	for _, l := range p.levels {
		steps = append(steps, l.Step)
	}
	for _, m := range []measure{
		{name: "rate/s", metric: "rows_per_s", key: func(s *step) (key, bool) { return s.Rate(s.Primary) }},
		{name: "p99 latency", metric: "service_p99_us", key: func(s *step) (key, bool) { return s.Latency(s.Primary, "p99") }},
		{name: "CPU µs", metric: "cpu_us", key: func(s *step) (key, bool) { return s.CPU() }},
	} {
		g := RowGroup{Name: m.name, Metric: m.metric, Title: metricColumn(key{Metric: m.metric}).Title}
		for _, tg := range f.Targets {
			row := TableRow{Head: tg.Name, Target: tg.Index}
			for _, l := range p.levels {
				row.Cells = append(row.Cells, l.ratioCell(tg, base, m))
			}
			mean := absentCell("only of throughput")
			if m.metric == "rows_per_s" {
				mean = meanOverCell(w.MeanOver(base, tg, steps), tg == base)
			}
			row.Cells = append(row.Cells, mean)
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	for _, r := range w.perOperation(p) {
		g := RowGroup{Name: title(r.metric) + " per operation", Metric: r.metric, Title: r.column().Title}
		for _, tg := range f.Targets {
			row := TableRow{Head: tg.Name, Target: tg.Index}
			for _, l := range p.levels {
				row.Cells = append(row.Cells, r.cell(l.step, tg))
			}
			row.Cells = append(row.Cells, absentCell("only of throughput"))
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// ratioCell shows a ratio with what can be said of it. It names no rows: it is
// not their median.
func (s *step) ratioCell(t, base *target, m measure) Cell {
	k, ok := m.key(s)
	if !ok {
		return absentCell("not measured here")
	}
	num := s.number(t, k)
	if num.Missing != "" {
		return absentCell(num.Missing)
	}
	c := Cell{Number: true, Title: num.hover()}
	c.Tag = num.Few()
	if doubts := s.Doubts(t); len(doubts) > 0 {
		c.Tag = tagged(num, doubts[0])
	}
	if t == base {
		c.Text, c.Ratio = twoDecimals(1), num.String()
		return c
	}
	e := s.effect(t, base, k)
	if e == nil || math.IsNaN(e.Ratio) {
		c.Text = unknown
		if e != nil {
			c.Title += "; no ratio: " + e.Why
		}
		return c
	}
	mark := markOf(e)
	c.Text, c.Verdict, c.Ratio = twoDecimals(e.Ratio), mark.class, num.String()
	if mark.sign != "" {
		c.Text += " " + mark.sign
	}
	c.Title += "; " + inWords(e, base.Name)
	return c
}

func meanOverCell(m compare.Mean, isBase bool) Cell {
	switch {
	case isBase:
		return Cell{Text: twoDecimals(1), Number: true}
	case m.Tests == 0:
		return absentCell(m.Why)
	}
	c := Cell{Text: twoDecimals(m.Ratio), Number: true, Title: fmt.Sprintf("of %d levels", m.Tests)}
	if m.Why == "" {
		c.Ratio = twoDecimals(m.Low) + "…" + twoDecimals(m.High)
	} else {
		c.Title += "; no interval: " + m.Why
	}
	return c
}

// ratioCurve draws the throughputs ÷ the base's, with the 95 % intervals of the
// ratios.
func (w *sweep) ratioCurve(f compare.Family) *sweepCurve {
	c := w.curve("", func(s *step) (key, bool) { return s.Rate(s.Primary) })
	c.title = "rate/s relative to " + f.Targets[0].Name + " over " + w.Axis
	c.near, c.format = 1, func(v float64) string { return fmt.Sprintf("%.3g×", v) }
	for i, p := range w.panels {
		lines := c.lines[i]
		c.lines[i] = nil
		for _, t := range f.Targets[1:] {
			line := lines[t.Index]
			for k, l := range p.levels {
				rate, _ := l.Rate(l.Primary)
				point := sweepPoint{math.NaN(), math.NaN(), math.NaN(), line.points[k].doubted}
				if e := l.effect(t, f.Targets[0], rate); e != nil && finite(e.Ratio) {
					point.value = e.Ratio
					if finite(e.Low) && finite(e.High) {
						point.low, point.high = e.Low, e.High
					}
				}
				line.points[k] = point
			}
			c.lines[i] = append(c.lines[i], line)
		}
	}
	return c
}
