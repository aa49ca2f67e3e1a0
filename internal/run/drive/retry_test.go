package drive

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/workload"
)

// keeper is a client that keeps its values until the operation is done or
// abandoned. An attempt takes 10 ms and three statements, of which the last is
// not reached when it fails.
type keeper struct {
	fails func(value, attempt int) error // of a value, its attempts from 1
	value int
	tries int
	tried []int // the value of each attempt
	at    []time.Duration
	start time.Time
	kind  func(value int) int
	// goesOn: an attempt after a failed one has nothing to do but the third statement.
	goesOn bool
}

func (k *keeper) Do(_ context.Context, out *workload.Outcome) error {
	if out.Rows != 0 || out.Reads != 0 {
		panic("the outcome is not empty")
	}
	k.at = append(k.at, time.Since(k.start))
	k.tries++
	k.tried = append(k.tried, k.value)
	if k.kind != nil {
		out.Kind = k.kind(k.value)
	}
	if k.goesOn && k.tries > 1 {
		return k.finish(out)
	}
	out.Parts.Reset()
	for part := range 2 {
		out.Parts.Start()
		time.Sleep(5 * time.Millisecond)
		out.Parts.Stop(part)
		out.Reads++
	}
	if err := k.fails(k.value, k.tries); err != nil {
		return err
	}
	return k.finish(out)
}

func (k *keeper) finish(out *workload.Outcome) error {
	out.Others, out.Rows = 1, 1
	k.Abandon()
	return nil
}

func (k *keeper) Abandon() { k.value, k.tries = k.value+1, 0 }

var transaction = []workload.OpKind{{Name: "transaction", Unit: "transaction"}}

// retried runs a step of one client over 100 ms × n in fake time.
func retried(t *testing.T, k *keeper, g workload.Group) *Result {
	t.Helper()
	k.start = time.Now()
	g.Name, g.Clients = "t", 1
	if g.Ops == nil {
		g.Ops = transaction
	}
	r, err := Run(t.Context(), Config{Coarse: true, Step: &workload.Step{Name: "s", Seconds: 0.2, Groups: []workload.Group{g}}, Interval: time.Second, Clients: [][]workload.Client{{k}}, Seed: 3})
	expect.NoError(t, err)
	return r
}

var busy = engine.Errorf(engine.Deadlock, "busy")

// Every third value fails twice.
func twice(value, attempt int) error {
	if value%3 == 2 && attempt <= 2 {
		return busy
	}
	return nil
}

func TestRetrySame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{fails: twice}
		r := retried(t, k, workload.Group{Parts: []string{"select", "update"}, Retry: workload.Retry{Policy: workload.RetrySame}})
		s := &r.Groups[0].Kinds[0]
		// 0 1 2 2 2, four times in 200 ms.
		expect.List(t, k.tried, []int{0, 1, 2, 2, 2, 3, 4, 5, 5, 5, 6, 7, 8, 8, 8, 9, 10, 11, 11, 11}, "attempts of")
		expect.True(t, s.Ops == 12 && s.Attempts == 20 && s.Retries == 8 && s.GivenUp == 0 && s.Wasted == 16 && s.Reads == 24 && s.Others == 12, s.Counts)
		// Its user waits for all attempts; the last one took as long as any.
		expect.True(t, s.Service.Max() == int64(30*time.Millisecond) && s.Attempt.Max() == int64(10*time.Millisecond) && s.Attempt.Count() == 12, s.Service.Max(), s.Attempt.Max())
		for i, p := range r.Groups[0].Parts {
			expect.True(t, p.Count() == 12 && p.Max() == int64(5*time.Millisecond), "part", i, p.Count(), p.Max())
		}
		if e := r.Groups[0].Errors; len(e) != 1 || e[0].Class != string(engine.Deadlock) || e[0].Count != 8 || e[0].Kind != 0 {
			t.Errorf("errors %+v", e)
		}
		expect.Equal(t, r.Groups[0].Done[0], 12, "done", r.Groups[0].Done)
	})
}

func TestRetryNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{fails: func(value, _ int) error {
			if value%3 == 2 {
				return busy
			}
			return nil
		}, kind: func(value int) int { return value % 2 }}
		r := retried(t, k, workload.Group{Retry: workload.Retry{Policy: workload.RetryNew},
			Ops: []workload.OpKind{{Name: "even", Unit: "transaction"}, {Name: "odd", Unit: "transaction"}}})
		for i, v := range k.tried {
			expect.Must(t, v == i, "attempts of", k.tried)
		}
		even, odd := &r.Groups[0].Kinds[0], &r.Groups[0].Kinds[1]
		// 2, 8 and 14 fail and are followed by 3, 9 and 15; so do 5, 11 and 17.
		expect.True(t, even.Ops == 7 && odd.Ops == 7 && even.Attempts == 10 && odd.Attempts == 10 && even.Retries == 3 && odd.Retries == 3, even.Counts, odd.Counts)
		expect.Equal(t, odd.Service.Max(), int64(20*time.Millisecond), "service")
		e := r.Groups[0].Errors
		expect.True(t, len(e) == 2 && e[0].Kind != e[1].Kind && e[0].Count == 3 && e[1].Count == 3, "errors by kind", e)
	})
}

func TestRetryNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{fails: func(value, attempt int) error {
			if value == 4 && attempt == 1 {
				return engine.Errorf(engine.Timeout, "slow") // is tried again, whatever the policy
			}
			return twice(value, attempt)
		}}
		r := retried(t, k, workload.Group{Retry: workload.Retry{Policy: workload.RetryNone}})
		s := &r.Groups[0].Kinds[0]
		expect.List(t, k.tried[:10], []int{0, 1, 2, 3, 4, 4, 5, 6, 7, 8}, "attempts of", k.tried)
		expect.True(t, s.Attempts == 20 && s.GivenUp == 6 && s.Ops == 13 && s.Retries == 1 && s.Service.Count() == 13,
			s.Counts)
	})
}

// After the last attempt an operation is given up; the client goes on, however
// many fail. Without a greatest number it is ended by failures in a row.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		always := func(int, int) error { return engine.Errorf(engine.Duplicate, "there is one") }
		k := &keeper{fails: always}
		r := retried(t, k, workload.Group{Retry: workload.Retry{Max: 3}})
		if s := r.Groups[0].Kinds[0]; s.GivenUp != 6 || s.Attempts != 20 || s.Retries != 13 || s.Ops != 0 || r.Ended != nil {
			t.Errorf("%+v, ended by %v", s.Counts, r.Ended)
		}
		k = &keeper{fails: always}
		r, err := Run(t.Context(), Config{Coarse: true, Step: &workload.Step{Seconds: 3600, Groups: []workload.Group{{Clients: 1, Ops: transaction, Retry: workload.Retry{Policy: workload.RetryNew}}}},
			Interval: time.Minute, Clients: [][]workload.Client{{k}}})
		expect.True(t, err == nil && r.Ended != nil && r.Groups[0].Kinds[0].Attempts == maxFailures, err, r.Ended, r.Groups[0].Kinds[0].Counts)
	})
}

// Pauses are random, grow, are the same for the same seed, and end with the step.
func TestBackoff(t *testing.T) {
	pauses := func() (out []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			k := &keeper{fails: func(int, int) error { return busy }}
			start := time.Now()
			retried(t, k, workload.Group{Retry: workload.Retry{Backoff: 8 * time.Millisecond}})
			took := time.Since(start)
			expect.True(t, took <= 210*time.Millisecond, "the step took: a pause outlived it", took)
			for i := 1; i < len(k.at); i++ {
				out = append(out, k.at[i]-k.at[i-1]-10*time.Millisecond)
			}
		})
		return out
	}
	a := pauses()
	expect.List(t, a, pauses(), "other pauses with the same seed")
	expect.Must(t, len(a) >= 3, "pauses", a)
	for i, p := range a {
		if longest := 8 * time.Millisecond << i; p < 0 || p > longest || slices.Index(a, p) != i {
			t.Errorf("pause %d is %v of at most %v", i, p, longest)
		}
	}
	r := retry{Retry: workload.Retry{Backoff: time.Millisecond}, failures: 200}
	expect.Equal(t, r.longest(), maxPause, "the longest pause after 200 failures is")
}

// What a group's clients cannot do is refused before anything starts.
func TestRetryRefused(t *testing.T) {
	for want, retry := range map[string]workload.Retry{
		"cannot abandon": {Policy: workload.RetryNew}, "abandon an": {Policy: workload.RetryNone}, "(workload.Abandoner)": {Max: 2}, "no retry policy": {Policy: "often"},
	} {
		step := &workload.Step{Name: "s", Seconds: 1, Groups: []workload.Group{{Name: "g", Clients: 1, Ops: insert, Retry: retry}}}
		if _, err := Run(t.Context(), Config{Coarse: true, Step: step, Interval: time.Second, Clients: [][]workload.Client{{&fake{}}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", retry, err)
		}
	}
}

// An interval without completed operations has the age of the oldest one in
// flight.
func TestOldestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var oldest []time.Duration
		slow := &fake{rows: 1, took: func(n int64) time.Duration {
			if n == 10 {
				return 3500 * time.Millisecond
			}
			return 100 * time.Millisecond
		}}
		step := &workload.Step{Seconds: 6, Groups: []workload.Group{{Clients: 2, Ops: insert, Rate: 2, RowsPerOp: 1}}}
		r, err := Run(t.Context(), Config{Coarse: true, Step: step, Interval: time.Second, Clients: [][]workload.Client{{slow, &fake{rows: 1, took: every(100 * time.Millisecond)}}},
			OnInterval: func(iv *Interval) { oldest = append(oldest, iv.Groups[0].Oldest) }})
		expect.NoError(t, err)
		var worst time.Duration
		for i, rate := range r.Groups[0].Rates {
			expect.Equal(t, rate.Oldest, oldest[i].Seconds(), "interval", i, oldest[i])
			worst = max(worst, oldest[i])
		}
		// It begins at 5 s and the next tick sees it after a second.
		expect.True(t, worst >= time.Second && worst <= 4*time.Second, "oldest", oldest)
		for i, o := range oldest[:4] { // before, nothing is in flight at a tick for more than 100 ms
			expect.True(t, o <= 100*time.Millisecond, "interval", i, o)
		}
	})
}

