package report

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/result/redact"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// trust returns how far the comparison can be trusted: poor if targets did different
// work, ran elsewhere, or did not end; fair if something limits its conclusions.
func trust(c *campaign) page.Badge {
	poor, fair := problems(c)
	if len(c.in.Running) > 0 { // what is missing may come
		fair = slices.Concat([]string{"The campaign is running: " + strings.Join(c.in.Running, "; ") + "."}, poor, fair)
		poor = nil
	}
	all := slices.Concat(poor, fair)
	b := page.Badge{More: compare.AppendNew(banners(c),
		slices.Concat(all, remarksOn(c), []string{verdict.Caution(c.Campaign)})...)}
	if levels := meanings(c); len(levels) > 1 {
		b.More = append(b.More, "Durability: "+strings.Join(levels, "; ")+".")
	}
	switch {
	case len(poor) > 0:
		b.Level = page.Poor
	case len(fair) > 0:
		b.Level = page.Fair
	default:
		b.Level, b.Line = page.Good, sound(c)
		return b
	}
	const shown = 2
	first := all[:min(shown, len(all))]
	b.Line = strings.Join(first, " ")
	b.More = slices.DeleteFunc(b.More, func(s string) bool { return slices.Contains(first, s) })
	if n := len(b.More); n > 0 {
		b.Line += fmt.Sprintf(" And %s.", quantity.Count(n, "more remark"))
	}
	return b
}

// sound returns the reasons to trust a comparison.
func sound(c *campaign) string {
	text := quantity.Count(len(c.Targets[0].Trials), "trial")
	imported := slices.ContainsFunc(c.Targets, func(t *target) bool { return t.Trials[0].Imported != nil })
	switch {
	case imported: // machine and durability are unknown
	case len(c.Targets) > 1 && slices.ContainsFunc(c.Targets, unseen):
		text += " each, of equal work, at equal durability"
	case len(c.Targets) > 1:
		text += " each, of equal work, at equal durability, on one machine"
	}
	return text + "; no remarks on the numbers asked about."
}

// problems returns the limits of a comparison, the worst first.
func problems(c *campaign) (poor, fair []string) {
	poor = slices.Concat(otherWork(c), nonEmpty(hostsDiffer(c)), noAnswer(c))
	failed, all := 0, 0
	for _, trial := range trialsOf(c) {
		if all++; trial.Status != result.Complete && trial.Status != result.Running {
			failed++
		}
	}
	if failed > 0 {
		poor = append(poor, fmt.Sprintf("%d of %d trials did not end normally.", failed, all))
	}
	if levels := c.Durability(); levels != "" {
		poor = append(poor, verdict.DurabilityDiffers(levels))
	}
	share, busy := othersWorked(c)
	if share >= muchShared {
		poor, busy = append(nonEmpty(busy), poor...), ""
	}
	fair = nonEmpty(busy, ranApart(c.Targets[0], c.Targets))
	if slices.ContainsFunc(c.Targets, func(t *target) bool { return len(t.Trials) < compare.LeastTrials }) {
		fair = append(fair, verdict.Caution(c.Campaign))
	}
	if len(meanings(c)) > 1 && c.Durability() == "" {
		fair = append(fair, "The level of durability means different things to the targets.")
	}
	steps := c.leading()
	if len(steps) > 0 {
		fair = append(fair, nonEmpty(steps[0].onCredit())...)
	}
	fair = append(append(fair, nonEmpty(cachesDiffer(c))...), contained(c)...)
	if len(steps) > 0 {
		s := steps[0]
		fair = slices.Concat(fair, nonEmpty(s.unequalMemory()), s.tooSmall(), nonEmpty(s.limitedByClient()), s.twoModes(),
			drifts(c), unequalMachine(c), verdict.MachinesApart(c.Campaign))
	}
	fair = append(fair, view.Filter(c.in.Warnings, func(w string) bool { return w != redact.Notice })...)
	return poor, append(fair, onAsked(c)...)
}

// The shares of the processors, in percent, from which other programs are said, and from which no number is good.
const littleShared, muchShared = 5, 50

// othersWorked is the greatest share of the processors that other programs used in a step of a trial, in words.
func othersWorked(c *campaign) (worst float64, text string) {
	for _, s := range c.steps {
		for t, w := range s.warnings() {
			if share := w.OthersShare(); s.Primary != "" && share >= littleShared && share > worst {
				worst, text = share, fmt.Sprintf("Other programs used up to %.0f %% of the processors (%s in %s): rates, "+
					"latencies and costs are those of a busy machine.", share, t.Name, s.Name)
			}
		}
	}
	return worst, text
}

