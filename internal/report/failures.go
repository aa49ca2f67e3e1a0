package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/quantity"
)

// failures are the failed attempts of a step on a target, in the trial that
// represents it.
type failures struct {
	target, trial    string // "innodb", and " in trial 2" if there are several
	attempts, failed float64
	givenUp          float64
	classes          []failureClass // the most frequent first
}

type failureClass struct {
	metric string // "errors_deadlock"
	n      float64
}

// failuresOf counts by operation kind, without counting varieties of a kind
// twice.
func failuresOf(s *step, t *target) failures {
	f := failures{target: t.Name}
	r := s.Leader(t)
	if r == nil {
		return f
	}
	if len(t.Trials) > 1 {
		f.trial = fmt.Sprintf(" in trial %d", r.Trial.Trial)
	}
	tried, done := map[key]float64{}, map[key]float64{}
	for i := range r.Step.Rows {
		row := &r.Step.Rows[i]
		kind := key{Group: row.Group, Op: row.Op}
		switch own := single(r.Step, row); {
		case metric.FamilyOf(row.Metric) == metric.ErrorClass && (own || row.Op == ""):
			f.failed += row.Value
			k := slices.IndexFunc(f.classes, func(c failureClass) bool { return c.metric == row.Metric })
			if k < 0 {
				k = len(f.classes)
				f.classes = append(f.classes, failureClass{metric: row.Metric})
			}
			f.classes[k].n += row.Value
		case own && row.Metric == "attempts":
			tried[kind] = row.Value
		case own && row.Metric == "ops_per_s":
			done[kind] = float64(row.N)
		case own && row.Metric == "given_up":
			f.givenUp += row.Value
		}
	}
	for kind, n := range done {
		if _, ok := tried[kind]; !ok { // none of this kind failed
			tried[kind] = n
		}
	}
	for _, n := range tried {
		f.attempts += n
	}
	slices.SortStableFunc(f.classes, func(a, b failureClass) int { return int(b.n - a.n) })
	return f
}

// share returns the share of attempts that failed.
func (f failures) share() float64 {
	if f.attempts == 0 {
		return 0
	}
	return f.failed / f.attempts
}

// line returns the summary's line; "" if no attempt failed.
func (f failures) line() string {
	if f.failed == 0 {
		return ""
	}
	var classes []string
	for _, c := range f.classes {
		name := strings.ReplaceAll(strings.TrimPrefix(c.metric, "errors_"), "_", " ")
		classes = append(classes, name+" "+quantity.Amount(c.n))
	}
	text := fmt.Sprintf("%s: %s attempts failed%s (%s)", f.target, quantity.Amount(f.failed), f.trial, strings.Join(classes, ", "))
	if f.attempts > 0 {
		text += fmt.Sprintf(", %s of all", quantity.RoughShare(f.share()))
	}
	return text + "; " + quantity.Amount(f.givenUp) + " given up"
}

// manyFailed is the share of failed attempts that may explain why a target is
// muchFaster than another, or as much slower.
const (
	manyFailed = 0.01
	muchFaster = 2
)

// words names the errors if they were many; "" otherwise.
func (f failures) words() string {
	if f.share() <= manyFailed {
		return ""
	}
	var classes []string
	for _, c := range f.classes {
		classes = append(classes, quantity.Amount(c.n)+" "+metric.Label(c.metric))
	}
	return fmt.Sprintf("%s had %s%s", f.target, quantity.Joined(classes), f.trial)
}

// failedWords names the targets with many failed attempts: the fastest, and
// those with a throughput far below it.
func failedWords(first rank, at *step, others []rank, of func(rank) *step) string {
	var out []string
	for _, o := range others {
		if r, ok := first.rate.Over(o.rate); !ok || r <= muchFaster {
			continue
		}
		out = compare.AppendNew(out, failuresOf(at, first.target).words(), failuresOf(of(o), o.target).words())
	}
	if out = slices.DeleteFunc(out, func(s string) bool { return s == "" }); len(out) == 0 {
		return ""
	}
	return "; " + quantity.Joined(out)
}
