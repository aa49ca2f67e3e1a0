package gen_test

import (
	"math"
	"testing"

	"rumbench/workload/gen"
)

// The hottest number has 3.78 % of the draws, however many numbers there are.
func TestYCSBScrambled(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1000, 1_000_000, 50_000_000} {
		s := gen.NewSource(gen.NewStream(1, "scrambled"))
		z := gen.NewYCSBScrambled(n, gen.YCSBTheta)
		top, hottest := 0.0, gen.FNV(0)%n
		for range manyDraws {
			if z.Draw(s) == hottest {
				top++
			}
		}
		near(t, "share of the top number", top/manyDraws, 0.0378+1/float64(n), 0.001) // others collide with it
	}
}

// Zeta agrees with the sum of its terms, and with the constant that YCSB's sources
// have for 10¹⁰ and 0.99.
func TestZeta(t *testing.T) {
	t.Parallel()
	near(t, "zeta of 10^10", gen.Zeta(10_000_000_000, 0.99), 26.46902820178302, 1e-9)
	for _, theta := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
		sum := 0.0
		for i := int64(1); i <= 200_000; i++ {
			sum += math.Pow(float64(i), -theta)
			switch i {
			case 1, 2, 999, 1000, 1001, 5000, 200_000:
				near(t, "zeta", gen.Zeta(i, theta), sum, sum*1e-12)
			}
		}
	}
}

// A Zipfian that grew draws what one made anew draws, but for what YCSB computes of the
// numbers at first.
func TestYCSBZipfGrows(t *testing.T) {
	t.Parallel()
	const first, then = 1000, 3000
	z, anew := gen.NewYCSBZipf(first, 0.99), gen.NewYCSBZipf(then, 0.99)
	z.Grow(then)
	s := gen.NewSource(gen.NewStream(1, "growing"))
	for range manyDraws {
		u := s.Unit()
		a, b := z.Of(u), anew.Of(u)
		if a < 0 || a >= then || b < 0 || b >= then {
			t.Fatalf("draws %d and %d of %d numbers", a, b, then)
		}
		if a < 2 && a != b { // these depend on zeta alone
			t.Fatalf("u %v draws %d and %d", u, a, b)
		}
	}
	z.Grow(first) // as if another client knew fewer
	for range manyDraws {
		if x := z.Draw(s); x < 0 || x >= first {
			t.Fatalf("%d is drawn of %d numbers", x, first)
		}
	}
}

func TestHotspot(t *testing.T) {
	t.Parallel()
	const n = 10_000
	got := shares(t, gen.NewHotspot(n, 0.2, 0.8), n, 0.1, 0.2, 0.6)
	near(t, "half of the hot numbers", got[0], 0.4, 0.002)
	near(t, "the hot numbers", got[1], 0.8, 0.002)
	near(t, "half of the others", got[2], 0.9, 0.002)
	for _, c := range []struct{ numbers, draws, share, below float64 }{
		{0, 1, 0.5, 0.5}, {1, 0, 0.5, 0.5}, {1, 1, 0.5, 0.5}, {0.5, 1, 1, 0.5}, {0.5, 0, 0, 0.5}, // shares[i]: below half of the numbers
	} {
		near(t, "share below a half", shares(t, gen.NewHotspot(n, c.numbers, c.draws), n, c.below)[0], c.share, 0.002)
	}
	shares(t, gen.NewHotspot(1, 0.2, 0.8), 1)
}

// 95 % of the draws are below the bound, and of the others again 95 % below its double.
func TestExponential(t *testing.T) {
	t.Parallel()
	const bound = 857_142
	d := gen.NewExponential(0.95, bound)
	s := gen.NewSource(gen.NewStream(1, "exponential"))
	var below, double, half, sum float64
	for range manyDraws {
		x := float64(d.Draw(s))
		sum += x
		if x < bound {
			below++
		}
		if x < 2*bound {
			double++
		}
		if x < bound/2 {
			half++
		}
	}
	near(t, "share below the bound", below/manyDraws, 0.95, 0.001)
	near(t, "share below its double", double/manyDraws, 1-0.05*0.05, 0.0005)
	near(t, "share below its half", half/manyDraws, 1-math.Sqrt(0.05), 0.002)
	near(t, "mean", sum/manyDraws, bound/-math.Log(0.05), bound/500)
}

// Within is a bijection of the first n numbers for each n, fewer than the permutation
// was made for or more; and when n grows by one, one number at most moves.
func TestPermutationWithin(t *testing.T) {
	t.Parallel()
	const limit = 1100
	for _, made := range []int64{1, 5, 64, 1000, 1024, limit} {
		p := gen.NewPermutation(made, gen.NewStream(uint64(made), "within"))
		last, now := make([]int64, 0, limit), make([]int64, 0, limit)
		seen := make([]int64, limit)
		for n := int64(1); n <= limit; n++ {
			now = now[:0]
			moved := 0
			for i := range n {
				x := p.Within(i, n)
				if x < 0 || x >= n {
					t.Fatalf("made for %d, of %d: %d becomes %d", made, n, i, x)
				}
				if seen[x] == n {
					t.Fatalf("made for %d, of %d: %d is repeated", made, n, x)
				}
				seen[x] = n
				now = append(now, x)
				if i < n-1 && last[i] != x {
					moved++
				}
			}
			if moved > 1 {
				t.Fatalf("made for %d: %d numbers move between %d and %d", made, moved, n-1, n)
			}
			last, now = now, last
		}
	}
}

// Any exponent and any number of numbers ends, and stays in range.
func TestZipfExtremes(t *testing.T) {
	t.Parallel()
	s := gen.NewSource(gen.NewStream(1, "extremes"))
	for _, theta := range []float64{0, 1e-9, 0.5, 0.99, 1, 1.0000001, 2, 10, 50, 100} {
		for _, n := range []int64{1, 2, 3, 1000, 1_000_000_000, 1 << 50} {
			z := must[*gen.Zipf](t)(gen.NewZipf(n, theta))
			for range 1000 {
				if x := z.Draw(s); x < 0 || x >= n {
					t.Fatalf("theta %v: %d is drawn of %d numbers", theta, x, n)
				}
			}
		}
	}
}
