package quantity

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "10 s": 10 * time.Second, "5m": 5 * time.Minute, "5min": 5 * time.Minute, "5 Minutes": 5 * time.Minute, "90": 90 * time.Second, "1.5": 1500 * time.Millisecond,
		"2h30m": 150 * time.Minute, "2h 30 min": 150 * time.Minute, " 1 hour ": time.Hour, "500ms": 500 * time.Millisecond, "500 us": 500 * time.Microsecond, "7µs": 7 * time.Microsecond,
		"0.5h": 30 * time.Minute, "-5s": -5 * time.Second, "0": 0,
	} {
		got, err := ParseDuration(s)
		expect.True(t, err == nil && got == want, s, got, err, want)
	}
	for _, s := range []string{"", "s", "-", "ten", "10 parsecs", "1.2.3s", "10 s ago", "inf", "nan", "1e300", "99999999h", "--5s", "5s-", "1_000", "1m30"} {
		got, err := ParseDuration(s)
		expect.True(t, err != nil, s, got)
	}
}

// A time that does not fit is an error, and not another time.
func TestLongest(t *testing.T) {
	for _, s := range []string{"1e10", "1e300", "-1e300", "99999999h", "876001h", "3000000h 1s"} {
		d, err := ParseDuration(s)
		expect.True(t, errors.Is(err, ErrLong), s, d, err)
	}
	if d, err := ParseDuration("876000h"); d != Longest || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	for s, want := range map[float64]time.Duration{1.5: 1500 * time.Millisecond, 1e10: math.MaxInt64, 1e300: math.MaxInt64, math.Inf(1): math.MaxInt64} {
		expect.Equal(t, AsDuration(s), want, s)
	}
	if d, err := Seconds(math.NaN()); err == nil {
		t.Errorf("not a number: %v", d)
	}
}

// What Go writes is read.
func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(-int64(Longest), int64(Longest)).Draw(t, "ns"))
		expect.Equal(t, expect.Value(ParseDuration(want.String()))(t), want, "is read as")
	})
}
