package gen_test

import (
	"bytes"
	"compress/zlib"
	"math"
	"testing"

	"rumbench/workload/gen"
)

// The shares that zlib leaves of Linkbench's data in blocks of 16 KB: measured on
// the original's algorithm, 0.35 for links and 0.64 for nodes, one buffer of motifs.
func TestMotif(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high byte
		unique    float64
		median    float64
		want      float64
	}{
		{32, 100, 0.225, 8, 0.35}, {50, 220, 0.63, 128, 0.64},
	} {
		m := gen.NewMotif(gen.NewStream(1, "motifs"), c.low, c.high, c.unique, 512)
		s := gen.NewSource(gen.NewStream(1, "data"))
		var whole, packed int
		for range 50 {
			var block []byte
			for len(block) < 16<<10 {
				block = m.Append(block, s, int(math.Round(c.median*math.Exp(s.Normal()))))
			}
			for _, b := range block {
				if b < c.low || b > c.high {
					t.Fatalf("byte %d is not in %d…%d", b, c.low, c.high)
				}
			}
			var out bytes.Buffer
			w := zlib.NewWriter(&out)
			w.Write(block)
			w.Close()
			whole, packed = whole+len(block), packed+out.Len()
		}
		near(t, "share left by zlib", float64(packed)/float64(whole), c.want, 0.04)
	}
}

func TestNormal(t *testing.T) {
	t.Parallel()
	s := gen.NewSource(gen.NewStream(1, "normal"))
	var sum, squares, below float64
	for range manyDraws {
		x := s.Normal()
		sum += x
		squares += x * x
		if x < -1.6449 {
			below++
		}
	}
	near(t, "mean", sum/manyDraws, 0, 0.005)
	near(t, "variance", squares/manyDraws, 1, 0.01)
	near(t, "share below the fifth percentile", below/manyDraws, 0.05, 0.001)
}

func TestEmpirical(t *testing.T) {
	e := gen.NewEmpirical([][2]float64{{0, 0.5}, {1, 0.25}, {2, 0.1}, {100, 0.001}, {1000, 0}})
	for _, c := range []struct {
		above float64
		want  int64
	}{
		{1, 0}, {0.5, 0}, {0.49, 1}, {0.25, 1}, {0.2, 2}, {0.1, 2}, {0.01, 15}, {0.001, 100}, {0.0009, 1000}, {0, 1000},
	} {
		if got := e.Quantile(c.above); got != c.want {
			t.Errorf("the number that a share %v exceeds is %d, want %d", c.above, got, c.want)
		}
	}
}
