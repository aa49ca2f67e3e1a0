package trial

import (
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// killed makes a directory as a trial leaves it that was killed when the last
// interval of its step number i had been written, and reads it.
func killed(t *testing.T, dir string, tr *result.Trial, i int) *result.Step {
	t.Helper()
	target := t.TempDir()
	for _, name := range []string{result.SeriesFile, result.LatencyFile} {
		in := expect.Value(os.Open(filepath.Join(dir, name)))(t)
		defer in.Close()
		out := expect.Value(os.Create(filepath.Join(target, name)))(t)
		defer out.Close()
		if _, err := io.Copy(out, in); err != nil {
			t.Fatal(err)
		}
	}
	cut := *tr
	cut.Status, cut.Ended = result.Running, nil
	full := tr.Steps[i]
	groups := slices.Clone(full.Groups)
	cut.Steps = append(slices.Clone(tr.Steps[:i]), result.Step{Name: full.Name, Status: result.Running, Primary: full.Primary, WritesPer: full.WritesPer, Groups: groups})
	expect.NoError(t, result.WriteJSON(filepath.Join(target, result.TrialFile), &cut))
	back := expect.Value(result.ReadTrial(target))(t)
	return step(t, back, full.Name)
}

// A step that is made of the series and the latency log has the numbers that the
// trial wrote: all counts and rates, the steadiness and the promise, to the last digit,
// and times in the resolution of the log, three digits. Stalls are whole intervals.
//
// What it has not: figures of the host, devices, processes, the engine and its
// sessions, which are of the window and the sync after it; sums of times; what
// operations had to find; failed attempts by class; operations that were not done;
// how they are spread over clients, as it is not known whether each had the same to
// do; and for how long clients paused.
func TestRecovered(t *testing.T) {
	t.Parallel()
	ibench := spec(t, "memory", "params.steps=[l.i0, l.x, l.i1, qr100]", "params.write_rows=1000", "params.query_seconds=1.2", "params.rates=[100]")
	retries := script(t, workload.Group{Clients: 3, Parts: []string{"select", "update"}, Retry: workload.Retry{Policy: workload.RetrySame}}, every4th)
	open := script(t, workload.Group{Clients: 2, Arrivals: &pace.Arrivals{Kind: pace.Poisson, Segments: []pace.Segment{{Seconds: 1, From: 50, To: 400}}}}, func(*workload.Outcome, int, int) error { return nil })
	stall := func(_ *workload.Outcome, value, _ int) error {
		if value == 10 {
			time.Sleep(350 * time.Millisecond)
		}
		return nil
	}
	stalls := script(t, workload.Group{Clients: 1, Rate: 50, Pace: pace.Even, RowsPerOp: 1}, stall)
	var exact int
	for name, s := range map[string]Spec{"ibench": ibench, "retries": retries, "open": open, "stalls": stalls} {
		t.Run(name, func(t *testing.T) {
			tr := run(t, s, result.Complete)
			for i := range tr.Steps {
				if tr.Steps[i].Primary != "" {
					if compareRecovered(t, &tr.Steps[i], killed(t, s.Dir, tr, i)) {
						exact++
					}
				}
			}
		})
	}
	expect.True(t, exact != 0, "no recovered step is as long as it was")
}

// unrecovered are the metrics of operations that a recovered step lacks.
const unrecovered = "attempts unfinished wasted_statements saturated sla_backlog queue_max abandoned attempt_total_s service_total_s response_total_s statement_total_s " +
	"statements_per_s fairness_ops_mean fairness_ops_stddev rows_found rows_expected found_share errors_deadlock think_share relative_to_before"

// compareRecovered reports whether the recovered step has the same length, and with it all
// figures of intervals.
func compareRecovered(t *testing.T, want, got *result.Step) bool {
	t.Helper()
	// The last tick may come after the last operation, and make an interval more, in
	// which nothing was done of what was due.
	later := math.Abs(got.Seconds/want.Seconds - 1)
	more := func(name string) bool {
		own := name == metric.SLAAchieved || name == metric.SLALatenessS // until the group's own end
		return own || strings.HasPrefix(name, "stall") || later > 0 && (strings.HasPrefix(name, "interval_ops") || strings.HasPrefix(name, "sla"))
	}
	id := func(r *metric.Row) string { return strings.Join([]string{r.Group, r.Op, r.Metric}, "/") }
	rows := map[string]*metric.Row{}
	for i := range want.Rows {
		if r := &want.Rows[i]; r.Source == "" {
			rows[id(r)] = r
		}
	}
	for i := range got.Rows {
		r := &got.Rows[i]
		live := rows[id(r)]
		if live == nil {
			t.Errorf("step %s: %s was not written by the trial", want.Name, id(r))
			continue
		}
		delete(rows, id(r))
		near := later + 1e-9
		if strings.HasSuffix(r.Metric, "_us") {
			near += 0.002
		}
		if more(r.Metric) {
			continue
		}
		if math.Abs(r.Value-live.Value) > near*math.Abs(live.Value) || r.N != live.N || r.Unit != live.Unit || !metric.Has(r.Warnings, remark.Partial) {
			t.Errorf("step %s: %s is %v of %d, and was %v of %d", want.Name, id(r), r.Value, r.N, live.Value, live.N)
		}
	}
	for _, missing := range slices.Sorted(maps.Keys(rows)) {
		name := missing[strings.LastIndex(missing, "/")+1:]
		expect.True(t, slices.Contains(strings.Fields(unrecovered), name) || rows[missing].Group == "",
			"step: is not recovered", want.Name, missing)
	}
	for g := range want.Groups {
		a, b := want.Promise(want.Groups[g].Name), got.Promise(got.Groups[g].Name)
		if (a == nil) != (b == nil) {
			t.Errorf("step %s: promise %+v, and was %+v", want.Name, b, a)
		} else if a != nil && later == 0 && (math.Abs(a.Target-b.Target) > (later+1e-9)*a.Target || a.Intervals != b.Intervals || a.Share != b.Share || math.Abs(a.Worst-b.Worst) > (later+1e-9)*a.Worst || a.Met != b.Met) {
			t.Errorf("step %s: promise %+v, and was %+v", want.Name, b, a)
		}
	}
	expect.Equal(t, len(want.Curves), len(got.Curves), "step", want.Name)
	return later == 0
}
