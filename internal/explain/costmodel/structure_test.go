package costmodel

import (
	"math"
	"math/rand/v2"
	"testing"

	"rumbench/internal/expect"
)

func near(t *testing.T, subject string, got, want, tolerance float64) {
	t.Helper()
	expect.Near(t, got, want, tolerance, subject)
}

// One touch changes a page of each level; very many change all pages.
func TestPath(t *testing.T) {
	const page = 4096
	near(t, "the path of one touch", Path(1, 64*64, page), 1+1+1, 0.001)
	near(t, "the path in larger pages", Path(1, 64*64, 16*page), 1+1+1, 0.001)
	near(t, "the path in smaller pages", Path(1, 64*64, page/4), 1+1+1+1, 0.001)
	near(t, "the path of one touch of one leaf", Path(1, 1, page), 1, 0.001)
	near(t, "half a touch", Path(0.5, 1, page), 0.5, 0.001)
	near(t, "all pages", Path(1e6, 64*64, page), 64*64+64+1, 1)
	near(t, "ten touches", Path(10, 1e4, page), 10+10*Distinct(10, 1e4/64)+2.42+1, 0.1)
}

// Distinct is what counting different pages gives.
func TestDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ touches, pages int }{{10, 1000}, {1000, 1000}, {5000, 300}} {
		sum := 0
		const repeats = 200
		for range repeats {
			seen := map[int]bool{}
			for range c.touches {
				seen[r.IntN(c.pages)] = true
			}
			sum += len(seen)
		}
		near(t, "different pages per touch", Distinct(float64(c.touches), float64(c.pages)), float64(sum)/repeats/float64(c.touches), 0.01)
	}
}

// The misses are those of a cache that drops the least recently used pages of several
// indexes that are touched at different rates.
func TestMisses(t *testing.T) {
	const room = 600
	list := []Leaves{{1500, 1}, {300, 2}, {900, 0.5}}
	counted := leastRecentlyUsed(list, room)
	for i, miss := range Misses(room, list) {
		near(t, "the share of misses", miss, counted[i], 0.02)
	}
	near(t, "what does not fit", Misses(250, []Leaves{{1000, 3}})[0], 0.75, 1e-9)
	near(t, "what fits", Misses(1000, []Leaves{{1000, 3}})[0], 0, 0)
}

// leastRecentlyUsed counts the misses of such a cache, per touch.
func leastRecentlyUsed(list []Leaves, room int) []float64 {
	type page struct{ index, no int }
	r := rand.New(rand.NewPCG(3, 4))
	last := map[page]int{}
	misses, touches := make([]float64, len(list)), make([]float64, len(list))
	total := 0.0
	for _, l := range list {
		total += l.PerUnit
	}
	const warm, end = 20_000, 60_000
	for now := range end {
		x, i := r.Float64()*total, 0
		for x > list[i].PerUnit {
			x -= list[i].PerUnit
			i++
		}
		p := page{i, r.IntN(int(list[i].Pages))}
		_, hit := last[p]
		last[p] = now
		if now >= warm {
			touches[i]++
			if !hit {
				misses[i]++
			}
		}
		if len(last) > room {
			oldest := p
			for q, at := range last {
				if at < last[oldest] {
					oldest = q
				}
			}
			delete(last, oldest)
		}
	}
	for i := range misses {
		misses[i] /= touches[i]
	}
	return misses
}

// The table of the source for a database of 1024 memtables.
func TestLeveled(t *testing.T) {
	for levels, want := range [][2]float64{{819.2, 1.001}, {51.2, 1.031}, {24.19, 1.099}, {18.10, 1.177}, {16.0, 1.25}, {15.24, 1.315}, {15.07, 1.371}, {15.22, 1.420}} {
		got := Leveled(1024, levels+1)
		near(t, "write amplification", got.Write, want[0], 0.01)
		near(t, "space amplification", got.Space, want[1], 0.001)
		// (space − 1)·(write − 1) is 1 of an index and a log; of a leveled tree it is more with
		// two levels or more, and less with one.
		k := (got.Space - 1) * (got.Write - 1)
		each := math.Pow(1024, 1/float64(levels+1))
		near(t, "the product", k, full*float64(levels+1)-1/each, 1e-9)
		expect.Equal(t, (k > 1), levels > 0, "levels: the product is", levels+1, k)
	}
	for fanout, want := range map[float64]int{2: 1, 10: 1, 11: 2, 1000: 3, 1024: 4} {
		expect.Equal(t, Levels(fanout), want, "a database of memtables has levels", fanout)
	}
}

func TestTiered(t *testing.T) {
	for runs, want := range map[int]Amplification{3: {8, 2}, 6: {5, 3.5}, 32: {3, 16.5}} {
		expect.Equal(t, Tiered(1024, runs), want, runs)
	}
}
