package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// summaryMeasures are the columns of the summary; the one without a metric
// compares the rate with the base's.
var summaryMeasures = []measure{
	{metric: metric.RowsPerS},
	{name: "vs base"},
	{metric: metric.ServiceP99US},
	{metric: metric.ServiceMaxUS},
	{metric: metric.CPUUS},
	{name: "write KB", metric: metric.WriteKB},
	{metric: metric.ReadKB},
	{metric: metric.DBBytes},
	{name: "amp", metric: metric.SpaceAmplification},
}

// summary returns the summary that a run prints at its end: a block per step, a table
// for the steps along an axis, and their caveats.
func summary(c *campaign) []page.Block {
	if len(c.Targets) == 0 {
		return []page.Block{page.Prose("", "no trials")}
	}
	var out []page.Block
	var said []metric.Code
	if levels := c.Durability(); levels != "" {
		out, said = append(out, page.Banner(verdict.DurabilityDiffers(levels).Text)), append(said, remark.DurabilityDiffers)
	} else if f := durabilityFact(c); f.Value != "" {
		out = append(out, page.Prose("", "durability: "+f.Value))
	}
	warned := banners(c, said...)
	if badge := trust(c, said...); badge.Level != page.Good {
		out = append(out, page.Prose("", badge.Line))
		warned = slices.DeleteFunc(warned, func(w string) bool { return strings.Contains(badge.Line, w) })
	}
	s, _ := c.story()
	var below []string
	if len(c.Targets) > 1 {
		below = s.Sentences()
		first := min(len(below), 3)
		out, below = append(out, view.Paragraphs("", below[:first]...)...), below[first:]
	}
	if t := settingsThatDiffer(c); t != nil {
		out = append(out, inLine(t))
	}
	n := &page.Notes{}
	for _, s := range c.steps {
		switch w := c.inSummary(s); {
		case w == nil && !compare.IsProbe(s.Step): // a repeated probe is in the answer
			out = append(out, summaryTable(s, n))
		case w == nil:
		case w.first() == s:
			out = append(out, sweepSummary(w, n))
		}
	}
	out = append(append(out, n), view.Paragraphs("", below...)...)
	for _, b := range warned {
		out = append(out, page.Banner(b))
	}
	out = append(out, page.Prose("", fmt.Sprintf("base: %s. %s", c.Targets[0].Name, verdict.Caution(c.Campaign))))
	if len(c.Targets) > 1 {
		out = append(out, page.Prose("", verdict.HowMarked()))
	}
	return out
}

// summaryTable returns a step's part of the summary.
func summaryTable(s *step, n *page.Notes) page.Table {
	targets := view.Filter(s.c.Targets, func(t *target) bool { return len(s.Runs[t]) > 0 || !s.Copied(t.Trials[0]) })
	marked := func(t *target) page.Row { return plainRow(t.Name + targetMarks(s, t, n)) }
	g := page.Group{Name: headlineOf(s), Rows: view.Rows(targets, marked, summaryMeasures,
		func(t *target, m measure) page.Cell { return summaryCell(s, t, m, n) })}
	failed := quantity.Texts(s.c.Targets, func(t *target) string { return failuresOf(s, t).line() })
	g.Foot = slices.Concat(answerLines(s, n), settledLines(s, n), ownLines(s), nonEmpty(failed...))
	return page.Table{Columns: page.Columns(quantity.Texts(summaryMeasures, measure.label)...), Groups: []page.Group{g}}
}

// targetMarks note the reason why a target is not compared in a step.
func targetMarks(s *step, t *target, n *page.Notes) string {
	var all page.Cell
	if reason := reasons(s, t); reason != "" {
		all.Note(n.Mark(t.Name + " in " + s.Name + ": " + reason + "; not comparable"))
	}
	if reason := s.Unlike(s.c.Targets[0], t); reason != "" {
		all.Note(n.Mark(t.Name + " in " + s.Name + ": " + reason + "; not compared"))
	}
	return after(all.Marks())
}

