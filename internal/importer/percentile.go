package importer

import (
	"math"
	"slices"

	"rumbench/internal/metric"
)

// bucket is a line of a histogram: a latency in µs and how often it occurred.
type bucket struct {
	us    float64
	count int64
}

// percentiles are those that have metrics.
func percentiles() []struct {
	name string
	p    float64
} {
	return []struct {
		name string
		p    float64
	}{{"p50_us", 50}, {"p95_us", 95}, {"p99_us", 99}, {"p999_us", 99.9}}
}

// rankOf is the place of p percent among n, from 1. What the division of
// floats adds in the last place must not be a rank more.
func rankOf(p float64, n int64) int64 {
	return min(max(int64(math.Ceil(p/100*float64(n)-1e-6)), 1), n)
}

// addBuckets adds the percentiles of a histogram's buckets, which are in
// ascending order: the latency of the bucket in which the rank lies.
func (r *run) addBuckets(measure, group, op string, buckets []bucket, more ...func(*metric.Row)) {
	var all int64
	for _, b := range buckets {
		all += b.count
	}
	if all == 0 {
		return
	}
	at := func(p float64) float64 {
		rank := rankOf(p, all)
		for _, b := range buckets {
			if rank -= b.count; rank <= 0 {
				return b.us
			}
		}
		return buckets[len(buckets)-1].us
	}
	more = append(more, of(group, op), count(all))
	for _, p := range percentiles() {
		r.put(measure+"_"+p.name, at(p.p), more...)
	}
	c := metric.Curve{Group: group, Op: op, Measure: measure, Count: all}
	seen := int64(0)
	for _, b := range buckets {
		if b.count > 0 {
			seen += b.count
			c.Points = append(c.Points, [2]float64{100 * float64(seen) / float64(all), b.us})
		}
	}
	r.step.Curves = append(r.step.Curves, c)
}

// latencies are how often latencies occurred, exactly: those below latencyBins
// µs are counted, the few others kept.
type latencies struct {
	n      int64
	counts []uint32 // by µs
	long   []uint32 // µs; sorted when it is asked for
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

// percentile is the latency at the rank of p percent; 0 where there are none.
func (l *latencies) percentile(p float64) float64 {
	if l.n == 0 {
		return 0
	}
	rank := rankOf(p, l.n)
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

// percentileOf is the same of latencies that are sorted.
func percentileOf(us []uint32, p float64) float64 {
	if len(us) == 0 {
		return 0
	}
	return float64(us[rankOf(p, int64(len(us)))-1])
}

// addLatencies adds the percentiles of latencies that are known one by one.
func (r *run) addLatencies(measure, group, op string, l *latencies, more ...func(*metric.Row)) {
	if l.n == 0 {
		return
	}
	more = append(more, of(group, op), count(l.n))
	for _, p := range percentiles() {
		r.put(measure+"_"+p.name, l.percentile(p.p), more...)
	}
	r.put(measure+"_max_us", l.percentile(100), more...)
	c := metric.Curve{Group: group, Op: op, Measure: measure, Count: l.n}
	for _, p := range []float64{0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97, 98, 99, 99.5, 99.7, 99.9, 99.95, 99.99, 100} {
		if (100-p)/100*float64(l.n) >= 0.5 || p == 100 { // beyond it this many cannot tell
			c.Points = append(c.Points, [2]float64{p, l.percentile(p)})
		}
	}
	r.step.Curves = append(r.step.Curves, c)
}
