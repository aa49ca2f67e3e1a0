package quantity_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/text/quantity"
)

// The patterns match what is read, in upper and lower case.
func TestPatterns(t *testing.T) {
	size, duration := regexp.MustCompile(`^(`+quantity.SizePattern+`)$`), regexp.MustCompile(`^(`+quantity.DurationPattern+`)$`)
	rapid.Check(t, func(t *rapid.T) {
		spell := rapid.SampledFrom([]func(string) string{strings.ToLower, strings.ToUpper, strings.TrimSpace}).Draw(t, "spell")
		s := spell(quantity.FormatSize(rapid.Int64Min(0).Draw(t, "bytes")))
		if _, err := quantity.ParseSize(s); err != nil || !size.MatchString(s) {
			t.Fatalf("%s: %v", s, err)
		}
		d := spell(strings.ReplaceAll(time.Duration(rapid.Int64Range(-int64(quantity.Longest), int64(quantity.Longest)).Draw(t, "ns")).String(), "µ", "u"))
		if _, err := quantity.ParseDuration(d); err == nil != duration.MatchString(d) {
			t.Fatalf("%s: %v", d, err)
		}
	})
	for _, s := range []string{"1.5 GB", "64M", "4096", "64 mb", ".5k"} {
		_, err := quantity.ParseSize(s)
		expect.True(t, err == nil && size.MatchString(s), s, err)
	}
	for _, s := range []string{"256Q", "5MiBs", "-5"} {
		expect.True(t, !size.MatchString(s), "is no size", s)
	}
	for _, s := range []string{"5 parsecs", "soon", "2d"} {
		expect.True(t, !duration.MatchString(s), "is no duration", s)
	}
}
