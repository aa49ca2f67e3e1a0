package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// Ratios beyond these are to next to nothing: their digits say nothing.
const leastRatio, greatestRatio = 0.001, 1000

// Times writes a ratio.
func Times(r float64) string {
	switch {
	case r > 0 && r < leastRatio:
		return "<" + Digits(leastRatio) + "×"
	case r > greatestRatio && Finite(r):
		return ">" + Digits(greatestRatio) + "×"
	}
	return Digits(r) + "×"
}

// Share writes a share that may well be a round one.
func Share(share float64) string { return Amount(100*share) + " %" }

// RoughShare writes a share with two digits, if no more are known.
func RoughShare(share float64) string {
	if math.Abs(share) >= 0.995 {
		return Whole(100*share) + " %"
	}
	if math.Abs(share) < 0.00005 {
		return "0 %"
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

// Length writes how long something takes, in words: "45 s", "2 min 30 s", "23 min",
// "1 h 5 min".
func Length(d time.Duration) string {
	s := int(math.Round(d.Seconds()))
	switch {
	case d > 0 && d < time.Second:
		return "1 s"
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 600 && s%60 != 0:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	m := int(math.Round(d.Minutes()))
	switch {
	case m < 60:
		return fmt.Sprintf("%d min", m)
	case m%60 == 0:
		return fmt.Sprintf("%d h", m/60)
	}
	return fmt.Sprintf("%d h %d min", m/60, m%60)
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

// Capital begins a sentence with a capital letter.
func Capital(text string) string {
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}

// Texts returns a text for each element of a list.
func Texts[T any](list []T, text func(T) string) (out []string) {
	for _, x := range list {
		out = append(out, text(x))
	}
	return out
}

// Joined returns a list for a sentence.
func Joined(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// Natural compares names in natural order: numbers by their value.
func Natural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if len(na) != len(nb) {
				return len(na) - len(nb)
			}
			if c := strings.Compare(na, nb); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digits returns the number of digits that a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
