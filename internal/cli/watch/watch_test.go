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
	"rumbench/internal/expect"
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
	expect.NoError(t, Run(t.Context(), c, func(f *Frame) error { each(f); return nil }))
}

// attach connects to a server, and closes the connection at the end.
func attach(t *testing.T, s *server) *Target {
	t.Helper()
	target := &Target{Name: "my", watcher: s, dsn: "dsn"}
	expect.NoError(t, AttachAll(t.Context(), []*Target{target}, func(string) {}))
	return target
}

// story returns what the frames hold of some series, one line for each: the rate, "gap" where it is not known yet,
// "-" where there is no such series. The series "errors" are those of the sources.
func story(t *testing.T, c Config, each func(*Frame), keys ...string) (lines []string) {
	t.Helper()
	words := map[string][]string{}
	run(t, c, func(f *Frame) {
		for _, key := range keys {
			word := "-"
			if r := row(f, key); r != nil && !r.Known {
				word = "gap"
			} else if r != nil {
				word = fmt.Sprint(math.Round(r.Rate))
			}
			for _, s := range f.Sources {
				if s.Err != nil && key == "errors" {
					word = s.Err.Error()
				}
			}
			words[key] = append(words[key], word)
		}
		each(f)
	})
	for _, key := range keys {
		line := ""
		for list := words[key]; len(list) > 0; {
			n := 1
			for n < len(list) && list[n] == list[0] {
				n++
			}
			line += fmt.Sprintf(", %d × %s", n, list[0])
			list = list[n:]
		}
		lines = append(lines, key+": "+line[2:])
	}
	return lines
}

func checkStory(t *testing.T, got []string, want ...string) {
	t.Helper()
	expect.Same(t, want, got)
}

const statements = `fake.statements{target="my"}`

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
		begin := time.Now()
		c := Config{Count: 60, Collectors: []observe.Collector{clock("host", unsteady), clock("device", always(0))}, Targets: []*Target{target}}
		got := story(t, c, func(f *Frame) {
			if f.Number == 0 {
				begin = f.Time
			} else if at := f.Time.Sub(begin); at != time.Duration(f.Number)*time.Second && f.Number > 1 {
				t.Errorf("frame %d is of %v", f.Number, at)
			}
		}, "host.milliseconds", "device.milliseconds", statements)
		checkStory(t, got, "host.milliseconds: 1 × gap, 60 × 1000", "device.milliseconds: 1 × gap, 60 × 1000",
			statements+": 1 × gap, 60 × 1000")
	})
}

// TestSeriesComeAndGo is T5: a database is created and dropped.
func TestSeriesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		defer target.Close()
		a, b := `fake.database.commits{database="a",target="my"}`, `fake.database.commits{database="b",target="my"}`
		got := story(t, Config{Count: 8, Targets: []*Target{target}}, func(f *Frame) {
			switch f.Number {
			case 2:
				s.do(func() { s.databases = []string{"a", "b"} })
			case 5:
				s.do(func() { s.databases = []string{"a"} })
			}
		}, a, b, statements)
		checkStory(t, got, a+": 1 × gap, 8 × 500", b+": 3 × -, 1 × gap, 2 × 500, 3 × -", statements+": 1 × gap, 8 × 1000")
	})
}

// TestServerRestarts is T5 too: error rows while it is away, then a gap, then
// rates, never a negative one. The others go on.
func TestServerRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		c := Config{Count: 9, Collectors: []observe.Collector{clock("host", always(0))}, Targets: []*Target{target}}
		got := story(t, c, func(f *Frame) {
			switch f.Number {
			case 2:
				s.do(func() { s.up = false })
			case 5:
				s.do(func() { s.up, s.since = true, time.Now() })
			}
		}, "host.milliseconds", statements, "errors")
		expect.NoError(t, target.Close())
		checkStory(t, got, "host.milliseconds: 1 × gap, 9 × 1000", statements+": 1 × gap, 2 × 1000, 3 × -, 1 × gap, 3 × 1000",
			"errors: 3 × -, 1 × broken pipe, 2 × connect: connection refused, 4 × -")
		expect.Equal(t, s.open, 0, "connections were left open")
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
		got := story(t, Config{Count: 4, Collectors: []observe.Collector{c}}, func(*Frame) {}, "fake.c0", "fake.c1", "fake.c2")
		// The last fall is of one counter only, whose kind may be a wrong guess.
		checkStory(t, got, "fake.c0: 1 × gap, 1 × 100, 1 × gap, 2 × 100", "fake.c1: 1 × gap, 1 × 100, 1 × gap, 1 × 100, 1 × gap",
			"fake.c2: 1 × gap, 1 × 1, 1 × gap, 2 × 10")
	})
}

