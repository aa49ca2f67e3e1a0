package watch

import (
	"math"
	"strconv"
	"strings"
)

// missing stands for what is not known. It is never a 0.
const missing = "–"

// human writes a number for people, in the unit that fits.
func human(v float64, unit string) string {
	unit, rate := strings.CutSuffix(unit, "/s")
	per := ""
	if rate {
		per = "/s"
	}
	switch unit {
	case "bytes":
		return scaled(v, 1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB"}) + per
	case "ns":
		return duration(v) + per
	case "us":
		return duration(v*1e3) + per
	case "ms":
		return duration(v*1e6) + per
	case "s", "seconds":
		return duration(v*1e9) + per
	case "percent":
		return strconv.FormatFloat(v, 'f', 1, 64) + " %" + per
	case "count", "ratio", "", "bool":
		return count(v) + per
	}
	return count(v) + " " + unit + per
}

// scaled writes a number with the largest unit that leaves a digit before the point.
func scaled(v, step float64, units []string) string {
	i := 0
	for math.Abs(v) >= 0.9995*step && i < len(units)-1 {
		v /= step
		i++
	}
	return decimal(v) + units[i]
}

// duration writes nanoseconds.
func duration(ns float64) string {
	if math.Abs(ns) >= 999.5e6 {
		return decimal(ns/1e9) + " s"
	}
	if ns == 0 {
		return "0 ms"
	}
	return scaled(ns, 1000, []string{" ns", " µs", " ms"})
}

// count writes a number of things: whole up to a million if it is whole.
func count(v float64) string {
	if a := math.Abs(v); a >= 999_500 {
		return scaled(v, 1000, []string{"", "k", "M", "G", "T", "P"})
	}
	return decimal(v)
}

// decimal rounds to three significant digits, never before the point.
func decimal(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 99.95 || a == math.Trunc(a):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a >= 0.0009995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
