package drive

import (
	"slices"
	"sync"
	"time"

	"rumbench/internal/stat"
	"rumbench/workload"
)

// lengthening is by what share of its planned time a step goes on that is not steady.
const lengthening = 4

// prolong lets a step go on that would end before the next tick, unless its rate is steady or it has
// had all of its time. It is called at every tick, before clients see that the time is over.
func (r *stepRun) prolong(now time.Duration) {
	planned, limit := r.planned(), r.limit()
	longest := time.Duration(r.Longest * float64(planned))
	if limit >= longest || now >= limit || now+r.Interval < limit || r.steady() {
		return
	}
	r.until.Store(int64(min(longest, limit+max(planned/lengthening, r.Interval))))
}

// steady reports whether the rate of the step's main operations is known to be on one level.
func (r *stepRun) steady() bool {
	var rates []float64
	for _, iv := range r.totals[r.primary()].Rates {
		rates = append(rates, iv.Units/(iv.To-iv.From))
	}
	return stat.CourseOf(rates).Shape == stat.Steady
}

// primary returns the group that does the step's main operations.
func (r *stepRun) primary() int {
	does := func(g workload.Group) bool { return g.Does(r.Step.Primary) }
	return max(slices.IndexFunc(r.Step.Groups, does), 0)
}

// lengthens reports whether the step may take longer than planned: with a time limit, and clients
// that go as fast as they can.
func (r *stepRun) lengthens() bool {
	return r.Longest > 1 && r.planned() > 0 && !slices.ContainsFunc(r.queues, func(q *queue) bool { return q != nil }) &&
		!r.Step.Groups[r.primary()].Paced()
}

// atEnd calls end when the step's time is over, however long it has become, and some time later, unless
// it is stopped before.
func (r *stepRun) atEnd(end func(), late time.Duration) (stop func()) {
	over := make(chan struct{})
	var waits sync.WaitGroup
	waits.Go(func() {
		for {
			remaining := r.limit() + late - time.Since(r.base)
			if remaining <= 0 {
				end()
				return
			}
			select {
			case <-time.After(remaining):
			case <-over:
				return
			}
		}
	})
	return func() { close(over); waits.Wait() }
}
