package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

func repeat(parts ...any) (out []float64) {
	for i := 0; i < len(parts); i += 2 {
		out = append(out, slices.Repeat([]float64{parts[i].(float64)}, parts[i+1].(int))...)
	}
	return out
}

func TestLevelPositions(t *testing.T) {
	outlier := repeat(100., 30)
	outlier[12] = 1e9
	zigzag := repeat(0., 40)
	for i := range zigzag {
		zigzag[i] = float64(i % 2)
	}
	for name, c := range map[string]struct {
		x    []float64
		want []int
	}{
		"nothing":               {nil, nil},
		"one level":             {repeat(5., 40), nil},
		"two levels":            {repeat(5., 12, 6., 20), []int{12}},
		"down":                  {repeat(6., 20, 5., 12), []int{20}},
		"five are a level":      {repeat(5., 20, 6., 5), []int{20}},
		"four are not":          {repeat(5., 20, 6., 4), nil},
		"came and went":         {repeat(5., 20, 6., 10, 5., 20), []int{20, 30}},
		"three steps":           {repeat(1., 12, 2., 12, 3., 12, 1., 12), []int{12, 24, 36}},
		"an outlier":            {outlier, nil},
		"to and fro":            {zigzag, nil},
		"too few":               {repeat(5., 4, 6., 5), nil},
		"the least that can be": {repeat(5., 5, 6., 5), []int{5}},
	} {
		expect.List(t, levels(c.x, 0.01), c.want, name)
	}
}

// Whatever the values: positions ascend, levels have five points, an order that
// is kept gives the same positions, and one that is turned round the mirrored
// count of pairs; p is never less than half of leastP.
func TestLevelsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x []float64
		for _, n := range rapid.SliceOfN(rapid.IntRange(-300, 300), 0, 40).Draw(t, "x") {
			x = append(x, float64(n))
		}
		at := rapid.IntRange(0, 40).Draw(t, "at")
		for i := range x {
			if i >= at {
				x[i] += 400
			}
		}
		points := levels(x, 0.05)
		last := 0
		for _, p := range append(slices.Clone(points), len(x)) {
			expect.Must(t, len(points) == 0 || p-last >= leastLevel, points, "in", len(x), "points")
			last = p
		}
		grown := slices.Clone(x)
		for i := range grown {
			grown[i] = math.Pow(grown[i], 3)
		}
		if again := levels(grown, 0.05); !slices.Equal(again, points) {
			t.Fatalf("%v, and after growth %v", points, again)
		}
		_, p := change(x)
		mirrored := slices.Clone(x)
		slices.Reverse(mirrored)
		if _, z := split(x); z > 0 {
			if _, back := split(mirrored); math.Abs(z-back) > 1e-9 {
				t.Fatalf("%v forwards, %v backwards", z, back)
			}
		}
		expect.Must(t, p >= leastP(len(x))/2*(1-1e-9) && p <= 1, "p", p, "the least is", leastP(len(x)))
	})
}

// P values are no smaller than chance makes them.
func TestChangeOfNothing(t *testing.T) {
	const tries = 1000
	for _, n := range []int{10, 16, 40} {
		r := rand.New(rand.NewPCG(4, uint64(n)))
		below := 0
		for range tries {
			if _, p := change(noise(r, n, 0, 0)); p <= 0.05 {
				below++
			}
		}
		// 50 are 5 %; with the bound there are fewer.
		expect.True(t, below <= 70, "points: p is at most 0.05 in of", n, below, tries)
	}
}

// Two changes closer than a level's least number of runs are two, each with its own size; noise, an outlier, or
// a change that has no other near it makes no second.
func TestStepsNearAChange(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for name, c := range map[string]struct {
		levels  []float64
		lengths []int
		want    []int
	}{
		"four runs apart":       {[]float64{100, 170, 330}, []int{12, 4, 7}, []int{12, 16}},
		"two runs apart":        {[]float64{100, 170, 330}, []int{12, 2, 9}, []int{12, 14}},
		"one run apart":         {[]float64{100, 170, 330}, []int{12, 1, 10}, []int{12, 13}},
		"in the other order":    {[]float64{330, 170, 100}, []int{5, 3, 15}, []int{5, 8}},
		"the second undoes":     {[]float64{100, 300, 150}, []int{12, 3, 8}, []int{12, 15}},
		"three":                 {[]float64{100, 150, 220, 330}, []int{10, 2, 3, 10}, []int{10, 12, 15}},
		"a small one and a big": {[]float64{100, 113, 500}, []int{10, 4, 9}, []int{10, 14}},
		"an outlier beyond":     {[]float64{100, 400, 200}, []int{12, 1, 10}, []int{12}},
		"one change":            {[]float64{100, 170}, []int{12, 11}, []int{12}},
		"none":                  {[]float64{100}, []int{20}, nil},
	} {
		for range 30 {
			var x []float64
			for i, level := range c.levels {
				for range c.lengths[i] {
					x = append(x, level*(1+0.01*r.NormFloat64()))
				}
			}
			explained := func(at int) bool { return !strings.Contains(name, "outlier") && slices.Contains(c.want, at) }
			expect.Same(t, c.want, steps(x, levels(x, 0.001), explained), name)
		}
	}
	more := 0 // with noise of 8 %, and outliers
	for range 1000 {
		x := make([]float64, 24)
		for i := range x {
			x[i] = 100 + 8*r.NormFloat64()
			if i >= 12 {
				x[i] += 100
			}
			if r.IntN(20) == 0 {
				x[i] *= 0.7
			}
		}
		points := levels(x, 0.001)
		if len(steps(x, points, func(int) bool { return false })) > len(points) {
			more++
		}
	}
	expect.True(t, more <= 20, "of 1000 changes with noise have a second", more)
	t.Logf("%d of 1000", more)
}

// Between two close changes ranks find a third in the middle: it is none beside them.
func TestNoThirdChange(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	more := 0
	for range 400 {
		x := repeat(1., 13, 1.7, 3, 5.6, 7)
		for i := range x {
			x[i] *= math.Exp(0.03 * r.NormFloat64())
		}
		if len(steps(x, levels(x, 0.05), func(int) bool { return false })) > 2 {
			more++
		}
	}
	expect.True(t, more <= 20, more, "of 400 have a third change")
}
