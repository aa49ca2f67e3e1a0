package remark

import (
	"math"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
)

// Each text names what it needs, and a text in place of others' is one of the table.
func TestTable(t *testing.T) {
	for i, r := range table {
		expect.Equal(t, byCode[r.Code], i, r.Code)
		expect.True(t, r.Text+r.Several+r.Before != "", "has no text", r.Code)
		expect.True(t, r.When == nil || r.Several+r.Before != "", "is found and never shown", r.Code)
		expect.Equal(t, r.Code.Kind().Text, r.Text, r.Code)
	}
}

// What was stored of targets is one sentence, by its values: their ends, each target's greatest, and
// where else.
func TestSeveral(t *testing.T) {
	credit := func(step, target string, share float64) Found {
		return Found{step, target, OnCredit, metric.Values{"share": share}}
	}
	cycle := func(step, target, seen string) Found {
		return Found{step, target, ShortCycle, metric.Values{"seen": seen}}
	}
	waited := func(code metric.Code, target string, share float64) Found {
		return Found{"q", target, code, metric.Values{"share": share}}
	}
	shared := func(step, target string, share float64) Found {
		return Found{step, target, ProcessorsShared, metric.Values{"share": share}}
	}
	for name, c := range map[string]struct {
		found []Found
		want  []string
	}{
		"nothing":    {nil, nil},
		"other step": {[]Found{credit("l", "a", 20)}, nil},
		"each": {[]Found{credit("q", "a", 20), credit("q", "a", 31), credit("q", "b", 12)},
			[]string{"In q rates were kept on credit: compactions have still to do, of what was written, a 31.0 % and b 12.0 %. A longer step would be slower."}},
		"elsewhere": {[]Found{cycle("q", "a", "no checkpoint"), cycle("l", "b", "1 flush")},
			[]string{"Too short for what engines do from time to time: in q a saw no checkpoint; too few also in l. What that costs is not in the numbers."}},
		"codes that share a text": {[]Found{waited(ClientBound, "a", 60), waited(ClientWaited, "b", 75)},
			[]string{"In q a and b waited for the clients in 60.0 to 75.0 % of the samples: its rate is partly theirs."}},
		"the worst of all steps": {[]Found{shared("q", "a", 7), shared("l", "b", 9), shared("q", "b", 4)},
			[]string{"Other programs used up to 9 % of the processors (b in l): rates, latencies and costs are those of a busy machine."}},
		"too little": {[]Found{shared("q", "a", 4)}, nil},
	} {
		expect.Same(t, c.want, metric.Texts(Several("q", c.found)), name)
	}
}

// A condition is found in what is expected and in what was measured, by the same numbers.
func TestConditions(t *testing.T) {
	rows := func(live, misses float64) func(string) float64 {
		return func(name string) float64 {
			return map[string]float64{metric.LiveBytes: live, metric.CacheMisses: misses}[name]
		}
	}
	small := func(target string) *Facts {
		return &Facts{Step: "q", Target: target, Cache: 64 << 20, Place: "cache", Seconds: 3, Row: rows(10<<20, 0)}
	}
	codes := func(f *Facts) (out []string) {
		for _, found := range On(f) {
			out = append(out, string(found.Code))
		}
		return out
	}
	expect.Same(t, []string{"fits_cache", "too_short"}, codes(small("a")), "measured")
	f := small("a")
	f.Row, f.OnlyReads = rows(10<<20, 0.5), true
	expect.Same(t, []string(nil), codes(f), "misses, and nothing is written")
	f = small("a")
	f.Row, f.Seconds = nil, math.NaN()
	expect.Same(t, []string(nil), codes(f), "unknown")
	f = small("a")
	f.Row = rows(0, 0)
	f.Warnings = []metric.Warning{{Code: ShortCycle, Values: metric.Values{"seen": "no flush"}}}
	expect.Same(t, []string{"short_cycle", "too_short"}, codes(f), "counted and guessed")
	several := Several("q", append(On(f), On(small("b"))...))
	expect.Same(t, []string{string(FitsCache), string(ShortCycle)}, metric.Codes(several), "what was counted replaces what is guessed")
	b := small("b")
	b.Seconds = math.NaN()
	expect.Same(t, []string{
		"the data of about 10 MiB fit in a's cache of 64 MiB and b's cache of 64 MiB: little or nothing will be read from the device",
		"too short for checkpoints and compactions to recur: q (about 3.00 s)",
	}, Expected([]*Facts{small("a"), b}), "expected")
}
