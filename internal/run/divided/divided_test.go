package divided

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/run/drive"
	"rumbench/workload"
)

// stage is a step whose clients sleep.
type stage struct {
	workload.Stage
	each func(seat int) time.Duration
	fail func(seat int) error
	done atomic.Int64
}

func (s *stage) Counts() []int64 { return []int64{s.done.Load(), 1} }
func (s *stage) Count([]int64)   {}

type sleeper struct {
	*stage
	seat int
}

func (c *sleeper) Do(ctx context.Context, o *workload.Outcome) error {
	if c.fail != nil {
		if err := c.fail(c.seat); err != nil {
			return err
		}
	}
	select {
	case <-time.After(c.each(c.seat)):
	case <-ctx.Done():
		return ctx.Err()
	}
	c.done.Add(1)
	o.Rows = 2
	return nil
}

// fleet is a head with parts, in virtual time. Messages go the way as JSON, in their order; the clock of each machine
// is skewed. The last machine is the head's.
type fleet struct {
	*Head
	step    *workload.Step
	stages  []*stage
	mu      sync.Mutex // guards skew and cut, which tests change while messages pass
	skew    []time.Duration
	slowest time.Duration                                          // round trip when clocks were measured
	delay   func(machine int, m *Message, back bool) time.Duration // of a message; nil: none
	cut     []chan struct{}                                        // not nil: no message passes until it is closed
	forge   func(m *Message)                                       // changes what the first machine sends; nil: nothing does
	lines   []*Line                                                // the conductor's

	counted   int           // how often the head has counted before a start
	conducted chan struct{} // closed when the conductor has ended
}

const silence = time.Second

func (f *fleet) skewOf(machine int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skew[machine]
}

// way returns a function that sends messages to a line.
func (f *fleet) way(ctx context.Context, over *sync.WaitGroup, machine int, back bool, to *Line) func(Message) {
	queue := NewLine(nil)
	over.Go(func() {
		for {
			m, err := queue.Next(ctx)
			if err != nil {
				return
			}
			if f.delay != nil {
				time.Sleep(f.delay(machine, &m, back))
			}
			f.mu.Lock()
			cut := f.cut[machine]
			f.mu.Unlock()
			if cut != nil {
				select {
				case <-cut:
				case <-ctx.Done():
				}
			}
			to.Hear(m)
		}
	})
	return func(m Message) {
		b, err := json.Marshal(m)
		var got Message
		if f.forge != nil && machine == 0 && back {
			own := Message{} // a copy: the part goes on with its own
			if json.Unmarshal(b, &own) == nil {
				f.forge(&own)
				b, err = json.Marshal(own)
			}
		}
		if err = errors.Join(err, json.Unmarshal(b, &got)); err != nil {
			panic(err)
		}
		if sign := map[bool]int64{true: 1, false: -1}[back]; got.At != 0 {
			got.At += sign * int64(f.skewOf(machine))
		}
		queue.Hear(got)
	}
}

// bubble tests a fleet with some parts whose clients have a step, each an operation of 5 ms unless each says otherwise.
func bubble(t *testing.T, parts int, step *workload.Step, test func(t *testing.T, f *fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{step: step, conducted: make(chan struct{}), slowest: time.Millisecond}
		ctx, cancel := context.WithCancel(context.Background())
		var over sync.WaitGroup
		defer over.Wait()
		defer cancel()
		c := &Conductor{Silence: silence}
		for i := range parts + 1 {
			f.skew, f.cut = append(f.skew, time.Duration(i-1)*time.Hour), append(f.cut, nil)
			there, own := NewLine(nil), NewLine(nil)
			own.say = f.way(ctx, &over, i, true, there)
			there.say = f.way(ctx, &over, i, false, own)
			f.lines = append(f.lines, there)
			peer := Peer{Machine: fmt.Sprintf("c%d", i+1), Line: there, Gone: func() string { return "cut" },
				Offset: func(context.Context, int) (Offset, error) {
					return Offset{f.skewOf(i), time.Millisecond, time.Millisecond, f.slowest}, nil
				}}
			if i == parts {
				c.Head, f.Head = peer, &Head{Line: own}
				break
			}
			c.Parts = append(c.Parts, peer)
			s := &stage{each: func(int) time.Duration { return 5 * time.Millisecond }}
			f.stages = append(f.stages, s)
			p := &Part{Line: own, Coarse: true, Open: func(_ context.Context, task *Task) (*Step, error) {
				return s.open(step, task), nil
			}}
			over.Go(func() { _ = p.Serve(ctx) })
		}
		over.Go(func() {
			defer close(f.conducted)
			c.Run(ctx)
		})
		test(t, f)
	})
}

