package result

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/internal/regular"
)

// addUnfinished adds the numbers of the step that is being measured, or was
// when the trial was killed, as far as the series and the latency log tell. A
// step of which they tell nothing is left out.
func addUnfinished(dir string, t *Trial) error {
	u := unfinished{t: t}
	if n := len(t.Steps); n > 0 && t.Steps[n-1].Status == Running {
		u.step = t.Steps[n-1]
		t.Steps = t.Steps[:n-1]
	}
	if err := ReadSeries(dir, []string{"ops"}, u.add); err != nil {
		return err
	}
	if u.step.Seconds == 0 {
		return nil
	}
	latencies, err := readLatencies(dir)
	if err != nil {
		return err
	}
	u.addErrors()
	u.addWholes()
	for _, s := range u.sums {
		u.addRows(s, latencies)
	}
	u.row("", "", "duration_s", u.step.Seconds, 0)
	u.step.Status = Running
	u.step.Warnings = []metric.Warning{metric.Warn(metric.Partial, nil)}
	t.Steps = append(t.Steps, u.step)
	return nil
}

// unfinished is what series tell of a step that has not ended.
type unfinished struct {
	t    *Trial
	step Step
	sums []*sum
}

// sum is what a group did of an operation kind.
type sum struct {
	group, op         string
	ops, rows, errs   int64
	service, response float64  // the greatest times, in µs
	of                []string // the kinds that it was summed from
}

func (u *unfinished) sum(group, op string) *sum {
	for _, s := range u.sums {
		if s.group == group && s.op == op {
			return s
		}
	}
	s := &sum{group: group, op: op}
	u.sums = append(u.sums, s)
	return s
}

// add adds a line of the series.
func (u *unfinished) add(l Line) error {
	if u.step.Name == "" && u.t.step(l.Step) == nil {
		u.step.Name = l.Step
	}
	if l.Step != u.step.Name {
		return nil
	}
	s := u.sum(l.Group, l.Op)
	s.of = []string{l.Op}
	s.ops, s.rows, s.errs = s.ops+l.Ops, s.rows+l.Rows, s.errs+l.Errors
	s.service, s.response = max(s.service, l.Max), max(s.response, l.ResponseMx)
	if u.paced(l.Group) { // what is in flight takes longer still
		s.response = max(s.response, l.OldestInFlight)
	}
	u.step.Seconds = max(u.step.Seconds, l.T)
	return nil
}

// paced tells whether a group's operations had an intended start.
func (u *unfinished) paced(group string) bool {
	return slices.ContainsFunc(u.step.Groups, func(g Group) bool { return g.Name == group && g.Rate > 0 })
}

// addErrors adds the errors of each group.
func (u *unfinished) addErrors() {
	var groups []*sum
next:
	for _, s := range u.sums {
		for _, g := range groups {
			if g.group == s.group {
				g.errs, g.ops = g.errs+s.errs, g.ops+s.ops
				continue next
			}
		}
		groups = append(groups, &sum{group: s.group, errs: s.errs, ops: s.ops})
	}
	for _, g := range groups {
		u.row(g.group, "", "errors", float64(g.errs), g.errs+g.ops)
	}
}

// addWholes sums up the kinds that are varieties of one.
func (u *unfinished) addWholes() {
	for _, g := range u.step.Groups {
		for _, op := range g.Ops {
			whole, ok := g.Of[op]
			if !ok {
				continue
			}
			s, to := u.sum(g.Name, op), u.sum(g.Name, whole)
			to.of = append(to.of, op)
			to.ops, to.rows = to.ops+s.ops, to.rows+s.rows
			to.service, to.response = max(to.service, s.service), max(to.response, s.response)
		}
	}
}

func (u *unfinished) row(group, op, name string, value float64, n int64) {
	u.step.Rows = append(u.step.Rows, metric.Row{Target: u.t.Target, Trial: u.t.Trial, Step: u.step.Name, Group: group, Op: op,
		Metric: name, Unit: metric.ByName(name).Unit, Value: value, N: n, Warnings: []metric.Warning{metric.Warn(metric.Partial, nil)}})
}

func (u *unfinished) addRows(s *sum, latencies map[string]*hist.Dist) {
	u.row(s.group, s.op, "rows", float64(s.rows), s.ops)
	u.row(s.group, s.op, "ops_per_s", float64(s.ops)/u.step.Seconds, s.ops)
	u.row(s.group, s.op, "rows_per_s", float64(s.rows)/u.step.Seconds, s.rows)
	if s.response > 0 {
		u.row(s.group, s.op, "response_max_us", s.response, s.ops)
	}
	if s.ops == 0 {
		return
	}
	all := hist.NewDist()
	for _, op := range s.of {
		if d := latencies[LatencyTag(u.step.Name, s.group, op, "service")]; d != nil {
			all.Merge(d)
		}
	}
	if n := all.Count(); n > 0 { // the log is written less often than the series
		u.row(s.group, s.op, "service_p50_us", float64(all.Percentile(50))/1e3, n)
		u.row(s.group, s.op, "service_p99_us", float64(all.Percentile(99))/1e3, n)
	}
	u.row(s.group, s.op, "service_max_us", s.service, s.ops)
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
	f, err := regular.Open(filepath.Join(dir, LatencyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hist.ReadLog(f)
}
