package quantity

import (
	"math"
	"strconv"
	"strings"
)

// Full writes a number as it is.
func Full(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Four writes four significant digits, and all before the point.
func Four(v float64) string {
	if math.Abs(v) < 1000 && v != math.Trunc(v) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return Whole(v)
}

// Times writes a ratio.
func Times(r float64) string { return Digits(r) + "×" }

// Share writes a share that may well be a round one.
func Share(share float64) string { return Amount(100*share) + " %" }

// RoughShare writes a share with two digits, where more are not known.
func RoughShare(share float64) string {
	if share >= 0.995 {
		return Whole(100*share) + " %"
	}
	return strconv.FormatFloat(100*share, 'g', 2, 64) + " %"
}

// Tick writes a round number in a few characters, for an axis: 61,200 is 61.2k
// there, and 60,000 60k.
func Tick(v float64) string {
	if v < 1e4 {
		return Round(v)
	}
	return scaled(v/1e3, 1000, 1000, Round, "k", "M", "G")
}

// Round writes a round number without the zeros that show its precision.
func Round(v float64) string {
	if v >= 1000 {
		return Whole(v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Plural makes the units of a rate from a denominator: "insert row" → "rows",
// "query" → "queries".
func Plural(per string) string {
	word := per[strings.LastIndex(per, " ")+1:]
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		return stem + "ies"
	}
	return word + "s"
}

// Joined returns a list for a sentence.
func Joined(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