func (s *stage) open(step *workload.Step, task *Task) *Step {
	out := &Step{Of: step, Stage: s, Close: func() {}, Report: func(context.Context) time.Duration { return 0 }}
	for g, group := range task.Numbers.Groups {
		out.Clients = append(out.Clients, nil)
		for seat := range group.Clients {
			var client workload.Client
			if task.Part.Has(seat) {
				client = &sleeper{s, seat}
			}
			out.Clients[g] = append(out.Clients[g], client)
		}
	}
	return out
}

func sleeping(clients int, work int64, seconds float64) *workload.Step {
	return &workload.Step{Name: "s", Divides: true, Seconds: seconds, Primary: "op",
		Groups: []workload.Group{{Name: "all", Clients: clients, Work: work, Ops: []workload.OpKind{{Name: "op", Unit: "row"}}}}}
}

const tick = 100 * time.Millisecond

// ready opens the step and has its load ready.
func (f *fleet) ready(ctx context.Context) error {
	config := drive.Config{Step: f.step, Interval: tick}
	_, err := f.Open(ctx, &Task{Step: "s", Numbers: *NumbersOf(&config)})
	if err == nil {
		err = f.Load(ctx, &config)
	}
	return err
}

// load runs the step; each gets its intervals.
func (f *fleet) load(ctx context.Context, each func(*Interval)) (*Outcome, error) {
	err := f.ready(ctx)
	if err == nil {
		err = f.Start(ctx, func() { f.counted++ })
	}
	if err != nil {
		return nil, err
	}
	ended := 0
	out, err := f.Run(ctx, each, func() { ended++ })
	if err == nil && ended != 1 {
		err = fmt.Errorf("ended %d times", ended)
	}
	return out, err
}

// done is how many operations all clients have done.
func (f *fleet) done() (n int64) {
	for _, s := range f.stages {
		n += s.done.Load()
	}
	return n
}

// wantLost checks that a load is void because a machine was lost.
func wantLost(t *testing.T, err error, machine, text string) {
	t.Helper()
	if lost, is := errors.AsType[*LostError](err); !is || lost.Machine != machine || !strings.Contains(lost.Text, text) {
		t.Errorf("%v; want the loss of %q: %q", err, machine, text)
	}
}

// A load of five clients on three machines, whose clocks are hours apart, is one load.
func TestLoad(t *testing.T) {
	bubble(t, 3, sleeping(5, 20, 0), func(t *testing.T, f *fleet) {
		for _, s := range f.stages {
			s.each = func(seat int) time.Duration { return time.Duration(seat+1) * 5500 * time.Microsecond }
		}
		for range 2 { // a lead-in and a window, for example
			var ops int64
			last, ticks := time.Duration(0), 0
			out, err := f.load(t.Context(), func(iv *Interval) {
				ticks++
				expect.True(t, iv.From == last && len(iv.Machines) == 3 && iv.Machines[2].Machine == "c3",
					"an interval begins at", iv.From, "and the last has ended at", last, iv.Machines)
				last = iv.To
				ops += iv.Groups[0].Kinds[0].Ops
			})
			expect.NoError(t, err)
			group := &out.Result.Groups[0]
			expect.True(t, group.Kinds[0].Ops == 100 && group.Kinds[0].Rows == 200 && group.Kinds[0].Service.Count() == 100, group.Kinds[0].Counts)
			for seat, n := range group.Done {
				expect.Equal(t, n, 20, "seat", seat, "did", "operations, want 20")
			}
			expect.True(t, ops == 100 && ticks == 6 && last == 550*time.Millisecond,
				ticks, "intervals until", last, "with", ops, "operations")
			// Seats 0 and 3, 1 and 4, 2 are on the three machines.
			for i, want := range []int64{40, 40, 20} {
				if r := out.Reports[i]; r.Ops != want || r.Machine != fmt.Sprintf("c%d", i+1) || r.P50 == 0 || r.P99 < r.P50 {
					t.Errorf("%+v", r)
				}
			}
			expect.True(t, out.Spread == 0 && out.Bound == 2*time.Millisecond,
				"began", out.Spread, "apart, bound", out.Bound)
		}
		expect.True(t, f.done() == 200 && f.counted == 2, f.done(), "operations, want 200; counted", f.counted, "times")
	})
}

