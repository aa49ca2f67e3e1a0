package drive

import (
	"sync"
	"time"

	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// queue hands out the arrivals of an open group: a free client takes the next,
// waits until it is due and executes it. It keeps no list, but walks the schedule
// twice: up to now, and up to the last taken arrival. So it is as fast with a
// million waiting as with none: a lock and two steps of a schedule, under 100 ns.
type queue struct {
	mu       sync.Mutex
	limit    int64         // how many may wait; 0: no limit
	coming   *arrivals     // of next and later arrivals
	next     time.Duration // the first arrival that is not yet due
	arrived  int64         // arrivals before next
	waiting  *arrivals     // of arrivals not yet taken
	taken    int64
	shed     int64
	greatest int64 // greatest number waiting, as of the calls of look
}

func newQueue(a *pace.Arrivals, seed uint64, part workload.Part) (*queue, error) {
	coming, err := newArrivals(a, seed, part)
	if err != nil {
		return nil, err
	}
	waiting, err := newArrivals(a, seed, part)
	if err != nil {
		return nil, err
	}
	parts := int64(max(1, part.Of))
	return &queue{limit: (a.Queue + parts - 1) / parts, coming: coming, next: coming.Next(), waiting: waiting}, nil
}

// arrivals are those of a part: arrival i belongs to process i modulo their number.
type arrivals struct {
	*pace.Schedule     // nil: the part has none
	others         int // that come before the next
	part           workload.Part
}

func newArrivals(a *pace.Arrivals, seed uint64, part workload.Part) (*arrivals, error) {
	if part.Of > 0 && part.Index >= part.Of {
		return &arrivals{}, nil
	}
	s, err := a.Schedule(seed)
	return &arrivals{s, part.Index, part}, err
}

// Next returns the next arrival.
func (a *arrivals) Next() time.Duration {
	if a.Schedule == nil {
		return pace.Never
	}
	for range a.others {
		a.Schedule.Next()
	}
	a.others = max(1, a.part.Of) - 1
	return a.Schedule.Next()
}

// take returns the next arrival, pace.Never if there are no more.
func (q *queue) take(now time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.look(now)
	q.taken++
	return q.waiting.Next()
}

// look counts the arrivals that are due. Beyond the limit the oldest are shed.
// Doing so only now makes no difference, as no arrival was taken in the
// meantime.
func (q *queue) look(now time.Duration) {
	for q.next <= now {
		q.arrived++
		q.next = q.coming.Next()
	}
	waiting := q.arrived - q.taken - q.shed
	q.greatest = max(q.greatest, waiting)
	if q.limit == 0 {
		return
	}
	q.greatest = min(q.greatest, q.limit)
	for ; waiting > q.limit; waiting-- {
		q.waiting.Next()
		q.shed++
	}
}

// at returns the state of the queue.
func (q *queue) at(now time.Duration) (arrived, shed, waiting int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.look(now)
	// Waiting clients have taken arrivals that are not yet due.
	return q.arrived, q.shed, max(0, q.arrived-q.taken-q.shed)
}

// leave records the waiting times of arrivals that were not taken by the end.
func (q *queue) leave(end time.Duration, waits *hist.Dist) {
	for n := q.arrived - q.taken - q.shed; n > 0; n-- {
		waits.Record(int64(end - q.waiting.Next()))
	}
}
