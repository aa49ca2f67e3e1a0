package drive

import (
	"time"

	"rumbench/internal/stat"
	"rumbench/workload"
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
// an operation was due since before it began. known is false where intervals
// are too short for the group's operations to tell.
func (r *Result) Stalls(g int, group *workload.Group, rate float64) (spans []Span, known bool) {
	rates := r.Groups[g].Rates
	if len(rates) == 0 {
		return nil, false
	}
	var runs []stat.Run
	if rate > 0 {
		runs = overdue(rates, rate*float64(group.Clients), float64(group.Work)*float64(group.Clients))
	} else {
		perSec, ops := make([]float64, len(rates)), make([]float64, len(rates))
		for i := range rates {
			perSec[i], ops[i] = rates[i].PerSec, float64(rates[i].Ops)
		}
		if stat.Median(ops) < fewOps {
			return nil, false
		}
		runs = stat.Stalls(perSec)
	}
	for _, run := range runs {
		spans = append(spans, Span{rates[run.From].From, rates[run.To-1].To})
	}
	return spans, true
}

// overdue finds runs of intervals without an operation although one was due
// before they began. rate is in operations a second; work, if not 0, is how
// many there are.
func overdue(rates []Rate, rate, work float64) (out []stat.Run) {
	var done int64
	for i, r := range rates {
		due := rate * r.From.Seconds()
		if work > 0 {
			due = min(due, work)
		}
		if r.Ops == 0 && float64(done)+1 <= due {
			if n := len(out); n > 0 && out[n-1].To == i {
				out[n-1].To = i + 1
			} else {
				out = append(out, stat.Run{From: i, To: i + 1})
			}
		}
		done += r.Ops
	}
	return out
}
