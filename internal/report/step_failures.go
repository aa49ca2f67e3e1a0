package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// failures are the failed attempts of a step on a target, in all trials.
type failures struct {
	account.Failures
	target, trials string // "innodb", and " in 2 of 3 trials" if there are several
}

func failuresOf(s *step, t *target) failures {
	f := failures{target: t.Name}
	failed := 0
	for _, r := range s.Runs[t] { // also of those that are not compared for their failures
		extra := account.FailuresIn(r.Step.Rows, r.Step.Single)
		if extra.Failed > 0 {
			failed++
		}
		f.Add(extra)
	}
	if n := len(t.Trials); n > 1 {
		f.trials = fmt.Sprintf(" in %d of %d trials", failed, n)
	}
	return f
}

// line returns the summary's line; "" if no attempt failed.
func (f failures) line() string {
	if f.Failed == 0 {
		return ""
	}
	var classes []string
	for _, c := range f.Classes {
		name := strings.ReplaceAll(strings.TrimPrefix(c.Metric, "errors_"), "_", " ")
		classes = append(classes, name+" "+quantity.Amount(c.Value))
	}
	text := fmt.Sprintf("%s: %s attempts failed%s (%s)", f.target, quantity.Amount(f.Failed), f.trials,
		strings.Join(classes, ", "))
	if f.Attempts > 0 {
		text += fmt.Sprintf(", %s of all", quantity.RoughShare(f.Share()))
	}
	return text + "; " + quantity.Amount(f.GivenUp) + " given up"
}

// manyFailed is the share of failed attempts that may explain why a target is
// muchFaster than another, or as much slower.
const (
	manyFailed = 0.01
	muchFaster = 2
)

// words names the errors if they were many; "" otherwise.
func (f failures) words() string {
	if f.Share() <= manyFailed {
		return ""
	}
	classes := quantity.Texts(f.Classes, func(c metric.Row) string {
		return quantity.Amount(c.Value) + " " + metric.Label(c.Metric)
	})
	return fmt.Sprintf("%s had %s%s", f.target, quantity.Joined(classes), f.trials)
}

// failedWords names the targets with many failed attempts: the fastest, and
// targets with a throughput far below it.
func failedWords(ranks []rank) string {
	var out []string
	for _, r := range ranks[1:] {
		if times, ok := ranks[0].rate.Over(r.rate.Number); ok && times > muchFaster {
			out = compare.AppendNew(out, failuresOf(ranks[0].at, ranks[0].target).words(), failuresOf(r.at, r.target).words())
		}
	}
	return listing("; ", out, "")
}

// inDoubt returns a remark if the rates that a sentence compares have warnings.
func inDoubt(ranks []rank) string {
	if slices.ContainsFunc(ranks, func(r rank) bool { return len(r.rate.Warnings) > 0 }) {
		return " ⚠ The step has warnings: read them first."
	}
	return ""
}
