package quantity

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// durationUnits are the common names of the units of durations.
var durationUnits = map[string]string{
	"ns": "ns", "us": "us", "µs": "us", "μs": "us", "ms": "ms", "msec": "ms",
	"s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
	"m": "m", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"h": "h", "hr": "h", "hour": "h", "hours": "h",
}

// DurationPattern is a regular expression, also for JavaScript, of the texts that
// ParseDuration reads, without blanks around them. It is unanchored.
var DurationPattern = `-?([0-9.]+\s*(` + AnyCase(slices.Collect(maps.Keys(durationUnits))...) + `)\s*)+|-?[0-9.]+`

// AnyCase returns a regular expression, also for JavaScript, that matches one of the
// words in upper or lower case.
func AnyCase(words ...string) string {
	out := make([]string, len(words))
	for i, word := range words {
		for _, c := range strings.ToLower(word) {
			if c >= 'a' && c <= 'z' {
				out[i] += "[" + string(c) + string(c-'a'+'A') + "]"
			} else {
				out[i] += regexp.QuoteMeta(string(c))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, "|")
}

var durationPart = regexp.MustCompile(`^([0-9.]+)\s*([a-zµμ]+)\s*`)

// Longest is the longest duration that is read: sums of a few must not overflow.
const Longest = 100 * 365 * 24 * time.Hour

// ErrLong is the error of a longer one.
var ErrLong = errors.New("longer than 100 years")

// ParseDuration reads a duration such as 500ms, 10 s, 5min or 2h30m; a bare number
// is seconds.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && !strings.Contains(text, "_") {
		return Seconds(seconds)
	}
	text, negative := strings.CutPrefix(text, "-")
	canonical := ""
	for text != "" || canonical == "" {
		m := durationPart.FindStringSubmatch(text)
		if m == nil || durationUnits[m[2]] == "" || strings.Count(m[1], ".") > 1 || m[1] == "." {
			return 0, fmt.Errorf("%q is not a duration", s)
		}
		canonical += m[1] + durationUnits[m[2]]
		text = text[len(m[0]):]
	}
	d, err := time.ParseDuration(canonical)
	if err != nil || d > Longest {
		return 0, fmt.Errorf("%q is %w", s, ErrLong)
	}
	if negative {
		d = -d
	}
	return d, nil
}

// Seconds returns a number of seconds as a duration.
func Seconds(s float64) (time.Duration, error) {
	switch {
	case !Finite(s):
		return 0, fmt.Errorf("%v is not a duration", s)
	case math.Abs(s) > Longest.Seconds():
		return 0, fmt.Errorf("%v s is %w", s, ErrLong)
	}
	return AsDuration(s), nil
}

// AsDuration returns computed seconds as a duration: the greatest one for more than fit.
func AsDuration(seconds float64) time.Duration {
	if ns := math.Round(seconds * float64(time.Second)); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}
