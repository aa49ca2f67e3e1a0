package watch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// clock is a source whose counter grows by 1000 a second, asked in a time.
func clock(name string, takes func() time.Duration) fake {
	since := time.Now()
	return fake{name, func(_ context.Context, s *engine.Sample) error {
		d := takes()
		time.Sleep(d / 2)
		s.Counter(name+".milliseconds", "count", float64(time.Since(since))/float64(time.Millisecond))
		time.Sleep(d - d/2)
		return nil
	}}
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// run watches and calls each for all frames.
func run(t *testing.T, c Config, each func(*Frame)) {
	t.Helper()
	if c.Interval == 0 {
		c.Interval = time.Second
	}
	must(t, Run(t.Context(), c, func(f *Frame) error { each(f); return nil }))
}

// attach connects to a server, and closes the connection at the end.
func attach(t *testing.T, s *server) *Target {
	t.Helper()
	target := &Target{Name: "my", watcher: s, dsn: "dsn"}
	must(t, AttachAll(t.Context(), []*Target{target}, func(string) {}))
	return target
}

func checkRate(t *testing.T, f *Frame, key string, want float64) {
	t.Helper()
	r := row(f, key)
	if r == nil || !r.Known {
		t.Errorf("frame %d: %s is not known", f.Number, key)
	} else if math.Abs(r.Rate-want) > want/1000 {
		t.Errorf("frame %d: rate of %s is %v, want %v within 0.1 %%", f.Number, key, r.Rate, want)
	}
}

// TestSlowSource is T6: answers that take 0.4 of the interval, sometimes, do
// not make rates wrong, and frames come at every tick.
func TestSlowSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		unsteady := func() time.Duration {
			if n++; n%3 == 0 {
				return time.Millisecond
			}
			return 400 * time.Millisecond
		}
		s := newServer()
		s.slow = 400 * time.Millisecond
		target := attach(t, s)
		defer target.Close()
		begin, frames := time.Now(), 0
		c := Config{Count: 60, Collectors: []observe.Collector{clock("host", unsteady), clock("device", always(0))}, Targets: []*Target{target}}
		run(t, c, func(f *Frame) {
			if f.Number == 0 {
				begin = f.Time
				return
			}
			frames++
			for _, key := range []string{"host.milliseconds", "device.milliseconds", `fake.statements{target="my"}`} {
				checkRate(t, f, key, 1000)
			}
			if at := f.Time.Sub(begin); at != time.Duration(f.Number)*time.Second && f.Number > 1 {
				t.Errorf("frame %d is of %v", f.Number, at)
			}
		})
		if frames != 60 {
			t.Errorf("%d frames in 60 s", frames)
		}
	})
}

// TestSeriesComeAndGo is T5: a database is created and dropped.
func TestSeriesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		defer target.Close()
		a, b := `fake.database.commits{database="a",target="my"}`, `fake.database.commits{database="b",target="my"}`
		run(t, Config{Count: 8, Targets: []*Target{target}}, func(f *Frame) {
			if f.Number > 0 {
				checkRate(t, f, a, 500)
				checkRate(t, f, `fake.statements{target="my"}`, 1000)
			}
			switch r := row(f, b); f.Number {
			case 3: // just created
				if r == nil || r.Known || r.Rate != 0 {
					t.Errorf("a new database: %+v", r)
				}
			case 4, 5:
				checkRate(t, f, b, 500)
			default:
				if r != nil {
					t.Errorf("frame %d has %s", f.Number, b)
				}
			}
			switch f.Number {
			case 2:
				s.set("a", "b")
			case 5:
				s.set("a")
			}
		})
	})
}

