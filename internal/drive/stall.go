package drive

import (
	"time"

	"rumbench/internal/stat"
)

// fewOps is the number of operations in a usual interval below which an empty
// one tells nothing: an index build is one operation of many intervals.
const fewOps = 3

// Span is a stretch of the window.
type Span struct{ From, To time.Duration }

// Stalls finds the stretches in which a group stalled. Of a closed loop these
// are the intervals in which nothing was completed, or less than a tenth of
// the median. With a rate an interval without operations may just be one in
// which none was due, so there it is one in which nothing was completed though
// an operation was due since before it began; with arrivals, though one was in
// flight since before it began. known is false where intervals are too short for
// the group's operations to tell.
func (r *Result) Stalls(g int, rate float64) (spans []Span, known bool) {
	rates := r.Groups[g].Rates
	if len(rates) == 0 {
		return nil, false
	}
	var runs []stat.Run
	switch {
	case r.Groups[g].Arrivals != nil:
		rates = r.Groups[g].within()
		runs = hanging(rates)
	case rate > 0:
		rates = r.Groups[g].within()
		runs = overdue(rates)
	default:
		perSec := r.IntervalRates(g, rate)
		if len(perSec) == 0 {
			return nil, false
		}
		runs = stat.Stalls(perSec)
	}
	for _, run := range runs {
		spans = append(spans, Span{rates[run.From].From, rates[run.To-1].To})
	}
	return spans, true
}

// IntervalRates are the units a second of the intervals of a group, joined
// where a rate has few operations in one. There are none where a usual interval
// holds too few operations to make a rate of.
func (r *Result) IntervalRates(g int, rate float64) []float64 {
	group := &r.Groups[g]
	if group.Arrivals != nil {
		rate = float64(group.Due) / group.End.Seconds() / float64(len(group.Done))
	}
	rates := r.Groups[g].Rates
	if rate > 0 {
		rates = coarse(r.Groups[g].within(), rate)
	}
	perSec, ops := make([]float64, len(rates)), make([]float64, len(rates))
	for i := range rates {
		perSec[i], ops[i] = rates[i].PerSec, float64(rates[i].Ops)
	}
	if len(rates) == 0 || stat.Median(ops) < fewOps {
		return nil
	}
	return perSec
}

// overdue finds runs of intervals without an operation although one was due
// before they began.
func overdue(rates []Rate) []stat.Run {
	var done int64
	return stat.Runs(len(rates), func(i int) bool {
		r := rates[i]
		stalled := r.Ops == 0 && done < r.Due
		done += r.Ops
		return stalled
	})
}

// hanging finds runs of intervals in which nothing was completed and an
// operation was in flight all the time.
func hanging(rates []Rate) []stat.Run {
	return stat.Runs(len(rates), func(i int) bool {
		r := rates[i]
		return r.Ops == 0 && r.Oldest >= r.To-r.From
	})
}
