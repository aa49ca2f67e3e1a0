package importer

import (
	"maps"
	"slices"

	"rumbench/internal/account"
)

// latencies counts latencies exactly, by µs.
type latencies struct {
	n      int64
	counts map[uint32]int64
}

func (l *latencies) add(us uint32) {
	if l.counts == nil {
		l.counts = map[uint32]int64{}
	}
	l.n++
	l.counts[us]++
}

func (l *latencies) mean() (us float64) {
	for v, n := range l.counts {
		us += float64(v) * float64(n) / float64(l.n)
	}
	return us
}

// times returns the latencies with their maximum and the points of a curve.
func (l *latencies) times() account.Times {
	sorted := slices.Sorted(maps.Keys(l.counts))
	at := func(rank int64) float64 {
		for _, us := range sorted {
			if rank -= l.counts[us]; rank <= 0 {
				return float64(us)
			}
		}
		return 0
	}
	t := account.Ranked(l.n, at, []float64{0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97, 98, 99, 99.5, 99.7,
		99.9, 99.95, 99.99, 100})
	if l.n > 0 {
		t.Greatest = t.At(100)
	}
	return t
}

// percentileOf returns a percentile of sorted latencies.
func percentileOf(us []uint32, p float64) float64 {
	if len(us) == 0 {
		return 0
	}
	return float64(us[account.Rank(p, int64(len(us)))-1])
}
