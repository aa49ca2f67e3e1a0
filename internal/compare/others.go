package compare

import (
	"fmt"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// OthersApart returns why speed and CPU time of two targets cannot be judged, as other programs used much
// more of the processors beside all runs of one; "" if that is not so. What they used now and then is in both
// numbers, and in their intervals.
func OthersApart(s *Step, base, t *Target) string {
	const much, times = 15, 2 // percent; the ratio of the shares
	for _, side := range [][2]*Target{{base, t}, {t, base}} {
		low, _ := othersShare(s, side[0])
		_, high := othersShare(s, side[1])
		bound := min(high*times, 100-(100-high)/times) // twice the share, or half of what is left
		if low > much && low > bound && designOf(t.Trials, len(t.Trials)) != stat.Duet {
			return fmt.Sprintf("other programs used %.0f %% of the processors or more beside %s, and at most %.0f %% beside %s",
				low, side[0].Name, high, side[1].Name)
		}
	}
	return ""
}

// othersShare returns the extremes of OthersShare over the runs of a target.
func othersShare(s *Step, t *Target) (low, high float64) {
	for i, r := range s.Used(t) {
		share := OthersShare(r.Step)
		if i == 0 {
			low = share
		}
		low, high = min(low, share), max(high, share)
	}
	return low, high
}

// OthersShare returns the share of the processors, in percent, that other programs used in a step; 0 if it is
// unknown or too little for a warning.
func OthersShare(s *result.Step) (share float64) {
	for _, w := range s.Warnings {
		if percent, ok := w.Values["share"].(float64); ok && w.Code == metric.ProcessorsShared {
			share = max(share, percent)
		}
	}
	return share
}

// busyApart returns OthersApart for the numbers that it concerns.
func busyApart(s *Step, base, t *Target, k Key) string {
	if !isSpeed(k) {
		return ""
	}
	return OthersApart(s, base, t)
}
