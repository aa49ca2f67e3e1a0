package report

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"rumbench/internal/compare"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/plan"
	"rumbench/internal/report/course"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

type (
	target = compare.Target
	run    = compare.Run
	key    = compare.Key
	number = verdict.Number
)

// campaign is what a report is made of: the trials sorted into targets × steps,
// the judgements on them, and the indexes of their numbers in the page's data.
type campaign struct {
	*compare.Campaign
	in     *Input
	inputs map[*result.Trial]Trial
	client *campaign // the client's calibration; nil without one
	steps  []*step
	sweeps []*sweep
	tracks map[*step][]*course.Track // for charts over time; nil if none are drawn, as in Markdown
	places map[*metric.Row]int       // in the page's data; nil: no data

	// judgements are the judgements on pairs of targets, base first.
	judgements map[[2]*target]*compare.Judgement
	quick      map[[2]*target]*compare.Judgement // of the headline numbers only
	explained  map[[2]*target]*explain.Explanation
	verdicts   verdict.Campaign
}

// step is a step with its id on the page.
type step struct {
	*compare.Step
	c  *campaign
	id string // unique on the page
}

// newCampaign sorts trials.
func newCampaign(trials []Trial) *campaign { return (&Input{Trials: trials}).campaign() }

// campaign sorts the trials into a campaign with the input's rules.
func (in *Input) campaign() *campaign {
	c := &campaign{
		in: in, inputs: map[*result.Trial]Trial{}, judgements: map[[2]*target]*compare.Judgement{},
		quick: map[[2]*target]*compare.Judgement{}, explained: map[[2]*target]*explain.Explanation{},
	}
	var plain []*result.Trial
	for _, t := range in.Trials {
		plain, c.inputs[t.Trial] = append(plain, t.Trial), t
	}
	c.Campaign = compare.New(plain)
	c.verdicts = verdict.Campaign{Campaign: c.Campaign, Judged: c.headlines, Full: c.judged}
	for i, s := range c.Steps {
		// The number distinguishes ids of names that differ only in characters an id
		// cannot have.
		c.steps = append(c.steps, &step{s, c, fmt.Sprintf("s%d-%s", i+1, slug(s.Name))})
	}
	c.sweeps, c.Across = newSweeps(c), in.Across
	if in.Client != nil {
		c.client = newCampaign([]Trial{{Trial: in.Client}})
	}
	return c
}

// stepOf returns a step with its id on the page.
func (c *campaign) stepOf(s *compare.Step) *step { return c.steps[slices.Index(c.Steps, s)] }

func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, s)
}

// judged returns the judgement of two targets, made on first use.
func (c *campaign) judged(base, t *target) *compare.Judgement {
	pair := [2]*target{base, t}
	if c.judgements[pair] == nil {
		c.judgements[pair] = c.Judge(base, t)
	}
	return c.judgements[pair]
}

// headlines returns the judgement of the headline numbers of two targets.
func (c *campaign) headlines(base, t *target) *compare.Judgement {
	pair := [2]*target{base, t}
	if c.judgements[pair] == nil && c.quick[pair] == nil {
		c.quick[pair] = c.JudgeHeadline(base, t)
	}
	return cmp.Or(c.judgements[pair], c.quick[pair])
}

// stepsWith returns the steps that have any of the measures, without warm-ups.
func (c *campaign) stepsWith(measures []measure) []*step {
	return view.Filter(c.steps, func(s *step) bool { return !s.Warmup && len(measuresIn(measures, s)) > 0 })
}

// mostColumns is the number of steps shown side by side if steps may be left out.
const mostColumns = 16

// columns returns the steps to show side by side, and a remark on those left out.
// If there are too many steps, a sweep is represented by the step in which the
// base was fastest.
func (c *campaign) columns(steps []*step) (out []*step, leftOut string) {
	if len(steps) <= mostColumns {
		return steps, ""
	}
	out = view.Filter(steps, (*step).represents)
	if len(out) == len(steps) {
		return out, ""
	}
	return out, "Of the steps along an axis it shows those in which " + c.Targets[0].Name +
		" was fastest; all of them are in the relative table and in sections of their own."
}

// crowded reports whether there are so many steps along axes that their sections are
// hidden at first.
func (c *campaign) crowded() bool { return len(c.sweeps) > 0 && len(c.steps) > mostColumns }

