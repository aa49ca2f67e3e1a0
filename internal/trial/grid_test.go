package trial

import (
	"math"
	"testing"

	"rumbench/internal/plan"
)

// Neighbours on the grid differ by the precision, and each rate is the nearest
// to itself.
func TestGrid(t *testing.T) {
	for _, precision := range []float64{0.01, 0.02, 0.05, 0.2} {
		f := grid{&plan.Find{Precision: precision}}
		for k := -50; k < 500; k++ {
			low, high := f.rate(k), f.rate(k+1)
			if ratio := high/low - 1; math.Abs(ratio-precision) > 0.011 || high <= low {
				t.Fatalf("%v: %v and %v", precision, low, high)
			}
			if f.nearest(math.Pow(1+precision, float64(k))) != k {
				t.Fatalf("%v: %d is not the nearest to itself", precision, k)
			}
		}
	}
}

// The rates between which is searched are tried as they are written, and no
// other is below or above them.
func TestEnds(t *testing.T) {
	for _, precision := range []float64{0.01, 0.05, 0.5, 1} {
		for _, ends := range [][2]float64{{0, 400}, {0, 1000}, {37, 400}, {399, 400}, {100.5, 12345.678}, {1, 1.02}} {
			f := grid{&plan.Find{Precision: precision, From: ends[0], To: ends[1]}}
			last := f.last()
			least := f.least(last)
			if f.rate(last) != f.To || f.From > 0 && f.rate(least) != f.From {
				t.Errorf("%v of %v: from %v to %v", precision, ends, f.rate(least), f.rate(last))
			}
			for k := least; k < last; k++ {
				if f.rate(k) >= f.rate(k+1) {
					t.Errorf("%v of %v: %v after %v", precision, ends, f.rate(k+1), f.rate(k))
				}
			}
		}
	}
}
