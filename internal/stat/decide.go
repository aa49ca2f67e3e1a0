package stat

import (
	"math"
)

// Test names the test on which a decision rests.
type Test string

// The tests.
const (
	PairedTest      Test = "t test of pairs"
	WelchTest       Test = "Welch's t test"
	PermutationTest Test = "permutation test"
	NoTest          Test = "" // there is no noise, or too few values
)

// Decision is the tests' result on the shift from a sample a to a sample b.
type Decision struct {
	Test Test
	// P is the two-sided p-value of the test that sees the shift best, times the
	// price of choosing among tests. NaN if there are too few values.
	P float64
	// Interval is the interval of the shift, by the same test or, with enough values, its rank
	// counterpart.
	Interval Interval
	// Agreed is false if there are enough values for rank tests and none of those sees
	// the shift, or if the interval contains 0: then a few extreme values determine P.
	Agreed bool
	Noise  Noise
}

// Design is how two samples were measured.
type Design int

// The designs.
const (
	Apart   Design = iota // each by itself
	Blocks                // a[i] and b[i] shortly after each other
	Duet                  // a[i] and b[i] at the same time: one may gain what the other loses
	Grouped               // a[i] and b[i] are means of one group, such as a machine, of several that differ
)

// alone reports whether only the test of the pairs holds its level.
func (d Design) alone() bool { return d == Duet || d == Grouped }

// Noise limits the shifts that can be found. Values are NaN if unknown.
type Noise struct {
	Pairs float64 // standard deviation of the differences of pairs
	Apart float64 // standard deviation of the difference between a value of each sample, regardless of pairs
	// PairsAlone means that only the pairs are tested.
	PairsAlone bool
}

// price is the factor on p for taking the best of n tests, by n. The tests mostly
// agree, so it is less than n. It was measured, see docs/statistics.md: with it
// equal samples of 3 to 10 values are found to differ in 5 of 100 cases.
var price = [...]float64{1: 1, 2: 1.5, 3: 1.7}

const (
	// rankPairs is the least number of pairs with which a rank test can reach
	// 5 %, and rankApart the least number of values of each sample.
	rankPairs, rankApart = 6, 5
	// A permutation test reaches 5 % with four or more values of each sample. With six
	// or more, rank tests serve its purpose: they are robust against an extreme value.
	leastPermuted, mostPermuted = 4, 5
)

// Decide tests whether b is shifted against a.
//
// It runs three tests and takes the best, at a price. Student's test of the pairs removes
// the variation that pairs share, but estimates the noise from few differences. Welch's
// test has twice the degrees of freedom, because it estimates the noise from both
// samples: it is better for pairs with little in common, and cautious for pairs with much
// in common. With four or five values the exact permutation test sees that two samples do
// not overlap, although an extreme value makes the noise look large.
//
// In a duet the two compete: noise in one is the opposite noise in the other, and only
// the test of the pairs holds its level. So it is with machines: how far they differ is no noise that a
// test of single values could estimate.
func Decide(a, b []float64, design Design, confidence float64) Decision {
	d := Decision{P: math.NaN(), Interval: unknown(confidence), Noise: Noise{Pairs: math.NaN(), Apart: math.NaN()}}
	if min(len(a), len(b)) < 2 {
		return d
	}
	d.Noise.Apart = math.Hypot(Deviation(a), Deviation(b))
	var diffs []float64
	paired := design != Apart
	if paired {
		diffs = differences(a, b)
		d.Noise.Pairs = Deviation(diffs)
	}
	switch {
	case d.Noise.Apart == 0:
		return d.exact(Mean(b)-Mean(a), confidence)
	case d.Noise.Pairs == 0: // equal differences of different values, such as counts, prove nothing
		d.Noise.Pairs, diffs, paired = math.NaN(), nil, false
	}
	if d.Noise.PairsAlone = paired && design.alone(); d.Noise.PairsAlone {
		d.P, d.Interval = PairedT(diffs, confidence)
		d.Test = PairedTest
		d.consultRanks(a, b, diffs, confidence)
		return d
	}
	price := price[tests(len(a), len(b), paired)]
	level := 1 - (1-confidence)/price
	p, i := Welch(a, b, level)
	d.take(WelchTest, p, i)
	if paired {
		p, i = PairedT(diffs, level)
		d.take(PairedTest, p, i)
	}
	if permutable(len(a), len(b)) {
		d.take(PermutationTest, Permutation(a, b), HodgesLehmann(a, b, level))
	}
	d.P = min(1, price*d.P)
	d.consultRanks(a, b, diffs, confidence)
	return d
}

