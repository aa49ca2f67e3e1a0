package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// remarks returns the remarks on a comparison by their rank: on the conditions, the answers, and the
// step asked about first. Those whose condition is one of a step's rows and facts are found by package
// remark.
func remarks(c *campaign) []metric.Warning {
	list := slices.Concat(conditions(c), unanswered(c), remark.Several(firstAsked(c), found(c)), drifts(c))
	if steps := c.leading(); len(steps) > 0 {
		list = slices.Concat(list, memoryDiffers(steps[0]), noLatency(steps[0]), twoModes(steps[0]), unevenMachine(c),
			verdict.MachinesApart(c.Campaign))
	}
	slices.SortStableFunc(list, metric.ByRank)
	return list
}

// one returns a remark as a list.
func one(code metric.Code, values metric.Values) []metric.Warning {
	return []metric.Warning{metric.Warn(code, values)}
}

// firstAsked names the step asked about first; "" if there is none.
func firstAsked(c *campaign) string {
	if steps := c.leading(); len(steps) > 0 {
		return steps[0].Name
	}
	return ""
}

// found returns the remarks on targets in the steps that measure.
func found(c *campaign) (out []remark.Found) {
	for _, s := range c.steps {
		for _, t := range c.Targets {
			if s.Primary == "" || len(s.Used(t)) == 0 {
				continue
			}
			for _, f := range remark.On(s.facts(t)) {
				if !compare.IsProbe(s.Step) || remark.Of(f.Code).Worst {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// facts returns what conditions of remarks are about.
func (s *step) facts(t *target) *remark.Facts {
	row := func(name string) float64 {
		if k, ok := s.Own(name); ok {
			if n := s.number(t, k); n.Missing == "" {
				return n.Value
			}
		}
		return math.NaN()
	}
	f := &remark.Facts{Step: s.Name, Target: t.Name, Seconds: math.Inf(1), Searched: s.c.searchOf(s) != nil,
		OnlyReads: s.onlyReads(), Cache: math.NaN(), Row: row}
	if size, err := quantity.ParseSize(t.Trials[0].Cache()); err == nil {
		f.Cache = float64(size)
	}
	for _, r := range s.Used(t) {
		f.Seconds, f.Warnings = min(f.Seconds, r.Step.Seconds), append(f.Warnings, r.Step.Warnings...)
	}
	return f
}

// onlyReads reports whether nothing is written in the step, so that nothing has to be written later.
func (s *step) onlyReads() bool {
	access := compare.GroupOf(s.Step)
	return len(s.Groups()) == 1 && slices.Contains([]compare.Group{compare.Group(workload.PointAccess),
		compare.Group(workload.RangeAccess)}, access)
}

// conditions returns the remarks on how the targets ran, to read before any number.
func conditions(c *campaign) []metric.Warning {
	out := slices.Concat(otherWork(c), hostsDiffer(c), trialsFailed(c), durabilityDiffers(c),
		ranApart(c.Targets[0], c.Targets), cachesDiffer(c), contained(c))
	if slices.ContainsFunc(c.Targets, func(t *target) bool { return len(t.Trials) < compare.LeastTrials }) {
		out = append(out, metric.Warn(remark.FewTrials, metric.Values{"caution": verdict.Caution(c.Campaign)}))
	}
	oneLoad := func(t *target) bool { s := t.Trials[0].Start; return s != nil && s.Loads <= 1 && len(t.Trials) > 1 }
	if slices.ContainsFunc(c.Targets, oneLoad) {
		out = append(out, metric.Warn(remark.OneLoad, nil))
	}
	return out
}

// otherWork reports which targets are not compared with the first one, and in which
// steps, because their work or their promises differ.
func otherWork(c *campaign) (out []metric.Warning) {
	base := c.Targets[0]
	measuring := slices.DeleteFunc(slices.Clone(c.steps), func(s *step) bool { return s.Primary == "" })
	for _, t := range c.Targets[1:] {
		var order []string
		steps := map[string][]string{}
		for _, s := range measuring {
			if reason := s.Unlike(base, t); reason != "" {
				order, steps[reason] = compare.AppendNew(order, reason), append(steps[reason], s.Name)
			}
		}
		for _, reason := range order {
			values := metric.Values{"target": t.Name, "base": base.Name, "reason": reason}
			if len(steps[reason]) < len(measuring) {
				values["steps"] = quantity.Joined(steps[reason])
			}
			out = append(out, metric.Warn(remark.OtherWork, values))
		}
	}
	return out
}

// mostDifferences is the number of facts that a remark names; the table has all.
const mostDifferences = 5

// hostsDiffer reports the facts of the trials' hosts that may explain differences of numbers.
func hostsDiffer(c *campaign) []metric.Warning {
	parts := differentFacts(c)
	if len(parts) == 0 {
		return nil
	}
	shown := parts[:min(mostDifferences, len(parts))]
	values := metric.Values{"facts": strings.Join(shown, "; ")}
	if n := len(parts) - len(shown); n > 0 {
		values["more"] = float64(n)
	}
	return one(remark.HostsDiffer, values)
}

// trialsFailed counts the trials that did not end normally.
func trialsFailed(c *campaign) []metric.Warning {
	failed, all := 0, 0
	for _, trial := range trialsOf(c) {
		if all++; trial.Status != result.Complete && trial.Status != result.Running {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return one(remark.TrialsFailed, metric.Values{"failed": float64(failed), "all": float64(all)})
}

// durabilityDiffers reports different levels of durability, or levels with different meanings.
func durabilityDiffers(c *campaign) []metric.Warning {
	switch levels := c.Durability(); {
	case levels != "":
		return []metric.Warning{verdict.DurabilityDiffers(levels)}
	case len(meanings(c)) > 1:
		return one(remark.DurabilityMeans, nil)
	}
	return nil
}

// ranApart names the targets whose trials did not run side by side with the base's, if there are verdicts.
func ranApart(base *compare.Target, targets []*compare.Target) []metric.Warning {
	var names []string
	for _, t := range targets {
		if t != base && min(len(t.Trials), len(base.Trials)) >= compare.LeastTrials && !compare.Beside(base, t) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return one(remark.RanApart, metric.Values{"targets": quantity.Joined(names), "base": base.Name})
}

// cachesDiffer reports unequal caches.
func cachesDiffer(c *campaign) []metric.Warning {
	caches, code := c.UnequalCaches(), remark.CachesDifferCached
	if caches == "" {
		return nil
	}
	if slices.ContainsFunc(c.Targets, func(t *target) bool { return t.Trials[0].PageCache != engine.CacheUsed }) {
		code = remark.CachesDiffer
	}
	return one(code, metric.Values{"caches": caches})
}

// contained names the servers that ran in containers, if others did not.
func contained(c *campaign) (out []metric.Warning) {
	for _, t := range c.Targets[1:] {
		if w := compare.Contained(c.Targets[0], t); w != nil {
			out = metric.AppendNew(out, *w)
		}
	}
	return out
}

// unanswered names the targets that lack a number asked about, or whose number cannot be
// compared.
func unanswered(c *campaign) (out []metric.Warning) {
	asked := false
	for _, s := range c.steps {
		keys := s.Asked()
		asked = asked || len(keys) > 0
		for _, t := range c.Targets {
			values := metric.Values{"target": t.Name, "step": s.Name}
			switch {
			case len(keys) == 0:
			case len(s.Reasons(t)) > 0:
				values["reason"] = reasons(s, t)
				out = append(out, metric.Warn(remark.NotComparable, values))
			case !slices.ContainsFunc(keys, func(k key) bool { return s.number(t, k).Missing == "" }):
				out = append(out, metric.Warn(remark.NoResult, values))
			}
		}
	}
	if !asked {
		out = append(out, metric.Warn(remark.NothingMeasured, nil))
	}
	return out
}

// reasons returns why a target cannot be compared in a step: the failed check, and the
// expected and the actual value.
func reasons(s *step, t *target) string {
	text := func(r compare.Refusal) string { return strings.TrimSuffix(r.Text, ".") }
	return strings.Join(quantity.Texts(s.Reasons(t), text), "; ")
}

// memoryDiffers reports the memory that the servers had in a step, if it differs much.
func memoryDiffers(s *step) []metric.Warning {
	const much = 1.5
	low, high, ok := s.span(metric.ServerMemoryBytes)
	if !ok || len(s.c.Targets) < 2 || high < much*low || s.c.Targets[0].Trials[0].Hosting == result.Embedded {
		return nil
	}
	k, _ := s.Own(metric.ServerMemoryBytes)
	parts := quantity.Texts(s.c.Targets, func(t *target) string { return fmt.Sprint(t.Name, " ", s.number(t, k)) })
	return one(remark.MemoryDiffers, metric.Values{"step": s.Name, "each": quantity.Joined(parts)})
}

func noLatency(s *step) []metric.Warning {
	if slices.ContainsFunc(s.AllKeys(), func(k key) bool { return metric.IsLatency(k.Metric) }) {
		return nil
	}
	return one(remark.NoLatency, metric.Values{"step": s.Name})
}
