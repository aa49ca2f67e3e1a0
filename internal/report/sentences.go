package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/figure"
	"rumbench/internal/metric"
	"rumbench/internal/quantity"
)

// sentences returns the answer in two or three sentences: how the targets compare in
// the step that the panels show first, at what cost, and whether the other tests
// agree.
func sentences(v *view) []string {
	steps := v.leading()
	if len(steps) == 0 {
		return nil
	}
	s := steps[0]
	if w := v.sweepOf(s); w != nil && !compare.IsProbe(s.Step) {
		s = w.representative()
	}
	out := []string{s.first(), s.costs(), v.otherTests(s)}
	return slices.DeleteFunc(out, func(text string) bool { return text == "" })
}

// goal returns what a step is about: its highest rate, the latency if a rate was
// promised, else the throughput.
func (s *step) goal() (key, bool) {
	if k, ok := s.Own(metric.HighestRate); ok {
		return k, true
	}
	if s.primaryRated() {
		return s.Latency(s.Primary, "p99")
	}
	return s.Rate(s.Primary)
}

// sides are the targets that can be compared in a step, the best in a number first.
type sides struct {
	s    *step
	k    key
	best []*target
	why  []string // others are not compared
}

// sidesOf sorts the targets by a number.
func (s *step) sidesOf(k key) sides {
	out := sides{s: s, k: k}
	for _, t := range s.c.Targets {
		n, refusals := s.number(t, k), s.Refusals(t)
		switch {
		case n.Missing != "":
			out.why = append(out.why, t.Name+" (no result)")
		case k.Metric == metric.HighestRate && n.Value == 0:
			out.why = append(out.why, t.Name+" (no rate that was tried kept the promise)")
		case len(refusals) > 0:
			out.why = append(out.why, t.Name+" ("+refusals[0]+")")
		case len(out.best) > 0 && s.Unlike(out.best[0], t) != "":
			out.why = append(out.why, t.Name+" (different work)")
		default:
			out.best = append(out.best, t)
		}
	}
	up := 1.0
	if m := metric.ByName(k.Metric); m != nil && m.Better == metric.Higher {
		up = -1
	}
	slices.SortStableFunc(out.best, func(a, b *target) int { return cmp.Compare(up*s.number(a, k).Value, up*s.number(b, k).Value) })
	return out
}

// against returns how the best of the sides compares with another, and the verdict on
// it.
func (x *sides) against(t *target) (text string, verdict compare.Verdict) {
	e := x.s.c.headlines(t, x.best[0]).Effect(x.s.Step, x.k)
	if e == nil || math.IsNaN(e.Ratio) {
		r, ok := x.s.number(x.best[0], x.k).Over(x.s.number(t, x.k))
		if !ok {
			return t.Name, ""
		}
		return quantity.Times(r) + " " + t.Name + "’s", ""
	}
	text = quantity.Times(e.Ratio) + " " + t.Name + "’s"
	const useless = 100 // so wide an interval says nothing
	if quantity.Finite(e.Low) && quantity.Finite(e.High) && e.High < useless*e.Low {
		text += fmt.Sprintf(" (%s to %s)", quantity.Digits(e.Low), quantity.Digits(e.High))
	}
	return text, e.Verdict
}

// first says which target is best in the step's goal, against which others that is
// proven, and what would prove the rest.
func (s *step) first() string {
	k, ok := s.goal()
	if !ok {
		return ""
	}
	x := s.sidesOf(k)
	if len(x.best) == 0 {
		return "Nothing can be compared in " + s.Name + ": " + quantity.Joined(x.why) + "."
	}
	best := x.best[0]
	n := s.number(best, k)
	var text string
	switch {
	case k.Metric == metric.HighestRate:
		text = fmt.Sprintf("%s keeps %s up to %s/s in %s", best.Name, answersOf(s)[0].Words(), n, s.Name)
	case metric.IsLatency(k.Metric):
		text = fmt.Sprintf("%s has a p99 of %s in %s", best.Name, n, s.Name)
	default:
		text = fmt.Sprintf("%s %s %s %s/s in %s", best.Name, did(s.Primary), n, s.units(s.Primary), s.Name)
	}
	var proven, same, open []string
	for _, t := range x.best[1:] {
		switch part, verdict := x.against(t); verdict {
		case compare.Better:
			proven = append(proven, part)
		case compare.Same:
			same = append(same, t.Name)
		default:
			open = append(open, part)
		}
	}
	switch {
	case len(open) == 0 && len(proven) > 0:
		text = "Proven: " + text + ", " + quantity.Joined(proven)
	case len(proven) > 0:
		text += ": proven " + quantity.Joined(proven) + "; not proven " + quantity.Joined(open)
	case len(open) > 0:
		text = "Not proven: " + text + ", " + quantity.Joined(open) + x.outlook()
	}
	if len(same) > 0 {
		text += "; equivalent to " + quantity.Joined(same)
	}
	if len(x.why) > 0 {
		text += "; not compared: " + quantity.Joined(x.why)
	}
	return text + "."
}

