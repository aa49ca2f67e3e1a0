package gen

import "math"

// The distributions of YCSB (Cooper et al., "Benchmarking Cloud Serving Systems with
// YCSB", SoCC 2010), with the arithmetic of its Java sources, so that equal draws give
// equal numbers.

// YCSBZipf is YCSB's Zipfian: the approximation of Gray et al. ("Quickly Generating
// Billion-Record Synthetic Databases", SIGMOD 1994). Number 0 is the most frequent. Only
// one goroutine may use it, because it may grow.
type YCSBZipf struct {
	n, counted                     int64 // the number of numbers, and how many of them zeta covers
	theta, alpha, eta, second, sum float64
	first                          float64 // initial number of numbers; YCSB computes eta from it
}

// YCSB's scrambled Zipfian draws from 0…10¹⁰, both included, with the zeta of 10¹⁰
// numbers, which is a constant in YCSB.
const (
	YCSBTheta     = 0.99
	scrambledN    = 10_000_000_000 + 1
	scrambledZeta = 26.46902820178302
)

// NewYCSBZipf returns the distribution over 0…n-1; theta is in (0, 1).
func NewYCSBZipf(n int64, theta float64) *YCSBZipf { return newYCSBZipf(n, theta, Zeta(n, theta)) }

func newYCSBZipf(n int64, theta, zeta float64) *YCSBZipf {
	z := &YCSBZipf{n: n, counted: n, theta: theta, alpha: 1 / (1 - theta), second: Zeta(2, theta), sum: zeta,
		first: float64(n)}
	z.setEta()
	return z
}

func (z *YCSBZipf) setEta() { z.eta = (1 - math.Pow(2/z.first, 1-z.theta)) / (1 - z.second/z.sum) }

// Grow sets the number of numbers. After a decrease, draws keep the zeta of the greater
// number, as in YCSB.
func (z *YCSBZipf) Grow(n int64) {
	z.n = n
	if n <= z.counted {
		return
	}
	for i := z.counted + 1; i <= n; i++ {
		z.sum += 1 / math.Pow(float64(i), z.theta)
	}
	z.counted = n
	if z.first <= 2 { // for one or two numbers, eta is undefined
		z.first = float64(n)
	}
	z.setEta()
}

// Draw draws a number.
func (z *YCSBZipf) Draw(s *Source) int64 { return z.Of(s.Unit()) }

// Of returns the number of a draw u of [0,1).
func (z *YCSBZipf) Of(u float64) int64 {
	switch uz := u * z.sum; {
	case uz < 1:
		return 0
	case uz < z.second:
		return 1
	}
	return int64(float64(z.n) * math.Pow(z.eta*u-z.eta+1, z.alpha))
}

// Zeta returns the sum of i^-theta for i from 1 to n; theta is in (0, 1). Beyond 1,000
// terms it uses the Euler-Maclaurin formula, with an error below 10⁻¹⁰.
func Zeta(n int64, theta float64) (sum float64) {
	const exact = 1000
	for i := int64(1); i <= min(n, exact); i++ {
		sum += 1 / math.Pow(float64(i), theta)
	}
	if n <= exact {
		return sum
	}
	a, b := float64(exact), float64(n)
	power := func(x, p float64) float64 { return math.Pow(x, p) }
	return sum + (power(b, 1-theta)-power(a, 1-theta))/(1-theta) + (power(b, -theta)-power(a, -theta))/2 +
		theta/12*(power(a, -theta-1)-power(b, -theta-1))
}

// YCSBScrambled is the distribution that YCSB calls zipfian in its workloads A, B, C, E
// and F: a draw over 10¹⁰ numbers, hashed to 0…n-1. The most frequent number has 3.78 %
// of the draws for every n, and numbers collide.
type YCSBScrambled struct {
	n    int64
	zipf *YCSBZipf
}

// NewYCSBScrambled returns the distribution over 0…n-1. If theta differs from YCSB's
// constant, zeta is computed.
func NewYCSBScrambled(n int64, theta float64) YCSBScrambled {
	zeta := scrambledZeta
	if theta != YCSBTheta {
		zeta = Zeta(scrambledN, theta)
	}
	return YCSBScrambled{n, newYCSBZipf(scrambledN, theta, zeta)}
}

// Draw draws a number.
func (d YCSBScrambled) Draw(s *Source) int64 { return d.Of(s.Unit()) }

// Of returns the number of a draw u of [0,1).
func (d YCSBScrambled) Of(u float64) int64 { return FNV(d.zipf.Of(u)) % d.n }

// FNV returns the 64-bit FNV-1a hash of the eight octets of n, least significant first,
// without its sign: YCSB's way of turning numbers into keys.
func FNV(n int64) int64 {
	h := uint64(0xcbf29ce484222325)
	for range 8 {
		h = (h ^ uint64(n)&0xff) * 1099511628211
		n >>= 8
	}
	if hash := int64(h); hash >= 0 {
		return hash
	} else if hash > math.MinInt64 {
		return -hash
	}
	return 0
}

// Hotspot draws a share of the draws uniformly from the lowest share of the numbers,
// the others from the rest.
type Hotspot struct {
	n, hot int64
	draws  float64
}

// NewHotspot returns the distribution over 0…n-1; the shares are in [0, 1].
func NewHotspot(n int64, numbers, draws float64) Hotspot {
	return Hotspot{n, int64(float64(n) * numbers), draws}
}

// Draw draws a number.
func (d Hotspot) Draw(s *Source) int64 { return d.Within(d.Hot(s), s) }

// Hot draws whether a number is one of the hot ones.
func (d Hotspot) Hot(s *Source) bool { return s.Unit() < d.draws }

// Within draws a number of the hot ones, or of the others.
func (d Hotspot) Within(hot bool, s *Source) int64 {
	if d.hot > 0 && (hot || d.hot == d.n) {
		return s.Uniform(d.hot)
	}
	return d.hot + s.Uniform(d.n-d.hot)
}

// Exponential draws numbers from 0, without an upper limit; see NewExponential.
type Exponential struct{ gamma float64 }

// NewExponential returns the distribution that draws a share (0…1) of its numbers below
// bound.
func NewExponential(share, bound float64) Exponential { return Exponential{-math.Log(1-share) / bound} }

// Draw draws a number.
func (d Exponential) Draw(s *Source) int64 { return int64(-math.Log(1-s.Unit()) / d.gamma) }
