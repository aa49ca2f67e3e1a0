package gen_test

import (
	"math"
	"regexp"
	"testing"

	"rumbench/workload/gen"
)

const manyDraws = 1_000_000

// shares draws from a distribution over 0…n-1 and returns the share of draws
// below limit·n for each limit.
func shares(t *testing.T, d gen.Distribution, n int64, limits ...float64) []float64 {
	t.Helper()
	s := gen.NewSource(gen.NewStream(1, t.Name()))
	out := make([]float64, len(limits))
	for range manyDraws {
		x := d.Draw(s)
		if x < 0 || x >= n {
			t.Fatalf("%d is not in 0…%d", x, n-1)
		}
		for i, l := range limits {
			if float64(x) < l*float64(n) {
				out[i]++
			}
		}
	}
	for i := range out {
		out[i] /= manyDraws
	}
	return out
}

func near(t *testing.T, subject string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: %v, want %v ± %v", subject, got, want, within)
	}
}

func must[D gen.Distribution](t *testing.T) func(D, error) D {
	return func(d D, err error) D {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

func TestEven(t *testing.T) {
	t.Parallel()
	got := shares(t, gen.NewUniform(10_000), 10_000, 0.1, 0.5)
	near(t, "lowest tenth", got[0], 0.1, 0.002)
	near(t, "lower half", got[1], 0.5, 0.002)
}

// The mean of 12 uniform draws is bell-shaped: its standard deviation is 1/12.
func TestBates(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		got := shares(t, must[gen.Bates](t)(gen.NewBates(10_000, 12, whole)), 10_000, 0.5, 0.5-1.0/12, 0.5+1.0/12)
		near(t, "lower half", got[0], 0.5, 0.002)
		near(t, "within a standard deviation", got[2]-got[1], 0.68, 0.01)
	}
}

// Since 1.0 three quarters of the band's width are hot: 0.75 % of the numbers
// get 75 % of the draws, a little above the middle; before 1.0 the whole 1 %.
func TestSpecial(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	got := shares(t, must[gen.Special](t)(gen.NewSpecial(n, 12, 1, 75, false)), n, 0.495, 0.4975, 0.505)
	near(t, "upper three quarters of the band", got[2]-got[1], 0.77, 0.015) // some of the rest is there too
	near(t, "lowest quarter of the band", got[1]-got[0], 0.25*4.8*0.0025, 0.002)
	got = shares(t, must[gen.Special](t)(gen.NewSpecial(n, 12, 1, 75, true)), n, 0.495, 0.4975, 0.505)
	near(t, "the band before 1.0", got[2]-got[0], 0.75+0.25*4.8*0.01, 0.01)
	near(t, "its lowest quarter", got[1]-got[0], 0.75/4, 0.01)
}

// P(X ≤ x·n) = x^(1/p) with p = ln h / ln(1-h).
func TestPareto(t *testing.T) {
	t.Parallel()
	got := shares(t, must[gen.Pareto](t)(gen.NewPareto(10_000, 0.2)), 10_000, 0.2, 0.1, 0.01, 0.0001)
	near(t, "hottest fifth", got[0], 0.80, 0.005)
	near(t, "hottest tenth", got[1], 0.727, 0.005)
	near(t, "hottest hundredth", got[2], 0.528, 0.005)
	near(t, "hottest number", got[3], 0.279, 0.005)
}

func TestZipf(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	got := shares(t, must[*gen.Zipf](t)(gen.NewZipf(n, 0.8)), n, 1e-6, 1e-4, 0.01, 0.1, 0.2)
	for i, want := range []float64{0.0134, 0.109, 0.362, 0.609, 0.708} {
		near(t, "head", got[i], want, 0.002)
	}
	// Other exponents, against the probabilities themselves; 1 is the one
	// whose integral is a logarithm.
	for _, s := range []float64{0, 0.5, 1, 1.5, 3} {
		const small = 50
		var sum float64
		p := make([]float64, small)
		for i := range p {
			p[i] = math.Pow(float64(i+1), -s)
			sum += p[i]
		}
		z := must[*gen.Zipf](t)(gen.NewZipf(small, s))
		src := gen.NewSource(gen.NewStream(2))
		count := make([]float64, small)
		for range manyDraws {
			count[z.Draw(src)]++
		}
		for i := range p {
			near(t, "probability", count[i]/manyDraws, p[i]/sum, 0.002)
		}
	}
}

func TestScrambled(t *testing.T) {
	t.Parallel()
	const n = 1000
	z := must[*gen.Zipf](t)(gen.NewZipf(n, 0.8))
	key := gen.NewStream(3)
	s, order, src := gen.NewScrambled(z, n, key), gen.NewPermutation(n, key), gen.NewSource(gen.NewStream(4))
	plain, other := make([]float64, n), make([]float64, n)
	for range manyDraws {
		plain[z.Draw(src)]++
		other[s.Draw(src)]++
	}
	near(t, "the hottest number stays as hot", other[order.At(0)]/plain[0], 1, 0.05)
	if order.At(1)-order.At(0) == 1 && order.At(2)-order.At(1) == 1 {
		t.Error("hot numbers are still adjacent")
	}
}

func TestPermutation(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 17, 1000, 4096, 65537} {
		seen := make([]bool, n)
		p := gen.NewPermutation(n, gen.NewStream(5))
		for i := range n {
			x := p.At(i)
			if seen[x] {
				t.Fatalf("n %d: %d is repeated", n, x)
			}
			seen[x] = true
		}
	}
}

func TestDigits(t *testing.T) {
	shape := regexp.MustCompile(`^(\d{11}-){9}\d{11}$`)
	s := gen.NewSource(gen.NewStream(6))
	var counts [10]float64
	var buf []byte
	for range 10_000 {
		buf = gen.AppendDigits(buf[:0], s, 10)
		if !shape.Match(buf) || len(buf) != 119 {
			t.Fatalf("%q", buf)
		}
		for _, b := range buf {
			if b != '-' {
				counts[b-'0']++
			}
		}
	}
	for _, n := range counts {
		near(t, "share of a digit", n/1_100_000, 0.1, 0.002)
	}
}

func TestRefusals(t *testing.T) {
	for name, err := range map[string]error{
		"pareto":   second(gen.NewPareto(10, 0.5)),
		"zipf":     second(gen.NewZipf(10, -1)),
		"NaN":      second(gen.NewZipf(10, math.NaN())),
		"bates":    second(gen.NewBates(10, 0, false)),
		"band":     second(gen.NewSpecial(10, 12, 101, 75, false)),
		"share":    second(gen.NewSpecial(10, 12, 1, 100, false)),
		"range":    second(gen.NewHotRanges(100, 10, [4]float64{14.18, -2.917, -1, -0.08082}, 0, gen.NewStream(1))),
		"ranges":   second(gen.NewHotRanges(100, 10, [4]float64{}, 0, gen.NewStream(1))),
		"infinite": second(gen.NewHotRanges(100, 10, [4]float64{1, 1000, 1, 1}, 0, gen.NewStream(1))),
		"nothing":  second(gen.NewSpecial(10, 0, 1, 75, false)),
	} {
		if err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }
