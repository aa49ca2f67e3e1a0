// Package quantity writes numbers with their units for people, and reads and
// writes sizes of plans.
package quantity

import (
	"math"
	"strconv"
	"strings"
)

// Unknown represents an unknown value. It is never a 0.
const Unknown = "–"

// Finite reports whether v is a number, and not infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Known returns v, or nil if JSON cannot represent it.
func Known(v float64) *float64 {
	if !Finite(v) {
		return nil
	}
	return &v
}

// Interval returns an interval of a ratio in a sentence, “ (0.48 to 0.52)”; "" if it is unknown,
// narrower than the digits shown, or next to zero.
func Interval(low, high float64) string {
	a, b := Digits(low), Digits(high)
	if !Finite(low) || !Finite(high) || a == b || math.Abs(high) < leastRatio || low > greatestRatio {
		return ""
	}
	return " (" + a + " to " + b + ")"
}

// Digits rounds to three significant digits, and never before the point, where
// it sets thousands apart.
func Digits(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 99.95:
		return Whole(v)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a >= 0.0009995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// Thousandths returns Digits of a number, of which less than a thousandth counts as zero.
func Thousandths(v float64) string {
	if math.Abs(v) < 0.0005 {
		return "0"
	}
	return Digits(v)
}

// Whole rounds to a whole number, with its thousands apart.
func Whole(v float64) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if v < 0 {
		s = "-" + s
	}
	return s
}

// Amount returns Digits of a number that may well be whole, which has no zeros
// behind the point.
func Amount(v float64) string {
	if v == math.Trunc(v) {
		return Whole(v)
	}
	return Digits(v)
}

// scaled writes a number in the first of the units that leaves it below limit,
// or the last.
func scaled(v, step, limit float64, write func(float64) string, units ...string) string {
	i := 0
	for math.Abs(v) >= limit && i < len(units)-1 {
		v /= step
		i++
	}
	return write(v) + units[i]
}

// Bytes writes bytes in the binary unit that fits.
func Bytes[N int | int64 | uint64 | float64](n N) string { return BytesAs(float64(n), Amount) }

// BytesAs returns Bytes with numbers as write writes them.
func BytesAs(v float64, write func(float64) string) string {
	return scaled(v, 1024, 999.5, write, " B", " KiB", " MiB", " GiB", " TiB", " PiB")
}

// Micros writes microseconds in the unit that fits.
func Micros(us float64) string { return MicrosAs(us, Digits) }

// MicrosAs returns Micros with numbers as write writes them.
func MicrosAs(us float64, write func(float64) string) string {
	if math.Abs(us) >= 999_500 {
		return write(us/1e6) + " s"
	}
	return scaled(us, 1000, 999.5, write, " µs", " ms")
}

// Nanos writes nanoseconds in the unit that fits.
func Nanos(ns float64) string {
	if math.Abs(ns) >= 999.5 || ns == 0 {
		return Micros(ns / 1e3)
	}
	return Amount(ns) + " ns"
}

// Short writes a number in a few characters: 1234567 as 1.23M.
func Short(v float64) string {
	if math.Abs(v) < 9_999.5 {
		return Amount(v)
	}
	return scaled(v/1e3, 1000, 999.5, Digits, "k", "M", "G", "T", "P")
}

// Percent writes a share as a percentage.
func Percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// In writes a number that has a unit of a counter, such as "bytes/s".
func In(v float64, unit string) string {
	unit, per := strings.CutSuffix(unit, "/s")
	text := ""
	switch unit {
	case "bytes":
		text = Bytes(v)
	case "ns":
		text = Nanos(v)
	case "us":
		text = Nanos(v * 1e3)
	case "ms":
		text = Nanos(v * 1e6)
	case "s", "seconds":
		text = Nanos(v * 1e9)
	case "percent":
		text = Percent(v / 100)
	case "count", "ratio", "", "bool":
		text = Short(v)
	default:
		text = Short(v) + " " + unit
	}
	if per {
		text += "/s"
	}
	return text
}

// Count writes how many things there are: "1 run", "3 runs".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
