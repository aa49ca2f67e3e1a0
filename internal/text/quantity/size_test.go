package quantity

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

func TestParseSize(t *testing.T) {
	good := map[string]int64{
		"0": 0, "4096": 4096, "512B": 512, "64KiB": 64 << 10, "256MiB": 256 << 20, "1GiB": 1 << 30, "2TiB": 2 << 40,
		"1kB": 1e3, "1.5MB": 15e5, "10 GB": 1e10, " 1TB ": 1e12, "0.5KiB": 512,
		"64M": 64 << 20, "64mb": 64e6, "64 MB": 64e6, "64mib": 64 << 20, "1G": 1 << 30, "1.5g": 3 << 29, "512k": 512 << 10, "16 K": 16 << 10, "1KB": 1e3, "2T": 2 << 40, "7b": 7,
		"9223372036854775807": math.MaxInt64,
	}
	for s, want := range good {
		expect.Equal(t, expect.Value(ParseSize(s))(t), want, s)
	}
	for _, s := range []string{
		"", "x", "MiB", "M", "1Mi", "1MM", "1kM", "-1", "+1", "1e3", "0x10", "1.5", "0.1GiB", "0.1k", "1.2.3MiB", "1 2MiB", ".", "inf", "nan",
		"9223372036854775808", "8388608TiB", "99999999999999999999999GB", "1MiBMiB", "1_000",
	} {
		got, err := ParseSize(s)
		expect.True(t, err != nil, s, got)
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1000: "1kB", 1024: "1KiB", 1e9: "1GB", 256 << 20: "256MiB", 3 << 29: "1536MiB", 1e12: "1TB", 1234567: "1234567",
	} {
		expect.Equal(t, FormatSize(n), want, n)
	}
}

func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom(units).Draw(t, "unit").bytes
		n := rapid.Int64Range(0, math.MaxInt64/unit).Draw(t, "n") * unit
		expect.Equal(t, expect.Value(ParseSize(FormatSize(n)))(t), n, "is written", FormatSize(n), "and read")
	})
	rapid.Check(t, func(t *rapid.T) {
		if n, err := ParseSize(rapid.String().Draw(t, "any")); err == nil && n < 0 {
			t.Fatalf("got %d", n)
		}
	})
}
