package verdict

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Mark is a verdict next to a number: a class for its colour and a sign with
// the same meaning.
type Mark struct{ Class, Sign string }

// marks are the marks of verdicts, and hollow the marks of differences that are notable but
// not proven.
var (
	marks = map[compare.Verdict]Mark{
		compare.Better: {"better", "▲"}, compare.Worse: {"worse", "▼"}, compare.Same: {"same", "="},
		compare.Unclear: {"unclear", "?"}, compare.Unstable: {"unstable", "~"},
	}
	hollow = map[compare.Verdict]Mark{compare.Better: {"better unsure", "△"}, compare.Worse: {"worse unsure", "▽"}}
)

// Legend returns an explanation of the marks, in pieces with the classes of
// their verdicts.
func Legend() []struct{ Text, Class string } {
	return []struct{ Text, Class string }{
		{"▲ better (95 %)", "better"}, {", ", ""}, {"▼ worse (95 %)", "worse"}, {", = equivalent; ", ""},
		{"△", "better unsure"}, {" ", ""}, {"▽", "worse unsure"},
		{" likely so: more than 5 %, and the number's own interval excludes equality; ? may be chance; " +
			"~ the trials contradict each other.", ""},
	}
}

// HowMarked returns Legend as text.
func HowMarked() string { return legendText(len(Legend())) }

// HowProven explains the marks of proven differences, where others have none.
func HowProven() string { return legendText(4) + "without a sign it may be chance." }

func legendText(pieces int) (text string) {
	for _, piece := range Legend()[:pieces] {
		text += piece.Text
	}
	return text
}

// SureMark returns the mark of a proven difference or equivalence; the zero Mark of others.
func SureMark(v compare.Verdict) Mark {
	if word(v) == notProven {
		return Mark{}
	}
	return marks[v]
}

// MarkOf returns the mark of an effect; the zero Mark if it has no verdict.
func MarkOf(e *compare.Effect) Mark {
	if m, notable := hollow[e.Likely()]; notable && word(e.Verdict) == notProven {
		return m
	}
	return marks[e.Verdict]
}

// The words for verdicts in sentences; better and worse are proven.
const (
	proven      = "proven"
	equivalent  = "equivalent"
	notProven   = "not proven"
	notCompared = "not compared"
)

func word(v compare.Verdict) string {
	switch v {
	case compare.Better, compare.Worse:
		return proven
	case compare.Same:
		return equivalent
	}
	return notProven
}

// Pair names the two sides of a comparison.
func Pair(base, t *compare.Target) string { return t.Name + " against " + base.Name }

// useless is the ratio of the bounds of an interval that is so wide that nothing follows from it.
const useless = 10

// interval returns the 95 % interval of a ratio in a sentence, “ (5.24 to 15.3)”; "" if it is
// unknown, narrower than the digits shown, or useless.
func interval(e *compare.Effect) string {
	if e.High >= useless*e.Low {
		return ""
	}
	return quantity.Interval(e.Low, e.High)
}

// Ratio returns the ratio of a number to another; e is its effect if it was judged. It is
// NaN if the ratio has no meaning.
func Ratio(e *compare.Effect, n, base compare.Number) float64 {
	if e != nil && !math.IsNaN(e.Ratio) {
		return e.Ratio
	}
	if r, ok := n.Over(base); ok {
		return r
	}
	return math.NaN()
}

// InWords returns an effect in words.
func InWords(e *compare.Effect, base string) string {
	var parts []string
	if !math.IsNaN(e.Ratio) {
		text := quantity.Times(e.Ratio) + " " + base
		if quantity.Finite(e.Low) && !math.IsInf(e.High, 0) {
			text += confidence(e.Low, e.High)
		}
		parts = append(parts, text)
	}
	if e.Verdict != "" {
		parts = append(parts, string(e.Verdict)+", "+e.Why)
	}
	return strings.Join(parts, ": ")
}

// confidence returns an interval with its level, for places where nothing else names it.
func confidence(low, high float64) string {
	return fmt.Sprintf(" (95 %% interval %s to %s)", quantity.Times(low), quantity.Times(high))
}

// MeanInWords returns how the throughput of a target compares with the base's over steps.
func MeanInWords(m compare.Mean, name, base string) string {
	limits, reason := confidence(m.Low, m.High), ""
	if m.Why != "" {
		limits, reason = "", " ("+m.Why+")"
	}
	return fmt.Sprintf("%s does %s%s what %s does, in the geometric mean of %d steps%s",
		name, quantity.Times(m.Ratio), limits, base, m.Tests, reason)
}

// EffectsInWords returns how a number of two targets compares in one or several steps, as a
// sentence; "" without effects.
func EffectsInWords(effects []*compare.Effect, base, t *compare.Target) string {
	if len(effects) == 0 {
		return ""
	}
	first, limits, counts := effects[0], "", map[string]int{}
	low, high, reason, end := math.Inf(1), math.Inf(-1), first.Why, word(first.Verdict)
	for _, e := range effects {
		if counts[word(e.Verdict)]++; !math.IsNaN(e.Ratio) {
			low, high = min(low, e.Ratio), max(high, e.Ratio)
		}
		if e.Why != reason {
			reason = ""
		}
	}
	ratio := quantity.Times(high)
	switch lowest := quantity.Digits(low); {
	case low > high:
		ratio = quantity.Unknown
	case lowest != quantity.Digits(high):
		ratio = lowest + "–" + ratio
	case len(effects) == 1:
		limits = interval(first)
	}
	switch {
	case len(counts) > 1:
		end = fmt.Sprintf("%s in %d of %d steps", proven, counts[proven], len(effects))
	case len(effects) == 1 && first.Bounded() != "":
		ratio, limits, end = first.Bounded()+" "+ratio, "", "" // a bound that proves no order
	case end == notProven && first.TooFew():
		end = "" // that nothing is proven is said once, for all numbers
	case end == notProven && reason != "":
		end += ": " + reason
	}
	if end != "" {
		end = ", " + end
	}
	if first.New.Metric == metric.RowsPerS {
		return fmt.Sprintf("%s has %s the throughput of %s%s%s.", t.Name, ratio, base.Name, limits, end)
	}
	name := metric.Label(first.Metric())
	if first.New.Per != "" {
		name += " per " + first.New.Per
	}
	return fmt.Sprintf("%s: %s %s’s%s%s.", quantity.Capital(name), ratio, base.Name, limits, end)
}

// FindingText returns the place where a gate's condition holds, with the precise effects of
// its metrics.
func FindingText(f *compare.Finding) string {
	var parts []string
	for _, e := range f.Effects {
		part := strings.TrimSuffix(e.Metric()+" per "+e.New.Per, " per ")
		part += fmt.Sprintf(" %.3f×", e.Ratio)
		if !math.IsNaN(e.Low) {
			part += fmt.Sprintf(" (%.3f to %.3f)", e.Low, e.High)
		}
		parts = append(parts, part+" "+string(e.Verdict))
	}
	return strings.TrimSuffix(f.Step.Name+", "+f.Op, ", ") + ": " + strings.Join(parts, "; ")
}

// Counts returns how often each verdict was reached.
func Counts(counts map[compare.Verdict]int) (out []string) {
	for _, v := range compare.Verdicts {
		if counts[v] > 0 {
			out = append(out, fmt.Sprintf("%s in %d", v, counts[v]))
		}
	}
	return out
}
