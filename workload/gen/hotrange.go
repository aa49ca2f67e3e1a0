package gen

import (
	"fmt"
	"math"
)

// Alias draws numbers with given weights in constant time: Walker's alias method
// (1977), built as Vose does (IEEE Transactions on Software Engineering 17, 1991).
type Alias struct {
	keep  []float64
	other []int32
}

// NewAlias returns the distribution in which the share of number i is proportional to
// weight i; the weights are at least 0, and one is positive.
func NewAlias(weights []float64) *Alias {
	n := len(weights)
	a := &Alias{keep: make([]float64, n), other: make([]int32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	var small, large []int32
	for i, w := range weights {
		a.keep[i] = w * float64(n) / sum
		if a.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		if a.keep[l] -= 1 - a.keep[s]; a.keep[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, remaining := range [][]int32{small, large} { // left over by rounding
		for _, i := range remaining {
			a.keep[i] = 1
		}
	}
	return a
}

// Draw draws a number.
func (a *Alias) Draw(s *Source) int64 {
	u := s.Unit() * float64(len(a.keep))
	i := int(u)
	if u-float64(i) < a.keep[i] {
		return int64(i)
	}
	return int64(a.other[i])
}

// Share returns the share of number i.
func (a *Alias) Share(i int) float64 {
	share := a.keep[i]
	for k, other := range a.other {
		if int(other) == i && k != i {
			share += 1 - a.keep[k]
		}
	}
	return share / float64(len(a.keep))
}

// HotRanges is the model of key accesses of Cao et al. ("Characterizing, Modeling, and
// Benchmarking RocksDB Key-Value Workloads at Facebook", FAST 2020): adjacent keys are
// hot together. Each range of keys has its share of the draws, in a random order of
// the ranges; within a range keys are drawn uniformly or by a power law.
type HotRanges struct {
	n      int64
	which  *Alias
	places []int64 // of the ranges, the hottest first
	power  float64 // the exponent within a range; 0: uniform
}

// NewHotRanges returns the distribution over 0…n-1 in ranges whose shares are
// a·e^(bx)+c·e^(dx), with x from 1. power is the exponent of the share of draws that hit
// the most frequent keys of a range; 0: all keys are equally frequent. The stream
// shuffles the ranges. Negative shares are refused, and so are shares that are all 0.
func NewHotRanges(n, ranges int64, exp [4]float64, power float64, s Stream) (*HotRanges, error) {
	ranges = max(1, min(ranges, n))
	h := &HotRanges{n: n, power: power, places: make([]int64, ranges)}
	weights := make([]float64, ranges)
	sum := 0.0
	order := NewPermutation(ranges, s)
	for i := range ranges {
		x := float64(i + 1)
		weights[i] = exp[0]*math.Exp(exp[1]*x) + exp[2]*math.Exp(exp[3]*x)
		if !(weights[i] >= 0) {
			return nil, fmt.Errorf("the share of range %d would be %v", i+1, weights[i])
		}
		sum += weights[i]
		h.places[i] = order.At(i)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("the shares of the ranges would add up to %v", sum)
	}
	h.which = NewAlias(weights)
	return h, nil
}

// powerSupport is the share of the keys on which the published power law is defined: it
// ends at rank 4.01·10⁷ of 5·10⁷ keys. The scale for other numbers of keys is derived
// from it, so that the quantiles stay the same.
const powerSupport = 0.802

// Draw draws a number.
func (h *HotRanges) Draw(s *Source) int64 { return h.Within(h.Range(s), s) }

// Range draws a range.
func (h *HotRanges) Range(s *Source) int64 { return h.places[h.which.Draw(s)] }

// Within draws a number of a range.
func (h *HotRanges) Within(place int64, s *Source) int64 {
	ranges := int64(len(h.places))
	start, end := place*h.n/ranges, (place+1)*h.n/ranges
	size := end - start
	if h.power == 0 {
		return start + s.Uniform(size)
	}
	// The share of draws of rank r and below is a·r^power, with a = support^-power.
	support := max(float64(size)*powerSupport, 1)
	rank := int64(math.Ceil(math.Pow(s.Unit(), 1/h.power) * support))
	return start + int64(mix(uint64(rank)*golden^uint64(place))%uint64(size))
}

// ParetoSizes are sizes of a generalized Pareto distribution, rounded up and clamped.
type ParetoSizes struct {
	Theta, K, Sigma float64
	Min, Max        int64
}

// Draw draws a size.
func (d ParetoSizes) Draw(s *Source) int64 {
	x := d.Theta + d.Sigma*(math.Pow(1-s.Unit(), -d.K)-1)/d.K
	return max(d.Min, int64(math.Ceil(min(x, float64(d.Max)))))
}

// Mean returns the mean of the sizes, by quantiles.
func (d ParetoSizes) Mean() (mean float64) {
	const steps = 10_000
	for i := range steps {
		u := (float64(i) + 0.5) / steps
		x := d.Theta + d.Sigma*(math.Pow(1-u, -d.K)-1)/d.K
		mean += max(float64(d.Min), math.Ceil(min(x, float64(d.Max)))) / steps
	}
	return mean
}
