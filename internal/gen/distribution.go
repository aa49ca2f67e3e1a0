package gen

import (
	"fmt"
	"math"
)

// Distribution draws numbers of 0…n-1. It holds no state that changes, so it
// may serve any number of sources.
type Distribution interface {
	Draw(s *Source) int64
}

// Uniform draws every number of 0…n-1 alike.
type Uniform struct{ n int64 }

// NewUniform makes the uniform distribution over 0…n-1.
func NewUniform(n int64) Uniform { return Uniform{n} }

// Draw is a number of the distribution.
func (d Uniform) Draw(s *Source) int64 { return s.Uniform(d.n) }

// Bates is the bell shape that sysbench calls gaussian: the mean of several
// uniform draws.
type Bates struct {
	n     int64
	draws int
	whole bool
}

// NewBates makes the distribution over 0…n-1 of the mean of so many draws; 12
// is usual. With whole, as before sysbench 1.0, the draws are whole numbers,
// which makes the mean about half a number lower.
func NewBates(n int64, draws int, whole bool) (Bates, error) {
	if draws < 1 {
		return Bates{}, fmt.Errorf("a mean needs draws, not %d", draws)
	}
	return Bates{n, draws, whole}, nil
}

// Draw is a number of the distribution.
func (d Bates) Draw(s *Source) int64 {
	if d.whole {
		var sum int64
		for range d.draws {
			sum += s.Uniform(d.n)
		}
		return sum / int64(d.draws)
	}
	return int64(bates(s, d.draws) * float64(d.n))
}

// bates is the mean of uniform draws of [0,1).
func bates(s *Source, draws int) float64 {
	var sum float64
	for range draws {
		sum += s.Unit()
	}
	return sum / float64(draws)
}

// Special is sysbench's distribution of that name: a share of the draws falls
// evenly on a band of numbers in the middle, the rest has the shape of Bates.
type Special struct {
	n     int64
	draws int
	band  float64 // of all numbers, the share in the middle
	hot   float64 // of all draws, the share that falls on it
	old   bool
}

// NewSpecial makes the distribution over 0…n-1 with the options of sysbench,
// whose defaults are 12 draws, 1 % of the numbers and 75 % of the draws.
//
// Since sysbench 1.0 the draw that decides for the band also chooses the
// number in it, so that only the upper part of the band comes up: 0.75 % of
// the numbers with the defaults. Old is what was before: the whole band.
func NewSpecial(n int64, draws int, bandPercent, hotPercent float64, old bool) (Special, error) {
	switch {
	case draws < 1:
		return Special{}, fmt.Errorf("a mean needs draws, not %d", draws)
	case bandPercent < 0 || bandPercent > 100:
		return Special{}, fmt.Errorf("the band is 0 to 100 %% of the numbers, not %v", bandPercent)
	case hotPercent < 0 || hotPercent >= 100:
		return Special{}, fmt.Errorf("0 to 99 %% of the draws fall on the band, not %v", hotPercent)
	}
	return Special{n, draws, bandPercent / 100, hotPercent / 100, old}, nil
}

// Draw is a number of the distribution.
func (d Special) Draw(s *Source) int64 {
	if d.old {
		return d.drawOld(s)
	}
	t := float64(d.n - 1)
	u := s.Unit()
	if u < 1-d.hot {
		return int64(bates(s, d.draws) * t)
	}
	return int64(u*(t*d.band+1) + t/2 - t*d.band/2)
}

// drawOld computes in whole numbers, as the original did: also the factor by
// which the range grows, 100/(100-75), which is 4.
func (d Special) drawOld(s *Source) int64 {
	factor := int64(100 / (100 - d.hot*100))
	u := s.Uniform(d.n * factor)
	if u < d.n {
		return Bates{d.n, d.draws, true}.Draw(s)
	}
	width := max(int64(float64(d.n)*d.band), 1)
	return u%width + d.n/2 - int64(float64(d.n)*d.band/2)
}

// Pareto prefers low numbers: of a share h of the numbers come 1-h of the
// draws, at every scale (self-similar; Gray et al., "Quickly Generating
// Billion-Record Synthetic Databases", SIGMOD 1994).
type Pareto struct {
	n     int64
	power float64
}