// contained names the servers that ran in containers, if others did not.
func contained(c *campaign) (out []string) {
	texts := quantity.Texts(c.Targets[1:], func(t *target) string { return compare.Contained(c.Targets[0], t) })
	return quantity.Texts(compare.AppendNew(nil, nonEmpty(texts...)...), func(text string) string { return text + "." })
}

// noAnswer names the targets that lack a number asked about, or whose number cannot be
// compared.
func noAnswer(c *campaign) (out []string) {
	asked := false
	for _, s := range c.steps {
		keys := s.Asked()
		asked = asked || len(keys) > 0
		for _, t := range c.Targets {
			switch {
			case len(keys) == 0:
			case len(s.Reasons(t)) > 0:
				out = append(out, fmt.Sprintf("%s in %s cannot be compared: %s.", t.Name, s.Name, reasons(s, t)))
			case !slices.ContainsFunc(keys, func(k key) bool { return s.number(t, k).Missing == "" }):
				out = append(out, fmt.Sprintf("%s has no result in %s.", t.Name, s.Name))
			}
		}
	}
	if !asked {
		out = append(out, "Nothing that was asked about was measured.")
	}
	return out
}

// reasons returns why a target cannot be compared in a step: the failed check, and the
// expected and the actual value.
func reasons(s *step, t *target) string {
	text := func(r compare.Refusal) string { return strings.TrimSuffix(r.Text, ".") }
	return strings.Join(quantity.Texts(s.Reasons(t), text), "; ")
}

// onlyReads reports whether nothing is written in the step, so that nothing has to be written later.
func (s *step) onlyReads() bool {
	access := compare.GroupOf(s.Step)
	return len(s.Groups()) == 1 && slices.Contains([]compare.Group{compare.Group(workload.PointAccess),
		compare.Group(workload.RangeAccess)}, access)
}

// unequalMemory returns the memory that the servers had in a step, if it differs much; "" if not.
func (s *step) unequalMemory() string {
	const much = 1.5
	low, high, ok := s.span(metric.ServerMemoryBytes)
	if !ok || len(s.c.Targets) < 2 || high < much*low || s.c.Targets[0].Trials[0].Hosting == result.Embedded {
		return ""
	}
	k, _ := s.Own(metric.ServerMemoryBytes)
	parts := quantity.Texts(s.c.Targets, func(t *target) string { return t.Name + " " + s.number(t, k).String() })
	return "Memory is not equal: in " + s.Name + " the servers took " + quantity.Joined(parts) + "."
}

// someMisses is the number of pages or blocks per unit of work from which data are not in the cache.
const someMisses = 0.01

// tooSmall returns the effects that a step is too small to show.
func (s *step) tooSmall() (out []string) {
	if lowest, live, ok := s.span(metric.LiveBytes); ok {
		for _, t := range s.c.Targets {
			k, _ := s.Own(metric.CacheMisses)
			misses := s.number(t, k).Value > someMisses // tables, indexes and versions may be more than live data
			if cache, err := quantity.ParseSize(t.Trials[0].Cache()); err == nil && live < float64(cache) && !misses {
				out = append(out, fmt.Sprintf("All data are in the cache: %s of data, a cache of %s. With more data "+
					"than cache the order may be another.", dataText(lowest, live), quantity.Bytes(cache)))
				break
			}
		}
	}
	short, long := s.lengths()
	if cycles := shortCycles(s); cycles != "" {
		out = append(out, "Too short for what engines do from time to time: in "+cycles+". What that costs is not in the "+
			"numbers.")
	} else if long.seconds > 0 && short.seconds < workload.BriefStep && !s.onlyReads() && s.c.searchOf(s) == nil {
		out = append(out, fmt.Sprintf("On %s %s ran for only %s s: too short for checkpoints and compactions to recur.",
			short.target.Name, s.Name, quantity.Digits(short.seconds)))
	}
	if !slices.ContainsFunc(s.AllKeys(), func(k key) bool { return metric.IsLatency(k.Metric) }) {
		out = append(out, "Latency was not measured in "+s.Name+".")
	}
	return out
}

