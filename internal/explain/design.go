package explain

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// UnlikeEngines reports whether the targets are different engines or storages.
func (e *Explanation) UnlikeEngines() bool {
	return slices.ContainsFunc(e.Differ, ofKind)
}

// Single reports whether exactly one thing differs, by an experiment: it is then the cause of
// what is proven.
func (e *Explanation) Single() bool { return e.Randomized && len(e.Differ) == 1 }

// designText returns what differs by design, and its effect on the subject. Of several
// things nothing is said that an experiment would have to show.
func (e *Explanation) designText(s *Step) string {
	things := quantity.Texts(e.named(), differenceText)
	switch {
	case len(things) == 0 && len(e.Differ) > 0 && s != nil && !e.UnlikeEngines():
		things = []string{"Nothing that is recorded differs but the servers"}
	case len(things) == 0 && e.Differs():
		facts := compare.FactsApart(e.Base, e.New)
		if len(facts) == 0 {
			return "Nothing that is recorded differs between the two" + unset(s)
		}
		texts := quantity.Texts(facts[:min(listed, len(facts))], compare.Difference.String)
		return "The two differ only in what no rule knows the effect of: " + strings.Join(texts, "; ") + "."
	case len(things) == 0 || s == nil || e.UnlikeEngines():
		return ""
	}
	list := quantity.Joined(things[:min(listed, len(things))])
	if extra := len(things) - listed; extra > 0 {
		list += fmt.Sprintf(", and %d more", extra)
	}
	ratio := fmt.Sprintf("%s as fast as %s in %s%s", quantity.Times(s.Rate.Ratio), e.Base.Name, s.Of.Name,
		quantity.Interval(s.Rate.Low, s.Rate.High))
	switch {
	case unevenTraffic(s) != "":
		return fmt.Sprintf("%s: %s is %s; but %s.", list, e.New.Name, ratio, unevenTraffic(s))
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

// unset returns the end of a sentence: by what two targets may differ of which nothing differs.
func unset(s *Step) string {
	const unknown = ": the numbers differ by something that is not."
	if s == nil {
		return unknown
	}
	if text := unevenTraffic(s); text != "" {
		return ", but " + text + "."
	}
	live, now := s.Base.metric(metric.LiveBytes), s.New.metric(metric.LiveBytes)
	if !s.Of.First().Step.WritesRows() && live > 0 && now > 0 && unequal(live, now, 0.1) {
		return ", but their data do: " + bytes(live) + " and " + bytes(now) + "."
	}
	return unknown
}

// unevenTraffic returns that other programs may be the cause, if they read and wrote much more on one side, and more
// than the engine there, which is not little; "" otherwise.
func unevenTraffic(s *Step) string {
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
	return "other programs did not disturb both alike (they read and wrote " +
		instead(func(v float64) string { return bytes(v) + "/s" }, base, other) + "), and may be the cause"
}

// named returns the differences that may be causes: where servers are is none.
func (e *Explanation) named() []compare.Difference {
	return slices.DeleteFunc(slices.Clone(e.Differ), func(d compare.Difference) bool { return d.What == "dsn" })
}

func ofKind(d compare.Difference) bool { return d.What == "engine" || d.What == "storage" }
