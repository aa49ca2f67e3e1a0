package pace_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/workload/pace"
)

// Schedules never decrease and keep their rate.
func TestRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := pace.Kind(rapid.SampledFrom(pace.Kinds()).Draw(t, "kind"))
		rate := rapid.Float64Range(0.1, 5000).Draw(t, "rate")
		s, err := pace.New(kind, rate, 0.5, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		const n = 2000
		var last time.Duration
		for range n {
			next := s.Next()
			if next < last {
				t.Fatalf("%v after %v", next, last)
			}
			last = next
		}
		want := n / rate
		slack := 1 + 1/rate // a burst may be off by a second, an even start by a gap
		if kind == pace.Poisson {
			slack = 6 * math.Sqrt(n) / rate
		}
		if math.Abs(last.Seconds()-want) > slack {
			t.Fatalf("%s: %d starts at %.2f/s take %v, want %.1f s", kind, n, rate, last, want)
		}
	})
}

func TestEven(t *testing.T) {
	s, _ := pace.New(pace.Even, 20, 0.5, 0)
	for i := range 40 {
		want := 25*time.Millisecond + time.Duration(i)*50*time.Millisecond
		if got := s.Next(); got != want {
			t.Fatalf("start %d at %v, want %v", i, got, want)
		}
	}
}

func TestBurst(t *testing.T) {
	s, _ := pace.New(pace.Burst, 3, 0, 0)
	for i, want := range []int{0, 0, 0, 1, 1, 1, 2} {
		if got := s.Next(); got != time.Duration(want)*time.Second {
			t.Fatalf("start %d at %v, want %d s", i, got, want)
		}
	}
}

func TestPoissonIsRepeatable(t *testing.T) {
	a, _ := pace.New(pace.Poisson, 10, 0, 7)
	b, _ := pace.New(pace.Poisson, 10, 0, 7)
	c, _ := pace.New(pace.Poisson, 10, 0, 8)
	same := true
	for range 100 {
		x := a.Next()
		if x != b.Next() {
			t.Fatal("the same seed gives another schedule")
		}
		same = same && x == c.Next()
	}
	if same {
		t.Error("another seed gives the same schedule")
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		kind        pace.Kind
		rate, phase float64
	}{{pace.Even, 0, 0}, {pace.Even, -1, 0}, {pace.Even, math.NaN(), 0}, {pace.Even, math.Inf(1), 0}, {pace.Even, 1, 1}, {"waves", 1, 0}} {
		if _, err := pace.New(c.kind, c.rate, c.phase, 0); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