// warnings are those of the trials that are compared in the step.
func (s *step) warnings() iter.Seq2[*target, metric.Warning] {
	return func(yield func(*target, metric.Warning) bool) {
		for _, t := range s.c.Targets {
			for _, r := range s.Used(t) {
				for _, w := range r.Step.Warnings {
					if !yield(t, w) {
						return
					}
				}
			}
		}
	}
}

// shortCycles returns the few checkpoints or compactions that the targets saw in a step, and in which
// other steps they saw too few; "" if they saw enough, or do not count them.
func shortCycles(s *step) string {
	saw := func(s *step) map[*target]string {
		seen := map[*target]string{}
		for t, w := range s.warnings() {
			if text, ok := w.Values["seen"].(string); ok && w.Code == metric.ShortCycle {
				seen[t] = text
			}
		}
		return seen
	}
	seen := saw(s)
	if len(seen) == 0 {
		return ""
	}
	var parts, others []string
	for _, t := range s.c.Targets {
		if seen[t] != "" {
			parts = append(parts, t.Name+" saw "+seen[t])
		}
	}
	for _, o := range s.c.steps {
		if o != s && o.Primary != "" && !compare.IsProbe(o.Step) && len(saw(o)) > 0 {
			others = append(others, o.Name)
		}
	}
	text := s.Name + " " + strings.Join(parts, "; ")
	if len(others) > 0 {
		text += "; too few also in " + quantity.Joined(others)
	}
	return text
}

// onCredit names the targets that a longer step would slow down: they have put off work; "" if there are none.
func (s *step) onCredit() string {
	if s.c.searchOf(s) != nil { // what was found is not the rate of the closed loop
		return ""
	}
	shares := map[*target]float64{}
	for t, w := range s.warnings() {
		if v, ok := w.Values["share"].(float64); ok && w.Code == metric.OnCredit {
			shares[t] = max(shares[t], v)
		}
	}
	var parts []string
	for _, t := range s.c.Targets {
		if shares[t] > 0 {
			parts = append(parts, t.Name+" "+quantity.Digits(shares[t])+" %")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("In %s rates were kept on credit: compactions have still to do, of what was written, %s. "+
		"A longer step would be slower.", s.Name, quantity.Joined(parts))
}

// limitedByClient names the targets whose servers waited for their clients in a step; "" if there are none.
func (s *step) limitedByClient() string {
	var names []string
	low, high := math.Inf(1), 0.0
	for t, w := range s.warnings() {
		share, ok := w.Values["share"].(float64)
		if ok && slices.Contains(metric.AboutClient, w.Code) && w.Code != metric.ClientPaused {
			names, low, high = compare.AppendNew(names, t.Name), min(low, share), max(high, share)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("In %s %s waited for the clients in %s %% of the samples: its rate is partly theirs.",
		s.Name, quantity.Joined(names), rangeText(quantity.Digits(low), quantity.Digits(high)))
}

// onAsked counts the remarks on the numbers asked about, by kind.
func onAsked(c *campaign) (out []string) {
	byName, all := map[string]int{}, 0
	var order []string
	for _, s := range c.steps {
		for _, k := range s.Asked() {
			for _, t := range c.Targets {
				all++
				var kinds []string
				for _, w := range s.number(t, k).Warnings {
					kinds = compare.AppendNew(kinds, cmp.Or(w.Code.Kind().Short, strings.TrimSuffix(w.Text, ".")))
				}
				for _, kind := range kinds {
					order, byName[kind] = compare.AppendNew(order, kind), byName[kind]+1
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return byName[b] - byName[a] })
	for _, kind := range order {
		out = append(out, fmt.Sprintf("%d of %d numbers asked about: %s.", byName[kind], all, kind))
	}
	return out
}

// remarksOn counts the remarks on all steps, by their kind.
func remarksOn(c *campaign) (out []string) {
	byKey := map[metric.Code][]string{}
	var order []metric.Code
	for _, s := range c.steps {
		name := s.Name
		if compare.IsProbe(s.Step) {
			name = "probes of " + s.Base
		}
		for _, t := range c.Targets {
			for _, r := range s.Runs[t] {
				for _, w := range r.Step.Warnings {
					if w.Code.Kind().Short != "" {
						order, byKey[w.Code] = compare.AppendNew(order, w.Code), compare.AppendNew(byKey[w.Code], name)
					}
				}
			}
		}
	}
	for _, code := range order {
		out = append(out, fmt.Sprintf("%s: in %s.", code.Kind().Short, quantity.Joined(byKey[code])))
	}
	return out
}
