package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// notable is the ratio from which a difference is worth a line of the verdict.
const notable = 1.10

// verdict says in words what the numbers say, a line per step with something
// to tell. It claims nothing about steps that cannot be compared.
func (c *campaign) verdict() []Sentence {
	var out []Sentence
	var quiet []string
	for _, s := range c.steps {
		k, ok := s.Rate(s.Primary)
		if !ok {
			continue
		}
		ranks, dropped := c.ranking(s, k)
		text := c.sentence(s, ranks)
		if text == "" && dropped == "" {
			quiet = append(quiet, s.Name)
			continue
		}
		out = append(out, Sentence{s.Name, s.id, strings.TrimSpace(text + " " + dropped)})
	}
	if len(quiet) > 0 && len(c.Targets) > 1 {
		out = append(out, Sentence{Text: "No notable difference in throughput and writes in " + joined(quiet) + "."})
	}
	if text := c.spaceSentence(); text != "" {
		out = append(out, Sentence{Text: text})
	}
	return out
}

// rank is a target with its throughput in a step.
type rank struct {
	target *target
	rate   number
}

// ranking orders the comparable targets by throughput, the fastest first, and
// says in words which were left out and why.
func (c *campaign) ranking(s *step, k key) (ranks []rank, dropped string) {
	var why []string
	for _, t := range c.Targets {
		n := s.number(t, k)
		doubts := s.Doubts(t)
		switch {
		case n.Missing != "":
			why = append(why, t.Name+" (no result)")
		case len(doubts) > 0:
			why = append(why, fmt.Sprintf("%s (%s)", t.Name, strings.Join(doubts, ", ")))
		default:
			ranks = append(ranks, rank{t, n})
		}
	}
	slices.SortStableFunc(ranks, func(a, b rank) int { return cmp.Compare(b.rate.Value, a.rate.Value) })
	if len(why) > 0 {
		dropped = "Not compared: " + joined(why) + "."
	}
	return ranks, dropped
}

// sentence compares the fastest target with the others; "" if there is nothing
// notable.
func (c *campaign) sentence(s *step, ranks []rank) string {
	if len(ranks) == 0 {
		return ""
	}
	first := ranks[0]
	text := fmt.Sprintf("%s %s %s %s/s", first.target.Name, did(s.Primary), first.rate, s.units(s.Primary))
	if len(ranks) == 1 {
		return text + c.writesAlone(s, first.target) + "." + c.standstill(s)
	}
	writes, differ := c.writesOf(s, ranks)
	last := ranks[len(ranks)-1]
	if r, ok := first.rate.over(last.rate); ok && r < notable && !differ {
		return strings.TrimSpace(c.standstill(s))
	}
	var others []string
	for _, o := range ranks[1:] {
		others = append(others, faster(first, o))
	}
	return text + ", " + joined(others) + writes + "." + c.standstill(s) + inDoubt(ranks)
}

// inDoubt says so when the rates that a sentence compares carry warnings.
func inDoubt(ranks []rank) string {
	if slices.ContainsFunc(ranks, func(r rank) bool { return len(r.rate.Warnings) > 0 }) {
		return " ⚠ The step has warnings: read them first."
	}
	return ""
}

func faster(first, other rank) string {
	r, ok := first.rate.over(other.rate)
	switch {
	case !ok:
		return "while " + other.target.Name + " did nothing"
	case r-1 <= neutral:
		return "level with " + other.target.Name + " (within 5 %)"
	case first.rate.Overlaps(other.rate.Number):
		return times(r) + " " + other.target.Name + " (but their trials overlap)"
	}
	return times(r) + " " + other.target.Name
}

// writesOf tells what the fastest target wrote beside the others, and whether
// that differs notably.
func (c *campaign) writesOf(s *step, ranks []rank) (text string, differ bool) {
	k, ok := s.Writes()
	if !ok {
		return "", false
	}
	mine := s.number(ranks[0].target, k)
	if mine.Disturbed() {
		return "; what it wrote is in doubt and not compared", false
	}
	var shares, doubted []string
	for _, o := range ranks[1:] {
		if s.number(o.target, k).Disturbed() {
			doubted = append(doubted, o.target.Name)
		}
		r, ok := mine.over(s.number(o.target, k))
		if !ok {
			continue
		}
		differ = differ || r >= notable || r <= 1/notable
		shares = append(shares, share(r)+" "+o.target.Name+"'s")
	}
	if len(shares) == 0 {
		return c.writesAlone(s, ranks[0].target), false
	}
	text = fmt.Sprintf("; it wrote %s KB per %s: %s", mine, k.Per, joined(shares))
	if len(doubted) > 0 {
		text += " (" + joined(doubted) + " not compared: in doubt)"
	}
	return text, differ
}

func (c *campaign) writesAlone(s *step, t *target) string {
	k, ok := s.Writes()
	if n := s.number(t, k); ok && n.Missing == "" && !n.Disturbed() {
		return fmt.Sprintf(" and wrote %s KB per %s", n, k.Per)
	}
	return ""
}

// share is a ratio of costs in words.
func share(r float64) string {
	switch {
	case r > 1+neutral:
		return times(r)
	case r < 1-neutral:
		return strconv.FormatFloat(100*r, 'g', 2, 64) + " % of"
	}
	return "about"
}

// standstill tells which targets stalled.
func (c *campaign) standstill(s *step) string {
	k, ok := s.Stalls()
	if !ok {
		return ""
	}
	var stalled []string
	for _, t := range c.Targets {
		if n := s.number(t, k); n.Missing == "" && n.Value > 0 {
			stalled = append(stalled, t.Name+" for "+seconds(n.Value))
		}
	}
	if len(stalled) == 0 {
		return ""
	}
	return " Stalled: " + joined(stalled) + "."
}

// spaceSentence compares the space at the end of the last step that all
// targets finished.
func (c *campaign) spaceSentence() string {
	for _, s := range slices.Backward(c.steps) {
		k, ok := s.Cost("space_amplification", "")
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
			return "Bytes on disk per byte of live data after " + s.Name + ": " + joined(parts) + "."
		}
	}
	return ""
}

// did is the verb of an operation kind.
func did(op string) string {
	switch op {
	case "query":
		return "answered"
	case "insert", "index":
		return op + "ed"
	case "delete", "update":
		return op + "d"
	}
	return "did " + op + " at"
}

// caution says how far the verdict can be trusted.
func (c *campaign) caution() string {
	low, high := len(c.Targets[0].Trials), 0
	for _, t := range c.Targets {
		low, high = min(low, len(t.Trials)), max(high, len(t.Trials))
	}
	switch {
	case high == 1:
		return "One trial each: nothing can be said about noise. A small difference may be chance."
	case low == 1:
		return "Some targets have one trial only: nothing can be said about their noise."
	}
	return fmt.Sprintf("Numbers are medians over %d or more trials; where a trial did not come to a step, the step tells. Differences within 5 %%, or between targets whose trials overlap, count as none.", low)
}
