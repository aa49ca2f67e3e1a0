package importer

import (
	"slices"

	"rumbench/internal/account"
)

// latencies counts latencies exactly: those below latencyBins µs in bins, the few
// others one by one.
type latencies struct {
	n      int64
	counts []uint32 // by µs
	long   []uint32 // µs; sorted on demand
	sorted bool
}

const latencyBins = 1 << 20

func (l *latencies) add(us uint32) {
	l.n++
	if us >= latencyBins {
		l.long, l.sorted = append(l.long, us), false
		return
	}
	if l.counts == nil {
		l.counts = make([]uint32, latencyBins)
	}
	l.counts[us]++
}

// at returns the latency of a rank.
func (l *latencies) at(rank int64) float64 {
	if short := l.n - int64(len(l.long)); rank > short {
		if !l.sorted {
			slices.Sort(l.long)
			l.sorted = true
		}
		return float64(l.long[rank-short-1])
	}
	for us, n := range l.counts {
		if rank -= int64(n); rank <= 0 {
			return float64(us)
		}
	}
	return 0
}

// times returns the latencies with their maximum and the points of a curve.
func (l *latencies) times() account.Times {
	t := account.Ranked(l.n, l.at, []float64{0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97, 98, 99, 99.5, 99.7, 99.9, 99.95, 99.99, 100})
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