// after returns marks after a word; "" if there are none.
func after(marks string) string {
	if marks == "" {
		return ""
	}
	return " " + marks
}

func summaryCell(s *step, t *target, m measure, n *page.Notes) page.Cell {
	if m.metric == "" {
		return againstBase(s, t)
	}
	k, ok := m.key(s)
	if !ok {
		return page.Absent("")
	}
	num := s.number(t, k)
	c := page.Cell{Text: num.Whole(), Number: true}
	if otherMetric := metric.StandIn(m.metric); otherMetric != nil && otherMetric.Name == k.Metric && num.Missing == "" {
		reason := "other programs used the device"
		if len(s.Keys(m.metric)) == 0 {
			reason = "the " + m.label() + " is unknown here"
		}
		c.Note(n.Mark(otherMetric.Label + ", as " + reason))
	}
	for _, w := range num.Warnings {
		c.Note(n.Mark(w))
	}
	if base := s.c.Targets[0]; t != base && m.metric != metric.RowsPerS && num.Missing == "" {
		c.Sign = s.cell(t, base, k, &page.Notes{}).Sign
	}
	return c
}

// againstBase returns a target's throughput next to the base's.
func againstBase(s *step, t *target) page.Cell {
	rate, ok := s.Rate(s.Primary)
	if !ok {
		return page.Absent("")
	}
	switch cell := s.cell(t, s.c.Targets[0], rate, &page.Notes{}); {
	case cell.Tag != "":
		return page.Cell{Tag: cell.Tag, Number: true}
	case t == s.c.Targets[0]:
		return page.Cell{Text: "base", Number: true}
	case cell.Ratio == "":
		return page.Absent("")
	default:
		return page.Cell{Text: cell.Ratio + cell.Sign, Number: true}
	}
}

// headlineOf returns the heading of a step's numbers.
func headlineOf(s *step) string {
	var rate, latency, writes string
	if s.Primary != "" {
		rate = s.units(s.Primary) + "/s"
		if k, ok := s.Latency(s.Primary, "p99"); ok {
			latency = string(metric.FamilyOf(k.Metric)) + " time of " + k.Op
		}
		if k, ok := s.Own(metric.WriteKB); ok && k.Per != s.costPer() {
			writes = "writes per " + k.Per
		}
	}
	parts := nonEmpty(rate, latency, labelText("per", s.costPer()), writes)
	return strings.TrimSpace(s.Name + "  " + strings.Join(parts, ", "))
}

// ownLines returns how a step restarted the engines, or began after that, and which targets executed custom
// SQL in it.
func ownLines(s *step) (out []string) {
	begun := s.First().Step
	if s.LoadedOnce() {
		out = append(out, "loaded for several trials, each of which began with a copy")
	}
	if begun.Caches != "" && !begun.Restarts() {
		out = append(out, "begun "+compare.Begun(begun))
	}
	times := quantity.Texts(s.c.Targets, func(t *target) string { return labelText(t.Name+":", restartTimes(s, t)) })
	own := quantity.Texts(s.c.Targets, func(t *target) string {
		text := labelText(t.Name+":", ownSQL(t, s.Name))
		if k, ok := s.Own(metric.SpaceAmplification); text != "" && (!ok || s.Number(t, k).Missing != "") {
			text += ", and what it wrote has no known size: no amplification"
		}
		return text
	})
	return append(out, nonEmpty(append(times, own...)...)...)
}

