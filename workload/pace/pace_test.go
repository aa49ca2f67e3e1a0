package pace_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/workload/pace"
)

// Schedules never decrease and keep their rate.
func TestRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := pace.Kind(rapid.SampledFrom(pace.Kinds()).Draw(t, "kind"))
		rate := rapid.Float64Range(0.1, 5000).Draw(t, "rate")
		s, err := pace.New(kind, rate, 0.5, rapid.Uint64().Draw(t, "seed"))
		expect.NoError(t, err)
		const n = 2000
		var last time.Duration
		for range n {
			next := s.Next()
			expect.Must(t, next >= last, next, "after", last)
			last = next
		}
		want := n / rate
		slack := 1 + 1/rate // a burst may be off by a second, an even start by a gap
		if kind == pace.Poisson {
			slack = 6 * math.Sqrt(n) / rate
		}
		expect.Must(t, math.Abs(last.Seconds()-want) <= slack,
			kind, n, "starts at", rate, "/s take", last, "want", want, "s")
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
		expect.Must(t, x == b.Next(), "the same seed gives another schedule")
		same = same && x == c.Next()
	}
	expect.True(t, !same, "another seed gives the same schedule")
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		kind        pace.Kind
		rate, phase float64
	}{{pace.Even, 0, 0}, {pace.Even, -1, 0}, {pace.Even, math.NaN(), 0}, {pace.Even, math.Inf(1), 0}, {pace.Even, 1, 1}, {"waves", 1, 0}} {
		expect.Refused(pace.New(c.kind, c.rate, c.phase, 0))(t, "", c, "is accepted")
	}
}
