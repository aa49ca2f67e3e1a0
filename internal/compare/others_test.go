package compare_test

import (
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// Speed and CPU time are not judged where other programs took much more of the processors beside one of two targets;
// what they took alike is in both numbers.
func TestOthersApart(t *testing.T) {
	for name, c := range map[string]struct {
		a, b     float64 // percent
		order    string
		judged   bool
		imported bool // of a nothing is known
	}{
		"none": {0, 0, "interleaved", true, false}, "a little": {0, 12, "interleaved", true, false}, "beside b": {0, 40, "interleaved", false, false},
		"beside a": {40, 15, "interleaved", false, false}, "alike": {60, 45, "interleaved", true, false},
		"most": {90, 60, "interleaved", false, false}, "each other": {0, 50, "duet", true, false}, "unknown": {0, 60, "interleaved", true, true},
	} {
		var trials []*result.Trial
		for n := 1; n <= 4; n++ {
			v := float64(n)
			a := made("a", n, c.order, numbers{"rows_per_s": 100 + v, "write_kb": 10 + v/10}, "w")
			b := made("b", n, c.order, numbers{"rows_per_s": 300 + v, "write_kb": 1 + v/10}, "w")
			for tr, share := range map[*result.Trial]float64{a: c.a, b: c.b} {
				if share > 0 {
					tr.Steps[0].Warnings = []metric.Warning{metric.Warn(remark.ProcessorsShared,
						metric.Values{"all": 9.0, "worker": "the server", "server": 1.0, "share": share})}
				}
			}
			trials = append(trials, a, b)
		}
		if c.imported {
			for _, tr := range trials {
				if tr.Target == "a" {
					tr.Imported = &result.Imported{}
				}
			}
		}
		campaign := compare.New(trials)
		judged := campaign.Judge(campaign.Targets[0], campaign.Targets[1])
		rate := judged.Effect(campaign.Steps[0], compare.Key{Group: "insert", Op: "insert", Metric: "rows_per_s"})
		expect.True(t, rate.Sure() == c.judged && strings.Contains(rate.Why, "other programs used") != c.judged, name, rate.Why)
		group := &campaign.Relative(compare.RelativeOptions{}).Groups[0]
		expect.Equal(t, group.Means[1].Tests == 1, c.judged, name, "in the mean")
		refusals := group.Rows[0].Cells[1].Refusals
		expect.Equal(t, len(refusals) == 0, c.judged, name, refusals)
		expect.True(t, judged.Effect(campaign.Steps[0], compare.Key{Metric: "write_kb", Per: "insert row"}).Sure(), name, "KB")
	}
}