// NewPareto makes the distribution over 0…n-1. h is in (0, 0.5); 0.2 means
// that four fifths of the draws are among the lowest fifth of the numbers.
func NewPareto(n int64, h float64) (Pareto, error) {
	if !(h > 0 && h < 0.5) {
		return Pareto{}, fmt.Errorf("h is between 0 and 0.5, not %v", h)
	}
	return Pareto{n, math.Log(h) / math.Log(1-h)}, nil
}

// Draw is a number of the distribution.
func (d Pareto) Draw(s *Source) int64 {
	return min(int64(float64(d.n)*math.Pow(s.Unit(), d.power)), d.n-1)
}

// Zipf draws the number r with a probability proportional to (r+1)^-s, by the
// rejection-inversion of Hörmann and Derflinger ("Rejection-Inversion to
// Generate Variates from Monotone Discrete Distributions", ACM TOMACS 6, 1996),
// which takes the same time for any n and any s.
type Zipf struct {
	n           float64
	s           float64
	first, last float64 // the integral's ends
	accept      float64 // differences up to this need no further look
	oneMinusS   float64
}

// NewZipf makes the distribution over 0…n-1. s is 0 (uniform) or more.
func NewZipf(n int64, s float64) (*Zipf, error) {
	if !(s >= 0) || math.IsInf(s, 0) {
		return nil, fmt.Errorf("the exponent is 0 or more, not %v", s)
	}
	z := &Zipf{n: float64(n), s: s, oneMinusS: 1 - s}
	z.first = z.integral(1.5) - 1
	z.last = z.integral(z.n + 0.5)
	z.accept = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z, nil
}

// Draw is a number of the distribution.
func (z *Zipf) Draw(s *Source) int64 {
	for {
		y := z.last + s.Unit()*(z.first-z.last)
		x := z.inverse(y)
		k := math.Min(math.Max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.accept || y >= z.integral(k+0.5)-z.density(k) {
			return int64(k) - 1
		}
	}
}

func (z *Zipf) density(x float64) float64 { return math.Exp(-z.s * math.Log(x)) }

// integral is that of the density: (x^(1-s) - 1) / (1-s), which is ln x for s = 1.
func (z *Zipf) integral(x float64) float64 {
	l := math.Log(x)
	return expm1Ratio(z.oneMinusS*l) * l
}

func (z *Zipf) inverse(y float64) float64 {
	t := math.Max(y*z.oneMinusS, -1) // rounding may leave the range of the logarithm
	return math.Exp(log1pRatio(t) * y)
}

// expm1Ratio is (e^x - 1) / x, also near 0.
func expm1Ratio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Expm1(x) / x
	}
	return 1 + x/2*(1+x/3)
}

// log1pRatio is ln(1 + x) / x, also near 0.
func log1pRatio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Log1p(x) / x
	}
	return 1 - x*(0.5-x/3)
}

// Scrambled moves the numbers of a distribution to other places, so that those
// drawn often do not lie side by side.
type Scrambled struct {
	of     Distribution
	places Permutation
}

// NewScrambled scrambles a distribution over 0…n-1.
func NewScrambled(of Distribution, n int64, key Stream) Scrambled {
	return Scrambled{of, NewPermutation(n, key)}
}

// Draw is a number of the distribution.
func (d Scrambled) Draw(s *Source) int64 { return d.places.At(d.of.Draw(s)) }

// Permutation is a random order of 0…n-1 that takes no memory: a Feistel
// network over the next power of four, walked on until the number is in range.
type Permutation struct {
	n    int64
	half uint // bits of half a number
	key  Stream
}

// NewPermutation makes the order that the key gives.
func NewPermutation(n int64, key Stream) Permutation {
	p := Permutation{n: n, half: 1, key: key}
	for int64(1)<<(2*p.half) < n {
		p.half++
	}
	return p
}

// At is the number in place i of 0…n-1.
func (p Permutation) At(i int64) int64 {
	for {
		if i = p.step(i); i < p.n {
			return i
		}
	}
}

const rounds = 4

func (p Permutation) step(i int64) int64 {
	mask := uint64(1)<<p.half - 1
	left, right := uint64(i)>>p.half, uint64(i)&mask
	for r := range uint64(rounds) {
		left, right = right, left^(p.key.At(r<<p.half|right)&mask)
	}
	return int64(left<<p.half | right)
}