// A group without work ends when the others' work is done, on whichever machines they are.
func TestLed(t *testing.T) {
	step := sleeping(1, 10, 0)
	step.Groups = append(step.Groups, workload.Group{Name: "beside", Clients: 3, Ops: step.Groups[0].Ops})
	bubble(t, 3, step, func(t *testing.T, f *fleet) {
		out, err := f.load(t.Context(), func(*Interval) {})
		expect.Must(t, err == nil && out.Result.Groups[0].Kinds[0].Ops == 10, out, err)
		for seat, n := range out.Result.Groups[1].Done {
			expect.True(t, n >= 10 && n <= 11, "seat", seat, "beside it did", n, "operations")
		}
		if counts := out.Counts; len(counts) != 2 || counts[0] != 10+out.Result.Groups[1].Kinds[0].Ops || counts[1] != 3 {
			t.Errorf("counts %v", counts)
		}
	})
}

// A machine whose operations take over twice as long as those of the others is named, and only it.
func TestStraggler(t *testing.T) {
	bubble(t, 3, sleeping(3, 20, 0), func(t *testing.T, f *fleet) {
		f.stages[1].each = func(int) time.Duration { return 20 * time.Millisecond }
		out, err := f.load(t.Context(), func(*Interval) {})
		for i := 0; err == nil && i < 3; i++ {
			if r := out.Reports[i]; r.Straggler != (i == 1) {
				t.Errorf("%+v", r)
			}
		}
		expect.NoError(t, err)
	})
}

// Clocks are measured again while a load runs: what they run apart widens the bound.
func TestDrift(t *testing.T) {
	bubble(t, 2, sleeping(2, 0, 21), func(t *testing.T, f *fleet) {
		began, skew := time.Now(), f.skew[1]
		out, err := f.load(t.Context(), func(*Interval) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.skew[1] = skew + time.Since(began)/5000 // 200 ppm
		})
		expect.True(t, err == nil && out.Bound >= 6*time.Millisecond && out.Bound <= 7*time.Millisecond, err, out)
	})
}

