package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// USL is the Universal Scalability Law fitted to throughputs X at several levels
// of concurrency N:
//
//	X(N) = Gain·N ÷ (1 + Contention·(N−1) + Coherency·N·(N−1))
//
// See N. J. Gunther, Guerrilla Capacity Planning, Springer 2007, and “A General
// Theory of Computational Scalability Based on Rational Functions”, 2008.
type USL struct {
	Gain       float64 // throughput at N = 1, above 0
	Contention float64 // serial share of the work; 0 or more
	Coherency  float64 // cost of pairwise coordination (crosstalk); 0 or more
	// Residual is the root of the mean square of X(N) ÷ X − 1.
	Residual float64
	// R2 is the share of the variance of X that the law explains; below 0 if it
	// fits worse than the mean, NaN if X does not vary.
	R2 float64
}

// LeastLevels is the least number of different levels for a fit: the law has
// three parameters.
const LeastLevels = 4

// rounding is the square of a relative error that is mere rounding.
const rounding = 1e-24

// FitUSL fits the law by least squares of relative errors: N÷X is linear in
// 1÷Gain, Contention÷Gain and Coherency÷Gain, all of them 0 or more. It returns
// false for fewer than LeastLevels different levels, for levels below 1, and for
// throughputs not above 0.
func FitUSL(n, x []float64) (USL, bool) {
	if !fitForUSL(n, x) {
		return USL{}, false
	}
	// Each equation is divided by its left side, so that all errors are relative:
	// 1 = c0·(X÷N) + c1·(N−1)·(X÷N) + c2·N·(N−1)·(X÷N).
	terms := make([][3]float64, len(n))
	for i := range n {
		per := x[i] / n[i]
		terms[i] = [3]float64{per, (n[i] - 1) * per, n[i] * (n[i] - 1) * per}
	}
	best, lowest := [3]float64{}, math.Inf(1)
	for _, used := range [][]int{{0}, {0, 1}, {0, 2}, {0, 1, 2}} {
		c, ok := solveOnes(terms, used)
		if !ok {
			continue
		}
		// A further term must explain more than rounding errors, else a law without
		// a limit gets one at a huge number.
		if sum := squaresFromOne(terms, c); sum < lowest-rounding*float64(len(n)) {
			best, lowest = c, sum
		}
	}
	if math.IsInf(lowest, 1) {
		return USL{}, false
	}
	u := USL{Gain: 1 / best[0], Contention: best[1] / best[0], Coherency: best[2] / best[0]}
	u.Residual, u.R2 = u.goodness(n, x)
	return u, true
}

func fitForUSL(n, x []float64) bool {
	for i := range n {
		if !(n[i] >= 1) || !(x[i] > 0) || math.IsInf(n[i], 0) || math.IsInf(x[i], 0) {
			return false
		}
	}
	levels := slices.Clone(n)
	slices.Sort(levels)
	return len(slices.Compact(levels)) >= LeastLevels
}

// At returns the law's throughput at a level, for an infinite level the limit.
func (u USL) At(n float64) float64 {
	if math.IsInf(n, 1) {
		switch {
		case u.Coherency > 0:
			return 0
		case u.Contention > 0:
			return u.Gain / u.Contention
		}
		return n
	}
	return u.Gain * n / (1 + u.Contention*(n-1) + u.Coherency*n*(n-1))
}

// Peak returns the level of the greatest throughput,
// √((1 − Contention) ÷ Coherency), at least 1; infinite if throughput never falls.
func (u USL) Peak() float64 {
	switch {
	case u.Contention >= 1:
		return 1
	case u.Coherency == 0:
		return math.Inf(1)
	}
	return max(1, math.Sqrt((1-u.Contention)/u.Coherency))
}

func (u USL) goodness(n, x []float64) (residual, r2 float64) {
	mean := Mean(x)
	var relative, unexplained, all float64
	for i := range n {
		at := u.At(n[i])
		relative += (at/x[i] - 1) * (at/x[i] - 1)
		unexplained += (at - x[i]) * (at - x[i])
		all += (x[i] - mean) * (x[i] - mean)
	}
	if residual = math.Sqrt(relative / float64(len(n))); all == 0 {
		return residual, math.NaN()
	}
	return residual, 1 - unexplained/all
}

// solveOnes returns the factors of the used terms whose weighted sums come nearest
// to 1. ok is false if they are not above 0, or if the terms are too collinear to
// separate their factors.
func solveOnes(terms [][3]float64, used []int) (c [3]float64, ok bool) {
	// Columns are scaled to one length first: N·(N−1) may be a million times 1.
	var length [3]float64
	columns := mat.NewDense(len(terms), len(used), nil)
	ones := mat.NewVecDense(len(terms), nil)
	for i, k := range used {
		for _, t := range terms {
			length[k] = math.Hypot(length[k], t[k])
		}
		for r, t := range terms {
			columns.Set(r, i, t[k]/length[k])
			ones.SetVec(r, 1)
		}
	}
	var qr mat.QR
	var solved mat.VecDense
	qr.Factorize(columns)
	if qr.Cond() > 3e6 || qr.SolveVecTo(&solved, false, ones) != nil {
		return c, false
	}
	for i, k := range used {
		if c[k] = solved.AtVec(i) / length[k]; !(c[k] > 0) || math.IsInf(c[k], 0) {
			return c, false
		}
	}
	return c, true
}

func squaresFromOne(terms [][3]float64, c [3]float64) (sum float64) {
	for _, t := range terms {
		d := t[0]*c[0] + t[1]*c[1] + t[2]*c[2] - 1
		sum += d * d
	}
	return sum
}