// sweepOf returns the sweep that a step belongs to, nil if there is none.
func (c *campaign) sweepOf(s *step) *sweep {
	for _, w := range c.sweeps {
		if slices.Contains(stepsOf(w.levels), s) {
			return w
		}
	}
	return nil
}

// represents reports whether a step belongs to no sweep, or represents its sweep.
func (s *step) represents() bool {
	w := s.c.sweepOf(s)
	return w == nil || w.representative() == s
}

// inSummary returns the sweep that represents a step in the verdict and in the
// summary of a run; nil for a step that is listed there itself.
func (c *campaign) inSummary(s *step) *sweep {
	const few = 4 // so few steps are listed individually
	if w := c.sweepOf(s); w != nil && len(w.Steps()) >= few {
		return w
	}
	return nil
}

// data returns a number's indexes in the page's data: two if the trials
// disagree on its unit or source.
func (c *campaign) data(n number) (out []int) {
	if c.places == nil {
		return nil
	}
	for _, r := range n.Rows {
		out = compare.AppendNew(out, c.places[r])
	}
	return out
}

// number looks a key up on a target.
func (s *step) number(t *target, k key) number { return number{Number: s.Number(t, k)} }

// effect returns how a number of a target differs from the base's; nil if there
// is nothing to compare.
func (s *step) effect(t, base *target, k key) *compare.Effect {
	if t == base {
		return nil
	}
	return s.c.judged(base, t).Effect(s.Step, k)
}

// trialsOf returns the trials of all targets.
func trialsOf(c *campaign) iter.Seq2[*target, *result.Trial] {
	return func(yield func(*target, *result.Trial) bool) {
		for _, t := range c.Targets {
			for _, trial := range t.Trials {
				if !yield(t, trial) {
					return
				}
			}
		}
	}
}

// sharedValue returns the value that all trials share, or the value of each target if they differ.
func sharedValue(c *campaign, value func(*result.Trial) string) (text string, differ bool) {
	return c.Shared(func(t *target) []string { return t.Distinct(value) })
}

// leaders returns the runs that represent their targets.
func (s *step) leaders() iter.Seq2[*target, *run] {
	return func(yield func(*target, *run) bool) {
		for _, t := range s.c.Targets {
			if r := s.Leader(t); r != nil && !yield(t, r) {
				return
			}
		}
	}
}

// units returns the unit that a step's throughput counts: "rows" or "queries".
func (s *step) units(op string) string { return verdict.Units(s.Step, op) }

// unitOf returns the unit or denominator of the numbers under a key.
func (s *step) unitOf(k key) string {
	switch {
	case k.Metric == metric.RowsPerS:
		return s.units(k.Op) + "/s"
	case metric.IsLatency(k.Metric):
		return string(metric.FamilyOf(k.Metric)) + ", " + k.Op
	case k.Metric == metric.HostCPUUS:
		return "of all of rumbench’s host, per " + k.Per
	case k.Metric == metric.ProcessReadKB || k.Metric == metric.ProcessWriteKB:
		return "by processes, per " + k.Per
	case k.Per != "":
		return "per " + k.Per
	}
	return ""
}

// costPer returns the denominator of the step's costs. Writes may have a different
// one, which their cells then show.
func (s *step) costPer() string {
	k, _ := s.Own(metric.CPUUS)
	return k.Per
}

// rank is a target with its throughput in a step.
type rank struct {
	target *target
	rate   number
	at     *step
}

// sortRanks sorts targets by throughput, the fastest first.
func sortRanks(ranks []rank) {
	slices.SortStableFunc(ranks, func(a, b rank) int { return cmp.Compare(b.rate.Value, a.rate.Value) })
}

// targetRow returns a row of a target.
func targetRow(t *target, cells ...page.Cell) page.Row {
	return page.Row{Head: t.Name, Series: t.Index, Base: t.Index == 0, Cells: cells}
}

// plainRow returns a row of no target.
func plainRow(head string, cells ...page.Cell) page.Row {
	return page.Row{Head: head, Series: -1, Cells: cells}
}

// Input is the data that a report is made from.
type Input struct {
	Title    string
	Plan     string        // the plan file as given
	Started  time.Time     // of the first campaign; zero if unknown
	Commands []string      // the exact commands that produced the results
	Trials   []Trial       // in the plan's order: the first one's target is the base of all comparisons
	Client   *result.Trial // the client's calibration on the null engine; may be nil
	Warnings []string
	Running  []string // how far each campaign is that still runs, as "trial 3 of 8"
	// Published are figures from elsewhere, shown apart; Like names targets as in
	// Trials.
	Published []plan.Published
	// Notes are remarks on steps, by name.
	Notes map[string]string
	// Profiles are the profiles of the steps' CPU time.
	Profiles []*Profile
	Links    []page.Link // to other pages, of a page of a site
	// Across are the differences of targets that do not prevent comparisons.
	Across compare.Across
}

// Trial is a trial with its series.
type Trial struct {
	*result.Trial
	// Series streams the lines of the trial's series in the order of time; nil
	// if there are none.
	Series func(yield func(result.Line) error) error
	Plans  []result.StatementPlan // of its statements; none for an engine without a planner
	// Usual are the values of its parameters in the preset, or their defaults; nil
	// if they are unknown, as for imported logs.
	Usual map[string]any
}

func describe(t *target) string {
	first := t.Trials[0]
	var name, version, server, container string
	if first.Engine != t.Name {
		name = first.Engine
	}
	for _, v := range first.Versions {
		switch v.Name {
		case first.Engine, "engine":
			version = v.Value
		case "server":
			server = "server " + v.Value // the engine's own version is its driver's
		}
	}
	if first.Contained() {
		container = "in a container"
	}
	return strings.Join(nonEmpty(name, first.Structure, cmp.Or(server, version), container, ownSQL(t, "")), ", ")
}

// ownSQL returns the operations in which a target executed custom SQL in a step, or in
// all for "", as "own SQL: take"; "" if there are none.
func ownSQL(t *target, step string) string {
	var ops []string
	for _, trial := range t.Trials {
		for i := range trial.Steps {
			if s := &trial.Steps[i]; step == "" || s.Name == step {
				ops = compare.AppendNew(ops, s.OwnSQL...)
			}
		}
	}
	return labelText("own SQL:", strings.Join(ops, ", "))
}

func labelText(label, text string) string {
	if text == "" {
		return ""
	}
	return label + " " + text
}

// mostLeading is the number of steps that the panels can show.
const mostLeading = 4

// leading returns the steps that the panels show, the first of them initially: those that the
// campaign is about, one for each sweep.
func (c *campaign) leading() (out []*step) {
	sweeps := map[*sweep]bool{}
	for _, leading := range c.verdicts.Leading() {
		s := c.stepOf(leading)
		if w := c.sweepOf(s); w != nil && !compare.IsProbe(s.Step) {
			if sweeps[w] {
				continue
			}
			sweeps[w] = true
		}
		out = append(out, s)
	}
	return out[:min(len(out), mostLeading)]
}

// searchOf returns the sweep of the probes of a step's search; nil without one.
func (c *campaign) searchOf(s *step) *sweep {
	for _, w := range c.sweeps {
		if w.Base == s.Name && compare.IsProbe(w.first().Step) {
			return w
		}
	}
	return nil
}

// rangeText returns a range; one end if both are equal.
func rangeText(low, high string) string {
	if low == high {
		return high
	}
	return low + " to " + high
}

// standing returns the step that represents the sweep of a step.
func (c *campaign) standing(s *step) *step {
	if w := c.sweepOf(s); w != nil && !compare.IsProbe(s.Step) {
		return w.representative()
	}
	return s
}

// nonEmpty returns the texts that are not empty.
func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// listing returns texts in a sentence, without those that are empty; "" if all are.
func listing(lead string, texts []string, end string) string {
	if texts = nonEmpty(texts...); len(texts) == 0 {
		return ""
	}
	return lead + quantity.Joined(texts) + end
}

// explained explains two targets, once.
func explained(c *campaign, base, t *target) *explain.Explanation {
	pair := [2]*target{base, t}
	if c.explained[pair] == nil {
		c.explained[pair] = explain.Explain(c.Campaign, c.headlines(base, t))
	}
	return c.explained[pair]
}

// unseen reports whether the machine of a target's server is unknown.
func unseen(t *target) bool { return t.Trials[0].Unseen }
