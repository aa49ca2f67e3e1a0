package explain

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// What differs between two targets is evidence by itself. The trials of a campaign alternate,
// so what is not of the targets meets all of them alike: if they differ in one thing, that is
// the cause of every proven difference. What was not randomized, only goes with it.

// Explains reports whether any number could be split, or one thing is the cause by design.
func (e *Explanation) Explains() bool {
	return e.Single() && !e.UnlikeEngines() || slices.ContainsFunc(e.Steps, func(s *Step) bool { return len(s.Sums) > 0 })
}

// Lead returns the sentences that come before the steps': what differs and what it does to
// the question's step, how the structures differ, and the warnings that are about all steps.
func (e *Explanation) Lead() (out []string) {
	if e.UnlikeEngines() {
		out = append(out, e.kinds())
	}
	out = append(out, e.designText(subjectOf(e.groups())), e.warnings())
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// Cause returns why the targets differ in a step, in a few sentences: how they differ by design or
// in kind, and the step's first line; "" if the trials are too few to prove anything.
func (e *Explanation) Cause(s *compare.Step) string {
	if min(len(e.Base.Trials), len(e.New.Trials)) < compare.LeastTrials {
		return e.kinds()
	}
	text := ""
	if subject := subjectOf(e.groups()); e.UnlikeEngines() {
		text = e.kinds()
	} else if subject != nil && subject.Rate.Sure() {
		text = e.designText(subject)
	}
	groups, _ := e.Paragraphs()
	for _, p := range groups {
		if slices.ContainsFunc(p.Steps, func(own *Step) bool { return own.Of == s }) {
			text += " " + p.Lines[0].Causes
		}
	}
	return strings.TrimSpace(text)
}

// Unlisted returns the differences that the first sentences do not name.
func (e *Explanation) Unlisted() []compare.Difference {
	if e.UnlikeEngines() {
		return slices.DeleteFunc(slices.Clone(e.Differ), ofKind)
	}
	named := e.named()
	return named[min(listed, len(named)):]
}

// warnings returns what limits the conclusions about all steps: too few trials, other programs.
func (e *Explanation) warnings() string {
	var out []string
	if n := min(len(e.Base.Trials), len(e.New.Trials)); n < compare.LeastTrials {
		out = append(out, fmt.Sprintf("Nothing here is proven: a side has %d of at least %d trials.", n, compare.LeastTrials))
	}
	for _, s := range e.Steps {
		if reason := compare.OthersApart(s.Of, e.Base, e.New); reason != "" {
			reason = quantity.Capital(reason) + " in " + s.Of.Name + ": speed and CPU time are not compared."
			return strings.Join(append(out, reason), " ")
		}
	}
	quiet := func(s *Step) bool { return !(s.shared() > mostShared) }
	if busy := (Paragraph{Steps: slices.DeleteFunc(slices.Clone(e.Steps), quiet)}); len(busy.Steps) > 0 {
		out = append(out, fmt.Sprintf("Other programs used %s of the processors in %s: CPU time does not explain throughput "+
			"there.", rangeOver(busy.Steps, " to ", (*Step).shared, quantity.RoughShare), busy.Names()))
	}
	return strings.Join(out, " ")
}

// shapes say what a structure does with a change.
var shapes = map[engine.Shape]string{
	engine.InPlace:     "changes the pages of B-trees where they are",
	engine.CopyOnWrite: "copies each page of a B-tree that changes, and those above it up to the root, at each commit",
	engine.Leveled:     "appends changes to a log and merges sorted files later (an LSM tree)",
}

// kinds returns how the structures of two engines differ; "" if they do not, or are unknown.
func (e *Explanation) kinds() string {
	does := func(t *compare.Target, side func(*Step) *Side) string {
		for _, s := range slices.Backward(e.Steps) {
			if text := shapes[side(s).shape()]; text != "" {
				return text
			}
		}
		text := t.Either(func(trial *result.Trial) string { return trial.Structure })
		if text == "" {
			return ""
		}
		if strings.HasPrefix(text, "LSM") {
			return "is an " + text
		}
		return "is a " + text
	}
	base := does(e.Base, func(s *Step) *Side { return &s.Base })
	other := does(e.New, func(s *Step) *Side { return &s.New })
	if base == other || base == "" || other == "" {
		return ""
	}
	return fmt.Sprintf("%s %s; %s %s.", e.Base.Name, base, e.New.Name, other)
}
