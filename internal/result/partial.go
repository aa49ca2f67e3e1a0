package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rumbench/internal/hist"
)

const partialWarning = "the step did not end: the number is made of the intervals that were written until then"

// addUnfinished adds the step that was being measured when the trial was
// killed, as far as the series and the latency log tell.
func addUnfinished(dir string, t *Trial) error {
	var step *Step
	type sum struct {
		group, op              string
		ops, rows, errs        int64
		service, response, end float64
	}
	var sums []*sum
	err := ReadSeries(dir, []string{"ops"}, func(l Line) error {
		if t.step(l.Step) != nil {
			return nil
		}
		if step == nil {
			step = &Step{Name: l.Step, Status: Partial}
		}
		var s *sum
		for _, x := range sums {
			if x.group == l.Group && x.op == l.Op {
				s = x
			}
		}
		if s == nil {
			s = &sum{group: l.Group, op: l.Op}
			sums = append(sums, s)
		}
		s.ops, s.rows, s.errs = s.ops+l.Ops, s.rows+l.Rows, s.errs+l.Errors
		s.service, s.response = max(s.service, l.Max), max(s.response, l.ResponseMx)
		step.Seconds = max(step.Seconds, l.T)
		return nil
	})
	if err != nil || step == nil || step.Seconds == 0 {
		return err
	}
	latencies, err := readLatencies(dir)
	if err != nil {
		return err
	}
	for _, s := range sums {
		add := func(metric, unit string, value float64, n int64) {
			step.Rows = append(step.Rows, Row{Target: t.Target, Trial: t.Trial, Step: step.Name, Group: s.group, Op: s.op,
				Metric: metric, Unit: unit, Value: value, N: n, Warnings: []string{partialWarning}})
		}
		add("ops_per_s", "1/s", float64(s.ops)/step.Seconds, s.ops)
		add("rows_per_s", "1/s", float64(s.rows)/step.Seconds, s.rows)
		add("errors", "count", float64(s.errs), s.ops)
		add("service_max_us", "µs", s.service, s.ops)
		if s.response > 0 {
			add("response_max_us", "µs", s.response, s.ops)
		}
		if d := latencies[LatencyTag(step.Name, s.group, s.op, "service")]; d != nil {
			add("service_p50_us", "µs", float64(d.Percentile(50))/1e3, d.Count())
			add("service_p99_us", "µs", float64(d.Percentile(99))/1e3, d.Count())
		}
	}
	step.Rows = append(step.Rows, Row{Target: t.Target, Trial: t.Trial, Step: step.Name, Metric: "duration_s", Unit: "s",
		Value: step.Seconds, Warnings: []string{partialWarning}})
	step.Warnings = []string{partialWarning}
	t.Steps = append(t.Steps, *step)
	return nil
}

func (t *Trial) step(name string) *Step {
	for i := range t.Steps {
		if t.Steps[i].Name == name {
			return &t.Steps[i]
		}
	}
	return nil
}

// LatencyTag is the tag of a distribution in the latency log.
func LatencyTag(step, group, op, measure string) string {
	return strings.ReplaceAll(strings.Join([]string{step, group, op, measure}, "/"), " ", "_")
}

// readLatencies reads the latency log, merged by tag.
func readLatencies(dir string) (map[string]*hist.Dist, error) {
	f, err := os.Open(filepath.Join(dir, LatencyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hist.ReadLog(f)
}