// A statement that hangs does not keep the step for ever.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		g := workload.Group{Name: "q", Clients: 2, Ops: insert}
		hang := &fake{rows: 1, took: func(n int64) time.Duration {
			if n == 50 {
				return 1000 * time.Hour
			}
			return 100 * time.Millisecond
		}}
		r := drive(t, workload.Step{Seconds: 10, Groups: []workload.Group{g}}, []workload.Client{hang, &fake{rows: 1, took: every(100 * time.Millisecond)}})
		expect.Equal(t, time.Since(start), 10*time.Second+leastGrace, "it took")
		expect.True(t, r.Ended != nil && strings.Contains(r.Ended.Error(), "client 0") && !errors.Is(r.Ended, context.Canceled), r.Ended)
		expect.Equal(t, r.Groups[0].Kinds[0].Ops, 150)
	})
}

// A client that goes on behind the statements that are done keeps their times,
// and the time of its attempts holds them; but what it had abandoned is gone.
func TestPartsOfSeveralAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(value, attempt int) error {
			if value%2 == 0 && attempt == 1 {
				return busy
			}
			return nil
		}
		r := retried(t, &keeper{fails: fails, goesOn: true}, workload.Group{Parts: []string{"select", "update"}})
		s := &r.Groups[0].Kinds[0]
		// All take 10 ms: those that failed once go on without taking any time.
		expect.True(t, s.Ops == 20 && s.KeptTime == int64(100*time.Millisecond) && s.Attempt.Total() == 100e6,
			"attempts took", s.Counts, s.Attempt.Total())
		for i, p := range r.Groups[0].Parts {
			expect.Equal(t, p.Count(), 20, "part", i)
		}
		r = retried(t, &keeper{fails: fails, goesOn: true}, workload.Group{Parts: []string{"select", "update"}, Retry: workload.Retry{Policy: workload.RetryNew}})
		if s := &r.Groups[0].Kinds[0]; s.Ops != 10 || s.KeptTime != 0 || r.Groups[0].Parts[0].Count() != 10 {
			t.Errorf("%+v, parts %d", s.Counts, r.Groups[0].Parts[0].Count())
		}
	})
}

// A step whose second half fails is as long as its time, whether the last of it
// was an attempt or a pause; what was given up and what was left has its time.
func TestWindowWithFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := func(value, _ int) error {
			if value >= 10 {
				return busy
			}
			return nil
		}
		r := retried(t, &keeper{fails: half}, workload.Group{})
		s := &r.Groups[0].Kinds[0]
		expect.True(t, r.Window == 200*time.Millisecond && s.Ops == 10 && s.Unfinished == 1 && s.UnfinishedTime == int64(100*time.Millisecond), r.Window, s.Counts)
		r = retried(t, &keeper{fails: half}, workload.Group{Retry: workload.Retry{Max: 3}})
		s = &r.Groups[0].Kinds[0]
		if r.Window != 200*time.Millisecond || s.GivenUp != 3 || s.Failed.Count() != 3 || s.Failed.Max() != int64(30*time.Millisecond) || s.Unfinished != 1 || s.UnfinishedTime != int64(10*time.Millisecond) {
			t.Errorf("window %v: %+v, given up after %d", r.Window, s.Counts, s.Failed.Max())
		}
		r = retried(t, &keeper{fails: func(int, int) error { return busy }}, workload.Group{Retry: workload.Retry{Backoff: time.Second}})
		expect.Equal(t, r.Window, 200*time.Millisecond, "window")
		// Without a failure nothing is left, and who has no more to do does not
		// make the step longer.
		done := &fake{rows: 1, took: every(10 * time.Millisecond), err: func(n int64) error {
			if n == 5 {
				return workload.ErrDone
			}
			return nil
		}}
		r = drive(t, workload.Step{Seconds: 10, Groups: []workload.Group{{Name: "d", Clients: 1, Ops: insert}}}, []workload.Client{done})
		expect.True(t, r.Window == 50*time.Millisecond && r.Groups[0].Kinds[0].Unfinished == 0, r.Window, r.Groups[0].Kinds[0].Counts)
	})
}
