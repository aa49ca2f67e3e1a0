package divided

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"rumbench/internal/observe"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rumbench/internal/run/drive"
	"rumbench/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

// fleet is a head with parts in this process. Messages go the way as JSON; the clock of each machine is
// skewed.
type fleet struct {
	*Head
	steps     []*workload.Step
	stages    []*stage
	skew      []time.Duration                                  // of the parts and the head
	delay     func(peer int, m *Message) (time.Duration, bool) // of a message to a part or the head; false: it is dropped
	cut       []chan struct{}                                  // closed: the part is gone
	lines     []*Line                                          // the conductor's
	conducted chan struct{}                                    // closed when the conductor has ended
	over      sync.WaitGroup
	end       func()
}

// way carries a message to a machine, or from it (back).
func (f *fleet) way(peer int, m Message, back bool, to *Line) {
	b, err := json.Marshal(m)
	var got Message
	if err = errors.Join(err, json.Unmarshal(b, &got)); err != nil {
		panic(err)
	}
	if got.At != 0 && back {
		got.At += int64(f.skew[peer])
	} else if got.At != 0 {
		got.At -= int64(f.skew[peer])
	}
	if f.delay != nil && !back {
		wait, ok := f.delay(peer, &got)
		if !ok {
			return
		}
		time.Sleep(wait)
	}
	select {
	case <-f.cut[peer]:
	default:
		to.Hear(got)
	}
}

// newFleet begins parts and a conductor. step is the same for all.
func newFleet(t *testing.T, parts int, setUp func(part int) (*workload.Step, *stage)) *fleet {
	t.Helper()
	f := &fleet{}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Conductor{Silence: time.Second}
	connect := func(peer int) (Peer, *Line) {
		own := &Line{}
		there := NewLine(func(m Message) { f.way(peer, m, false, own) })
		*own = *NewLine(func(m Message) { f.way(peer, m, true, there) })
		f.lines = append(f.lines, there)
		return Peer{Machine: fmt.Sprintf("c%d", peer+1), Line: there, Gone: func() string { return "cut" },
			Offset: func(context.Context, int) (Offset, error) {
				return Offset{Ahead: f.skew[peer], Bound: time.Millisecond, Trip: time.Millisecond}, nil
			}}, own
	}
	for i := range parts {
		f.skew, f.cut = append(f.skew, time.Duration(i-1)*time.Hour), append(f.cut, make(chan struct{}))
		peer, own := connect(i)
		c.Parts = append(c.Parts, peer)
		step, st := setUp(i)
		f.steps, f.stages = append(f.steps, step), append(f.stages, st)
		p := &Part{Line: own, Open: func(_ context.Context, task *Task) (*Step, error) {
			s := &Step{Of: step, Stage: st, Close: func() {}, Report: func(context.Context) time.Duration { return 0 }}
			for g, group := range task.Numbers.Groups {
				s.Clients = append(s.Clients, nil)
				for seat := range group.Clients {
					var client workload.Client
					if task.Part.Has(seat) {
						client = &sleeper{st, seat}
					}
					s.Clients[g] = append(s.Clients[g], client)
				}
			}
			return s, nil
		}}
		f.over.Go(func() { _ = p.Serve(ctx) })
	}
	f.skew, f.cut = append(f.skew, -90*time.Minute), append(f.cut, make(chan struct{}))
	peer, own := connect(parts)
	c.Head = peer
	f.Head = &Head{Line: own}
	f.conducted = make(chan struct{})
	f.over.Go(func() {
		defer close(f.conducted)
		c.Run(ctx)
	})
	f.end = func() {
		cancel()
		f.over.Wait()
	}
	t.Cleanup(f.end)
	return f
}

// hangUp ends the line of a part, as the end of its process does.
func (f *fleet) hangUp(part int) {
	close(f.cut[part])
	f.lines[part].HangUp()
}

func sleeping(clients int, work int64, seconds float64) *workload.Step {
	return &workload.Step{Name: "s", Divides: true, Seconds: seconds, Primary: "op",
		Groups: []workload.Group{{Name: "all", Clients: clients, Work: work, Ops: []workload.OpKind{{Name: "op", Unit: "row"}}}}}
}

func (f *fleet) open(ctx context.Context, c *drive.Config) error {
	_, err := f.Open(ctx, &Task{Step: "s", Numbers: *NumbersOf(c)})
	return err
}

// start begins a load.
func (f *fleet) start(ctx context.Context, t *testing.T, step *workload.Step) {
	t.Helper()
	config := drive.Config{Step: step, Interval: tick}
	if err := errors.Join(f.open(ctx, &config), f.Load(ctx, &config), f.Meet(ctx), f.Start(ctx)); err != nil {
		t.Fatal(err)
	}
}

const tick = 100 * time.Millisecond

