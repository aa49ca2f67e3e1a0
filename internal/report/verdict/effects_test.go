package verdict_test

import (
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	row "rumbench/internal/metric"
	"rumbench/internal/report/verdict"
)

func TestEffectsInWords(t *testing.T) {
	base, other := &compare.Target{Name: "innodb"}, &compare.Target{Name: "pg"}
	effect := func(metric, per string, v compare.Verdict, reason string, ratio, low, high float64) *compare.Effect {
		n := &compare.Number{Key: compare.Key{Metric: metric, Per: per}, Rows: []*row.Row{{}, {}, {}}}
		return &compare.Effect{Base: n, New: n, Ratio: ratio, Low: low, High: high, Verdict: v, Why: reason}
	}
	const chance = "the difference may be chance"
	better := effect("rows_per_s", "", compare.Better, "significant", 6.52, 3.37, 16.1)
	open := effect("rows_per_s", "", compare.Unclear, chance, 0.994, 0.0352, 34)
	few := effect("rows_per_s", "", compare.Unclear, chance, 2, 2, 2)
	few.Base, few.New = &compare.Number{Key: few.New.Key}, &compare.Number{Key: few.New.Key}
	cost := effect("write_kb", "insert row", compare.Worse, "significant", 2, 2, 2)
	for _, c := range []struct {
		name    string
		effects []*compare.Effect
		want    string
	}{
		{"nothing", nil, ""},
		{"proven", []*compare.Effect{better}, "pg has 6.52× the throughput of innodb (3.37 to 16.1), proven."},
		{"open, with an interval that says nothing", []*compare.Effect{open},
			"pg has 0.994× the throughput of innodb, not proven: " + chance + "."},
		{"of too few trials", []*compare.Effect{few}, "pg has 2.00× the throughput of innodb."},
		{"two of a kind", []*compare.Effect{open, open},
			"pg has 0.994× the throughput of innodb, not proven: " + chance + "."},
		{"of two kinds", []*compare.Effect{open, better},
			"pg has 0.994–6.52× the throughput of innodb, proven in 1 of 2 steps."},
		{"a cost", []*compare.Effect{cost}, "Written KB per insert row: 2.00× innodb’s, proven."},
		{"equivalent", []*compare.Effect{effect("cpu_us", "query", compare.Same, "", 1, 0.998, 1.003)},
			"CPU µs per query: 1.00× innodb’s (0.998 to 1.00), equivalent."},
	} {
		expect.Equal(t, verdict.EffectsInWords(c.effects, base, other), c.want, c.name)
	}
}
