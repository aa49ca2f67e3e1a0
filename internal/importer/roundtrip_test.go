package importer

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	pub "rumbench/internal/report/published"
	"rumbench/internal/result"
	"rumbench/internal/stat/hist"
)

// printed is a trial of two steps, with their intervals: one of
// transactions with a stall and attempts that failed, and one of single
// statements that arrive by a schedule.
func printed() (*result.Trial, []result.Line) {
	t := &result.Trial{Target: `my "8"`, Trial: 2, Interval: 1}
	var lines []result.Line
	for n, s := range []result.Step{
		{Name: "read-write, 4", Primary: "transaction", Groups: []result.Group{{Name: "clients", Clients: 4, Ops: []string{"transaction"}}}},
		{Name: "point.rate", Primary: "query", Groups: []result.Group{{Name: "clients", Clients: 2, Rate: 500, Open: true, Ops: []string{"query"}}}},
	} {
		s.Status, s.Seconds = result.Complete, 5.2503
		measure := map[bool]string{true: "response", false: "service"}[n == 1]
		var ops int64
		for sec := 1.0; sec <= 6; sec++ {
			l := result.Line{Step: s.Name, Source: "ops", T: sec + 0.0004, DT: 1, Group: "clients", Op: s.Primary, Ops: 1000 + 7*int64(sec), P50: 100, P95: 2345.6, P99: 5000, Max: 9000}
			l.Reads, l.Writes, l.Others, l.Errors = 14*l.Ops, 4*l.Ops, 2*l.Ops, int64(sec)
			if n == 1 {
				l.Reads, l.Writes, l.Others, l.Errors = l.Ops, 0, 0, 0
				l.ResponseP95, l.ResponseP99, l.ResponseMax, l.Queue = 3456.7, 6000, 9500, &hist.Queue{Waiting: 3, Shed: 40}
			}
			if sec == 3 {
				l = result.Line{Step: s.Name, Source: "ops", T: l.T, DT: 1, Group: "clients", Op: s.Primary, OldestInFlight: 1e6}
			}
			if sec == 6 {
				l.T, l.DT = 5.25, 0.25
			}
			share := l.Ops / int64(s.Groups[0].Clients)
			l.Clients = make([]int64, s.Groups[0].Clients)
			for i := range l.Clients {
				l.Clients[i] = share
			}
			l.Clients[0] += l.Ops - share*int64(len(l.Clients))
			ops += l.Ops
			lines = append(lines, l)
		}
		for name, v := range map[string]float64{"_min_us": 90, "_p95_us": 2345.6, "_max_us": 9012.3, "_total_s": 1.5} {
			s.Rows = append(s.Rows, metric.Row{Group: "clients", Op: s.Primary, Metric: measure + name, Value: v, N: ops})
		}
		if n == 1 {
			for name, v := range map[string]float64{"offered_per_s": 1100, "shed": 200, "abandoned": 7} {
				s.Rows = append(s.Rows, metric.Row{Group: "clients", Metric: name, Value: v, N: 5775})
			}
		}
		t.Steps = append(t.Steps, s)
	}
	return t, lines
}

// What rumbench prints as sysbench does is read back with the same numbers.
func TestRoundTrip(t *testing.T) {
	trial, lines := printed()
	var text bytes.Buffer
	all := func(string) bool { return true }
	err := pub.WriteSysbench(&text, trial, all, func(yield func(result.Line) error) error {
		for _, l := range lines {
			if err := yield(l); err != nil {
				return err
			}
		}
		return nil
	})
	expect.NoError(t, err)
	for want, times := range map[string]int{"s ] queue length: 3, concurrency: -\n": 4, "s ] shed: 40\n": 4, "\nArrivals (rumbench):\n": 1, "    offered:                             5775   (": 1, "    shed:                                200    (": 1, "    not done at the end:                 7      (": 1} {
		expect.Equal(t, strings.Count(text.String(), want), times, "is there times", want, text.String())
	}
	path := filepath.Join(t.TempDir(), "run.log")
	expect.NoError(t, os.WriteFile(path, text.Bytes(), 0o644))
	c, err := Read([]string{path}, Options{})
	expect.Must(t, err == nil, err, text.String())
	expect.Must(t, len(c.trials) == 1 && c.trials[0].Target == trial.Target && c.trials[0].Trial.Trial == 2 && len(c.trials[0].Steps) == 2, len(c.trials), text.String())
	var events [2]float64
	for i, l := range lines {
		events[i/6] += float64(l.Ops)
	}
	want := map[string]float64{
		"read-write, 4 transaction rows": events[0], "read-write, 4 transaction queries_per_s": 20 * events[0] / 5.2503, "read-write, 4 transaction reads_per_s": 14 * events[0] / 5.2503, "read-write, 4 transaction rows_per_s": events[0] / 5.2503,
		"read-write, 4  errors": 1 + 2 + 4 + 5 + 6, "read-write, 4 transaction service_p95_us": 2350, "read-write, 4 transaction service_max_us": 9010, "read-write, 4 transaction service_mean_us": 1.5e6 / events[0],
		"point.rate query rows": events[1], "point.rate query rows_per_s": events[1] / 5.2503, "point.rate query response_p95_us": 2350, "point.rate query response_max_us": 9010, "point.rate  errors": 0,
	}
	for _, s := range c.trials[0].Steps {
		for _, r := range s.Rows {
			name := s.Name + " " + r.Op + " " + r.Metric
			if v, ok := want[name]; ok && math.Abs(v-r.Value) <= 1e-9*v {
				delete(want, name)
			}
		}
	}
	expect.True(t, len(want) == 0, "not read back: of", want, text.String(), c.trials[0].Steps)
	var got, sent []string
	var series []result.Line
	for _, r := range c.trials[0].runs {
		series = append(series, seriesOf(t, r)...)
	}
	for _, l := range series {
		if l.Op == "transaction" || l.Step == "point.rate" {
			got = append(got, fmt.Sprintf("%s %g: %d, %d failed", l.Step, l.T, l.Ops, l.Errors))
		}
	}
	for _, l := range lines {
		if l.DT == 1 { // the rest at the end has no line
			sent = append(sent, fmt.Sprintf("%s %g: %d, %d failed", l.Step, math.Round(l.T), l.Ops, l.Errors))
		}
	}
	slices.Sort(sent)
	slices.Sort(got)
	expect.Same(t, sent, got, "intervals")
}

// A step whose statements were not counted, and of which nothing is known of the
// latencies, is read back without them.
func TestRoundTripUnknown(t *testing.T) {
	trial, lines := printed()
	trial.Steps, lines = trial.Steps[:1], lines[:6]
	trial.Steps[0].Rows = nil
	for i := range lines {
		l := &lines[i]
		l.Reads, l.Writes, l.Others, l.P95, l.P99 = 0, 0, 0, 0, 0
	}
	var text bytes.Buffer
	err := pub.WriteSysbench(&text, trial, func(string) bool { return true }, func(yield func(result.Line) error) error {
		for _, l := range lines {
			if err := yield(l); err != nil {
				return err
			}
		}
		return nil
	})
	expect.NoError(t, err)
	path := filepath.Join(t.TempDir(), "run.log")
	expect.NoError(t, os.WriteFile(path, text.Bytes(), 0o644))
	c, err := Read([]string{path}, Options{})
	expect.Must(t, err == nil, err, text.String())
	for _, r := range c.trials[0].Steps[0].Rows {
		expect.True(t, r.Op != opQuery && r.Metric != "service_p95_us" &&
			r.Metric != "service_max_us", "of is, and it was not printed", r.Metric, r.Op, r.Value)
	}
}