// tests returns how many tests apply to samples of these sizes.
func tests(a, b int, paired bool) int {
	n := 1
	if paired {
		n++
	}
	if permutable(a, b) {
		n++
	}
	return n
}

func permutable(a, b int) bool { return min(a, b) >= leastPermuted && max(a, b) <= mostPermuted }

// take takes a test if it is the best so far.
func (d *Decision) take(t Test, p float64, i Interval) {
	if !(p >= d.P) { // the first, whose P is NaN
		d.Test, d.P, d.Interval = t, p, i
	}
}

// exact returns the decision about samples without noise, such as sizes that do not
// depend on chance.
func (d Decision) exact(shift, confidence float64) Decision {
	d.Interval, d.Agreed = Interval{Value: shift, Low: shift, High: shift, Confidence: confidence}, true
	if d.P = 0; shift == 0 {
		d.P = 1
	}
	return d
}

// consultRanks replaces the interval with that of a rank test, and checks whether
// rank tests agree, if there are enough values for them.
func (d *Decision) consultRanks(a, b, diffs []float64, confidence float64) {
	seen, alpha := true, 1-confidence
	switch {
	case len(diffs) >= rankPairs:
		seen = Wilcoxon(diffs) < alpha || MannWhitney(a, b) < alpha
	case diffs == nil && min(len(a), len(b)) >= rankApart:
		seen = MannWhitney(a, b) < alpha
	}
	switch {
	case d.Test == PairedTest && len(diffs) >= rankPairs:
		d.Interval = HodgesLehmannPaired(diffs, confidence)
	case d.Test == WelchTest && min(len(a), len(b)) >= rankPairs:
		d.Interval = HodgesLehmann(a, b, confidence)
	}
	zero := d.Interval.Low <= 0 && 0 <= d.Interval.High
	d.Agreed = seen && !(zero && d.P < alpha)
}

// differences returns b − a of each pair.
func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = b[i] - a[i]
	}
	return out
}

// Permutation returns the two-sided p of the exact permutation test of whether a and
// b have the same mean: the share of all ways to split the values into two samples of
// these sizes whose means are at least as far apart. Its cost grows with the binomial
// coefficient; it is meant for at most ten values or so. It is NaN if a sample is empty.
//
// Fisher, "The design of experiments" (1935), section 21; Pitman, "Significance
// tests which may be applied to samples from any populations" (1937).
func Permutation(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	all := make([]float64, 0, len(a)+len(b))
	all = append(append(all, a...), b...)
	mean := Mean(all)
	for i := range all {
		all[i] -= mean
	}
	apart := 0.0 // the sum of a's deviations is minus that of b's
	for _, v := range all[:len(a)] {
		apart += v
	}
	apart = math.Abs(apart) * (1 - 1e-9) // equal sums in another order count as equal
	splits, far := 0, 0
	var choose func(start, left int, sum float64)
	choose = func(start, left int, sum float64) {
		if left == 0 {
			splits++
			if math.Abs(sum) >= apart {
				far++
			}
			return
		}
		for i := start; i <= len(all)-left; i++ {
			choose(i+1, left-1, sum+all[i])
		}
	}
	choose(0, len(a), 0)
	return float64(far) / float64(splits)
}
