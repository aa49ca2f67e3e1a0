package quantity

import (
	"fmt"
	"maps"
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

// ParseDuration reads a duration such as 500ms, 10 s, 5min or 2h30m; a bare number
// is seconds.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	canonical := ""
	for text != "" {
		m := durationPart.FindStringSubmatch(text)
		if m == nil || durationUnits[m[2]] == "" {
			return 0, fmt.Errorf("%q is not a duration", s)
		}
		canonical += m[1] + durationUnits[m[2]]
		text = text[len(m[0]):]
	}
	d, err := time.ParseDuration(sign + canonical)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	return d, nil
}
