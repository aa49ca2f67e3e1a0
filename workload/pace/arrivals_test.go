package pace_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/workload/pace"
)

func schedule(t expect.Reporter, a pace.Arrivals, seed uint64) *pace.Schedule {
	s, err := a.Schedule(seed)
	expect.NoError(t, err)
	return s
}

// An even schedule has as many starts in every segment as the integral of its
// rate, and never decreases.
func TestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.Custom(func(t *rapid.T) pace.Segment {
			rate := rapid.SampledFrom([]float64{0, 0.5, 1, 10, 333, 2000})
			return pace.Segment{Seconds: rapid.SampledFrom([]float64{0.25, 1, 3}).Draw(t, "seconds"), From: rate.Draw(t, "from"), To: rate.Draw(t, "to")}
		})
		a := pace.Arrivals{Segments: append(rapid.SliceOfN(segment, 0, 4).Draw(t, "segments"), pace.Segment{1, 1, 1})}
		s := schedule(t, a, 0)
		var end, sum float64
		var n int64
		var last time.Duration
		next := s.Next()
		for _, g := range a.Segments {
			end += g.Seconds
			sum += (g.From + g.To) / 2 * g.Seconds
			for ; next.Seconds() < end-0.5e-9; next = s.Next() {
				expect.Must(t, next >= last, next, "after", last)
				last = next
				n++
			}
			// Start 0 is where the integral is 0, so there is one more.
			expect.Must(t, math.Abs(float64(n)-math.Ceil(sum)) <= 1e-6,
				n, "starts until", end, "s, the integral is", sum)
			if u := a.Until(end); math.Abs(u-sum) > 1e-9*(1+sum) {
				t.Fatalf("%[2]v arrive until %[1]v s, want %[3]v", end, u, sum)
			}
		}
	})
}

// Start i of a ramp from 0 is at t = √(2·i·T/rate).
func TestRamp(t *testing.T) {
	s := schedule(t, pace.Arrivals{Kind: pace.Even, Segments: []pace.Segment{{Seconds: 10, From: 0, To: 100}}}, 0)
	for i := range 500 {
		want := math.Sqrt(2 * float64(i) * 10 / 100)
		if got := s.Next(); math.Abs(got.Seconds()-want) > 1e-9 {
			t.Fatalf("start %d at %v, want %v s", i, got, want)
		}
	}
	for i := range 100 { // then the last rate continues
		if got, want := s.Next(), 10*time.Second+time.Duration(i)*10*time.Millisecond; got != want {
			t.Fatalf("start %d at %v, want %v", 500+i, got, want)
		}
	}
	down := schedule(t, pace.Arrivals{Segments: []pace.Segment{{Seconds: 10, From: 100, To: 0}}}, 0)
	n := 0
	for next := down.Next(); next != pace.Never; next = down.Next() {
		n++
	}
	expect.Equal(t, n, 500, "starts of a ramp to 0, want 500")
}

// A pause has no starts.
func TestPause(t *testing.T) {
	s := schedule(t, pace.Arrivals{Segments: []pace.Segment{{1, 10, 10}, {5, 0, 0}, {1, 10, 10}}}, 0)
	for i := range 10 {
		if got, want := s.Next(), time.Duration(i)*100*time.Millisecond; got != want {
			t.Fatalf("start %d at %v, want %v", i, got, want)
		}
	}
	expect.Equal(t, s.Next(), 6*time.Second, "first start after the pause at")
}

// The gaps of a Poisson schedule, in units of expected arrivals, are exponential
// by a Kolmogorov–Smirnov test: the limit is 1.95/√n at one in a thousand.
func TestExponentialGaps(t *testing.T) {
	a := pace.Arrivals{Kind: pace.Poisson, Segments: []pace.Segment{{10, 100, 2000}, {10, 2000, 300}}}
	const n = 20_000
	buckets := make([]int, 1000)
	s := schedule(t, a, 11)
	last := 0.0
	for range n {
		at := a.Until(s.Next().Seconds())
		share := 1 - math.Exp(-(at - last))
		last = at
		buckets[min(int(share*1000), 999)]++
	}
	worst, sum := 0.0, 0
	for i, c := range buckets {
		sum += c
		worst = max(worst, math.Abs(float64(sum)/n-float64(i+1)/1000))
	}
	expect.True(t, worst <= 1.95/math.Sqrt(n), "the distribution of gaps is off by", worst)
	expect.True(t, math.Abs(last-n) <= 4*math.Sqrt(n), n, "starts where", last, "are expected")
}

// A burst has as many starts as an even schedule in each second.
func TestBurstOfArrivals(t *testing.T) {
	s := schedule(t, pace.Arrivals{Kind: pace.Burst, Segments: []pace.Segment{{4, 0, 8}}}, 0)
	count := map[time.Duration]int{}
	for range 16 {
		count[s.Next()]++
	}
	// √(i) seconds: 0; 1, 2, 3; 4…8; 9…15
	for second, want := range []int{1, 3, 5, 7} {
		expect.Equal(t, count[time.Duration(second)*time.Second], want, "starts in second", second)
	}
}

// Schedules of one seed repeat, and those of other draws differ.
func TestDraws(t *testing.T) {
	a := *pace.Constant(pace.Poisson, 10)
	other := a
	other.Draw = 1
	first := schedule(t, a, 1).Next()
	expect.Equal(t, schedule(t, a, 1).Next(), first, "and")
	if next := schedule(t, other, 1).Next(); next == first {
		t.Errorf("%v in both", next)
	}
}

func TestArrivalsRefused(t *testing.T) {
	nan := math.NaN()
	for _, a := range []pace.Arrivals{
		{}, {Segments: []pace.Segment{{0, 1, 1}}}, {Segments: []pace.Segment{{1, -1, 1}}},
		{Segments: []pace.Segment{{1, 1, nan}}}, {Segments: []pace.Segment{{nan, 1, 1}}},
		{Segments: []pace.Segment{{1, 0, 0}}}, {Segments: []pace.Segment{{1, math.Inf(1), 1}}}, {Kind: "waves", Segments: []pace.Segment{{1, 1, 1}}},
	} {
		expect.Refused(a.Schedule(0))(t, "", a, "is accepted")
	}
}