// No part begins before all know the instant, and all is counted then. If one learns it late all try again, with a
// notice that is measured and grows.
func TestStart(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for name, c := range map[string]struct {
		arms            []int // by how many ms each order to the second part is late; the last holds for all that follow
		slowest, disarm int   // the slowest round trip, and how late what withdraws an instant is at the first part, in ms
		tries           int
		begins          int    // ms after the first try
		fails, of       string // why it is void, and which machine was lost
	}{
		"at once":                {tries: 1, begins: 200},
		"just in time":           {arms: []int{99}, tries: 1, begins: 200},
		"late, before it":        {arms: []int{150, 0}, tries: 2, begins: 150 + 2*600},
		"late, after it":         {arms: []int{900, 800}, tries: 2, begins: 900 + 2*3600},
		"slow network":           {arms: []int{150}, slowest: 150, tries: 1, begins: 600},
		"each time later":        {arms: []int{150, 700, 0}, tries: 3, begins: 850 + 2*5600},
		"never in time":          {arms: []int{150, 650, 5300, 10100}, tries: 6, fails: "in 6 tries: the last needed 10.1s until client machine c2"},
		"silent":                 {arms: []int{99_000}, tries: 1, fails: "client machine c2 was lost before the start of step s", of: "c2"},
		"withdrawn, and begun":   {arms: []int{150}, disarm: 120, tries: 2, fails: "it learnt 20ms after the start", of: "c1"},
		"withdrawn, and in time": {arms: []int{150, 0}, disarm: 80, tries: 2, begins: 150 + 2*600},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, sleeping(2, 5, 0), func(t *testing.T, f *fleet) {
				f.slowest = ms(c.slowest)
				f.delay = func(machine int, m *Message, back bool) time.Duration {
					switch {
					case !back && machine == 1 && m.Kind == Arm && len(c.arms) > 0:
						return ms(c.arms[min(f.counted, len(c.arms))-1])
					case !back && machine == 0 && m.Kind == Disarm:
						return ms(c.disarm)
					}
					return 0
				}
				expect.NoError(t, f.ready(t.Context()))
				began := time.Now()
				err := f.Start(t.Context(), func() { f.counted++ })
				switch took := time.Since(began); {
				case f.counted != c.tries:
					t.Errorf("counted %d times, want %d: %v", f.counted, c.tries, err)
				case c.fails != "":
					wantLost(t, err, c.of, c.fails)
				case err != nil || took != ms(c.begins):
					t.Errorf("it began after %v, want %v ms: %v", took, c.begins, err)
				default:
					if out, err := f.Run(t.Context(), func(*Interval) {}, func() {}); err != nil || f.done() != 10 || out.Spread != 0 {
						t.Errorf("%d operations, %v", f.done(), err)
					}
					return
				}
				time.Sleep(time.Minute)
				if n := f.stages[1].done.Load(); n > 0 {
					t.Errorf("%d operations that no head counts", n)
				}
			})
		})
	}
}

// The failure of a client ends the load everywhere, and is the load's.
func TestFailed(t *testing.T) {
	bad := errors.New("the table is gone")
	bubble(t, 2, sleeping(4, 1000, 0), func(t *testing.T, f *fleet) {
		f.stages[1].fail = func(seat int) error {
			if seat == 3 {
				return bad
			}
			return nil
		}
		out, err := f.load(t.Context(), func(*Interval) {})
		expect.Must(t, err == nil && out.Result.Ended != nil && strings.Contains(out.Result.Ended.Error(), bad.Error()),
			out, err)
		if ops := out.Result.Groups[0].Kinds[0].Ops; ops > 4 {
			t.Errorf("the others did %d operations more", ops)
		}
	})
}

// A machine that is lost voids the load, its operations are unknown: at once if its process has ended, and after the
// stated time if it says nothing. A network that is cut for less loses nothing.
func TestLost(t *testing.T) {
	for name, c := range map[string]struct {
		length time.Duration // of a cut; 0: the process ends
		after  time.Duration // when the loss is noticed; -1: never
	}{
		"ended": {0, 0}, "cut": {time.Hour, silence + tick}, "cut shortly": {silence - time.Millisecond, -1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, sleeping(2, 0, 5), func(t *testing.T, f *fleet) {
				var since time.Time
				out, err := f.load(t.Context(), func(iv *Interval) {
					if iv.From != 300*time.Millisecond {
						return
					}
					if since = time.Now(); c.length == 0 {
						f.lines[1].HangUp()
						return
					}
					cut := make(chan struct{})
					time.AfterFunc(c.length, func() { close(cut) })
					f.mu.Lock()
					defer f.mu.Unlock()
					f.cut[1] = cut
				})
				if c.after < 0 {
					expect.True(t, err == nil && out.Result.Groups[0].Kinds[0].Ops == 2000, "a short cut", err)
					return
				}
				wantLost(t, err, "c2", " into the load of step s")
				if took := time.Since(since); took < c.after || took > c.after+time.Second { // it looks each second
					t.Errorf("found after %v", took)
				}
				synctest.Wait()
				other := f.stages[0].done.Load()
				time.Sleep(time.Second)
				if more := f.stages[0].done.Load() - other; more > 0 {
					t.Errorf("the other machine goes on: %d operations more", more)
				}
				for range 2 { // what has failed stays so
					wantLost(t, f.ready(t.Context()), "c2", "")
				}
			})
		})
	}
}

