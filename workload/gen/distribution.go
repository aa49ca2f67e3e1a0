package gen

import (
	"fmt"
	"math"
)

// Distribution draws numbers of 0…n-1. It is immutable, so any number of sources
// may share it.
type Distribution interface {
	Draw(s *Source) int64
}

// Uniform is the uniform distribution over 0…n-1.
type Uniform struct{ n int64 }

// NewUniform returns the uniform distribution over 0…n-1.
func NewUniform(n int64) Uniform { return Uniform{n} }

// Draw draws a number.
func (d Uniform) Draw(s *Source) int64 { return s.Uniform(d.n) }

// Bates is the bell-shaped distribution that sysbench calls gaussian: the mean
// of several uniform draws.
type Bates struct {
	n     int64
	draws int
	whole bool
}

// NewBates returns the distribution of the mean of draws over 0…n-1; 12 draws
// are usual. With integers, as before sysbench 1.0, the draws are integers, which
// lowers the mean by about one half.
func NewBates(n int64, draws int, integers bool) (Bates, error) {
	if draws < 1 {
		return Bates{}, fmt.Errorf("the number of draws must be at least 1, not %d", draws)
	}
	return Bates{n, draws, integers}, nil
}

// Draw draws a number.
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

// bates returns the mean of uniform draws of [0,1).
func bates(s *Source, draws int) float64 {
	var sum float64
	for range draws {
		sum += s.Unit()
	}
	return sum / float64(draws)
}

// Special is sysbench's distribution with that name: a share of the draws is uniform over
// a band of numbers in the middle, the rest follows Bates.
type Special struct {
	n     int64
	draws int
	band  float64 // share of the numbers that are in the band
	hot   float64 // share of the draws that are in the band
	old   bool
}

// NewSpecial returns the distribution over 0…n-1 with the options of sysbench, whose
// defaults are 12 draws, 1 % of the numbers and 75 % of the draws.
//
// Since sysbench 1.0 the draw that selects the band also chooses the number in it, so
// that only the upper part of the band is drawn: 0.75 % of the numbers with the defaults.
// With old, as in versions before 1.0, the whole band is drawn.
func NewSpecial(n int64, draws int, bandPercent, hotPercent float64, old bool) (Special, error) {
	switch {
	case draws < 1:
		return Special{}, fmt.Errorf("the number of draws must be at least 1, not %d", draws)
	case bandPercent < 0 || bandPercent > 100:
		return Special{}, fmt.Errorf("the band must be 0 to 100 %% of the numbers, not %v", bandPercent)
	case hotPercent < 0 || hotPercent >= 100:
		return Special{}, fmt.Errorf("the share of draws in the band must be at least 0 and below 100 %%, not %v", hotPercent)
	}
	return Special{n, draws, bandPercent / 100, hotPercent / 100, old}, nil
}

// Draw draws a number.
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

// drawOld computes in integers, as the original did, including the factor by which the
// range grows: 100/(100-75) = 4.
func (d Special) drawOld(s *Source) int64 {
	factor := int64(100 / (100 - d.hot*100))
	u := s.Uniform(d.n * factor)
	if u < d.n {
		return Bates{d.n, d.draws, true}.Draw(s)
	}
	width := max(int64(float64(d.n)*d.band), 1)
	return u%width + d.n/2 - int64(float64(d.n)*d.band/2)
}

// Pareto prefers low numbers: the lowest share h of the numbers gets 1-h of the
// draws, at every scale (self-similar; Gray et al., "Quickly Generating
// Billion-Record Synthetic Databases", SIGMOD 1994).
type Pareto struct {
	n     int64
	power float64
}

// NewPareto returns the distribution over 0…n-1. h is in (0, 0.5); with 0.2,
// 80 % of the draws are among the lowest 20 % of the numbers.
func NewPareto(n int64, h float64) (Pareto, error) {
	if !(h > 0 && h < 0.5) {
		return Pareto{}, fmt.Errorf("h must be between 0 and 0.5, not %v", h)
	}
	return Pareto{n, math.Log(h) / math.Log(1-h)}, nil
}

// Draw draws a number.
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
	first, last float64 // the ends of the integral
	accept      float64 // differences up to this are accepted at once
	oneMinusS   float64
}

// NewZipf returns the distribution over 0…n-1. s is 0 (uniform) or more.
func NewZipf(n int64, s float64) (*Zipf, error) {
	if !(s >= 0) || math.IsInf(s, 0) {
		return nil, fmt.Errorf("the exponent must be at least 0, not %v", s)
	}
	z := &Zipf{n: float64(n), s: s, oneMinusS: 1 - s}
	z.first = z.integral(1.5) - 1
	z.last = z.integral(z.n + 0.5)
	z.accept = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z, nil
}

// Draw draws a number.
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

// integral returns the integral of the density: (x^(1-s) - 1) / (1-s), or ln x for s = 1.
func (z *Zipf) integral(x float64) float64 {
	l := math.Log(x)
	return expm1Ratio(z.oneMinusS*l) * l
}

func (z *Zipf) inverse(y float64) float64 {
	t := math.Max(y*z.oneMinusS, -1) // rounding may leave the range of the logarithm
	return math.Exp(log1pRatio(t) * y)
}

// expm1Ratio returns (e^x - 1) / x, also near 0.
func expm1Ratio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Expm1(x) / x
	}
	return 1 + x/2*(1+x/3)
}

// log1pRatio returns ln(1 + x) / x, also near 0.
func log1pRatio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Log1p(x) / x
	}
	return 1 - x*(0.5-x/3)
}

// Scrambled permutes the numbers of a distribution, so that frequent ones are
// not adjacent.
type Scrambled struct {
	base  Distribution
	order Permutation
}

// NewScrambled returns a distribution over 0…n-1, scrambled by key.
func NewScrambled(base Distribution, n int64, key Stream) Scrambled {
	return Scrambled{base, NewPermutation(n, key)}
}

// Draw draws a number.
func (d Scrambled) Draw(s *Source) int64 { return d.order.At(d.base.Draw(s)) }

// Permutation is a random permutation of 0…n-1 in constant memory: a Feistel
// network over the next power of four, repeated until the number is in range.
type Permutation struct {
	n    int64
	half uint // half the bits of a number
	key  Stream
}

// NewPermutation returns the permutation of a key.
func NewPermutation(n int64, key Stream) Permutation {
	p := Permutation{n: n, half: 1, key: key}
	for int64(1)<<(2*p.half) < n {
		p.half++
	}
	return p
}

// At returns element i of 0…n-1.
func (p Permutation) At(i int64) int64 {
	for {
		if i = p.step(i); i < p.n {
			return i
		}
	}
}

// Within returns element i of the first n numbers in the permutation's order. Numbers
// outside the range of the permutation keep their place.
func (p Permutation) Within(i, n int64) int64 {
	if i>>(2*p.half) > 0 {
		return i
	}
	for {
		if i = p.step(i); i < n {
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
