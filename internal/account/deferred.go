package account

import (
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

// Deferred writes fall outside the window of the step that caused them. If more
// than this share, and more than littleIO, was deferred, the step's KB written
// is only a lower bound.
const deferredShare = 0.1

// markDeferred warns if KB written misses many of the writes that the step
// caused.
func (s *costing) markDeferred() {
	off := find(s.costs, metric.DeferredKB)
	if off == nil || off.Value <= littleIO {
		return
	}
	marked := false
	for _, name := range []string{metric.WriteKB, metric.ProcessWriteKB} {
		c := find(s.costs, name)
		if c == nil || off.Value <= deferredShare*c.Value {
			continue
		}
		w := metric.Warn(remark.LowerBound, metric.Values{"written": c.Value / kb, "deferred": off.Value / kb})
		c.Warnings = append(c.Warnings, w)
		if !marked { // once per step
			s.Warnings, marked = append(s.Warnings, w), true
		}
	}
}

// Settled adds all numbers of a settle step.
func (s *Step) Settled() {
	s.Put(metric.DurationS, s.Seconds)
	c := &costing{s, s.figures()}
	c.judgeSources()
	c.noteAlone()
	for i := range c.costs {
		s.Put(c.costs[i].Metric, c.costs[i].Value, Per("step"), c.costs[i].mark)
	}
	c.addSettled()
	c.addDebts()
	c.addCounters()
	addMachines(c)
}

// addSettled adds to a settle step the final cost of the rows written since the
// database was created or last settled: with the writes between the steps and
// of the settle step itself, and without.
func (s *costing) addSettled() {
	for _, name := range []string{metric.WriteKB, metric.ProcessWriteKB} {
		cost := find(s.costs, name)
		sum, ok := s.sumEarlier(name)
		if cost == nil || !ok {
			continue
		}
		by := func(row *metric.Row) {
			row.Per, row.N, row.Warnings = sum.per, sum.units, metric.AppendNew(row.Warnings, sum.disturbed...)
			cost.mark(row)
		}
		units := float64(sum.units)
		s.Put(metric.UnsettledWriteKB, sum.kb/units, by)
		s.Put(metric.SettledWriteKB, (sum.kb+sum.between+cost.Value)/units, by)
		return
	}
}

// stepsSum is the sum of the steps' writes for the rows of one kind.
type stepsSum struct {
	per         string
	units       int64
	kb, between float64
	disturbed   []metric.Warning
}

// sumEarlier adds up the steps since the last settle step. The sum is unknown
// if one of them lacks the figure, or there were others of which only the data are known.
func (s *costing) sumEarlier(name string) (sum stepsSum, ok bool) {
	first := len(s.Earlier)
	for first > 0 && (s.Earlier[first-1].Primary != "" || s.Earlier[first-1].Restart) { // else it settled
		first--
	}
	if first == 0 && s.Owing {
		return sum, false
	}
	for i := range s.Earlier[first:] {
		e := &s.Earlier[first+i]
		written, rows := metric.Find(e.Rows, name, "", ""), e.rowsWritten(name)
		if !e.Complete || written == nil {
			return sum, false
		}
		if rows != nil && (sum.per == "" || sum.per == rows.Per) {
			sum.per = rows.Per
			sum.units += rows.N
		}
		sum.kb += written.Value * float64(written.N)
		if written.Disturbed {
			sum.disturbed = metric.AppendNew(sum.disturbed, written.Warnings...)
		}
		if after := metric.Find(e.Rows, metric.AfterWriteKB, "", ""); after != nil {
			sum.between += after.Value
		}
	}
	return sum, sum.units > 0
}

// rowsWritten returns the row of a cost per row written by the step.
func (e *Earlier) rowsWritten(name string) *metric.Row {
	for i := range e.Rows {
		if r := &e.Rows[i]; r.Metric == name && r.Whole() && strings.HasPrefix(r.Per, e.WritesPer+" ") {
			return r
		}
	}
	return nil
}