// TestHangingServer: a server that does not answer delays no others, is given
// up after a time, and comes back.
func TestHangingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		defer target.Close()
		c := Config{Count: 30, Collectors: []observe.Collector{clock("host", always(0))}, Targets: []*Target{target}}
		silent, known := 0, 0
		got := story(t, c, func(f *Frame) {
			if err := f.Find("my/engine").Err; err != nil && strings.Contains(err.Error(), "no answer") {
				silent++
			}
			if r := row(f, statements); r != nil && math.Round(r.Rate) == 1000 {
				known++
			}
			s.do(func() { s.hangs = f.Number >= 3 && f.Number < 20 })
		}, "host.milliseconds")
		checkStory(t, got, "host.milliseconds: 1 × gap, 30 × 1000")
		expect.True(t, silent >= 14 && known >= 3+4, silent, "frames without an answer", known, "with rates")
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
			if r := row(f, statements); r != nil && r.Known {
				rates++
				expect.True(t, math.Abs(r.Rate-1000) <= 1, "frame", f.Number, "rate", r.Rate)
			}
		})
		expect.True(t, rates >= 9, rates, "rates in 20 s of answers that take 1.5 s")
	})
}

func TestBrokenSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		bad := fake{"device", func(_ context.Context, s *engine.Sample) error {
			s.Counter("device.reads", "count", float64(100*n))
			if n++; n == 3 {
				return errors.New("it is gone")
			}
			return nil
		}}
		c := Config{Count: 4, Collectors: []observe.Collector{bad, clock("host", always(0))}}
		got := story(t, c, func(f *Frame) {
			if r := row(f, "device.reads"); f.Number == 3 && r.Delta != 200 { // no growth is lost
				t.Errorf("after the error: %+v", r)
			}
		}, "host.milliseconds", "device.reads", "errors")
		checkStory(t, got, "host.milliseconds: 1 × gap, 4 × 1000", "device.reads: 1 × gap, 1 × 100, 1 × -, 2 × 100", "errors: 2 × -, 1 × it is gone, 2 × -")
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
		expect.True(t, errors.Is(err, full) && n == 3, err, "after", n, "frames")
	})
}

// TestRetriesAreFew: frequent samples do not knock at a closed door each time.
func TestRetriesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		target := attach(t, s)
		defer target.Close()
		s.do(func() { s.up = false })
		run(t, Config{Interval: 50 * time.Millisecond, Count: 100, Targets: []*Target{target}}, func(*Frame) {})
		expect.True(t, s.attempts <= 7, s.attempts, "attempts in 5 s")
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
	expect.Equal(t, p.Name(), "my/process")
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
		expect.NoError(t, target.Counters(t.Context(), &sample))
		expect.Equal(t, target.current().epoch, step.epochs, "epoch")
	}
	s.pids = nil
	expect.NoError(t, target.Close())
	target.conn = nil
	expect.NoError(t, target.Counters(t.Context(), &engine.Sample{}))
	err = broken
	expect.NoError(t, p.Collect(t.Context(), &engine.Sample{})) // they are unknown: no error
}

func TestCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cost Cost
		expect.Equal(t, cost.String(), "", "the cost of nothing")
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
		expect.Equal(t, cost.String(), want)
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
		f := &Frame{Sources: p.changes(p.sampler.Snapshot(b.Context()))}
		f.derive(list)
	}
}