// outlook returns what would prove the difference of two targets; "" for more.
func (x *sides) outlook() string {
	if len(x.best) != 2 {
		return ""
	}
	j := x.s.c.headlines(x.best[1], x.best[0])
	e := j.Effect(x.s.Step, x.k)
	if e == nil {
		return ""
	}
	if text := cmp.Or(figure.Outlook(j.Outlook(e)), e.Why); text != "" {
		return "; " + text
	}
	return ""
}

// costs says which target needs least of the hardware per operation.
func (s *step) costs() string {
	var parts []string
	for _, cost := range []struct{ metric, least string }{
		{"cpu_us", "least CPU per %s"}, {"write_kb", "least written per %s"}, {"space_amplification", "least space"},
	} {
		k, ok := s.Own(cost.metric)
		if !ok {
			continue
		}
		if cost.metric == "write_kb" {
			if k, ok = compare.Undisturbed(s.Step, k, s.c.Targets...); !ok {
				continue
			}
		}
		x := s.sidesOf(k)
		if len(x.best) < 2 {
			continue
		}
		least := cost.least
		if strings.Contains(least, "%s") {
			least = fmt.Sprintf(least, k.Per)
		}
		part, verdict := x.against(x.best[1])
		if r, ok := s.number(x.best[0], k).Over(s.number(x.best[1], k)); ok && verdict != compare.Better && r > 1-level {
			continue // nothing to speak of
		}
		word := "not proven"
		if verdict == compare.Better {
			word = "proven"
		}
		if s.number(x.best[0], k).Value == 0 {
			part, word = "none", ""
		}
		parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%s: %s, %s, %s", least, x.best[0].Name, part, word), ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// otherTests counts how the targets compare in the throughput of all other tests.
func (v *view) otherTests(but *step) string {
	if len(v.Targets) < 2 {
		return ""
	}
	base := v.Targets[0]
	var faster, slower []string
	most := 0
	for _, t := range v.Targets[1:] {
		counts, all := map[compare.Verdict]int{}, 0
		for _, s := range v.steps {
			k, ok := s.Rate(s.Primary)
			if !ok || s == but || s.Warmup || compare.IsProbe(s.Step) || s.primaryRated() {
				continue
			}
			if e := v.headlines(base, t).Effect(s.Step, k); e != nil && e.Verdict != "" {
				counts[e.Verdict]++
				all++
			}
		}
		most = max(most, all)
		if n := counts[compare.Better]; n > 0 {
			faster = append(faster, fmt.Sprintf("%s in %d", t.Name, n))
		}
		if n := counts[compare.Worse]; n > 0 {
			slower = append(slower, fmt.Sprintf("%s in %d", t.Name, n))
		}
	}
	if most == 0 {
		return ""
	}
	if len(faster)+len(slower) == 0 {
		return fmt.Sprintf("In %s nothing is proven against %s.", quantity.Count(most, "other test"), base.Name)
	}
	text := fmt.Sprintf("In %s, proven against %s: ", quantity.Count(most, "other test"), base.Name)
	var parts []string
	for _, p := range []struct {
		word string
		of   []string
	}{{"faster ", faster}, {"slower ", slower}} {
		if len(p.of) > 0 {
			parts = append(parts, p.word+quantity.Joined(p.of))
		}
	}
	return text + strings.Join(parts, "; ") + "."
}
