package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// heatMaps returns the ratios of all tests to the base's, a map for each of a few
// metrics, the throughput first. It puts as many maps side by side as fit; the last
// is one of several to choose from. There are none for a single target.
func heatMaps(c *campaign, wide bool) [][]page.Block {
	if len(c.Targets) < 2 {
		return nil
	}
	var drawings []page.Drawing
	var written []page.Block
	for _, kind := range heatKinds {
		h := c.heat(kind.find)
		if h == nil {
			continue
		}
		h.Title = kind.name + " ÷ " + c.Targets[0].Name + "’s"
		if len(drawings) == 0 {
			h.Rows = append(h.Rows, meanHeat(c)...)
			written = []page.Block{heatTable(h)}
		}
		drawings = append(drawings, page.Drawing{Name: kind.name, Caption: h.Title, Picture: h.Picture(), Wide: true})
	}
	if len(drawings) == 0 {
		return nil
	}
	const screen, between, tests = 1228, 48, 3
	var out [][]page.Block
	room := screen - drawings[0].Picture.Width
	for wide && len(out) < tests-1 || len(out) < tests-2 {
		if len(drawings) < 2 || drawings[1].Picture.Width+between > room {
			break
		}
		room -= drawings[1].Picture.Width + between
		out, drawings = append(out, []page.Block{drawings[0]}), drawings[1:]
	}
	choice := page.Choice{ID: "heat", Name: "Metric", Below: true}
	for _, d := range drawings {
		choice.Options = append(choice.Options, page.Option{Name: d.Name, Blocks: []page.Block{d}})
	}
	if len(drawings) == 1 {
		out = append(out, choice.Options[0].Blocks)
	} else {
		out = append(out, []page.Block{choice})
	}
	out[0] = []page.Block{page.Medium{Drawn: out[0], Written: written}}
	return out
}

// heatKinds are the numbers that maps show.
var heatKinds = []struct {
	name string
	find func(*step) (key, bool)
}{
	{"Throughput", func(s *step) (key, bool) { return compare.Capacity(s.Step) }},
	{"p99 latency", func(s *step) (key, bool) { return s.Latency(s.Primary, "p99") }},
	{"CPU", func(s *step) (key, bool) { return s.Own(metric.CPUUS) }},
	{"KB written", func(s *step) (key, bool) { return s.spent(metric.WriteKB) }},
	{"Space", func(s *step) (key, bool) { return s.Own(metric.SpaceAmplification) }},
}

// mostHeated is the number of tests on a map above which sweeps are represented by
// one of their steps.
const mostHeated = 36

// heated returns the steps of a map.
func (c *campaign) heated(find func(*step) (key, bool)) (out []*step) {
	out = view.Filter(c.steps, func(s *step) bool {
		_, ok := find(s)
		return ok && !s.Warmup && !compare.IsProbe(s.Step) && s.Primary != ""
	})
	if len(out) > mostHeated {
		out = view.Filter(out, (*step).represents)
	}
	return out
}

// heat returns the map of a number; nil if no target has it in addition to the base,
// or only in one test.
func (c *campaign) heat(find func(*step) (key, bool)) *page.Heat {
	h := &page.Heat{About: "Blue: better, orange: worse. Filled: proven; outlined: likely. " +
		"Gray: = equal, ? may be chance, ~ the trials disagree. –: cannot be compared."}
	for _, t := range c.Targets[1:] {
		h.Columns = append(h.Columns, page.HeatColumn{Name: t.Name, Series: t.Index})
	}
	found := false
	for _, s := range c.heated(find) {
		row := page.HeatRow{Name: s.Name, Link: "#" + s.id}
		k, _ := find(s)
		for _, t := range c.Targets[1:] {
			cell := heatCell(s, t, k)
			found, row.Cells = found || cell.Why == "", append(row.Cells, cell)
		}
		h.Rows = append(h.Rows, row)
	}
	if !found || len(h.Rows) < 2 { // the panels show the only test
		return nil
	}
	return h
}

