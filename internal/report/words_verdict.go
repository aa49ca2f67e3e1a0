package report

import (
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
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

// finding returns how the targets compare in a step, at what cost, and which stalled or
// failed; "" if there is nothing notable. rate is the key of the throughput.
func (s *step) finding(rate key) string {
	verdicts := &s.c.verdicts
	goal, _ := compare.Goal(s.Step)
	x := verdicts.Contest(s.Step, goal)
	costs, stalls := verdict.Sentence(verdicts.Costs(s.Step)...), standstill(s)
	if len(s.c.Targets) > 1 && costs == "" && stalls == "" && len(x.Refused) == 0 && !x.Notable() {
		return ""
	}
	var ranks []rank
	if x.Subject != nil {
		for _, t := range append([]*target{x.Subject}, x.Others...) {
			ranks = append(ranks, rank{t, s.number(t, rate), s})
		}
		sortRanks(ranks)
	}
	text := verdicts.Lead(s.Step, "")
	if len(ranks) > 0 {
		text = strings.TrimSuffix(text, ".") + failedWords(ranks) + "."
	}
	return strings.TrimSpace(text+" "+costs) + stalls + inDoubt(ranks)
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

// spaceSentence returns the space at the end of the last step that all targets
// finished.
func spaceSentence(c *campaign) string {
	last := c.LastWith(metric.SpaceAmplification)
	if last == nil {
		return ""
	}
	k, _ := last.Own(metric.SpaceAmplification)
	s := c.stepOf(last)
	parts := quantity.Texts(c.Targets, func(t *target) string { return t.Name + " " + s.number(t, k).String() })
	return "Bytes on disk per byte of live data after " + last.Name + ": " + quantity.Joined(parts) + "."
}

// answers returns the answers to the question from each target's comparison with the base;
// nothing unless two targets have enough trials to prove something.
func answers(c *campaign) (out []page.Item) {
	few := func(t *target) bool { return len(t.Trials) < compare.LeastTrials }
	if len(slices.DeleteFunc(slices.Clone(c.Targets), few)) < 2 {
		return nil
	}
	for _, t := range c.Targets[1:] {
		for _, sentence := range verdict.Answer(c.headlines(c.Targets[0], t), true) {
			out = append(out, page.Item{Text: sentence})
		}
	}
	return out
}

// sentences returns the answer in two or three sentences: how the targets compare in the step
// that the panels show first, at what cost, and whether the other tests agree.
func sentences(v *view) []string {
	steps := v.leading()
	if len(steps) == 0 {
		return nil
	}
	s, kept := v.standing(steps[0]), ""
	if w := v.sweepOf(s); w != nil && s == w.end() {
		kept = w.kept()
	}
	costs := append(v.verdicts.Costs(s.Step), v.verdicts.Space())
	others := v.verdicts.OtherTests(s.Step) + " " + v.verdicts.Corrected(s.Step)
	return said(v.verdicts.Lead(s.Step, " in "+s.Name), causeIn(s), verdict.Sentence(kept), verdict.Sentence(costs...),
		strings.TrimSpace(others))
}

// said returns the texts that are not empty.
func said(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// standing returns the step that represents the sweep of a step.
func (c *campaign) standing(s *step) *step {
	if w := c.sweepOf(s); w != nil && !compare.IsProbe(s.Step) {
		return w.representative()
	}
	return s
}
