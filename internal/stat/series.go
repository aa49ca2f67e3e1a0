package stat

import "math"

// AutocorrelatedSE returns the standard error of the mean of an autocorrelated
// series, such as the rates of a run's intervals, and the effective sample size:
// the number of independent values with the same standard error, at least 1 and
// at most len(x), also for alternating values.
//
// The standard error is the standard deviation over √effective. effective is n
// over the sum of all autocorrelations, truncated where only noise is left by
// Geyer's initial monotone sequence ("Practical Markov chain Monte Carlo",
// Statistical Science 7, 1992), and corrected for the unknown true mean. The
// standard error of a series shorter than about twenty correlation times is
// still too small.
//
// With fewer than two values se is NaN; if all values are the same it is 0.
func AutocorrelatedSE(x []float64) (se, effective float64) {
	n := float64(len(x))
	_, sd := moments(x)
	if len(x) < 2 || sd == 0 {
		return sd, n
	}
	// Batches keep long series cheap, and have the same mean.
	const enough = 4096
	batches := batchesOf(x, (len(x)+enough-1)/enough, func(b []float64) float64 { m, _ := moments(b); return m })
	_, spread := moments(batches)
	time, lag := correlationTime(batches)
	time /= max(0.2, 1-float64(2*lag+1)/float64(len(batches)))
	ratio := spread / sd
	effective = max(1, n/max(1, ratio*ratio*time*n/float64(len(batches))))
	return sd / math.Sqrt(effective), effective
}

// MeanInterval returns the interval of the mean of an autocorrelated series, by its standard error
// and as many independent values as it is worth. It is unbounded if these are fewer than three.
func MeanInterval(x []float64, confidence float64) Interval {
	const fewest = 3
	se, effective := AutocorrelatedSE(x)
	if effective < fewest {
		return unbounded(Mean(x))
	}
	_, i := tTest(Mean(x), se, effective-1, confidence)
	return i
}

// batchesOf returns summaries of consecutive batches. The last one may be smaller.
func batchesOf(x []float64, size int, summary func([]float64) float64) (out []float64) {
	for start := 0; start < len(x); start += size {
		out = append(out, summary(x[start:min(start+size, len(x))]))
	}
	return out
}

// correlationTime returns the sum of the autocorrelations of x: how many
// neighbours carry as much information as one independent value. lag is the last
// one in the sum.
func correlationTime(x []float64) (time float64, lag int) {
	mean, sd := moments(x)
	if !(sd > 0) {
		return 1, 0
	}
	z := Values(x, func(v float64) float64 { return (v - mean) / sd })
	covariance := func(lag int) (sum float64) {
		for i := lag; i < len(z); i++ {
			sum += z[i] * z[i-lag]
		}
		return sum
	}
	none := covariance(0)
	time = -1
	last := math.Inf(1)
	for l := 0; l+1 < len(z); l += 2 {
		pair := min(last, (covariance(l)+covariance(l+1))/none)
		if pair <= 0 {
			break
		}
		time, last, lag = time+2*pair, pair, l+1
	}
	return time, lag
}
