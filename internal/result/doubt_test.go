package result

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/workload"
)

// What another machine returns is compared with what was ordered, and with what can be.
func TestDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Trial)
		want   string
	}{
		"as ordered":          {func(*Trial) {}, ""},
		"another target":      {func(t *Trial) { t.Target = "x" }, "it is trial 1 of"},
		"another trial":       {func(t *Trial) { t.Trial = 2 }, "it is trial 2 of"},
		"another campaign":    {func(t *Trial) { t.Campaign = "x" }, "it is trial 1 of"},
		"another machine":     {func(t *Trial) { t.Machine = "m2" }, "it is trial 1 of"},
		"a target in a row":   {func(t *Trial) { t.Steps[0].Rows[0].Target = "x" }, "a number is"},
		"an unknown number":   {func(t *Trial) { t.Steps[0].Rows[0].Metric = "x" }, "a number is"},
		"a negative rate":     {func(t *Trial) { t.Steps[0].Rows[0].Value = -281608 }, "rows_per_s is -281608"},
		"too fast":            {func(t *Trial) { t.Steps[0].Rows[0].Value = 1e10 }, "2 clients cannot do"},
		"beyond all measure":  {func(t *Trial) { t.Steps[0].Rows[3].Value = 9e300 }, "cpu_us is 9e+300"},
		"more than it counts": {func(t *Trial) { t.Steps[0].Rows[1].Value = 700 }, "ops_per_s is 700, and 5000 were done in 10 s"},
		"above the maximum":   {func(t *Trial) { t.Steps[0].Rows[2].Value = 900 }, "service_p99_us is 900, and service_max_us 800"},
		"quantiles unordered": {func(t *Trial) { t.Steps[0].Rows[5].Value = 750 }, "service_p50_us is 750, and service_p99_us 700"},
		"more rows":           {func(t *Trial) { t.Steps[0].Rows[0].Value *= 2 }, "rows_per_s is 100000, and 500000 were done in 10 s"},
		"a row twice":         {func(t *Trial) { t.Steps[0].Rows = append(t.Steps[0].Rows, t.Steps[0].Rows[0]) }, "a number is there twice"},
		"more processors":     {func(t *Trial) { t.Steps[0].Rows[3].Value = 1e15 }, "cpu_us is 1e+15 µs for each of 5000"},
		"another unit":        {func(t *Trial) { t.Steps[0].Rows[3].Unit = "KB" }, "a number is"},
		"a name of two lines": {func(t *Trial) { t.Steps[0].Rows[3].Op = "x\nmachine m2" }, "a number is"},
		"an unknown step":     {func(t *Trial) { t.Steps[0].Name = "y" }, "the plan has no step"},
		"no step":             {func(t *Trial) { t.Steps = nil }, "complete without a step"},
		"too long":            {func(t *Trial) { t.Steps[0].Seconds = 1e6 }, "has 1e+06 s"},
		"clients of its own": {func(t *Trial) {
			t.Steps[0].Groups[0].Clients, t.Steps[0].Rows[0].Value, t.Steps[0].Rows[0].N = 1e9, 1e10, 1e11
		}, "2 clients cannot do"},
		"a step twice": {func(t *Trial) { t.Steps = append(t.Steps, t.Steps[0]) }, "is there twice"},
	} {
		row := func(name string, v float64, n int64) metric.Row {
			return metric.Row{Target: "a", Trial: 1, Step: "s", Group: "g", Op: "o", Metric: name, Value: v, N: n,
				Unit: metric.ByName(name).Unit}
		}
		tr := &Trial{Campaign: "c", Target: "a", Trial: 1, Machine: "m", Steps: []Step{{Name: "s", Seconds: 10, Groups: []Group{{Clients: 2}},
			Rows: []metric.Row{row("rows_per_s", 50_000, 500_000), row("ops_per_s", 500, 5000), row("service_p99_us", 700, 5000), row("cpu_us", 3, 5000),
				row("service_max_us", 800, 5000), row("service_p50_us", 300, 5000)}}}, Status: Complete}
		c.change(tr)
		o := &Order{Campaign: "c", Machine: "m", Entry: &Entry{Target: "a", Trial: 1}, Took: 20 * time.Second,
			Steps: []workload.Step{{Name: "s", Groups: []workload.Group{{Clients: 2}}}}}
		got := o.Doubt(tr)
		if c.want == "" {
			expect.Equal(t, got, "", name)
		} else {
			expect.Contains(t, got, c.want, name)
		}
	}
}

// A result that is cut off, or that is of another target, costs its trial alone; a campaign without any is an error.
func TestHalfResult(t *testing.T) {
	dir := t.TempDir()
	c := &Campaign{Format: Format, Name: "c"}
	for i, target := range []string{"a", "b", "a", "b"} {
		e := Entry{Dir: fmt.Sprintf("%s.%d", target, i/2+1), Target: target, Trial: i/2 + 1, Status: Complete}
		c.Trials = append(c.Trials, e)
		own := TrialPath(dir, e.Dir)
		expect.NoError(t, os.MkdirAll(own, 0o755))
		tr := &Trial{Format: Format, Target: target, Trial: e.Trial, Workload: "w", Status: Complete, Steps: []Step{{Name: "s"}}}
		if i == 2 {
			tr.Target = "evil"
		}
		expect.NoError(t, WriteJSON(filepath.Join(own, TrialFile), tr))
	}
	expect.NoError(t, os.WriteFile(filepath.Join(TrialPath(dir, "b.1"), TrialFile), []byte(`{"format": 2, "tar`), 0o644))
	trials := expect.Value(ReadTrials(dir, c))(t)
	expect.Equal(t, len(trials), 4)
	for i, want := range []Status{Complete, Failed, Failed, Complete} {
		tr := trials[i]
		expect.True(t, tr.Status == want && tr.Target == c.Trials[i].Target && tr.Workload == "w" && (len(tr.Steps) > 0) == (want == Complete), i, tr)
	}
	c.Trials = c.Trials[1:2]
	expect.Refused(ReadTrials(dir, c))(t, "unexpected end")
}
