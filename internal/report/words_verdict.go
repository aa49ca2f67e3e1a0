package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

// notable is the ratio from which a difference is worth a line of the verdict,
// and level the ratio up to which it is called none if nothing is proven.
const (
	notable = 1.10
	level   = 0.05
)

// verdictOn returns the verdict in words, a line per step with something
// notable. It claims nothing about steps that cannot be compared.
func verdictOn(c *campaign) []page.Item {
	out := answers(c)
	var quiet []string
	for _, s := range c.steps {
		k, ok := s.Rate(s.Primary)
		if !ok || s.Warmup {
			continue
		}
		if text := searchSentence(s); text != "" {
			out = append(out, page.Item{Name: s.Name, Link: s.id, Text: text})
		}
		if w := c.inSummary(s); w != nil {
			if w.first() == s {
				out = append(out, sweepSentences(w)...)
			}
			continue
		}
		if compare.IsProbe(s.Step) {
			continue
		}
		if text := s.finding(k); text != "" {
			out = append(out, page.Item{Name: s.Name, Link: s.id, Text: text})
		} else {
			quiet = append(quiet, s.Name)
		}
	}
	if len(quiet) > 0 && len(c.Targets) > 1 {
		out = append(out, page.Item{Text: "No notable difference in " + quantity.Joined(quiet) + "."})
	}
	if text := spaceSentence(c); text != "" {
		out = append(out, page.Item{Text: text})
	}
	return out
}

// finding returns how the targets compare in a step, at what cost, and who stalled or
// failed; "" if there is nothing notable. rate is the key of the throughput.
func (s *step) finding(rate key) string {
	goal, _ := s.goal()
	x := s.contestIn(goal)
	costs, stalls := sentence(s.costs()), standstill(s)
	if len(s.c.Targets) > 1 && costs == "" && stalls == "" && len(x.why) == 0 && !x.notable() {
		return ""
	}
	var ranks []rank
	if x.subject != nil {
		for _, t := range append([]*target{x.subject}, x.others...) {
			ranks = append(ranks, rank{t, s.number(t, rate), s})
		}
		sortRanks(ranks)
	}
	text := s.first("")
	if len(ranks) > 0 {
		text = strings.TrimSuffix(text, ".") + failedWords(ranks) + "."
	}
	return strings.TrimSpace(text+" "+costs) + stalls + inDoubt(ranks)
}

// notable reports whether any target is notably far from the subject, proven or not.
func (x *contest) notable() bool {
	return slices.ContainsFunc(x.others, func(t *target) bool {
		r, ok := x.s.number(x.subject, x.k).Over(x.s.number(t, x.k))
		return !ok || max(r, 1/r) >= notable
	})
}

// inDoubt returns a remark if the rates that a sentence compares have warnings.
func inDoubt(ranks []rank) string {
	if slices.ContainsFunc(ranks, func(r rank) bool { return len(r.rate.Warnings) > 0 }) {
		return " ⚠ The step has warnings: read them first."
	}
	return ""
}

// standstill returns which targets stalled.
func standstill(s *step) string {
	k, ok := s.Own(metric.StallS)
	if !ok {
		return ""
	}
	var stalled []string
	for _, t := range s.c.Targets {
		if n := s.number(t, k); n.Missing == "" && n.Value > 0 {
			stalled = append(stalled, t.Name+" for "+quantity.Amount(n.Value)+" s")
		}
	}
	if len(stalled) == 0 {
		return ""
	}
	return " Stalled: " + quantity.Joined(stalled) + "."
}

// spaceSentence compares the space at the end of the last step that all
// targets finished.
func spaceSentence(c *campaign) string {
	for _, s := range slices.Backward(c.steps) {
		k, ok := s.Own(metric.SpaceAmplification)
		if !ok {
			continue
		}
		var parts []string
		for _, t := range c.Targets {
			n := s.number(t, k)
			if n.Missing != "" {
				break
			}
			parts = append(parts, fmt.Sprintf("%s %s", t.Name, n))
		}
		if len(parts) == len(c.Targets) {
			return "Bytes on disk per byte of live data after " + s.Name + ": " + quantity.Joined(parts) + "."
		}
	}
	return ""
}

// did returns the verb of an operation kind.
func did(op string) string {
	switch op {
	case "query":
		return "answered"
	case "insert", "index":
		return op + "ed"
	case "delete", "update":
		return op + "d"
	}
	return "did"
}

// answers returns what each target's comparison with the base says about the question;
// nothing without repeated trials.
func answers(c *campaign) []page.Item {
	if !c.repeated() {
		return nil
	}
	var out []page.Item
	base := c.Targets[0]
	for _, t := range c.Targets[1:] {
		j := c.headlines(base, t)
		for _, sentence := range append(verdict.Answer(j), verdict.Beyond(j)) {
			if sentence != "" {
				out = append(out, page.Item{Text: sentence})
			}
		}
	}
	return out
}

// cautionOn returns how far the verdict can be trusted.
func cautionOn(c *campaign) string {
	low, high := len(c.Targets[0].Trials), 0
	for _, t := range c.Targets {
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
	return fmt.Sprintf("Numbers are medians over %d or more trials; steps with missing trials say so. “Better” and “worse”: if two targets "+
		"did not differ, one campaign in twenty would have such a verdict among the numbers asked about.", low)
}
