package account

import (
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
)

// Times is a distribution of times in µs, however it was recorded. NaN is
// unknown.
type Times struct {
	N, Overflow     int64 // Overflow of N were too long to be recorded
	At              func(percent float64) float64
	Least, Greatest float64
	Total           float64 // seconds
	Points          [][2]float64
}

// TimesOf returns the times of a histogram.
func TimesOf(d *hist.Dist) Times {
	t := Times{N: d.Count(), Overflow: d.Overflow(), Least: micros(d.Least()), Greatest: micros(d.Max()),
		Total: d.Total() / 1e9,
		At:    func(p float64) float64 { return micros(d.Percentile(p)) }}
	if !d.Summed() {
		t.Total = math.NaN()
	}
	for _, p := range d.Curve() {
		t.Points = append(t.Points, [2]float64{p[0], p[1] / perMicro})
	}
	return t
}

// Ranked returns n times, given the time of each rank, from 1. Of the
// percentiles in curve it includes those for which there are enough times.
func Ranked(n int64, at func(rank int64) float64, curve []float64) Times {
	t := Times{N: n, Least: math.NaN(), Greatest: math.NaN(), Total: math.NaN(),
		At: func(p float64) float64 { return at(Rank(p, n)) }}
	for _, p := range curve {
		if (100-p)/100*float64(n) >= 0.5 || p == 100 { // too few times for the percentiles beyond
			t.Points = append(t.Points, [2]float64{p, t.At(p)})
		}
	}
	return t
}

// Rank returns the rank of p percent among n, from 1. Rounding errors of the
// division must not add a rank.
func Rank(p float64, n int64) int64 {
	return min(max(int64(math.Ceil(p/100*float64(n)-1e-6)), 1), n)
}

// Bucket is a time in µs and its count.
type Bucket struct {
	Micros float64
	Count  int64
}

// Bucketed returns the times of a histogram's buckets, in ascending order.
func Bucketed(buckets []Bucket) Times {
	var total, seen int64
	for _, b := range buckets {
		total += b.Count
	}
	t := Ranked(total, func(rank int64) float64 {
		for _, b := range buckets {
			if rank -= b.Count; rank <= 0 {
				return b.Micros
			}
		}
		return buckets[len(buckets)-1].Micros
	}, nil)
	for _, b := range buckets {
		if seen += b.Count; b.Count > 0 {
			t.Points = append(t.Points, [2]float64{100 * float64(seen) / float64(total), b.Micros})
		}
	}
	return t
}

var percentiles = []struct {
	name string
	p    float64
}{{"p50_us", 50}, {"p95_us", 95}, {"p99_us", 99}, {"p999_us", 99.9}}

// Latency adds the rows and the curve of times; measure is the prefix of their
// metrics' names.
func (b *Builder) Latency(measure, group, op string, t Times, extra ...With) {
	if t.N == 0 {
		return
	}
	fields := append([]With{Of(group, op), Count(t.N)}, extra...)
	for _, p := range percentiles {
		b.Put(measure+"_"+p.name, t.At(p.p), fields...)
	}
	greatest := fields
	if t.Overflow > 0 {
		greatest = append(slices.Clip(fields), Warned(metric.Warn(remark.Overflow, metric.Values{"n": float64(t.Overflow)})))
	}
	b.Put(measure+"_max_us", t.Greatest, greatest...)
	if measure == "service" || measure == "response" {
		b.Put(measure+"_min_us", t.Least, fields...)
	}
	if measure != "attempt" {
		b.Put(measure+"_total_s", t.Total, fields...)
	}
	b.Curves = append(b.Curves, metric.Curve{Group: group, Op: op, Measure: measure, Count: t.N, Overflow: t.Overflow,
		Points: t.Points})
}
