package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Sweep is everything about the steps of one base: what happens as a number,
// such as how many clients there are, goes up.
type Sweep struct {
	ID, Name string
	About    string
	Targets  []Legend
	Panels   []SweepPanel
	Law      Table // the Universal Scalability Law
	Families []SweepFamily
	Notes    []Note
}

// SweepPanel is one line of small multiples: the other axes stand still.
type SweepPanel struct {
	Name  string // "tables 8"; "" if there is no other axis
	Plots []Plot
	Table Table
}

// SweepFamily compares targets that differ in one knob.
type SweepFamily struct {
	Knob    string
	Title   string
	Plots   []Plot
	Tables  []Table
	Summary []string
}

// sweep is a sweep with its place on the page.
type sweep struct {
	compare.Sweep
	*campaign
	id     string
	panels []panel
	stands *step // see representative
}

type panel struct {
	name   string
	levels []levelStep
}

// levelStep is a step and its place on the axis.
type levelStep struct {
	value float64
	*step
}

// newSweeps finds the sweeps of a campaign.
func (c *campaign) newSweeps() (out []*sweep) {
	byStep := map[*compare.Step]*step{}
	for _, s := range c.steps {
		byStep[s.Step] = s
	}
	for i, found := range c.Sweeps() {
		w := &sweep{Sweep: found, campaign: c, id: fmt.Sprintf("w%d-%s", i+1, slug(found.Base))}
		for _, p := range found.Panels {
			own := panel{name: axesText(p.At)}
			for _, l := range p.Levels {
				own.levels = append(own.levels, levelStep{l.Value, byStep[l.Step]})
			}
			w.panels = append(w.panels, own)
		}
		out = append(out, w)
	}
	return out
}

func axesText(axes []result.Axis) string {
	var parts []string
	for _, a := range axes {
		parts = append(parts, a.Name+" "+amount(a.Value))
	}
	return strings.Join(parts, ", ")
}

// sweepOf is the sweep that a step belongs to, nil if there is none.
func (c *campaign) sweepOf(s *step) *sweep {
	for _, w := range c.sweeps {
		for _, p := range w.panels {
			for _, l := range p.levels {
				if l.step == s {
					return w
				}
			}
		}
	}
	return nil
}

// inSummary is the sweep that stands for a step where there is little room: in
// the verdict, and in the summary of a run. It is nil for a step that is told of
// by itself.
func (c *campaign) inSummary(s *step) *sweep {
	const few = 4 // so many steps are not yet a course
	if w := c.sweepOf(s); w != nil && len(w.Steps()) >= few {
		return w
	}
	return nil
}

// first is a step that stands for what all have in common.
func (w *sweep) first() *step { return w.panels[0].levels[0].step }

// best is the step in which a target had the greatest throughput that counts,
// with that throughput. Steps of certain rates of arrival count only where there
// are no others.
func (w *sweep) best(t *target) (best *step, most number) {
	all := w.allArrive()
	for _, p := range w.panels {
		for _, l := range p.levels {
			if arriving(l.step) && !all {
				continue
			}
			k, ok := l.Rate(l.Primary)
			if n := l.number(t, k); ok && n.Missing == "" && len(l.Doubts(t)) == 0 && (best == nil || n.Value > most.Value) {
				best, most = l.step, n
			}
		}
	}
	return best, most
}

// allArrive tells whether all steps are of certain rates of arrival: then
// throughput is not what the targets could do.
func (w *sweep) allArrive() bool {
	for _, p := range w.panels {
		if slices.ContainsFunc(p.levels, func(l levelStep) bool { return !arriving(l.step) }) {
			return false
		}
	}
	return true
}

// representative is the step that stands for the sweep where only one can be
// shown: the one in which the base was fastest.
func (w *sweep) representative() *step {
	for _, t := range w.Targets {
		if w.stands != nil {
			break
		}
		w.stands, _ = w.best(t)
	}
	if w.stands == nil {
		w.stands = w.first()
	}
	return w.stands
}

// sentences say in words what the sweep shows: what each target did at most, and
// what a knob in which targets differ does.
func (w *sweep) sentences() []Sentence {
	if w.allArrive() {
		if text := w.heldSentence(); text != "" {
			return []Sentence{{w.Base, w.id, text}}
		}
		return nil
	}
	type peak struct {
		rank
		at *step
	}
	var peaks []peak
	for _, t := range w.Targets {
		if at, n := w.best(t); at != nil {
			peaks = append(peaks, peak{rank{t, n}, at})
		}
	}
	if len(peaks) == 0 {
		return nil
	}
	slices.SortStableFunc(peaks, func(a, b peak) int { return cmp.Compare(b.rate.Value, a.rate.Value) })
	first := peaks[0]
	text := fmt.Sprintf("%s did at most %s %s/s (%s)", first.target.Name, first.rate, first.at.units(first.at.Primary), axesText(w.varied(first.at)))
	var others []string
	for _, p := range peaks[1:] {
		others = append(others, fmt.Sprintf("%s %s (%s)", p.target.Name, p.rate, axesText(w.varied(p.at))))
	}
	if len(others) > 0 {
		text += "; " + joined(others)
	}
	var ranks []rank
	for _, p := range peaks {
		ranks = append(ranks, p.rank)
	}
	text += failedWords(first.rank, first.at, ranks[1:], func(r rank) *step {
		at, _ := w.best(r.target)
		return at
	})
	out := []Sentence{{w.Base, w.id, text + "." + inDoubt(ranks)}}
	for _, f := range w.Campaign.Families() {
		for _, t := range f.Targets[1:] {
			if m := w.MeanOver(f.Targets[0], t, w.Steps()); m.Tests > 0 && m.Why == "" {
				out = append(out, Sentence{Link: w.id, Text: fmt.Sprintf("%s: %s does %s what %s does in %s, in the mean of %d steps (95 %% interval %s to %s).", f.Knob, knobName(f, t), times(m.Ratio), f.Targets[0].Name, w.Base, m.Tests, times(m.Low), times(m.High))})
			}
		}
	}
	return out
}

