package report

import (
	"fmt"
	"strings"

	"rumbench/internal/result"
)

// campaign is the trials sorted into targets × steps.
type campaign struct {
	rows    []result.Row // all rows; their positions are how the page refers to them
	targets []*target
	steps   []*step
}

// target is a database under test, with its trials.
type target struct {
	name   string
	index  int // its colour, dash and marker
	trials []*Trial
}

// step is a step of the workload, with the runs of it on every target.
type step struct {
	name, doc          string
	id                 string // unique on the page
	primary, writesPer string
	runs               map[*target][]run
}

// run is one step of one trial.
type run struct {
	trial *Trial
	step  *result.Step
	first int // position of its first row in campaign.rows
}

// newCampaign sorts trials. Its rows are numbered from offset on.
func newCampaign(trials []Trial, offset int) *campaign {
	c := &campaign{}
	for i := range trials {
		t := c.target(&trials[i])
		t.trials = append(t.trials, &trials[i])
		for j := range trials[i].Steps {
			rs := &trials[i].Steps[j]
			s := c.step(rs)
			s.runs[t] = append(s.runs[t], run{&trials[i], rs, offset + len(c.rows)})
			c.rows = append(c.rows, rs.Rows...)
		}
	}
	return c
}

func (c *campaign) target(trial *Trial) *target {
	for _, t := range c.targets {
		if t.name == trial.Target {
			return t
		}
	}
	t := &target{name: trial.Target, index: len(c.targets)}
	c.targets = append(c.targets, t)
	return t
}

func (c *campaign) step(rs *result.Step) *step {
	for _, s := range c.steps {
		if s.name == rs.Name {
			return s
		}
	}
	s := &step{
		name: rs.Name, doc: rs.Doc, primary: rs.Primary, writesPer: rs.WritesPer,
		// The number keeps ids apart that differ only in characters an id cannot have.
		id:   fmt.Sprintf("s%d-%s", len(c.steps)+1, slug(rs.Name)),
		runs: map[*target][]run{},
	}
	c.steps = append(c.steps, s)
	return s
}

func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, s)
}

// used are the runs whose numbers count: the complete ones of valid trials,
// or, where there is none, all that there are.
func (s *step) used(t *target) []run {
	var clean []run
	for _, r := range s.runs[t] {
		if r.trial.Status != result.Invalid && r.step.Status == result.Complete {
			clean = append(clean, r)
		}
	}
	if len(clean) > 0 {
		return clean
	}
	return s.runs[t]
}

// leader is the run that stands for the target where only one can be shown:
// the one whose throughput is the median, or next to it.
func (s *step) leader(t *target) *run {
	runs := s.used(t)
	if len(runs) == 0 {
		return nil
	}
	k, _ := s.rate(s.primary)
	n := s.number(t, k)
	best := 0
	for i := range runs {
		if distance(runs[i], k, n.value) < distance(runs[best], k, n.value) {
			best = i
		}
	}
	return &runs[best]
}

func distance(r run, k key, from float64) float64 {
	for i := range r.step.Rows {
		if row := &r.step.Rows[i]; keyOf(row) == k {
			return max(row.Value-from, from-row.Value)
		}
	}
	return from
}

// doubts are the reasons why the step's numbers on a target cannot be compared
// with those of others, in a few words each.
func (s *step) doubts(t *target) []string {
	var out []string
	add := func(d string) {
		for _, o := range out {
			if o == d {
				return
			}
		}
		out = append(out, d)
	}
	for _, r := range s.used(t) {
		if r.trial.Status == result.Invalid || r.step.Status == result.Invalid {
			add("invalid")
		}
		switch r.step.Status {
		case result.Partial, result.Failed:
			add(string(r.step.Status))
		case result.Running:
			add("unfinished")
		}
		for _, g := range r.step.Groups {
			if g.SLA == nil {
				continue // unknown is not missed
			}
			if !g.SLA.Met {
				add("SLA missed")
			}
			if g.SLA.Saturated {
				add("saturated")
			}
		}
	}
	return out
}

// groups are the step's groups of clients, as the first run that has any tells.
func (s *step) groups(targets []*target) []result.Group {
	for _, t := range targets {
		for _, r := range s.runs[t] {
			if len(r.step.Groups) > 0 {
				return r.step.Groups
			}
		}
	}
	return nil
}