// TestServerRestarts is T5 too: error rows while it is away, then a gap, then
// rates, never a negative one.
func TestServerRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		const key = `fake.statements{target="my"}`
		var story []string
		run(t, Config{Count: 9, Collectors: []observe.Collector{clock("host", always(0))}, Targets: []*Target{target}}, func(f *Frame) {
			if f.Number > 0 {
				checkRate(t, f, "host.milliseconds", 1000) // the others go on
			}
			my := f.Find("my/engine")
			switch r := row(f, key); {
			case my.Err != nil:
				story = append(story, my.Err.Error())
			case !r.Known:
				story = append(story, "gap")
			default:
				checkRate(t, f, key, 1000)
				story = append(story, "rate")
			}
			if r := row(f, key); r != nil && r.Rate < 0 {
				t.Errorf("rate %v", r.Rate)
			}
			switch f.Number {
			case 2:
				s.stop()
			case 5:
				s.start()
			}
		})
		must(t, target.Close())
		want := "gap, rate, rate, broken pipe, connect: connection refused, connect: connection refused, gap, rate, rate, rate"
		if got := strings.Join(story, ", "); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if s.open != 0 {
			t.Errorf("%d connections were left open", s.open)
		}
	})
}

// TestCountersFall: without a broken connection a restart is seen by the
// counters, also where some have passed their old values.
func TestCountersFall(t *testing.T) {
	values := [][3]float64{{1000, 1000, 3}, {1100, 1100, 4}, {50, 60, 40}, {150, 160, 50}, {250, 100, 60}}
	n := -1
	c := fake{"engine", func(_ context.Context, s *engine.Sample) error {
		n++
		for i, v := range values[n] {
			s.Counter(fmt.Sprintf("fake.c%d", i), "count", v)
		}
		return nil
	}}
	synctest.Test(t, func(t *testing.T) {
		var got []string
		run(t, Config{Count: 4, Collectors: []observe.Collector{c}}, func(f *Frame) {
			line := ""
			for _, r := range f.each {
				if r.Known {
					line += fmt.Sprintf(" %v", r.Rate)
				} else {
					line += " gap"
				}
			}
			got = append(got, line)
		})
		// The last fall is of one counter only, whose kind may be a wrong guess.
		want := []string{" gap gap gap", " 100 100 1", " gap gap gap", " 100 100 10", " 100 gap 10"}
		if strings.Join(got, ";") != strings.Join(want, ";") {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestHangingServer: a server that does not answer delays no others, is given
// up after a time, and comes back.
func TestHangingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		defer target.Close()
		frames, silent, known := 0, 0, 0
		run(t, Config{Count: 30, Collectors: []observe.Collector{clock("host", always(0))}, Targets: []*Target{target}}, func(f *Frame) {
			frames++
			if f.Number > 0 {
				checkRate(t, f, "host.milliseconds", 1000)
			}
			my := f.Find("my/engine")
			if my.Err != nil && strings.Contains(my.Err.Error(), "no answer") {
				silent++
			}
			if r := row(f, `fake.statements{target="my"}`); r != nil && r.Known {
				checkRate(t, f, `fake.statements{target="my"}`, 1000)
				known++
			}
			s.mu.Lock()
			s.hangs = f.Number >= 3 && f.Number < 20
			s.mu.Unlock()
		})
		if frames != 31 || silent < 14 || known < 3+4 {
			t.Errorf("%d frames, %d without an answer, %d with rates", frames, silent, known)
		}
	})
}

// TestLateAnswer: an answer that comes after its tick is part of the next
// frame, with its true time.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.slow = 1500 * time.Millisecond
		target := attach(t, s)
		defer target.Close()
		rates := 0
		run(t, Config{Count: 20, Targets: []*Target{target}}, func(f *Frame) {
			if r := row(f, `fake.statements{target="my"}`); r != nil && r.Known {
				checkRate(t, f, `fake.statements{target="my"}`, 1000)
				rates++
			}
		})
		if rates < 9 {
			t.Errorf("%d rates in 20 s of answers that take 1.5 s", rates)
		}
	})
}

func TestBrokenSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		bad := fake{"device", func(_ context.Context, s *engine.Sample) error {
			s.Counter("device.reads", "count", float64(100*n))
			if n++; n == 3 {
				return errors.New("it is\ngone")
			}
			return nil
		}}
		run(t, Config{Count: 4, Collectors: []observe.Collector{bad, clock("host", always(0))}}, func(f *Frame) {
			if f.Number > 0 {
				checkRate(t, f, "host.milliseconds", 1000)
			}
			switch f.Number {
			case 0:
			case 2:
				if f.Find("device").Err == nil || row(f, "device.reads") != nil {
					t.Error("the error is not reported")
				}
			case 3: // no growth is lost
				if r := row(f, "device.reads"); r.Delta != 200 || r.Rate != 100 {
					t.Errorf("after the error: %+v", r)
				}
			default:
				checkRate(t, f, "device.reads", 100)
			}
		})
	})
}

func TestEmitEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		n := 0
		err := Run(t.Context(), Config{Interval: time.Second}, func(*Frame) error {
			if n++; n == 3 {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) || n != 3 {
			t.Errorf("%v after %d frames", err, n)
		}
	})
}

func TestAttachRefused(t *testing.T) {
	s := newServer()
	wrong := []*Target{{Name: "my", watcher: s, dsn: "wrong"}}
	if err := AttachAll(t.Context(), wrong, nil); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "attach my") {
		t.Error(err)
	}
}

// TestRetriesAreFew: frequent samples do not knock at a closed door each time.
func TestRetriesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		defer target.Close()
		s.stop()
		run(t, Config{Interval: 50 * time.Millisecond, Count: 100, Targets: []*Target{target}}, func(*Frame) {})
		if s.attempts > 7 {
			t.Errorf("%d attempts in 5 s", s.attempts)
		}
	})
}

// TestSuccessor: when a server's processes are gone, its connection is made
// anew even if the driver noticed nothing.
func TestSuccessor(t *testing.T) {
	s := newServer()
	s.pids = []int{1}
	target := attach(t, s)
	defer target.Close()
	p := target.ProcessCollector("/proc").(*targetProcess)
	if p.Name() != "my/process" {
		t.Error(p.Name())
	}
	broken := errors.New("none lives")
	var err error
	p.Collector = fake{"process", func(context.Context, *engine.Sample) error { return err }}
	for _, step := range []struct {
		err    error
		epochs int
	}{{broken, 1}, {nil, 1}, {broken, 2}, {broken, 2}} { // only what was seen can be gone
		var sample engine.Sample
		err = step.err
		if got := p.Collect(t.Context(), &sample); !errors.Is(got, step.err) {
			t.Error(got)
		}
		must(t, target.Counters(t.Context(), &sample))
		if got := target.current().epoch; got != step.epochs {
			t.Errorf("epoch %d, want %d", got, step.epochs)
		}
	}
	s.pids = nil
	must(t, target.Close())
	target.conn = nil
	must(t, target.Counters(t.Context(), &engine.Sample{}))
	err = broken
	must(t, p.Collect(t.Context(), &engine.Sample{})) // they are unknown: no error
}

func TestCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cost Cost
		if cost.String() != "" {
			t.Error("the cost of nothing")
		}
		cpu := 0.0
		own := fake{"client", func(_ context.Context, s *engine.Sample) error {
			s.Counter("client.cpu_ns", "ns", cpu)
			cpu += 5e6
			return nil
		}}
		c := Config{Count: 10, Collectors: []observe.Collector{clock("host", always(2*time.Millisecond)), own}}
		run(t, c, func(f *Frame) {
			cost.Frame(f)
			if r := row(f, `client.sample_ns{source="host"}`); r == nil || r.Value != 2e6 {
				t.Errorf("cost of the host: %+v", r)
			}
		})
		want := "10 intervals in 10.0 s: own CPU 0.5 % of one core, 2.00 ms per sample, at most 2.00 ms by host"
		if got := cost.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// BenchmarkThousandCounters is a frame of 1,000 counters with the derived
// numbers that are built in.
func BenchmarkThousandCounters(b *testing.B) {
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("counter.%04d", i))
	}
	n := 0.0
	c := fake{"engine", func(_ context.Context, s *engine.Sample) error {
		n++
		for _, name := range names {
			s.Counter(name, "count", n)
		}
		return nil
	}}
	list := Builtins()
	p := newProbe(nil, observe.NewLabelled(c, "my/engine", "target", "my"))
	for b.Loop() {
		f := &Frame{Sources: p.since(p.sampler.Snapshot(b.Context()))}
		f.derive(list)
	}
}
