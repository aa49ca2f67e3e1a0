package verdict

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/text/quantity"
)

// Mark is a verdict next to a number: a class for its colour and a sign with
// the same meaning.
type Mark struct{ Class, Sign string }

// The marks of the verdicts. Differences that are not proven have hollow signs.
var (
	SurelyBetter = Mark{"better", "▲"}
	SurelyWorse  = Mark{"worse", "▼"}
	MaybeBetter  = Mark{"better unsure", "△"}
	MaybeWorse   = Mark{"worse unsure", "▽"}
	SurelySame   = Mark{"same", "="}
	Unclear      = Mark{"unclear", "?"}
	Unstable     = Mark{"unstable", "~"}
)

// Legend returns an explanation of the marks, in pieces with the classes of
// their verdicts.
func Legend() []struct{ Text, Class string } {
	return []struct{ Text, Class string }{
		{"▲ better (95 %)", "better"}, {", ", ""}, {"▼ worse (95 %)", "worse"}, {", = equivalent; ", ""},
		{"△", "better unsure"}, {" ", ""}, {"▽", "worse unsure"},
		{" look better or worse by more than 5 % and, where it is known, twice the trials' variation, but are not proven; " +
			"? may be chance; ~ the trials contradict each other.", ""},
	}
}

// HowMarked returns Legend as text.
func HowMarked() string {
	var b strings.Builder
	for _, piece := range Legend() {
		b.WriteString(piece.Text)
	}
	return b.String()
}

// MarkOf returns the mark of an effect; the zero Mark if it has no verdict.
func MarkOf(e *compare.Effect) Mark {
	switch e.Verdict {
	case compare.Better:
		return SurelyBetter
	case compare.Worse:
		return SurelyWorse
	case compare.Same:
		return SurelySame
	case "":
		return Mark{}
	}
	switch e.Notable() {
	case compare.Better:
		return MaybeBetter
	case compare.Worse:
		return MaybeWorse
	}
	if e.Verdict == compare.Unstable {
		return Unstable
	}
	return Unclear
}

// InWords returns an effect in words.
func InWords(e *compare.Effect, base string) string {
	text := ""
	if !math.IsNaN(e.Ratio) {
		text = quantity.Times(e.Ratio) + " " + base
		if quantity.Finite(e.Low) && !math.IsInf(e.High, 0) {
			text += fmt.Sprintf(" (95 %% interval %s to %s)", quantity.Times(e.Low), quantity.Times(e.High))
		}
	}
	if e.Verdict != "" {
		if text != "" {
			text += ": "
		}
		text += string(e.Verdict) + ", " + e.Why
	}
	return text
}

// FindingText returns where a gate's condition holds, with the effects of its metrics.
func FindingText(f *compare.Finding) string {
	var parts []string
	for _, e := range f.Effects {
		part := e.Metric()
		if e.New.Per != "" {
			part += " per " + e.New.Per
		}
		part += fmt.Sprintf(" %.3f×", e.Ratio)
		if !math.IsNaN(e.Low) {
			part += fmt.Sprintf(" (%.3f to %.3f)", e.Low, e.High)
		}
		parts = append(parts, part+" "+string(e.Verdict))
	}
	where := f.Step.Name
	if f.Op != "" {
		where += ", " + f.Op
	}
	return where + ": " + strings.Join(parts, "; ")
}

// Counts returns how often each verdict was reached, in a format of the number and
// the verdict.
func Counts(counts map[compare.Verdict]int, format string) (out []string) {
	for _, v := range compare.Verdicts {
		if counts[v] > 0 {
			out = append(out, fmt.Sprintf(format, counts[v], v))
		}
	}
	return out
}