// heatCell compares a number of a target with the base's.
func heatCell(s *step, t *target, k key) page.HeatCell {
	base := s.c.Targets[0]
	e := s.c.headlines(base, t).Effect(s.Step, k)
	refused := slices.Concat(s.Refusals(t), s.Refusals(base))
	if reason := cmp.Or(s.Unlike(base, t), compare.Unfit(e)); reason != "" {
		refused = append(refused, reason)
	}
	ratio := verdict.Ratio(e, s.Number(t, k), s.Number(base, k))
	switch {
	case len(refused) > 0:
		return page.HeatCell{Text: "–", Why: refused[0]}
	case math.IsNaN(ratio):
		return page.HeatCell{Text: "–", Why: "not measured on both"}
	case e == nil:
		return page.HeatCell{Text: quantity.Digits(ratio)}
	}
	return page.HeatCell{Text: quantity.Digits(ratio) + " " + verdict.MarkOf(e).Sign, Tone: toneOf(e, ratio)}
}

// Ratios from which the colour of a difference is stronger.
const (
	stronger  = 1.25
	strongest = 2
)

// toneOf returns the tone of a difference.
func toneOf(e *compare.Effect, ratio float64) page.Tone {
	switch {
	case e.Verdict == "" || e.Verdict == compare.Same:
		return page.NoTone
	case e.Sure():
		tone := page.Tone(1)
		if apart := max(ratio, 1/ratio); apart >= strongest {
			tone = 3
		} else if apart >= stronger {
			tone = 2
		}
		return tone * map[compare.Verdict]page.Tone{compare.Better: 1, compare.Worse: -1}[e.Verdict]
	}
	return map[compare.Verdict]page.Tone{compare.Better: page.HollowGood, compare.Worse: page.HollowBad}[e.Likely()]
}

// meanHeat returns the geometric means over groups of tests.
func meanHeat(c *campaign) (out []page.HeatRow) {
	const minimum = 3 // tests
	r := c.Relative(compare.RelativeOptions{})
	for _, g := range r.Groups {
		if len(g.Rows) < minimum || len(g.Means) == 0 ||
			slices.ContainsFunc(g.Rows, func(r compare.RelativeRow) bool { return compare.IsProbe(r.Step) }) {
			continue
		}
		row := page.HeatRow{Name: fmt.Sprintf("mean of the %d %s tests", len(g.Rows), g.Group), Strong: true}
		for _, m := range g.Means[1:] {
			cell := page.HeatCell{Text: quantity.Digits(m.Ratio) + " ?"}
			switch {
			case math.IsNaN(m.Ratio), m.Tests < len(g.Rows):
				cell = page.HeatCell{Text: "–", Why: cmp.Or(m.Why, "not all tests count")}
			case m.Low > 1: // proven by no test, only by its interval
				cell = page.HeatCell{Text: quantity.Digits(m.Ratio) + " △", Tone: page.HollowGood}
			case m.High < 1:
				cell = page.HeatCell{Text: quantity.Digits(m.Ratio) + " ▽", Tone: page.HollowBad}
			}
			row.Cells = append(row.Cells, cell)
		}
		out = append(out, row)
	}
	return out
}

// heatTable returns a map as a table with a row per target, which takes few lines.
func heatTable(h *page.Heat) page.Table {
	t := page.Table{Title: h.Title, Head: "target", Columns: page.Columns(quantity.Texts(h.Rows,
		func(r page.HeatRow) string { return r.Name })...)}
	for i, c := range h.Columns {
		row := plainRow(c.Name)
		for _, r := range h.Rows {
			row.Cells = append(row.Cells, page.Cell{Text: r.Cells[i].Text, Number: true})
		}
		t.Add(row)
	}
	return t
}

// numbersTable returns the numbers of the panels as a table of the targets.
func numbersTable(s *step) page.Table {
	measures := []measure{
		{metric: metric.HighestRate}, {name: "rate", metric: metric.RowsPerS}, {metric: metric.ServiceP50US},
		{metric: metric.ServiceP99US}, {metric: metric.ServiceP999US},
		{metric: metric.CPUUS}, {metric: metric.WriteKB}, {metric: metric.ReadKB}, {metric: metric.SpaceAmplification},
	}
	t := targetTable(s, measures, func(t *target, m measure) page.Cell {
		cell := m.cell(s, t, page.NewNotes(""))
		cell.Notes = nil
		k, _ := m.key(s)
		switch n := s.number(t, k); {
		case n.Missing != "":
		case k.Metric == metric.HighestRate && n.Value == 0:
			cell.Text = "none kept it"
		case n.AtLeast():
			cell.Text = "≥ " + cell.Text
		case n.Disturbed():
			cell.Tag = "disturbed"
		}
		return cell
	})
	t.Title = s.Name
	return t
}
