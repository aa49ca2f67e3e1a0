package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// What differs between two targets is evidence by itself. The trials of a campaign alternate,
// so what is not of the targets meets all of them alike: if they differ in one thing, that is
// the cause of every proven difference. What was not randomized, only goes with it.

// unlikeEngines reports whether the targets are different engines or storages.
func (e *Explanation) unlikeEngines() bool {
	return slices.ContainsFunc(e.Differ, ofKind)
}

// Single reports whether exactly one thing differs, by an experiment: it is then the cause of
// what is proven.
func (e *Explanation) Single() bool { return e.Randomized && len(e.Differ) == 1 }

// Explains reports whether any number could be split, or one thing is the cause by design.
func (e *Explanation) Explains() bool {
	return e.Single() && !e.unlikeEngines() || slices.ContainsFunc(e.Steps, func(s *Step) bool { return len(s.Sums) > 0 })
}

// Lead returns the sentences that come before the steps': what differs and what it does to
// the question's step, how the structures differ, and the warnings that are about all steps.
func (e *Explanation) Lead() (out []string) {
	if e.unlikeEngines() {
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
	if subject := subjectOf(e.groups()); e.unlikeEngines() {
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

// subjectOf returns the step that the first sentence is about: one that the question is about,
// and whose throughput is proven to differ, if there is such; nil if no step's throughput is known.
func subjectOf(groups []Paragraph) *Step {
	rank := func(s *Step) (n int) {
		if s.asked() {
			n++
		}
		if s.effect(throughput).Sure() {
			n += 2
		}
		return n
	}
	var found *Step
	for _, p := range groups {
		for _, s := range p.Steps {
			if s.effect(throughput) != nil && (found == nil || rank(s) > rank(found)) {
				found = s
			}
		}
	}
	return found
}

// designText returns what differs by design, and its effect on the subject. Of several
// things nothing is said that an experiment would have to show.
func (e *Explanation) designText(s *Step) string {
	things := quantity.Texts(e.Differ, differenceText)
	switch {
	case len(things) == 0 && e.Differs():
		facts := compare.FactsApart(e.Base, e.New)
		if len(facts) == 0 {
			return "Nothing that is recorded differs between the two" + unset(s)
		}
		texts := quantity.Texts(facts[:min(listed, len(facts))], compare.Difference.String)
		return "The two differ only in what no rule knows the effect of: " + strings.Join(texts, "; ") + "."
	case len(things) == 0 || s == nil || e.unlikeEngines():
		return ""
	}
	list := quantity.Joined(things[:min(listed, len(things))])
	if more := len(things) - listed; more > 0 {
		list += fmt.Sprintf(", and %d more", more)
	}
	ratio := fmt.Sprintf("%s as fast as %s in %s%s", quantity.Times(s.Rate.Ratio), e.Base.Name, s.Of.Name,
		quantity.Interval(s.Rate.Low, s.Rate.High))
	switch {
	case s.traffic() != "":
		return fmt.Sprintf("%s: %s is %s; but %s.", list, e.New.Name, ratio, s.uneven())
	case !s.Rate.Sure() && e.Single() && e.Differs():
		return fmt.Sprintf("%s: what is proven below is its effect; one on the throughput of %s is not.", list, s.Of.Name)
	case !s.Rate.Sure():
		return fmt.Sprintf("%s: an effect on the throughput of %s is not proven.", list, s.Of.Name)
	case e.Randomized && len(things) == 1:
		return fmt.Sprintf("%s: this alone makes %s %s.", list, e.New.Name, ratio)
	case e.Randomized:
		return fmt.Sprintf("%s: together they make %s %s. An experiment separates them (--experiment).", list, e.New.Name,
			ratio)
	}
	reason := "the trials of the two did not alternate"
	if compare.Beside(e.Base, e.New) {
		reason = "the two are servers of yours, which may differ in more than is recorded"
	}
	return fmt.Sprintf("%s: %s is %s. That goes with it, but %s: something else may be the cause.",
		list, e.New.Name, ratio, reason)
}

// listed is the number of differences that the first sentence names.
const listed = 4

// Unlisted returns the differences that the first sentences do not name.
func (e *Explanation) Unlisted() []compare.Difference {
	if !e.unlikeEngines() {
		return e.Differ[min(listed, len(e.Differ)):]
	}
	return slices.DeleteFunc(slices.Clone(e.Differ), ofKind)
}

func ofKind(d compare.Difference) bool { return d.What == "engine" || d.What == "storage" }

// unset returns the end of a sentence: by what two targets may differ of which nothing differs.
func unset(s *Step) string {
	const unknown = ": the numbers differ by something that is not."
	if s == nil {
		return unknown
	}
	if s.traffic() != "" {
		return ", but " + s.uneven() + "."
	}
	live, now := s.Base.metric(metric.LiveBytes), s.New.metric(metric.LiveBytes)
	if !s.Of.First().Step.WritesRows() && live > 0 && now > 0 && unequal(live, now, 0.1) {
		return ", but their data do: " + bytes(live) + " and " + bytes(now) + "."
	}
	for _, l := range ofDevice {
		if base, other := s.Base.can(l), s.New.can(l); base > 0 && other > 0 && unequal(base, other, 1) {
			return ", but " + s.capacity(l) + "."
		}
	}
	return unknown
}

// uneven returns that other programs may be the cause.
func (s *Step) uneven() string {
	return "other programs did not disturb both alike" + s.traffic() + ", and may be the cause"
}

// traffic returns what other programs read and wrote on both sides, if that is much more on one
// of them, and more than the engine's own, which is not little; "" otherwise.
func (s *Step) traffic() string {
	const largeShare, little = 16 << 20, 100 << 10 // bytes/s
	others := func(side *Side) float64 {
		return 1024 * (side.metric(metric.OthersReadKB) + side.metric(metric.OthersWriteKB)) / side.seconds()
	}
	own := func(r *run) float64 {
		return (orZero(r.counter("process.read_bytes")) + orZero(r.counter("process.write_bytes"))) / r.Seconds
	}
	base, other := others(&s.Base), others(&s.New)
	engine := s.New.mean(own)
	if base > other {
		engine = s.Base.mean(own)
	}
	if !(engine > little && max(base, other) > max(largeShare, engine) && unequal(base, other, 1)) {
		return ""
	}
	return " (they read and wrote " + instead(func(v float64) string { return bytes(v) + "/s" }, base, other) + ")"
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
	others := filled("Other programs used %s of the processors: CPU time does not explain throughput here.",
		rangeOver(e.Steps, " to ", func(s *Step) float64 {
			if v := s.shared(); v > mostShared {
				return v
			}
			return math.NaN()
		}, quantity.RoughShare))
	return strings.TrimSpace(strings.Join(append(out, others), " "))
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
