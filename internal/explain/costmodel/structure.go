// Package costmodel predicts what index structures read, write and hold, in closed form:
// from sizes, never from an engine's own measurements. Real engines differ; the size of
// the difference is a finding.
package costmodel

import (
	"math"

	"rumbench/internal/stat"
)

// Distinct returns the number of distinct pages per touch, if each touch hits any of the
// pages with the same probability: Cardenas, CACM 18 (1975).
func Distinct(touches, pages float64) float64 {
	if touches <= 0 || pages <= 0 {
		return 0
	}
	return pages * -math.Expm1(-touches/pages) / touches
}

// Path returns how many distinct pages of a B-tree the touches of its leaves change, if
// the pages above a changed one change, too, as in engines that copy pages. A page above
// the leaves has an entry of some 64 bytes for each page below it.
func Path(touches, leaves, pageBytes float64) (pages float64) {
	const entry = 64
	children := max(2, pageBytes/entry)
	for level := leaves; ; level /= children {
		level = max(1, level)
		// [Distinct] for few pages, too: one touch of one page changes it.
		pages += min(touches, level*-math.Expm1(touches*math.Log1p(-1/level)))
		if level == 1 {
			return pages
		}
	}
}

// Leaves are pages that are all touched with the same probability.
type Leaves struct {
	Pages   float64
	PerUnit float64 // touches per unit of work
}

// Misses returns for each of several leaves the share of touches whose page is not in a
// cache of room pages that drops the least recently used: a page is found if it was
// touched within the last units of work, the number of units that touch room distinct
// pages. After Che, Tung and Wang, “Hierarchical web caching systems” (2002). For a single
// kind of leaves it is the share that does not fit.
func Misses(room float64, list []Leaves) []float64 {
	out := make([]float64, len(list))
	all := 0.0
	for _, l := range list {
		all += l.Pages
	}
	if room >= all {
		return out
	}
	held := func(units float64) (pages float64) {
		for _, l := range list {
			pages += l.Pages * -math.Expm1(-units*l.PerUnit/l.Pages)
		}
		return pages
	}
	high := 1.0
	for held(high) < room {
		high *= 2
	}
	low := stat.Border(func(units float64) bool { return held(units) < room }, 0, high)
	for i, l := range list {
		out[i] = math.Exp(-low * l.PerUnit / l.Pages)
	}
	return out
}

// Amplification is the number of bytes that a structure writes per byte that users write,
// without its log, and the number of bytes that it takes per byte of user data.
type Amplification struct{ Write, Space float64 }

const (
	// full is the share of a level's size that a merge into it rewrites: less than all, as
	// levels are not always full. Measured in “Find the optimal leveled LSM tree”
	// (smalldatum.blogspot.com, 2019-10).
	full = 0.8
	// greatest is the usual ratio of a level's size to that of the level above.
	greatest = 10
)

// Leveled returns the amplification of a leveled LSM tree whose database is fanout times
// as large as a memtable, with the given number of levels below it, as in the same
// source. Merges alone: the flush of memtables is one more.
func Leveled(fanout float64, levels int) Amplification {
	each := math.Pow(fanout, 1/float64(levels))
	return Amplification{Write: full * float64(levels) * each, Space: 1 + 1/each}
}

// Levels returns the usual number of levels of such a tree: the smallest that keeps each
// within ten times the one above.
func Levels(fanout float64) int {
	return max(1, int(math.Ceil(math.Log(fanout)/math.Log(greatest)-1e-9)))
}

// Tiered returns the amplification of a tiered LSM tree with the given number of runs in
// each tier: each tier writes everything once, and the last one's runs may hold the same
// keys. Space is the mean over time for uniform overwrites; the worst is runs.
func Tiered(fanout float64, runs int) Amplification {
	tiers := max(1, math.Ceil(math.Log(fanout)/math.Log(float64(runs))-1e-9))
	return Amplification{Write: tiers + 1, Space: float64(runs+1) / 2}
}
