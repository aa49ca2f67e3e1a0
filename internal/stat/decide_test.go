package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// sampled returns two samples of n values with the same noise, the second shifted, and
// what both have in common in each pair.
func sampled(r *rand.Rand, n int, shift, common float64) (a, b []float64) {
	a, b = normals(r, n), normals(r, n)
	for i := range n {
		c := common * r.NormFloat64()
		a[i], b[i] = a[i]+c, b[i]+c+shift
	}
	return a, b
}

func TestDecideHoldsItsLevel(t *testing.T) {
	for _, n := range []int{3, 4, 5, 6, 10} {
		for _, design := range []Design{Apart, Blocks} {
			for _, common := range []float64{0, 1, 5} {
				found := coverage(5000, func(r *rand.Rand) bool {
					a, b := sampled(r, n, 0, common)
					d := Decide(a, b, design, 0.95)
					return d.P < 0.05 && d.Agreed
				})
				expect.True(t, found <= 0.06,
					"values, design, common: % of equal samples differ", n, design, common, 100*found)
			}
		}
	}
}

func TestDecideFindsAsMuchAsItSays(t *testing.T) {
	for _, alpha := range []float64{0.05, 0.01} {
		for _, n := range []int{3, 4, 5, 6, 7, 8, 12} {
			for _, common := range []float64{0, 3} {
				noise := Noise{Pairs: math.Sqrt2, Apart: math.Hypot(math.Sqrt2, math.Sqrt2*common)}
				shift := noise.Detectable(n, alpha, 0.9)
				found := coverage(3000, func(r *rand.Rand) bool {
					a, b := sampled(r, n, shift, common)
					d := Decide(a, b, Blocks, 0.95)
					return d.P < alpha && d.Agreed
				})
				expect.True(t, found >= 0.85, "alpha, values, common: found in %, not 90", alpha, n, common, 100*found)
			}
		}
	}
}

func TestDecideCovers(t *testing.T) {
	for _, n := range []int{3, 4, 6, 10} {
		held := coverage(4000, func(r *rand.Rand) bool {
			a, b := sampled(r, n, 1, 0.5)
			i := Decide(a, b, Blocks, 0.95).Interval
			return i.Low <= 1 && 1 <= i.High
		})
		expect.True(t, held >= 0.93, "pairs: the interval holds the shift in %", n, 100*held)
	}
}

func TestDecideByTheBestTest(t *testing.T) {
	for _, c := range []struct {
		name   string
		a, b   []float64
		design Design
		want   Test
		sure   bool
	}{
		{"pairs that drift together", []float64{1, 2, 3, 4.1}, []float64{1.2, 2.21, 3.19, 4.3}, Blocks, PairedTest, true},
		{"pairs with nothing in common", []float64{1, 1.1, 0.9}, []float64{2.1, 1.9, 2}, Blocks, WelchTest, true},
		{"no overlap, with an extreme value", []float64{1, 1.02, 0.99, 1.01}, []float64{1.1, 1.12, 1.11, 9}, Apart, PermutationTest, true},
		{"overlap, with an extreme value", []float64{1, 1.02, 0.99, 1.11}, []float64{1.1, 1.12, 1.11, 9}, Apart, PermutationTest, false},
		{"differences equal to the bit", []float64{0, 1, 2}, []float64{1, 2, 3}, Blocks, WelchTest, false},
		{"constants", []float64{1, 1, 1}, []float64{2, 2, 2}, Apart, NoTest, true},
		{"the same constant", []float64{1, 1, 1}, []float64{1, 1, 1}, Apart, NoTest, false},
	} {
		d := Decide(c.a, c.b, c.design, 0.95)
		expect.True(t, d.Test == c.want && (d.P < 0.05 && d.Agreed) == c.sure,
			"p, agreed", c.name, d.Test, d.P, d.Agreed)
		expect.Equal(t, d.Interval.Low > 0 || d.Interval.High < 0, c.sure, c.name, d.Interval)
	}
	if d := Decide([]float64{1}, []float64{2, 3}, Apart, 0.95); !math.IsNaN(d.P) || !math.IsNaN(d.Interval.Low) {
		t.Errorf("of one value: %+v", d)
	}
}