func (f *fleet) load(t *testing.T, step *workload.Step) (*Outcome, []*Interval, error) {
	t.Helper()
	ctx := t.Context()
	config := drive.Config{Step: step, Interval: tick}
	_, err := f.Open(ctx, &Task{Step: step.Name, Numbers: *NumbersOf(&config)})
	if err == nil {
		err = f.Load(ctx, &config)
	}
	if err == nil {
		err = errors.Join(f.Meet(ctx), f.Start(ctx))
	}
	if err != nil {
		return nil, nil, err
	}
	var ticks []*Interval
	ended := 0
	out, err := f.Run(ctx, func(iv *Interval) { ticks = append(ticks, iv) }, func() { ended++ })
	if err == nil && ended != 1 {
		t.Errorf("ended %d times", ended)
	}
	return out, ticks, err
}

// A load of five clients on three machines, whose clocks are hours apart, is one load.
func TestLoad(t *testing.T) {
	step := sleeping(5, 20, 0)
	f := newFleet(t, 3, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(seat int) time.Duration { return time.Duration(seat+1) * 5 * time.Millisecond }}
	})
	for range 2 { // a lead-in and a window, for example
		out, ticks, err := f.load(t, step)
		if err != nil {
			t.Fatal(err)
		}
		group := &out.Result.Groups[0]
		if group.Kinds[0].Ops != 100 || group.Kinds[0].Rows != 200 || group.Kinds[0].Service.Count() != 100 {
			t.Errorf("%+v", group.Kinds[0].Counts)
		}
		for seat, n := range group.Done {
			if n != 20 {
				t.Errorf("seat %d did %d operations, want 20", seat, n)
			}
		}
		var ops, busy int64
		last := time.Duration(0)
		for _, iv := range ticks {
			if iv.From != last {
				t.Errorf("an interval begins at %v, and the last has ended at %v", iv.From, last)
			}
			last = iv.To
			ops += iv.Groups[0].Kinds[0].Ops
			if len(iv.Machines) != 3 || iv.Machines[2].Machine != "c3" {
				t.Errorf("%+v", iv.Machines)
			}
			for _, u := range iv.Machines {
				busy += int64(u.CPU)
			}
		}
		if ops != 100 || len(ticks) < 4 || busy == 0 {
			t.Errorf("%d intervals with %d operations", len(ticks), ops)
		}
		// Seats 0 and 3, 1 and 4, 2 are on the three machines.
		for i, want := range []int64{40, 40, 20} {
			if r := out.Reports[i]; r.Ops != want || r.Machine != fmt.Sprintf("c%d", i+1) || r.P50 == 0 || r.P99 < r.P50 {
				t.Errorf("%+v", r)
			}
		}
		if out.Spread > 50*time.Millisecond || out.Bound != 2*time.Millisecond {
			t.Errorf("began %v apart, bound %v", out.Spread, out.Bound)
		}
	}
	var done int64
	for _, s := range f.stages {
		done += s.done.Load()
	}
	if done != 200 {
		t.Errorf("%d operations, want 200", done)
	}
}

// A group without work ends when the others' work is done, on whichever machines they are.
func TestLed(t *testing.T) {
	step := sleeping(1, 10, 0)
	step.Groups = append(step.Groups, workload.Group{Name: "beside", Clients: 3, Ops: step.Groups[0].Ops})
	f := newFleet(t, 3, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(int) time.Duration { return 10 * time.Millisecond }}
	})
	out, _, err := f.load(t, step)
	if err != nil || out.Result.Groups[0].Kinds[0].Ops != 10 {
		t.Fatal(out, err)
	}
	for seat, n := range out.Result.Groups[1].Done {
		if n < 3 || n > 40 {
			t.Errorf("seat %d beside it did %d operations", seat, n)
		}
	}
	if counts := out.Counts; len(counts) != 2 || counts[0] != 10+out.Result.Groups[1].Kinds[0].Ops || counts[1] != 3 {
		t.Errorf("counts %v", counts)
	}
}

// An instant that a machine learns too late is withdrawn, and another holds.
func TestArmedLate(t *testing.T) {
	step := sleeping(2, 5, 0)
	f := newFleet(t, 2, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(int) time.Duration { return time.Millisecond }}
	})
	var mu sync.Mutex
	arms, disarms := 0, 0
	f.delay = func(peer int, m *Message) (time.Duration, bool) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case peer == 1 && m.Kind == Arm:
			if arms++; arms == 1 {
				return 0, false
			}
		case peer == 1 && m.Kind == Disarm:
			disarms++
		}
		return 0, true
	}
	out, _, err := f.load(t, step)
	if err != nil || out.Result.Groups[0].Kinds[0].Ops != 10 || arms != 2 || disarms != 1 {
		t.Errorf("%v; armed %d times, disarmed %d times", err, arms, disarms)
	}
	f.delay = func(_ int, m *Message) (time.Duration, bool) { return 0, m.Kind != Arm }
	if _, _, err := f.load(t, step); err == nil || !strings.Contains(err.Error(), "could not agree") {
		t.Errorf("without any agreement: %v", err)
	}
	for _, s := range f.stages {
		if s.done.Load() != 5 {
			t.Errorf("%d operations, want only those of the load that has begun", s.done.Load())
		}
	}
}

// The failure of a client ends the load everywhere, and is the load's.
func TestFailed(t *testing.T) {
	step := sleeping(4, 1000, 0)
	bad := errors.New("the table is gone")
	f := newFleet(t, 2, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(int) time.Duration { return 5 * time.Millisecond }, fail: func(seat int) error {
			if seat == 3 {
				return bad
			}
			return nil
		}}
	})
	out, _, err := f.load(t, step)
	if err != nil || out.Result.Ended == nil || !strings.Contains(out.Result.Ended.Error(), bad.Error()) {
		t.Fatalf("%+v, %v", out, err)
	}
	if ops := out.Result.Groups[0].Kinds[0].Ops; ops > 100 {
		t.Errorf("the others did %d operations more", ops)
	}
}

// A machine that is lost voids the load: its operations are unknown.
func TestLost(t *testing.T) {
	for _, silently := range []bool{false, true} {
		step := sleeping(2, 0, 20)
		f := newFleet(t, 2, func(int) (*workload.Step, *stage) {
			return step, &stage{each: func(int) time.Duration { return 5 * time.Millisecond }}
		})
		ctx := t.Context()
		f.start(ctx, t, step)
		began := time.Now()
		_, err := f.Run(ctx, func(iv *Interval) {
			if iv.To > 300*time.Millisecond && iv.To < 450*time.Millisecond {
				if silently {
					close(f.cut[1])
				} else {
					f.hangUp(1)
				}
			}
		}, func() {})
		lost, is := errors.AsType[*LostError](err)
		if !is || lost.Machine != "c2" || !strings.Contains(err.Error(), "into the load of step s") {
			t.Errorf("%v", err)
		}
		if time.Since(began) > 5*time.Second {
			t.Errorf("found after %v", time.Since(began))
		}
		other := f.stages[0].done.Load()
		time.Sleep(50 * time.Millisecond)
		if more := f.stages[0].done.Load() - other; more > 2 {
			t.Errorf("the other machine goes on: %d operations more", more)
		}
		f.end()
	}
}

// The end of the head's context ends the load; what was measured is returned.
func TestInterrupted(t *testing.T) {
	step := sleeping(2, 0, 20)
	f := newFleet(t, 2, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(int) time.Duration { return 5 * time.Millisecond }}
	})
	ctx, cancel := context.WithCancel(t.Context())
	f.start(ctx, t, step)
	time.AfterFunc(400*time.Millisecond, cancel)
	out, err := f.Run(ctx, func(*Interval) {}, func() {})
	if err != nil || !errors.Is(out.Result.Ended, context.Canceled) || out.Result.Groups[0].Kinds[0].Ops == 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// When the head is gone, nobody counts the load: it ends.
func TestHeadGone(t *testing.T) {
	step := sleeping(2, 0, 20)
	f := newFleet(t, 2, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(int) time.Duration { return 5 * time.Millisecond }}
	})
	ctx := t.Context()
	f.start(ctx, t, step)
	time.Sleep(300 * time.Millisecond)
	f.hangUp(2)
	<-f.conducted
	for _, s := range f.stages {
		for before := int64(-1); before != s.done.Load(); time.Sleep(50 * time.Millisecond) {
			before = s.done.Load()
		}
	}
}

// A head that is interrupted before the start begins no load.
func TestInterruptedBefore(t *testing.T) {
	step := sleeping(2, 0, 20)
	f := newFleet(t, 2, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(int) time.Duration { return 5 * time.Millisecond }}
	})
	ctx, cancel := context.WithCancel(t.Context())
	config := drive.Config{Step: step, Interval: tick}
	if err := errors.Join(f.open(ctx, &config), f.Load(ctx, &config)); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := f.Meet(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	f.Close()
	time.Sleep(2 * leastLead)
	for i, s := range f.stages {
		if n := s.done.Load(); n > 0 {
			t.Errorf("part %d did %d operations that nobody counts", i, n)
		}
	}
}

// What has failed stays so: later requests are answered with it.
func TestStaysFailed(t *testing.T) {
	step := sleeping(2, 5, 0)
	f := newFleet(t, 2, func(int) (*workload.Step, *stage) {
		return step, &stage{each: func(int) time.Duration { return time.Millisecond }}
	})
	f.hangUp(1)
	config := drive.Config{Step: step, Interval: tick}
	for range 2 {
		lost, is := errors.AsType[*LostError](f.open(t.Context(), &config))
		if !is || lost.Machine != "c2" {
			t.Fatalf("%v", lost)
		}
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
