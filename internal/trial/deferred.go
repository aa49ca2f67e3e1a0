package trial

import (
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// Writes that an engine puts off are in no window of the step that caused them.
// A step of which more than this share, and more than littleIO, was put off was
// too short for its KB written to be more than a lower bound.
const deferredShare = 0.1

// deferred is by how much the changes that the engine has still to write grew
// in the window, the sync after it included.
func (r *rows) deferred() (c cost, ok bool) {
	before, known := gaugeIn(r.window.before, engine.DirtyBytes)
	after, still := gaugeIn(r.window.drained, engine.DirtyBytes)
	return cost{metric: "deferred_kb", value: max(after-before, 0) / kb, source: ownAccount}, known && still
}

// gaugeIn is the sum of a gauge over its labels in a snapshot.
func gaugeIn(s observe.Snapshot, name string) (sum float64, ok bool) {
	for _, source := range s.Sources {
		for _, p := range source.Points {
			if p.Name == name && p.Kind == engine.Gauge {
				sum, ok = sum+p.Value, true
			}
		}
	}
	return sum, ok
}

// markDeferred warns of KB written that lack much of what the step caused.
func (r *rows) markDeferred(all []cost) {
	off := costOf(all, "deferred_kb")
	if off == nil || off.value <= littleIO {
		return
	}
	marked := false
	for _, name := range []string{"write_kb", "process_write_kb"} {
		c := costOf(all, name)
		if c == nil || off.value <= deferredShare*c.value {
			continue
		}
		w := metric.Warn(metric.LowerBound, metric.Values{"written": c.value / kb, "deferred": off.value / kb})
		c.atLeast, c.doubts = true, append(c.doubts, w)
		if !marked { // once for the step
			r.out.Warnings, marked = append(r.out.Warnings, w), true
		}
	}
}

// addSettled adds to a settle step what the rows that were written since the
// database was made, or last came to rest, cost in the end: with what was written
// between the steps and by the settle step itself, and without.
func (r *rows) addSettled(all []cost) {
	for _, name := range []string{"write_kb", "process_write_kb"} {
		own := costOf(all, name)
		sum, ok := sumSteps(r.trial.res.Steps, name)
		if own == nil || !ok {
			continue
		}
		by := func(row *metric.Row) {
			own.mark(row)
			row.Per, row.N, row.Disturbed = sum.per, sum.units, row.Disturbed || sum.disturbed
		}
		units := float64(sum.units)
		r.put("unsettled_write_kb", sum.kb/units, by)
		r.put("settled_write_kb", (sum.kb+sum.between+own.value)/units, by)
		return
	}
}

// stepsSum is what steps wrote for the rows of one kind.
type stepsSum struct {
	per         string
	units       int64
	kb, between float64
	disturbed   bool
}

// sumSteps adds up the steps since the last rest. It is not known if one of them
// has no such figure.
func sumSteps(steps []result.Step, metric string) (sum stepsSum, ok bool) {
	first := len(steps)
	for first > 0 && steps[first-1].Primary != "" { // a settle step is about no operation
		first--
	}
	for i := range steps[first:] {
		s := &steps[first+i]
		written, rows := s.Find(metric, "", ""), rowsWritten(s, metric)
		if s.Status != result.Complete || written == nil {
			return sum, false
		}
		if rows != nil && (sum.per == "" || sum.per == rows.Per) {
			sum.per = rows.Per
			sum.units += rows.N
		}
		sum.kb += written.Value * float64(written.N)
		sum.disturbed = sum.disturbed || written.Disturbed
		if after := s.Find("after_write_kb", "", ""); after != nil {
			sum.between += after.Value
		}
	}
	return sum, sum.units > 0
}

// rowsWritten is the row of a cost per row that the step writes.
func rowsWritten(s *result.Step, metric string) *metric.Row {
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Metric == metric && strings.HasPrefix(r.Per, s.WritesPer+" ") {
			return r
		}
	}
	return nil
}
