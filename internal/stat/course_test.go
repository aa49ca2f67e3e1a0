package stat

import (
	"math/rand/v2"
	"testing"

	"rumbench/internal/expect"
)

func TestCourseOf(t *testing.T) {
	rates := func(n int, sd float64, level func(i int) float64) []float64 {
		x := normals(rand.New(rand.NewPCG(5, uint64(n))), n)
		for i := range x {
			x[i] = level(i) * (1 + sd*x[i])
		}
		return x
	}
	step := func(values ...float64) func(int) float64 { // pairs: from here on, this level
		return func(i int) (level float64) {
			for k := 0; k < len(values); k += 2 {
				if i >= int(values[k]) {
					level = values[k+1]
				}
			}
			return level
		}
	}
	for _, c := range []struct {
		name   string
		x      []float64
		shape  Shape
		warmUp int
		phases int
	}{
		{"none", nil, Unknown, 0, 0},
		{"few", rates(19, 0.02, step(0, 1000)), Unknown, 0, 1},
		{"steady", rates(60, 0.05, step(0, 1000)), Steady, 0, 1},
		{"constant", rates(60, 0, step(0, 1000)), Steady, 0, 1},
		{"nothing done", make([]float64, 30), Steady, 0, 1},
		{"warm-up", rates(120, 0.02, step(0, 500, 20, 1000)), Steady, 20, 2},
		{"warm-up in two stages", rates(200, 0.02, step(0, 300, 25, 700, 50, 1000)), Steady, 50, 3},
		{"fast at first", rates(120, 0.02, step(0, 2000, 20, 1000)), Steady, 20, 2},
		{"change of 2 %", rates(200, 0.005, step(0, 1000, 100, 980)), Steady, 0, 2},
		{"slower in the middle", rates(120, 0.02, step(0, 1000, 60, 800)), Degrading, 0, 2},
		{"faster in the middle", rates(120, 0.02, step(0, 1000, 60, 1300)), Improving, 0, 2},
		{"warm-up, then slower", rates(200, 0.02, step(0, 500, 30, 1000, 120, 800)), Degrading, 30, 3},
		{"dip", rates(120, 0.02, step(0, 1000, 50, 500, 80, 1000)), Unsteady, 0, 3},
		{"drift", rates(300, 0.02, func(i int) float64 { return 1000 - float64(i) }), Degrading, 0, 0},
		{"slow steps of 4 %", rates(300, 0.005, step(0, 1000, 100, 960, 200, 920)), Degrading, 0, 3},
	} {
		got := CourseOf(c.x)
		expect.True(t, got.Shape == c.shape && got.WarmUp >= c.warmUp-1 && got.WarmUp <= c.warmUp+1 && (c.phases <= 0 || len(got.Phases) == c.phases), c.name, got)
		covered := 0
		for _, p := range got.Phases {
			expect.True(t, p.From == covered && p.Level == Median(c.x[p.From:p.To]), "phases", c.name, got.Phases)
			covered = p.To
		}
		expect.Equal(t, covered, len(c.x), c.name)
	}
}

// Values that wander slowly are too few independent ones to say that they are steady.
func TestCourseOfDependentValuesIsUnknown(t *testing.T) {
	x := make([]float64, 30)
	for i := range x {
		x[i] = float64(i * (29 - i)) // one slow rise and fall
	}
	got := CourseOf(x)
	expect.True(t, got.Shape != Steady, got)
}

func TestShapesHaveNames(t *testing.T) {
	var names []string
	for s := Unknown; s <= Unsteady; s++ {
		names = append(names, s.String())
	}
	expect.List(t, names, []string{"unknown", "steady", "degrading", "improving", "unsteady"})
}
