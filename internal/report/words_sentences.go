package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

// sentences returns the answer in two or three sentences: how the targets compare in
// the step that the panels show first, at what cost, and whether the other tests
// agree.
func sentences(v *view) []string {
	steps := v.leading()
	if len(steps) == 0 {
		return nil
	}
	s := v.standing(steps[0])
	var kept []string
	if w := v.sweepOf(s); w != nil && s == w.end() {
		kept = said(w.kept())
	}
	return said(s.first(" in "+s.Name), causeIn(s), sentence(kept), sentence(append(s.costs(), s.space()...)), strings.TrimSpace(v.otherTests(s)+v.corrected(s)))
}

// said returns the texts that say something.
func said(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// standing returns the step that stands for the sweep of a step.
func (c *campaign) standing(s *step) *step {
	if w := c.sweepOf(s); w != nil && !compare.IsProbe(s.Step) {
		return w.representative()
	}
	return s
}

// corrected says that intervals are of one number alone, if one of those that are shown
// contradicts its verdict.
func (v *view) corrected(s *step) string {
	base := v.Targets[0]
	for _, t := range v.Targets[1:] {
		j := v.headlines(base, t)
		contradicts := slices.ContainsFunc(j.Items, func(it compare.Item) bool {
			return it.Step == s.Step && it.Asked && it.Verdict != "" && !it.Sure() && (it.Low > 1 || it.High < 1)
		})
		if contradicts {
			return fmt.Sprintf(" Intervals are of each number alone; verdicts are corrected for %s.", quantity.Count(j.Tested(), "number"))
		}
	}
	return ""
}

// capacity returns what a target can do in a step: its highest rate if one was searched
// for, else the throughput.
func (s *step) capacity() (key, bool) {
	if k, ok := s.Own(metric.HighestRate); ok {
		return k, true
	}
	return s.Rate(s.Primary)
}

// goal returns what a step is about: the capacity or, if a rate was promised and none
// searched for, the latency.
func (s *step) goal() (key, bool) {
	k, ok := s.capacity()
	if s.primaryRated() && k.Metric != metric.HighestRate {
		return s.Latency(s.Primary, "p99")
	}
	return k, ok
}

// contest is a comparison of the targets in a number of a step: of the best with each
// other one, or of two with the base.
type contest struct {
	s       *step
	k       key
	subject *target // nil if nothing can be compared
	others  []*target
	why     []string // others are not compared
}

// contestIn returns the comparison in a number.
func (s *step) contestIn(k key) contest {
	x := contest{s: s, k: k}
	var ranked []*target
	for _, t := range s.c.Targets {
		n, refusals := s.number(t, k), s.Refusals(t)
		switch {
		case n.Missing != "":
			x.why = append(x.why, t.Name+" (no result)")
		case k.Metric == metric.HighestRate && n.Value == 0:
			x.why = append(x.why, t.Name+" (no rate that was tried kept the promise)")
		case len(refusals) > 0:
			x.why = append(x.why, t.Name+" ("+refusals[0]+")")
		case len(ranked) > 0 && s.Unlike(ranked[0], t) != "":
			x.why = append(x.why, t.Name+" ("+s.Unlike(ranked[0], t)+")")
		default:
			ranked = append(ranked, t)
		}
	}
	if len(ranked) == 0 {
		return x
	}
	order := bestFirst(k.Metric)
	slices.SortStableFunc(ranked, func(a, b *target) int { return order(s.number(a, k).Value, s.number(b, k).Value) })
	if s.c.pair() && len(ranked) == 2 {
		slices.SortFunc(ranked, func(a, b *target) int { return b.Index - a.Index })
	}
	x.subject, x.others = ranked[0], ranked[1:]
	return x
}

// bestFirst returns the order of a metric's values; where none is better, the least is
// first.
func bestFirst(name string) func(a, b float64) int {
	if m := metric.ByName(name); m != nil && m.Better == metric.Higher {
		return func(a, b float64) int { return cmp.Compare(b, a) }
	}
	return cmp.Compare[float64]
}

// pair reports whether there are two targets: a base, and what is compared with it.
func (c *campaign) pair() bool { return len(c.Targets) == 2 }

// against returns how the subject compares with another target, and the verdict on it.
func (x *contest) against(t *target) (text string, verdict compare.Verdict) {
	e := x.s.c.headlines(t, x.subject).Effect(x.s.Step, x.k)
	if e == nil || math.IsNaN(e.Ratio) {
		r, ok := x.s.number(x.subject, x.k).Over(x.s.number(t, x.k))
		if e != nil {
			verdict = e.Verdict
		}
		if !ok {
			return t.Name, verdict
		}
		return quantity.Times(r) + " " + t.Name + "’s", verdict
	}
	text = quantity.Times(e.Ratio) + " " + t.Name + "’s"
	const useless = 100 // so wide an interval says nothing
	low, high := quantity.Digits(e.Low), quantity.Digits(e.High)
	if quantity.Finite(e.Low) && quantity.Finite(e.High) && e.High < useless*e.Low && low != high {
		text += fmt.Sprintf(" (%s to %s)", low, high)
	}
	return text, e.Verdict
}

// decided reports whether a verdict is that the targets differ.
func decided(v compare.Verdict) bool { return v == compare.Better || v == compare.Worse }

// first says how the subject does in what the step is about, against which others that
// is proven, and what would prove the rest. where names the step.
func (s *step) first(where string) string {
	k, ok := s.goal()
	if !ok {
		return ""
	}
	x := s.contestIn(k)
	if x.subject == nil {
		return "Nothing can be compared" + where + ": " + quantity.Joined(x.why) + "."
	}
	n := s.number(x.subject, k)
	var text string
	switch {
	case k.Metric == metric.HighestRate:
		text = fmt.Sprintf("%s keeps %s up to %s/s", x.subject.Name, answersOf(s)[0].Words(), n)
	case metric.IsLatency(k.Metric):
		text = fmt.Sprintf("%s has a p99 of %s", x.subject.Name, n)
	default:
		text = fmt.Sprintf("%s %s %s %s/s", x.subject.Name, did(s.Primary), n, s.units(s.Primary))
	}
	return text + where + x.results() + "."
}

// results returns the subject's comparisons with the others: the proven ones first.
func (x *contest) results() (text string) {
	var proven, same, open []string
	for _, t := range x.others {
		switch part, verdict := x.against(t); {
		case decided(verdict):
			proven = append(proven, part)
		case verdict == compare.Same:
			same = append(same, t.Name)
		default:
			open = append(open, part)
		}
	}
	var parts []string
	const most = 4 // others are counted
	for _, p := range []struct {
		word string
		of   []string
	}{{"proven ", proven}, {"equivalent to ", same}, {"not proven: ", open}, {"not compared: ", x.why}} {
		if len(p.of) > 0 {
			if n := len(p.of) - most; n > 0 {
				p.of = append(p.of[:most], fmt.Sprintf("%d more", n))
			}
			parts = append(parts, p.word+quantity.Joined(p.of))
		}
	}
	if len(parts) > 0 {
		text = ": " + strings.Join(parts, "; ")
	}
	if len(open) > 0 {
		text += x.outlook()
	}
	return text
}

// outlook returns what would prove the difference of two targets; "" for more.
func (x *contest) outlook() string {
	if len(x.others) != 1 {
		return ""
	}
	j := x.s.c.headlines(x.others[0], x.subject)
	e := j.Effect(x.s.Step, x.k)
	if e == nil {
		return ""
	}
	if text := cmp.Or(verdict.Outlook(j.Outlook(e)), e.Why); text != "" {
		return "; " + text
	}
	return ""
}

// costs says which target needs least of the hardware per operation, compared with the
// base; of two targets what the second one needs.
func (s *step) costs() (parts []string) {
	if k, ok := s.goal(); !ok || s.contestIn(k).subject == nil {
		return nil
	}
	parts = append(parts, s.tail())
	for _, cost := range []struct{ metric, name string }{{metric.CPUUS, "CPU"}, {metric.WriteKB, "KB written"}} {
		k, ok := s.Own(cost.metric)
		if ok && cost.metric == metric.WriteKB {
			k, ok = compare.Undisturbed(s.Step, k, s.c.Targets...)
		}
		if !ok {
			continue
		}
		parts = append(parts, s.cost(k, cost.name+" per "+k.Per))
	}
	return said(parts...)
}

// space says how the targets compare in space at the end of all steps: what is not
// written yet takes none.
func (s *step) space() []string {
	last := s.c.lastWith(metric.SpaceAmplification)
	if last == nil {
		return nil
	}
	k, _ := last.Own(metric.SpaceAmplification)
	return said(last.cost(k, "space after "+last.Name))
}

// sentence joins parts of one.
func sentence(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return quantity.Capital(strings.Join(parts, "; ") + ".")
}

// tail says how the targets compare in the p99, if the step is about its throughput.
func (s *step) tail() string {
	k, ok := s.latency("p99")
	if goal, _ := s.goal(); !ok || goal == k {
		return ""
	}
	if slices.ContainsFunc(s.c.Targets, func(t *target) bool { n := s.number(t, k); return n.Few() != "" }) {
		return "the p99 is not known, as operations are too few"
	}
	return s.cost(k, "p99")
}

// cost says how the targets compare in a cost; "" if they hardly differ.
func (s *step) cost(k key, name string) string {
	x := s.contestIn(k)
	if len(x.others) == 0 {
		return ""
	}
	other := x.others[0]
	if base := s.c.Targets[0]; slices.Contains(x.others, base) {
		other = base
	}
	part, verdict := x.against(other)
	mine, theirs := s.number(x.subject, k), s.number(other, k)
	if mine.AtLeast() && mine.Value <= theirs.Value || theirs.AtLeast() && theirs.Value <= mine.Value {
		return "" // which is less is not known
	}
	r, ok := mine.Over(theirs)
	if !ok || !decided(verdict) && max(r, 1/r) < 1+level {
		return ""
	}
	word := "not proven"
	if decided(verdict) {
		word = "proven"
	}
	switch {
	case mine.Value == 0:
		return fmt.Sprintf("no %s: %s", name, x.subject.Name)
	case s.c.pair():
		return fmt.Sprintf("%s: %s, %s", name, part, word)
	}
	return fmt.Sprintf("least %s: %s, %s, %s", name, x.subject.Name, part, word)
}

// otherTests counts how the targets compare in the throughput of all other tests.
func (v *view) otherTests(but *step) string {
	if len(v.Targets) < 2 {
		return ""
	}
	base := v.Targets[0]
	var parts []string
	most := 0
	for _, t := range v.Targets[1:] {
		counts, all := map[compare.Verdict]int{}, 0
		for _, s := range v.steps {
			k, ok := s.Rate(s.Primary)
			if !ok || s == but || s.prepares() || compare.IsProbe(s.Step) || s.primaryRated() {
				continue
			}
			if e := v.headlines(base, t).Effect(s.Step, k); e != nil && e.Verdict != "" {
				counts[e.Verdict]++
				all++
			}
		}
		most = max(most, all)
		if n := counts[compare.Better]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s faster in %d", t.Name, n))
		}
		if n := counts[compare.Worse]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s slower in %d", t.Name, n))
		}
	}
	if most == 0 {
		return ""
	}
	if len(parts) == 0 {
		return fmt.Sprintf("In %s no difference from %s is proven.", quantity.Count(most, "other test"), base.Name)
	}
	return fmt.Sprintf("Beyond the question, in %s, different from %s: %s.", quantity.Count(most, "other test"), base.Name, quantity.Joined(parts))
}
