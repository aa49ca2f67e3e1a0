package verdict_test

import (
	"math"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/report/verdict"
)

func TestFindingText(t *testing.T) {
	effect := func(metric, per string, ratio, low, high float64) *compare.Effect {
		n := &compare.Number{Key: compare.Key{Metric: metric, Per: per}}
		return &compare.Effect{Base: n, New: n, Ratio: ratio, Low: low, High: high, Verdict: compare.Worse}
	}
	f := compare.Finding{Step: &compare.Step{}, Op: "insert", Effects: []*compare.Effect{
		effect("rows_per_s", "", 0.8, 0.7123, 0.9), effect("write_kb", "insert row", 2, math.NaN(), math.NaN()),
	}}
	f.Step.Name = "load"
	const want = "load, insert: rows_per_s 0.800× (0.712 to 0.900) worse; write_kb per insert row 2.000× worse"
	expect.Equal(t, verdict.FindingText(&f), want)
	f.Op, f.Effects = "", f.Effects[:1]
	expect.Equal(t, verdict.FindingText(&f), "load: rows_per_s 0.800× (0.712 to 0.900) worse")
}