// A machine that does not answer while its clients open their sessions is lost after the stated time.
func TestSilentBefore(t *testing.T) {
	bubble(t, 2, sleeping(2, 0, 5), func(t *testing.T, f *fleet) {
		f.mu.Lock()
		f.cut[1] = make(chan struct{})
		f.mu.Unlock()
		began := time.Now()
		wantLost(t, f.ready(t.Context()), "c2", "while it readied its clients of step s")
		expect.Near(t, time.Since(began).Seconds(), answerTime.Seconds(), 1)
	})
}

// The end of the head's context ends the load; what was measured is returned.
func TestInterrupted(t *testing.T) {
	bubble(t, 2, sleeping(2, 0, 20), func(t *testing.T, f *fleet) {
		ctx, cancel := context.WithCancel(t.Context())
		out, err := f.load(ctx, func(iv *Interval) {
			if iv.To == 400*time.Millisecond {
				cancel()
			}
		})
		expect.True(t, err == nil && errors.Is(out.Result.Ended, context.Canceled) && out.Result.Groups[0].Kinds[0].Ops >= 158, out, err)
	})
}

// When the head is gone nobody counts the load: it ends. One that is interrupted before the start begins none.
func TestHeadGone(t *testing.T) {
	for _, began := range []bool{true, false} {
		bubble(t, 2, sleeping(2, 0, 20), func(t *testing.T, f *fleet) {
			ctx, cancel := context.WithCancel(t.Context())
			expect.NoError(t, f.ready(ctx))
			if began {
				expect.NoError(t, f.Start(ctx, func() {}))
				time.Sleep(300 * time.Millisecond)
				f.lines[2].HangUp()
				<-f.conducted
			} else {
				time.AfterFunc(50*time.Millisecond, cancel)
				expect.Is(t, f.Start(ctx, func() {}), context.Canceled)
				f.Close()
			}
			cancel()
			synctest.Wait()
			before := f.done()
			time.Sleep(time.Minute)
			if more := f.done() - before; more > 0 || !began && before > 0 {
				t.Errorf("began %v: %d operations, and %d more that nobody counts", began, before, more)
			}
		})
	}
}

// A machine has no reserve if that shows in a tenth of the intervals. Few operations are no sign of it: threads of
// an idle program wait as well.
func TestSaturated(t *testing.T) {
	idle := use{Use: observe.Use{Busy: 0.06, Queue: 15 * time.Millisecond}, ops: 18, length: time.Second}
	loaded := idle
	loaded.ops, loaded.Queue = 20_000, 150*time.Millisecond
	p50 := 250 * time.Microsecond
	for what, c := range map[string]struct {
		one  func(u *use)
		from use
		want int
	}{
		"idle":           {func(*use) {}, idle, 0},
		"loaded":         {func(*use) {}, loaded, 0},
		"busy":           {func(u *use) { u.Busy = 0.86 }, loaded, 1},
		"network":        {func(u *use) { u.Net = 0.81 }, loaded, 1},
		"queue":          {func(u *use) { u.Queue = 300 * time.Millisecond }, loaded, 1},
		"queue of no op": {func(u *use) { u.Queue, u.ops = time.Second, 0 }, loaded, 0},
	} {
		uses := make([]use, 20)
		for i := range uses {
			uses[i] = c.from
		}
		c.one(&uses[3])
		if got := saturated(uses, p50); len(got) != 0 {
			t.Errorf("%s in one of 20 intervals: %q", what, got)
		}
		c.one(&uses[7])
		if got := saturated(uses, p50); len(got) != c.want {
			t.Errorf("%s in two of 20 intervals: %q", what, got)
		}
	}
}
