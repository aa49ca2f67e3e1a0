package export_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"rumbench/internal/cli/export"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// Each number is a benchmark of its own name, in the format that benchstat reads. What compares with
// nothing is left out and counted; campaigns are distinguished.
func TestGobench(t *testing.T) {
	row := func(op string, value float64) metric.Row {
		return metric.Row{Group: "g", Op: op, Metric: "rows_per_s", Unit: "1/s", Value: value, N: 3}
	}
	complete := func(tr export.Trial) export.Trial {
		tr.Status = result.Complete
		return tr
	}
	refused := complete(trial("c", 1, row("read", 9)))
	refused.Steps[0].Warnings = []metric.Warning{metric.Warn(remark.Contradictory, metric.Values{"reason": "it lies"})}
	disturbed := row("read", 8)
	disturbed.Disturbed = true
	elsewhere := complete(trial("a b", 1, row("read", 4)))
	elsewhere.CampaignDir = "results/other"
	var b bytes.Buffer
	n, err := export.WriteGobench(&b, []export.Trial{
		complete(trial("a b", 1, row("read", 1), row("write", 2))), complete(trial("a_b", 1, row("read", 3))), refused,
		complete(trial("d", 1, disturbed)), trial("partial", 1, row("read", 5)), elsewhere,
	})
	expect.Must(t, err == nil && n == 4 && strings.Contains(b.String(), "# left out: 2 numbers"), n, "numbers", err, &b)
	got := map[string]float64{}
	for in := benchfmt.NewReader(&b, "rows.txt"); in.Scan(); {
		r, ok := in.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := r.GetConfig("campaign") + " " + string(r.Name)
		if v, ok := r.Value("rows_per_s"); ok && len(r.Values) == 1 && r.Iters == 3 && got[name] == 0 {
			got[name] = v
		} else {
			t.Errorf("%s: %v", name, r.Values)
		}
	}
	for name, want := range map[string]float64{
		"results/mine Ibench/target=a%20b/step=l.i1/group=g/op=read":  1,
		"results/mine Ibench/target=a%20b/step=l.i1/group=g/op=write": 2,
		"results/mine Ibench/target=a_b/step=l.i1/group=g/op=read":    3,
		"results/other Ibench/target=a%20b/step=l.i1/group=g/op=read": 4,
	} {
		expect.True(t, got[name] == want, name, got[name], want, got)
	}
}
