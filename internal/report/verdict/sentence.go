package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// Sentence joins the parts of a sentence; those that are "" are left out.
func Sentence(parts ...string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part == "" })
	if len(parts) == 0 {
		return ""
	}
	return quantity.Capital(strings.Join(parts, "; ") + ".")
}

// Lead returns how the subject compares in the main number of a step, against which
// others that is proven, and what would prove the rest. where names the step.
func (c *Campaign) Lead(s *compare.Step, where string) string {
	k, ok := compare.Goal(s)
	if !ok {
		return ""
	}
	x := c.Contest(s, k)
	if x.Subject == nil {
		return "Nothing can be compared" + where + ": " + quantity.Joined(x.Refused) + "."
	}
	if x.undecided() {
		return strings.TrimSpace(quantity.Capital(goalName(k)) + where + " is undecided. " + c.Proven(x.Subject, nil, 1))
	}
	return x.Subject.Name + " " + Did(s, x.Subject, k) + where + x.results() + "."
}

// goalName names the main number of a step.
func goalName(k compare.Key) string {
	if k.Metric == metric.RowsPerS {
		return "throughput"
	}
	return Name(k)
}

// Did returns what a target did by the main number of a step: "did 5,230 operations/s".
func Did(s *compare.Step, t *compare.Target, k compare.Key) string {
	switch n := (Number{s.Number(t, k)}); {
	case k.Metric == metric.HighestRate:
		return fmt.Sprintf("keeps %s up to %s/s", promise(s, t), n)
	case metric.IsLatency(k.Metric):
		return fmt.Sprintf("has a p99 of %s", n)
	default:
		return fmt.Sprintf("%s %s %s/s", cmp.Or(verbs[s.Primary], "did"), n, Units(s, s.Primary))
	}
}

// promise returns the promise under which a rate was searched for on a target.
func promise(s *compare.Step, t *compare.Target) string {
	for _, r := range s.Used(t) {
		if r.Step.Search != nil {
			return r.Step.Search.Words()
		}
	}
	return "the promise"
}

// verbs are the verbs of operation kinds; "did" is for all others.
var verbs = map[string]string{
	"query": "answered", "insert": "inserted", "index": "indexed", "delete": "deleted", "update": "updated",
}

// Units returns the unit that the throughput of an operation kind counts: "rows" or
// "queries".
func Units(s *compare.Step, op string) string {
	for _, k := range s.AllKeys() {
		if metric.IsCost(k.Metric) && k.PerOf(op) {
			return quantity.Plural(k.Per)
		}
	}
	if slices.Contains([]string{"insert", "delete", "update", "index"}, op) {
		return "rows"
	}
	return quantity.Plural(op)
}

// Corrected reports the number of numbers that verdicts are corrected for, if the
// interval of one that a step shows contradicts its verdict.
func (c *Campaign) Corrected(s *compare.Step) string {
	for _, t := range c.Targets[1:] {
		j := c.Judged(c.Targets[0], t)
		if slices.ContainsFunc(j.Items, func(it compare.Item) bool {
			return it.Step == s && it.Asked && it.Verdict != "" && !it.Sure() && (it.Low > 1 || it.High < 1) &&
				!it.Base.AtLeast() && !it.New.AtLeast()
		}) {
			return correction(j)
		}
	}
	return ""
}

// correction returns the number of numbers that a judgement's verdicts are corrected
// for.
func correction(j *compare.Judgement) string {
	return fmt.Sprintf("Verdicts on what is asked are corrected for %s, intervals are of each number alone.",
		quantity.Count(j.Tested(), "number"))
}

// DurabilityDiffers returns the remark that targets promise different durability. It comes
// first, because the meaning of their ratios depends on it.
func DurabilityDiffers(levels string) metric.Warning {
	return metric.Warn(remark.DurabilityDiffers, metric.Values{"levels": levels})
}

// TooFew reports a number of trials that proves nothing.
func TooFew(n int) string {
	return fmt.Sprintf("%s, at least %d are needed", quantity.Count(n, "trial"), compare.LeastTrials)
}

// Caution returns how far the verdicts of a campaign can be trusted.
func Caution(c *compare.Campaign) string {
	low, high := len(c.Targets[0].Trials), 0
	var trials []*result.Trial
	for _, t := range c.Targets {
		trials = append(trials, t.Trials...)
		low, high = min(low, len(t.Trials)), max(high, len(t.Trials))
	}
	switch {
	case high == 1:
		return "One trial each: nothing can be said about noise. A small difference may be chance."
	case high < compare.LeastTrials:
		return fmt.Sprintf("%d trials each at most: too few to prove anything. Numbers are medians.", high)
	case low < compare.LeastTrials:
		return "Some targets have too few trials to prove anything about them. Numbers are medians."
	}
	tooFew := func(n int) string {
		if n < compare.LeastTrials {
			return fmt.Sprintf(", and %d are the least that prove anything", compare.LeastTrials)
		}
		return ""
	}
	var on string
	switch machines := compare.MachinesOf(trials); {
	case len(machines) == 1:
		on = " All trials ran on machine " + machines[0] + ": what holds there need not hold on another that looks the same."
	case len(machines) > 1:
		on = fmt.Sprintf(" The trials ran on %d machines: each counts once, with the means of its trials%s.", len(machines),
			tooFew(len(machines)))
	}
	if loads, shared := sharedLoads(c); shared {
		on += fmt.Sprintf(" Trials began with copies of %s of a target, which differ as trials do: each load counts "+
			"once, with the means of its trials", quantity.Count(loads, "load")) + tooFew(loads)
		if s := c.Targets[0].Trials[0].Start; loads < compare.LeastTrials && s != nil && s.Loads > 0 {
			on += ": raise start: {loads: …}"
		}
		on += "."
	}
	return fmt.Sprintf("Numbers are medians over %d or more trials%s; steps with missing trials say so. "+
		"“Better” and “worse”: if two targets did not differ, one campaign in twenty would have such a verdict "+
		"among the numbers asked about.", low, overLoads(c, low)) + on
}

// sharedLoads returns how many loads of a target there are if the loads count once each.
func sharedLoads(c *compare.Campaign) (loads int, shared bool) {
	base := c.Targets[0]
	for _, t := range c.Targets[1:] {
		if compare.UnitOf(base.Trials, t.Trials) == compare.LoadUnit {
			return compare.LoadUnit.Count(base.Trials, t.Trials), true
		}
	}
	return 0, false
}

// overLoads reports over how many loads the numbers of the steps are that only some trials ran; "" if all did.
func overLoads(c *compare.Campaign, trials int) string {
	s := c.Targets[0].Trials[0].Start
	if s == nil || s.Loads == 0 || s.Loads >= trials || c.Step(s.Copy) == nil {
		return ""
	}
	return fmt.Sprintf(", of the steps up to %s over %s", s.Copy, quantity.Count(s.Loads, "load"))
}
