package compare_test

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/workload"
)

// Reads from any free memory are not judged against reads from a cache that is smaller than the data.
func TestReadsFromUnequalMemory(t *testing.T) {
	const mib = 1 << 20
	build := func(change func(a, b *result.Trial)) *compare.Campaign {
		var trials []*result.Trial
		for n := 1; n <= 4; n++ {
			v := float64(n)
			a := made("direct", n, "interleaved", numbers{"rows_per_s": 100 + v, "read_kb": 16 + v/10, "db_bytes": 500 * mib}, "q", "w")
			b := made("buffered", n, "interleaved", numbers{"rows_per_s": 300 + v, "read_kb": 1 + v/10, "db_bytes": 300 * mib}, "q", "w")
			for _, tr := range []*result.Trial{a, b} {
				tr.Knobs = map[string]string{"cache": "64MiB"}
				tr.PageCache = engine.CacheUsed
				tr.Steps[0].Access, tr.Steps[1].Access = workload.PointAccess, workload.WriteAccess
			}
			a.PageCache = engine.CacheBypassed
			change(a, b)
			trials = append(trials, a, b)
		}
		return compare.New(trials)
	}
	verdict := func(c *compare.Campaign, step int, name string) *compare.Effect {
		s := c.Steps[step]
		k := compare.Key{Group: "insert", Op: "insert", Metric: name}
		if name == metric.ReadKB {
			k = compare.Key{Metric: name, Per: "insert row"}
		}
		return c.Judge(c.Targets[0], c.Targets[1]).Effect(s, k)
	}
	for name, c := range map[string]struct {
		change             func(a, b *result.Trial)
		query, write, read bool // whether each is judged
	}{
		"any memory against a cache": {func(a, b *result.Trial) {}, false, true, false},
		"both bypass":                {func(a, b *result.Trial) { b.PageCache = engine.CacheBypassed }, true, true, true},
		"both limited": {func(a, b *result.Trial) {
			a.Knobs["memory"], b.Knobs["memory"] = "256MiB", "256MiB"
		}, true, true, true},
		"one limited":              {func(a, b *result.Trial) { a.PageCache, a.Knobs["memory"] = engine.CacheUsed, "128MiB" }, false, true, false},
		"all data in the cache":    {func(a, b *result.Trial) { a.Knobs["cache"] = "1GiB" }, true, true, true},
		"nothing known, as before": {func(a, b *result.Trial) { a.PageCache, b.PageCache = "", "" }, true, true, true},
	} {
		got := build(c.change)
		for _, judged := range []struct {
			e    *compare.Effect
			want bool
		}{{verdict(got, 0, "rows_per_s"), c.query}, {verdict(got, 1, "rows_per_s"), c.write}, {verdict(got, 1, metric.ReadKB), c.read}} {
			expect.Must(t, judged.e != nil, name, "no effect")
			if (judged.e.Verdict != "") != judged.want || !judged.want && !strings.Contains(judged.e.Why, "memory is not equal: direct reads from") {
				t.Errorf("%s: %s %q, %q", name, judged.e.New.Metric, judged.e.Verdict, judged.e.Why)
			}
		}
	}
}
