package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/figure"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
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
		ranks, dropped := ranking(s, k)
		text := rankSentence(s, ranks)
		if text == "" && dropped == "" {
			quiet = append(quiet, s.Name)
			continue
		}
		out = append(out, page.Item{Name: s.Name, Link: s.id, Text: strings.TrimSpace(text + " " + dropped)})
	}
	if len(quiet) > 0 && len(c.Targets) > 1 {
		out = append(out, page.Item{Text: "No notable difference in throughput and writes in " + quantity.Joined(quiet) + "."})
	}
	if text := spaceSentence(c); text != "" {
		out = append(out, page.Item{Text: text})
	}
	return out
}

// ranking sorts the comparable targets by throughput, the fastest first, and
// reports which were left out and why.
func ranking(s *step, k key) (ranks []rank, dropped string) {
	var why []string
	for _, t := range s.c.Targets {
		n := s.number(t, k)
		refusals := s.Refusals(t)
		switch {
		case n.Missing != "":
			why = append(why, t.Name+" (no result)")
		case len(refusals) > 0:
			why = append(why, fmt.Sprintf("%s (%s)", t.Name, strings.Join(refusals, ", ")))
		default:
			ranks = append(ranks, rank{t, n, s})
		}
	}
	sortRanks(ranks)
	ranks = slices.DeleteFunc(ranks, func(r rank) bool {
		unlike := s.Unlike(ranks[0].target, r.target)
		if unlike != "" {
			why = append(why, fmt.Sprintf("%s (%s)", r.target.Name, unlike))
		}
		return unlike != ""
	})
	if len(why) > 0 {
		dropped = "Not compared: " + quantity.Joined(why) + "."
	}
	return ranks, dropped
}

// rankSentence compares the fastest target with the others; "" if there is nothing
// notable.
func rankSentence(s *step, ranks []rank) string {
	if len(ranks) == 0 {
		return ""
	}
	first := ranks[0]
	text := fmt.Sprintf("%s %s %s %s/s", first.target.Name, did(s.Primary), first.rate, s.units(s.Primary))
	if len(ranks) == 1 {
		return text + writesAlone(s, ranks) + "." + standstill(s)
	}
	writes, differ := writesOf(s, ranks)
	last := ranks[len(ranks)-1]
	if r, ok := first.rate.Over(last.rate); ok && r < notable && !differ {
		return strings.TrimSpace(standstill(s))
	}
	var others []string
	for _, o := range ranks[1:] {
		others = append(others, faster(s, first, o))
	}
	return text + ", " + quantity.Joined(others) + writes + failedWords(ranks) + "." + standstill(s) + inDoubt(ranks)
}

// inDoubt returns a remark if the rates that a sentence compares have warnings.
func inDoubt(ranks []rank) string {
	if slices.ContainsFunc(ranks, func(r rank) bool { return len(r.rate.Warnings) > 0 }) {
		return " ⚠ The step has warnings: read them first."
	}
	return ""
}

func faster(s *step, first, other rank) string {
	r, ok := first.rate.Over(other.rate)
	if !ok {
		return "while " + other.target.Name + " did nothing"
	}
	e := s.c.headlines(other.target, first.target).Effect(s.Step, first.rate.Key)
	switch {
	case e.Verdict == compare.Same:
		return "equivalent to " + other.target.Name
	case !e.Sure() && r-1 <= level:
		return "level with " + other.target.Name + " (within 5 %, not proven)"
	case !e.Sure() && s.c.repeated():
		return quantity.Times(r) + " " + other.target.Name + " (not proven)"
	}
	return quantity.Times(r) + " " + other.target.Name
}

// writesOf reports what the fastest target wrote compared with the others, and
// whether that differs notably.
func writesOf(s *step, ranks []rank) (text string, differ bool) {
	k, ok := written(s, ranks)
	if !ok {
		return "", false
	}
	mine := s.number(ranks[0].target, k)
	if mine.AtLeast() {
		return fmt.Sprintf("; %s wrote at least %s KB per %s, and put off more", writer(k), mine, k.Per), false
	}
	var shares []string
	for _, o := range ranks[1:] {
		r, ok := mine.Over(s.number(o.target, k))
		if !ok {
			continue
		}
		differ = differ || r >= notable || r <= 1/notable
		shares = append(shares, share(r)+" "+o.target.Name+"'s")
	}
	if len(shares) == 0 {
		return writesAlone(s, ranks[:1]), false
	}
	text = fmt.Sprintf("; %s wrote %s KB per %s: %s", writer(k), mine, k.Per, quantity.Joined(shares))
	return text, differ
}

func writesAlone(s *step, of []rank) string {
	k, ok := written(s, of)
	if !ok {
		return ""
	}
	if n := s.number(of[0].target, k); n.Missing == "" {
		return fmt.Sprintf("; %s wrote %s KB per %s", writer(k), n, k.Per)
	}
	return ""
}

// written returns the key of what targets wrote to the device or, if other programs used
// that, of what their own processes wrote.
func written(s *step, of []rank) (key, bool) {
	k, ok := s.Own("write_kb")
	if !ok {
		return k, false
	}
	var targets []*target
	for _, r := range of {
		targets = append(targets, r.target)
	}
	return compare.Undisturbed(s.Step, k, targets...)
}

// writer returns who wrote.
func writer(k key) string {
	if k.Metric == "write_kb" {
		return "it"
	}
	return "its processes"
}

// share returns a ratio of costs in words.
func share(r float64) string {
	switch {
	case r > 1+level:
		return quantity.Times(r)
	case r < 1-level:
		return strconv.FormatFloat(100*r, 'g', 2, 64) + " % of"
	}
	return "about"
}

// standstill returns which targets stalled.
func standstill(s *step) string {
	k, ok := s.Own("stall_s")
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
		k, ok := s.Own("space_amplification")
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
		for _, sentence := range append(figure.Answer(j), figure.Beyond(j)) {
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