// restartTimes returns how long a target took to restart in a step, or to warm up after that.
func restartTimes(s *step, t *target) string {
	if s.First().Step.Caches == "" {
		return ""
	}
	var parts []string
	for _, name := range []string{metric.StopS, metric.StartS, metric.WarmS, metric.FirstMinuteP99US} {
		k, ok := s.Own(name)
		if !ok || s.number(t, k).Missing != "" {
			continue
		}
		text := metric.ByName(name).Label + " " + s.number(t, k).String()
		if label, seconds := strings.CutSuffix(metric.ByName(name).Label, " s"); seconds {
			text = label + " " + s.number(t, k).String() + " s"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// answerLines returns the results of a search in a step.
func answerLines(s *step, n *page.Notes) []string {
	return quantity.Texts(answersOf(s), func(a answer) string { return a.String() + noted(n, a.target, s, a.warnings) })
}

// noted returns the numbers of the notes on warnings about a target in a step.
func noted(n *page.Notes, t *target, s *step, warnings []metric.Warning) string {
	var all page.Cell
	for _, w := range warnings {
		all.Note(n.Mark(t.Name, " in ", s.Name, ": ", w))
	}
	return after(all.Marks())
}

// settledLines returns the KB written per row, including deferred writes, after
// a settle step.
func settledLines(s *step, n *page.Notes) (out []string) {
	k, ok := s.Own(metric.SettledWriteKB)
	if !ok {
		return nil
	}
	out = append(out, fmt.Sprintf("KB written per %s so far → with the writes that were put off:", k.Per))
	for _, t := range s.c.Targets {
		without, extra := s.number(t, key{Metric: metric.UnsettledWriteKB, Per: k.Per}), s.number(t, k)
		if extra.Missing == "" && without.Missing == "" {
			out = append(out, fmt.Sprintf("  %s %s → %s", t.Name, quantity.Digits(without.Value), quantity.Digits(extra.Value))+
				noted(n, t, s, extra.Warnings))
		}
	}
	return out
}

// sweepSummary returns the throughputs of a sweep: levels × targets. At an arrival
// rate all targets do the same work: there only the latency differs.
func sweepSummary(w *sweep, n *page.Notes) page.Table {
	s := w.first()
	arrive := w.Axis == rateAxis
	subject := s.units(s.Primary) + "/s"
	if k, ok := s.Latency(s.Primary, "p99"); arrive && ok {
		subject += ", p99 of " + string(metric.FamilyOf(k.Metric)) + " time,"
	}
	t := page.Table{Title: fmt.Sprintf("%s  %s over %s", w.Base, subject, w.Axis),
		Columns: page.Columns(quantity.Texts(w.c.Targets, func(t *target) string { return t.Name })...)}
	level := func(l levelStep) page.Row { return plainRow(quantity.Amount(l.value)) }
	for _, p := range w.panels {
		t.Groups = append(t.Groups, page.Group{Name: p.name, Rows: view.Rows(p.levels, level, w.c.Targets,
			func(l levelStep, t *target) page.Cell { return w.levelCell(l, t, arrive, n) })})
	}
	last := &t.Groups[len(t.Groups)-1]
	for _, tg := range w.c.Targets {
		if s, f := worstOf(w, tg); s != nil {
			last.Foot = append(last.Foot, fmt.Sprintf("Failed most at %s: %s", axesText(w.varied(s)), f.line()))
		}
	}
	return t
}

func (w *sweep) levelCell(l levelStep, t *target, arrive bool, n *page.Notes) page.Cell {
	s, cell := l.step, page.Absent("")
	if k, ok := s.Latency(s.Primary, "p99"); ok && compare.IsProbe(s.Step) {
		if p := w.probed(l, t, k); quantity.Finite(p.Y) {
			return page.Cell{Text: quantity.Micros(p.Y), Number: true}
		}
		return cell
	}
	if k, ok := s.Rate(s.Primary); ok {
		cell = s.cell(t, s.c.Targets[0], k, n)
	}
	if !arrive {
		return cell
	}
	cell.Ratio, cell.Sign = "", ""
	if k, ok := s.Latency(s.Primary, "p99"); ok {
		if p99 := s.number(t, k); p99.Missing == "" {
			cell.Per = " " + p99.Whole() // separated from the rate
		}
	}
	return cell
}

// worstOf returns the step in which the greatest share of a target's attempts failed;
// nil if no attempt failed.
func worstOf(w *sweep, t *target) (worst *step, count failures) {
	for _, l := range w.levels {
		if f := failuresOf(l.step, t); f.Failed > 0 && (worst == nil || f.Share() > count.Share()) {
			worst, count = l.step, f
		}
	}
	return worst, count
}
