package drive

import (
	"fmt"
	"strconv"
	"time"

	"rumbench/engine"
	"rumbench/workload"
	"rumbench/workload/gen"
)

const (
	// maxFailures in a row end a client: it makes no progress.
	maxFailures = 1000
	// maxPause is the longest pause between two attempts.
	maxPause = time.Second
)

// retry is the retry policy of a client.
//
// The policy applies to operations that failed by a conflict or an existing key.
// Other failures that do not end the step, such as a timeout, are always retried
// with the same values, with the policy's maximum number of attempts and pauses.
type retry struct {
	workload.Retry
	abandon  workload.Abandoner // nil if the client never has to
	endless  bool               // nothing but success ends the client
	draws    *gen.Source
	failures int   // failed attempts of the operation; 0: the next one is an operation's first
	last     bool  // no other attempt follows
	anew     bool  // the next attempt is the first of its operation
	next     int64 // when the next attempt may begin
	row      int   // failures in a row, over all operations
}

func (r *stepRun) newRetry(g, i int, client workload.Client) (retry, error) {
	group := &r.Step.Groups[g]
	p := retry{Retry: group.Retry, anew: true}
	switch p.Policy {
	case "", workload.RetrySame, workload.RetryNew, workload.RetryNone:
	default:
		return p, fmt.Errorf("there is no retry policy %q", p.Policy)
	}
	// A client that never gives up is ended by failures in a row; so is one
	// with a fixed amount of work, as it would never finish it.
	p.endless = r.limit() > 0 && (p.Max > 0 || p.Policy == workload.RetryNone)
	if p.Policy == workload.RetryNew || p.Policy == workload.RetryNone || p.Max > 0 {
		var ok bool
		if p.abandon, ok = client.(workload.Abandoner); !ok {
			return p, fmt.Errorf("its clients cannot abandon an operation (workload.Abandoner), which retrying %q, at most "+
				"%d attempts, needs", p.Policy, p.Max)
		}
	}
	if p.Backoff > 0 {
		p.draws = gen.NewSource(gen.NewStream(r.Seed, "backoff", r.Step.Name, group.Name, strconv.Itoa(i)))
	}
	return p, nil
}

// failed notes a failure. It reports whether the client makes no progress.
func (r *retry) failed(class engine.Class, now int64) (stuck bool) {
	r.failures++
	r.row++
	policy := r.Policy
	if !class.Yields() && class != engine.Duplicate {
		policy = workload.RetrySame
	}
	r.last = policy == workload.RetryNone || r.Max > 0 && r.failures >= r.Max
	if r.anew = policy == workload.RetryNew && !r.last; r.anew {
		r.abandon.Abandon()
	}
	r.next = now + int64(r.pause())
	return r.row >= maxFailures && !r.endless
}

// pause returns a random part of the longest pause (full jitter).
func (r *retry) pause() time.Duration {
	if r.Backoff <= 0 {
		return 0
	}
	return time.Duration(r.draws.Unit() * float64(r.longest()))
}

// longest returns the longest pause before the next attempt; it doubles with each.
func (r *retry) longest() time.Duration {
	d := r.Backoff
	for n := 1; n < r.failures && d < maxPause; n++ {
		d *= 2
	}
	return min(d, maxPause)
}

func (r *retry) giveUp() {
	r.abandon.Abandon()
	r.failures, r.last, r.anew = 0, false, true
}

func (r *retry) succeeded() { r.failures, r.row, r.anew = 0, 0, true }
