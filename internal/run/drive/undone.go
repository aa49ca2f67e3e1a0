package drive

import (
	"time"

	"rumbench/internal/stat/hist"
	"rumbench/workload/pace"
)

// end returns when operations stopped beginning: when the step's time was over,
// its work was done, or it was interrupted.
func (r *stepRun) end() (end time.Duration) {
	if limit := r.limit(); limit > 0 {
		return min(limit, r.stopped)
	}
	for _, l := range r.loops {
		if !r.leads(l) {
			continue
		}
		if end = max(end, l.end); l.group.Work > l.done { // it could not continue
			return r.stopped
		}
	}
	return end
}

// addUndone records the operations that were due before the end and not done:
// those in progress or being retried, and those that never began because earlier
// ones took too long.
func (r *stepRun) addUndone(out *Result) {
	end := r.end()
	for g := range out.Groups {
		if !r.Step.Groups[g].Paced() {
			continue
		}
		out.Groups[g].Undone = hist.NewDist()
		if q := r.queues[g]; q != nil {
			q.leave(end, out.Groups[g].Undone)
		}
	}
	for _, l := range r.loops {
		if ages := out.Groups[l.at].Undone; ages != nil {
			l.leaveUndone(end, ages)
		}
	}
}

// leaveUndone records how long the client's undone operations had been due at the
// end.
func (l *loop) leaveUndone(end time.Duration, ages *hist.Dist) {
	left := l.group.Work - l.done
	for next := l.nextDue(); next < end && (l.group.Work == 0 || left > 0); next = l.nextDue() {
		ages.Record(int64(end - next))
		left--
	}
}

// nextDue returns when the client's next undone operation was due, and advances;
// the client does no more.
func (l *loop) nextDue() time.Duration {
	switch {
	case l.open:
		l.open = false
		return time.Duration(l.op.Intended)
	case l.schedule != nil:
		return l.schedule.Next()
	}
	return pace.Never
}
