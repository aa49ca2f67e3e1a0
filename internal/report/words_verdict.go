package report

import (
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

// verdictOn returns the verdict in words, a line per step with something
// notable. It claims nothing about steps that cannot be compared.
func verdictOn(c *campaign) (out []page.Item) {
	var quiet []string
	for _, s := range c.steps {
		k, ok := s.Rate(s.Primary)
		if !ok || s.Warmup {
			continue
		}
		if text := searchSentence(s); text != "" {
			out = append(out, page.Item{Name: s.Name, Link: s.id, Text: text})
		}
		switch w := c.inSummary(s); {
		case w != nil && w.first() == s:
			out = append(out, sweepSentences(w)...)
		case w != nil || compare.IsProbe(s.Step):
		default:
			if text := s.finding(k); text != "" {
				out = append(out, page.Item{Name: s.Name, Link: s.id, Text: text})
			} else {
				quiet = append(quiet, s.Name)
			}
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

// namedCosts is the number of differences that a finding names; the tables have all.
const namedCosts = 3

// finding returns how the targets compare in a step, at what cost, and which stalled or
// failed; "" if there is nothing notable. rate is the key of the throughput.
func (s *step) finding(rate key) string {
	verdicts := &s.c.verdicts
	goal, _ := compare.Goal(s.Step)
	x := verdicts.Contest(s.Step, goal)
	costs, stalls := "", standstill(s)
	var ranks []rank
	if x.Subject != nil {
		costs = verdicts.Proven(x.Subject, s.Step, namedCosts)
		for _, t := range append([]*target{x.Subject}, x.Others...) {
			ranks = append(ranks, rank{t, s.number(t, rate), s})
		}
		sortRanks(ranks)
	}
	if len(s.c.Targets) > 1 && costs == "" && stalls == "" && len(x.Refused) == 0 && !x.Notable() {
		return ""
	}
	text := verdicts.Lead(s.Step, "")
	if len(ranks) > 0 {
		text = strings.TrimSuffix(text, ".") + failedWords(ranks) + "."
	}
	return strings.TrimSpace(text+" "+costs) + stalls + inDoubt(ranks)
}

// standstill returns which targets stalled.
func standstill(s *step) string {
	k, ok := s.Own(metric.StallS)
	if !ok {
		return ""
	}
	return listing(" Stalled: ", quantity.Texts(s.c.Targets, func(t *target) string {
		n := s.number(t, k)
		if n.Missing != "" || n.Value <= 0 {
			return ""
		}
		return t.Name + " for " + quantity.Amount(n.Value) + " s"
	}), ".")
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

// story returns how the targets compare, beginning with the step that the panels show first.
func (c *campaign) story() (s verdict.Story, lead *step) {
	steps := c.leading()
	if len(steps) == 0 {
		return c.verdicts.StoryOf(nil), nil
	}
	lead = c.standing(steps[0])
	s = c.verdicts.StoryOf(lead.Step)
	if levels := byLevel(lead); len(levels) > 0 {
		s.Lead, s.Proven, s.Tests = levels[0], "", levels[1:]
	}
	return s, lead
}

// sentences returns the answer: how the targets compare in the step that the panels show first,
// with the cause, and in the other tests; and what may be read below the panels, the costs and the
// limits of it.
func sentences(v *campaign) (first, below []string) {
	s, lead := v.story()
	if lead == nil {
		return s.Sentences(), nil
	}
	kept := ""
	if w := v.sweepOf(lead); w != nil && lead == w.end() {
		kept = w.kept()
	}
	const above = 2 // other targets, those with the most losses of the best one
	tests, limits := s.Tests[:min(above, len(s.Tests))], append(s.Limits, v.verdicts.Corrected(lead.Step))
	return nonEmpty(s.Lead, causeIn(lead), verdict.Sentence(kept), strings.Join(tests, " ")),
		nonEmpty(s.Proven, strings.Join(s.Tests[len(tests):], " "), strings.TrimSpace(strings.Join(limits, " ")))
}

// causeIn returns why two targets differ in a step; "" of more targets, or if nothing is known.
func causeIn(s *step) string {
	if len(s.c.Targets) != 2 || len(compare.Unlike(s.c.Targets[0], s.c.Targets[1])) > 0 {
		return ""
	}
	return explained(s.c, s.c.Targets[0], s.c.Targets[1]).Cause(s.Step)
}
