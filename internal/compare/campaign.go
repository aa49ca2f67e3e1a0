package compare

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// Campaign is trials sorted into targets × steps.
type Campaign struct {
	Targets []*Target // in the order of their first trials
	Steps   []*Step   // in the order in which the trials reached them

	// Across and Question are set before anything is compared. The question comes from
	// the plan of the last trials that ask one; Conflict reports whether others ask a
	// different one.
	Across   Across
	Question result.Question
	Conflict bool

	targets map[string]*Target    // by name
	steps   map[string]*Step      // by name
	apart   map[[2]*Target]string // see unlike
}

// Target is a database under test, with its trials.
type Target struct {
	Name   string
	Index  int // in Campaign.Targets
	Trials []*result.Trial
}

// Step is a step of the workload: its runs, the keys of their numbers, and the
// differences between targets.
type Step struct {
	stepRuns
	Primary, WritesPer string    // as in result.Step
	Warmup             bool      // as in result.Step: its numbers are shown but not judged
	Judged             []string  // as in result.Step: the metrics that it is judged by
	keys               *keyIndex // see index
}

// stepRuns are the runs of a step on every target, and their numbers.
type stepRuns struct {
	Name, Doc string
	Base      string // as in result.Step
	Axes      []result.Axis
	Runs      map[*Target][]Run

	campaign *Campaign
	on       map[*Target]*seen // see seenOn
}

// Run is one step of one trial.
type Run struct {
	Trial *result.Trial
	Step  *result.Step
}

// New sorts trials. It keeps references to them and to their rows, which must not
// change afterwards. A campaign is used by one goroutine at a time.
func New(trials []*result.Trial) *Campaign {
	c := &Campaign{targets: map[string]*Target{}, steps: map[string]*Step{}, apart: map[[2]*Target]string{}}
	for _, trial := range trials {
		t := c.target(trial.Target)
		t.Trials = append(t.Trials, trial)
		if q := trial.Asked; q.Declared() {
			c.Conflict = c.Conflict || c.Question.Declared() && !q.Same(&c.Question)
			c.Question = q
		}
		for i := range trial.Steps {
			rs := &trial.Steps[i]
			s := c.step(rs)
			if trial.Start != nil {
				beforeNext(c, s, trial.Steps[i+1:])
			}
			s.Runs[t] = append(s.Runs[t], Run{trial, rs})
		}
	}
	return c
}

// beforeNext puts a step before the next ones of its trial: the trials that load are not always the first.
func beforeNext(c *Campaign, s *Step, next []result.Step) {
	at := slices.IndexFunc(c.Steps, func(o *Step) bool {
		return slices.ContainsFunc(next, func(n result.Step) bool { return n.Name == o.Name })
	})
	if now := slices.Index(c.Steps, s); at >= 0 && at < now {
		c.Steps = slices.Insert(slices.Delete(c.Steps, now, now+1), at, s)
	}
}

// Target returns the target of that name; nil if there is none.
func (c *Campaign) Target(name string) *Target { return c.targets[name] }

// Step returns the step of that name; nil if there is none.
func (c *Campaign) Step(name string) *Step { return c.steps[name] }

// From returns the targets, the base first and the others in their order.
func (c *Campaign) From(base *Target) []*Target {
	others := slices.DeleteFunc(slices.Clone(c.Targets), func(t *Target) bool { return t == base })
	return append([]*Target{base}, others...)
}

func (c *Campaign) target(name string) *Target {
	if t := c.Target(name); t != nil {
		return t
	}
	t := &Target{Name: name, Index: len(c.Targets)}
	c.Targets, c.targets[name] = append(c.Targets, t), t
	return t
}

func (c *Campaign) step(rs *result.Step) *Step {
	if s := c.Step(rs.Name); s != nil {
		if len(s.Judged) == 0 { // imported logs do not declare it
			s.Judged = rs.Judged
		}
		return s
	}
	runs := stepRuns{Name: rs.Name, Doc: rs.Doc, Base: rs.Base, Axes: rs.Axes, Runs: map[*Target][]Run{}, campaign: c,
		on: map[*Target]*seen{}}
	s := &Step{stepRuns: runs, Primary: rs.Primary, WritesPer: rs.WritesPer, Warmup: rs.Warmup, Judged: rs.Judged}
	c.Steps, c.steps[rs.Name] = append(c.Steps, s), s
	return s
}

// Used returns the runs whose numbers count: the complete ones of valid trials, or all
// runs if there are none.
func (s *stepRuns) Used(t *Target) []Run { return s.seenOn(t).used }

func usedOf(runs []Run) []Run {
	clean := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool {
		return r.Trial.Status == result.Invalid || r.Step.Status != result.Complete
	})
	if len(clean) == 0 {
		return runs
	}
	return clean
}

// Leader returns the run that represents the target if only one can be shown:
// the one whose throughput is the median, or next to it. It is nil if the target
// did not reach the step.
func (s *Step) Leader(t *Target) *Run {
	runs := s.Used(t)
	if len(runs) == 0 {
		return nil
	}
	k, _ := s.Rate(s.Primary)
	median := s.Number(t, k).Value
	distance := func(r Run) float64 {
		if row := r.Row(k); row != nil {
			return math.Abs(row.Value - median)
		}
		return median
	}
	leader := slices.MinFunc(runs, func(a, b Run) int { return cmp.Compare(distance(a), distance(b)) })
	return &leader
}

// Row returns the run's row under a key; nil if there is none.
func (r *Run) Row(k Key) *metric.Row {
	for i := range r.Step.Rows {
		if row := &r.Step.Rows[i]; KeyOf(row) == k {
			return row
		}
	}
	return nil
}