// varied are the axes of a step along which the sweep goes.
func (w *sweep) varied(s *step) (out []result.Axis) {
	for _, a := range s.Axes {
		if a.Name == w.Axis || slices.ContainsFunc(w.Panels[0].At, func(o result.Axis) bool { return o.Name == a.Name }) {
			out = append(out, a)
		}
	}
	return out
}

// section puts together what is known about a sweep.
func (w *sweep) section() Sweep {
	n := &notes{section: w.id}
	out := Sweep{ID: w.id, Name: w.Base, About: w.about()}
	for _, t := range w.Targets {
		out.Targets = append(out.Targets, Legend{Name: t.Name, Index: t.Index})
	}
	curves := w.curves()
	for i, p := range w.panels {
		sp := SweepPanel{Name: p.name, Table: w.levelsTable(p, n)}
		for _, c := range curves {
			if svg, ok := c.draw(i); ok {
				sp.Plots = append(sp.Plots, Plot{c.title, svg})
			}
		}
		out.Panels = append(out.Panels, sp)
	}
	out.Law = w.lawTable()
	for _, f := range w.Campaign.Families() {
		out.Families = append(out.Families, w.family(f, n))
	}
	for _, s := range w.Twice {
		n.mark(fmt.Sprintf("%s is at the same place as an earlier step: it is not in the charts here.", s.Name))
	}
	out.Notes = n.list
	return out
}

func (w *sweep) about() string {
	s := w.first()
	var axes []string
	for _, a := range w.varied(s) {
		axes = append(axes, a.Name)
	}
	return fmt.Sprintf("%d steps that do the same and differ in %s only.", len(w.Steps()), joined(axes)) + " A point is the median of the trials, its whisker goes from the least to the greatest of them. A ring: the number is not comparable there, the table tells why."
}

// sweepMeasures are the columns of a sweep's tables.
func sweepMeasures() []measure {
	latency := func(what metric.Quantile) func(*step) (key, bool) {
		return func(s *step) (key, bool) { return s.Latency(s.Primary, what) }
	}
	perOp := func(metric string) func(*step) (key, bool) {
		return func(s *step) (key, bool) { return s.About(metric) }
	}
	return []measure{
		{name: "rate/s", metric: "rows_per_s", key: func(s *step) (key, bool) { return s.Rate(s.Primary) }},
		{name: "p50", metric: "service_p50_us", key: latency("p50")},
		{name: "p95", metric: "service_p95_us", key: latency("p95")},
		{name: "p99", metric: "service_p99_us", key: latency("p99")},
		{name: "CPU µs", metric: "cpu_us", key: func(s *step) (key, bool) { return s.CPU() }},
		{name: "server CPU µs", metric: "server_cpu_us", key: func(s *step) (key, bool) { return s.Cost("server_cpu_us", s.Primary) }},
		{name: "client CPU µs", metric: "client_cpu_us", key: func(s *step) (key, bool) { return s.Cost("client_cpu_us", s.Primary) }},
		{name: "context switches", metric: "context_switches", key: func(s *step) (key, bool) { return s.Cost("context_switches", s.Primary) }},
		{name: "errors", metric: "errors", key: perOp("errors")},
	}
}

// levelsTable shows the numbers of a panel, level by level.
func (w *sweep) levelsTable(p panel, n *notes) Table {
	t := Table{Head: "target", Folded: len(p.levels)*len(w.Targets) > manyRows}
	if t.Title = "Numbers"; p.name != "" {
		t.Title = p.name + ": numbers"
	}
	var shown []measure
	for _, m := range sweepMeasures() {
		known := slices.ContainsFunc(p.levels, func(l levelStep) bool { _, ok := m.key(l.step); return ok })
		if !known || metricOf(m.metric) == nil {
			continue
		}
		shown = append(shown, m)
		column := metricColumn(key{Metric: m.metric})
		column.Name = m.name
		t.Columns = append(t.Columns, column)
	}
	retries := w.perOperation(p)
	for _, r := range retries {
		t.Columns = append(t.Columns, r.column())
	}
	for _, l := range p.levels {
		g := RowGroup{Name: w.Axis + " " + amount(l.value), Link: l.id, Title: "step " + l.Name}
		for _, m := range shown {
			sub := ""
			if k, ok := m.key(l.step); ok {
				sub = l.unitOf(k)
			}
			g.Subs = append(g.Subs, sub)
		}
		for range retries {
			g.Subs = append(g.Subs, "per operation")
		}
		for _, tg := range w.Targets {
			row := TableRow{Head: tg.Name, Target: tg.Index}
			for _, m := range shown {
				if k, ok := m.key(l.step); ok {
					row.Cells = append(row.Cells, l.cell(tg, w.Targets[0], k, n))
				} else {
					row.Cells = append(row.Cells, absentCell("nothing of this kind in "+l.Name))
				}
			}
			for _, r := range retries {
				row.Cells = append(row.Cells, r.cell(l.step, tg))
			}
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// manyRows is how many rows of a table are shown without being asked for.
const manyRows = 32