// What one of a duet has the other lacks.
func TestDecideOfDuets(t *testing.T) {
	for _, n := range []int{3, 4, 6, 10} {
		found := coverage(4000, func(r *rand.Rand) bool {
			a, b := normals(r, n), make([]float64, n)
			for i := range a {
				b[i] = 0.5*r.NormFloat64() - a[i]
			}
			d := Decide(a, b, Duet, 0.95)
			return d.P < 0.05 && d.Agreed
		})
		expect.True(t, found <= 0.06, "pairs: % of equal targets differ", n, 100*found)
	}
}

// With enough values one extreme one decides nothing.
func TestDecideAsksRanks(t *testing.T) {
	a := []float64{1, 1.1, 0.9, 1.05, 0.95, 1, 1.02, 0.98}
	b := slices.Clone(a)
	for i := range b {
		b[i] += 0.001 * float64(i%3-1)
	}
	d := Decide(a, b, Blocks, 0.95)
	expect.True(t, d.P >= 0.05 || !d.Agreed, d)
}

func TestDecideFollowsTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 8).Draw(t, "n")
		design := rapid.SampledFrom([]Design{Apart, Blocks, Duet}).Draw(t, "design")
		values := rapid.SliceOfN(rapid.Float64Range(-5, 5), n, n)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		d, back := Decide(a, b, design, 0.95), Decide(b, a, design, 0.95)
		expect.True(t, near(d.P, back.P) && near(d.Interval.Low, -back.Interval.High) && d.Agreed == back.Agreed,
			"exchanged", d, back)
		sure := d.P < 0.05 && d.Agreed
		expect.True(t, !sure || d.Interval.Low > 0 || 0 > d.Interval.High, "sure, and the interval holds 0", d)
	})
}

func TestPermutation(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, 2.0 / 20},
		{[]float64{1, 1}, []float64{1, 1}, 1},
		{[]float64{0.1, 0.2, 0.3}, []float64{0.3, 0.2, 0.1}, 1},
		{[]float64{1, 4}, []float64{2, 3, 9}, 0.7}, // 7 of the 10 sums of two are at least as far from 7.6 as 5 is
	} {
		got := Permutation(c.a, c.b)
		expect.True(t, near(got, c.want), c.a, c.b, got, c.want)
	}
	expect.True(t, math.IsNaN(Permutation(nil, []float64{1})), "of nothing")
}

// Where machines differ in the ratio of two samples, a test of all pairs finds differences that are
// none; the test of machine means does not. See docs/statistics.md.
func TestMachines(t *testing.T) {
	const campaigns, machines, each, sd = 2000, 3, 4, 0.02
	draw := rand.New(rand.NewPCG(1, 2))
	falsePairs, falseMeans := 0, 0
	for range campaigns {
		var a, b, meanA, meanB []float64
		for range machines {
			own, level := sd*draw.NormFloat64(), 0.3*draw.NormFloat64()
			for range each {
				a = append(a, level+sd*draw.NormFloat64()/math.Sqrt2)
				b = append(b, level+own+sd*draw.NormFloat64()/math.Sqrt2)
			}
			meanA = append(meanA, Mean(a[len(a)-each:]))
			meanB = append(meanB, Mean(b[len(b)-each:]))
		}
		if d := Decide(a, b, Blocks, 0.95); d.P < 0.05 && d.Agreed {
			falsePairs++
		}
		if d := Decide(meanA, meanB, Grouped, 0.95); d.P < 0.05 && d.Agreed {
			falseMeans++
		}
	}
	t.Logf("of %d campaigns of equal samples, pairs find %d different and machine means %d", campaigns, falsePairs, falseMeans)
	expect.True(t, falseMeans <= campaigns*7/100 && falsePairs >= campaigns*15/100,
		"of campaigns of equal samples, pairs find different and machine means", campaigns, falsePairs, falseMeans)
}