// Refusal is a reason why a step's numbers on a target cannot be compared with those of
// others.
type Refusal struct {
	Short string // a few words
	Text  string // the expected and the actual value, if known
}

// Refusals returns the reasons not to compare a target, in a few words each.
func (s *stepRuns) Refusals(t *Target) (out []string) {
	for _, r := range s.Reasons(t) {
		out = AppendNew(out, r.Short)
	}
	return out
}

// Reasons returns the same reasons in full. Of trials with the same reason, the first
// provides the figures.
func (s *stepRuns) Reasons(t *Target) []Refusal { return slices.Clip(s.seenOn(t).refusals) }

func reasonsOf(used []Run) (out []Refusal) {
	for _, r := range used {
		var own []Refusal
		for _, refusal := range r.refusals() {
			if slices.ContainsFunc(out, func(o Refusal) bool { return o.Short == refusal.Short }) {
				continue
			}
			if len(used) > 1 {
				refusal.Text += fmt.Sprintf(" (trial %d)", r.Trial.Trial)
			}
			own = append(own, refusal)
		}
		out = append(out, own...)
	}
	return out
}

// refusals returns the reasons not to compare a run.
func (r *Run) refusals() (out []Refusal) {
	const invalid = "invalid"
	if r.Step.Status == result.Invalid {
		for _, w := range r.Step.Warnings {
			if w.Code.Kind().Effect == metric.Invalidates {
				out = append(out, Refusal{invalid, w.Text})
			}
		}
	}
	switch {
	case len(out) > 0:
	case r.Step.Status == result.Invalid:
		out = append(out, Refusal{invalid, invalid})
	case r.Trial.Status == result.Invalid:
		out = append(out, Refusal{invalid, "another step of the trial is invalid"})
	}
	switch r.Step.Status {
	case result.Partial, result.Failed:
		out = append(out, Refusal{string(r.Step.Status), string(r.Step.Status)})
	case result.Running:
		out = append(out, Refusal{"unfinished", "unfinished"})
	}
	for _, w := range refusals(r.Step) {
		text := w.Text
		if w.Code == remark.Saturated {
			text = w.Short() // the missed promise has the figures
		}
		out = append(out, Refusal{w.Short(), text})
	}
	return out
}

// Refused reports whether the code is among the reasons not to compare a target.
func (s *stepRuns) Refused(t *Target, code metric.Code) bool {
	return slices.ContainsFunc(s.Used(t), func(r Run) bool { return metric.Has(refusals(r.Step), code) })
}

// refusals returns the warnings that exclude a step's numbers from comparison. Promises
// are judged by their recorded values: unknown is not missed.
func refusals(s *result.Step) (out []metric.Warning) {
	for _, w := range s.Warnings {
		if w.Code.Kind().Effect == metric.Refuses {
			out = append(out, w)
		}
	}
	for _, g := range s.Groups {
		sla := s.Promise(g.Name)
		if sla != nil && !sla.Met {
			out = metric.AppendNew(out, metric.Warn(remark.SLAMissed,
				metric.Values{"group": g.Name, "target": sla.Target, "achieved": sla.Achieved}))
		}
		if sla != nil && sla.Saturated {
			out = metric.AppendNew(out, metric.Warn(remark.Saturated, metric.Values{"group": g.Name}))
		}
	}
	return out
}

// Groups returns the step's groups of clients, from the first run that has any.
func (s *stepRuns) Groups() []result.Group { return s.First().Step.Groups }

// runsInOrder returns the runs by target, so that nothing depends on the order of
// a map.
func (s *stepRuns) runsInOrder() (out []Run) {
	for _, t := range s.campaign.Targets {
		out = append(out, s.Runs[t]...)
	}
	return out
}

// AppendNew appends the values that the list does not contain yet.
func AppendNew[T comparable](list []T, extra ...T) []T {
	for _, m := range extra {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// onePlan reports whether all trials of two targets belong to one campaign.
func onePlan(a, b *Target) bool {
	first := filepath.Dir(a.Trials[0].Dir)
	return !slices.ContainsFunc(slices.Concat(a.Trials, b.Trials),
		func(t *result.Trial) bool { return filepath.Dir(t.Dir) != first })
}

// Either returns the different values of a target's trials in words: "a or b".
func (t *Target) Either(value func(*result.Trial) string) string {
	return strings.Join(t.Distinct(value), " or ")
}

// Distinct returns the different values of a target's trials, without unknown
// ones: a server, say, may have been upgraded between them.
func (t *Target) Distinct(value func(*result.Trial) string) (out []string) {
	for _, trial := range t.Trials {
		if v := value(trial); v != "" {
			out = AppendNew(out, v)
		}
	}
	return out
}

// Copied reports whether a trial began with a copy of data on which the step had been run.
func (s *stepRuns) Copied(t *result.Trial) bool {
	ran := slices.ContainsFunc(t.Steps, func(o result.Step) bool { return o.Name == s.Name })
	return !ran && t.Start != nil && !t.Start.Made.IsZero() && s.loads(t)
}

// loads reports whether a trial's data were copied after the step, or after a later one.
func (s *stepRuns) loads(t *result.Trial) bool {
	if t.Start == nil || s.campaign.Step(t.Start.Copy) == nil {
		return false
	}
	index := slices.IndexFunc(s.campaign.Steps, func(o *Step) bool { return o.Name == s.Name || o.Name == t.Start.Copy })
	return s.campaign.Steps[index].Name == s.Name
}

// LoadedOnce reports whether the step loads data that are copied: there may be fewer of its runs than of the
// steps after it.
func (s *stepRuns) LoadedOnce() bool {
	return slices.ContainsFunc(s.campaign.Targets, func(t *Target) bool { return slices.ContainsFunc(t.Trials, s.loads) })
}
