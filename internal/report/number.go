package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/result"
)

// key names a number of a step, whatever the target and the trial.
type key struct{ group, op, metric, per string }

func keyOf(r *result.Row) key { return key{r.Group, r.Op, r.Metric, r.Per} }

// number is what the trials of a target say about a key: the median, and the
// rows that it was made of.
type number struct {
	key
	value, low, high float64
	unit, source     string
	count            int64 // operations, intervals or units behind it, over all trials
	rows             []int // positions in the page's rows
	warnings         []string
	missing          string // why there is no number; "" if there is one
}

// number looks a key up on a target.
func (s *step) number(t *target, k key) number {
	n := number{key: k}
	var values []float64
	for _, r := range s.used(t) {
		for i := range r.step.Rows {
			row := &r.step.Rows[i]
			if keyOf(row) != k || math.IsNaN(row.Value) || math.IsInf(row.Value, 0) {
				continue
			}
			values = append(values, row.Value)
			n.rows = append(n.rows, r.first+i)
			n.unit, n.source = row.Unit, row.Source
			n.count += row.N
			n.warnings = appendNew(n.warnings, row.Warnings...)
			break
		}
	}
	if len(values) == 0 {
		n.missing = s.absence(t, k)
		return n
	}
	n.value, n.low, n.high = median(values), slices.Min(values), slices.Max(values)
	return n
}

// absence says why a target has no number under a key.
func (s *step) absence(t *target, k key) string {
	if len(s.runs[t]) == 0 {
		why := "it did not come to this step"
		for _, trial := range t.trials {
			if trial.Reason != "" {
				why += ": " + trial.Reason
				break
			}
		}
		return t.name + ": " + why
	}
	if strings.HasPrefix(k.metric, "response_") || strings.HasPrefix(k.metric, "lateness_") {
		return "no rate was promised here (closed loop), so there is no " + strings.SplitN(k.metric, "_", 2)[0] + " time"
	}
	return "not measured here"
}

// rate is the key of an operation kind's throughput.
func (s *step) rate(op string) (key, bool) {
	if op == "" {
		return key{}, false
	}
	return s.find("rows_per_s", func(r *result.Row) bool { return r.Op == op })
}

// latency is the key of an operation kind's latency: the response time where a
// rate was promised, else the service time. What is "p99" or "max".
func (s *step) latency(op, what string) (key, bool) {
	if op == "" {
		return key{}, false
	}
	of := func(r *result.Row) bool { return r.Op == op }
	if k, ok := s.find("response_"+what+"_us", of); ok {
		return k, true
	}
	if k, ok := s.find("service_"+what+"_us", of); ok {
		return k, true
	}
	// A group of one kind only has no numbers of the whole beside those of the kind.
	var kinds []key
	for _, k := range s.keys([]string{"response_" + what + "_us", "service_" + what + "_us"}) {
		if k.group == op {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) > 0 && kinds[0].op == kinds[len(kinds)-1].op {
		return kinds[0], true
	}
	return key{}, false
}

// cost is the key of a metric per unit of an operation kind. The denominators
// are called after their kind: "insert row" of "insert", "query" of "query".
func (s *step) cost(metric, op string) (key, bool) {
	if op != "" {
		of := func(r *result.Row) bool { return r.Per == op || strings.HasPrefix(r.Per, op+" ") }
		if k, ok := s.find(metric, of); ok {
			return k, true
		}
	}
	return s.find(metric, func(*result.Row) bool { return true })
}

// find returns the key of the first row with the metric that fits, on any
// target; rows of the whole step come before those of a group.
func (s *step) find(metric string, fits func(*result.Row) bool) (k key, ok bool) {
	for _, runs := range s.runsInOrder() {
		for _, r := range runs {
			for i := range r.step.Rows {
				row := &r.step.Rows[i]
				if row.Metric != metric || !fits(row) || ok && row.Group != "" {
					continue
				}
				k, ok = keyOf(row), true
				if row.Group == "" {
					return k, true
				}
			}
		}
	}
	return k, ok
}

// keys are the different keys with one of the metrics, in the order of the
// metrics, then of the rows.
func (s *step) keys(metrics []string) []key {
	var out []key
	for _, m := range metrics {
		for _, runs := range s.runsInOrder() {
			for _, r := range runs {
				for i := range r.step.Rows {
					if row := &r.step.Rows[i]; row.Metric == m && !slices.Contains(out, keyOf(row)) {
						out = append(out, keyOf(row))
					}
				}
			}
		}
	}
	return out
}

// runsInOrder are the runs by target in the plan's order, so that nothing
// depends on the order of a map.
func (s *step) runsInOrder() [][]run {
	targets := make([]*target, 0, len(s.runs))
	for t := range s.runs {
		targets = append(targets, t)
	}
	slices.SortFunc(targets, func(a, b *target) int { return cmp.Compare(a.index, b.index) })
	out := make([][]run, len(targets))
	for i, t := range targets {
		out[i] = s.runs[t]
	}
	return out
}

// verdict is how a number compares with the base's.
type verdict string

const (
	better verdict = "better"
	worse  verdict = "worse"
	same   verdict = "same"
)

// neutral is how far a ratio may be from 1 without being called different.
const neutral = 0.05

// ratio is n ÷ base; ok is false where it has no meaning.
func (n number) ratio(base number) (r float64, ok bool) {
	if n.missing != "" || base.missing != "" || base.value == 0 || n.disturbed() || base.disturbed() {
		return 0, false
	}
	return n.value / base.value, true
}

// disturbed tells whether somebody else's doings may be in the number: then it
// is shown with its warning, and compared with nothing.
func (n number) disturbed() bool {
	return slices.ContainsFunc(n.warnings, func(w string) bool { return strings.Contains(w, result.Disturbed) })
}

// against judges n against base by the metric's direction; "" where neither
// direction is better.
func (n number) against(base number) verdict {
	m := result.MetricByName(n.metric)
	switch {
	case n.missing != "" || base.missing != "" || n.disturbed() || base.disturbed() || m == nil || m.Better == "":
		return ""
	case math.Abs(n.value-base.value) <= neutral*math.Abs(base.value) || n.overlaps(base):
		return same
	case (n.value > base.value) == (m.Better == "higher"):
		return better
	}
	return worse
}

// overlaps tells whether repeated trials of two targets reach into each other:
// then their medians prove nothing.
func (n number) overlaps(o number) bool {
	return len(n.rows) > 1 && len(o.rows) > 1 && n.low <= o.high && o.low <= n.high
}

// hover is the number in full, for who wants to know.
func (n number) hover() string {
	if n.missing != "" {
		return n.missing
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s", n.metric, full(n.value))
	if n.unit != "" && n.unit != "bool" && n.unit != "ratio" {
		b.WriteString(" " + n.unit)
	}
	if n.per != "" {
		b.WriteString(" per " + n.per)
	}
	if len(n.rows) > 1 {
		fmt.Fprintf(&b, "; median of %d trials, from %s to %s", len(n.rows), full(n.low), full(n.high))
	}
	if n.count > 0 {
		fmt.Fprintf(&b, "; made of %s", grouped(float64(n.count)))
	}
	if n.source != "" {
		b.WriteString("; source: " + n.source)
	}
	for _, w := range n.warnings {
		b.WriteString("; ⚠ " + w)
	}
	return b.String()
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if mid := len(v) / 2; len(v)%2 == 1 {
		return v[mid]
	} else {
		return (v[mid-1] + v[mid]) / 2
	}
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}
