package compare

import (
	"fmt"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// OthersApart returns why speed and CPU time of two targets cannot be judged, as other programs used much
// more of the processors beside the runs of one; "" if that is not so. What they used alike is in both
// numbers, and in their intervals.
func OthersApart(s *Step, base, t *Target) string {
	const much, times = 15, 2 // percent; the ratio of the shares
	a, b := othersShare(s, base), othersShare(s, t)
	if max(a, b) <= much || max(a, b) <= times*min(a, b) || designOf(t.Trials, len(t.Trials)) == stat.Duet {
		return ""
	}
	if a > b {
		base, t, a, b = t, base, b, a
	}
	return fmt.Sprintf("other programs used %.0f %% of the processors beside %s, and %.0f %% beside %s", b, t.Name, a,
		base.Name)
}

// othersShare returns the mean share of the processors, in percent, that other programs used beside the runs of a
// target: what is unknown or too little for a warning counts as 0.
func othersShare(s *Step, t *Target) float64 {
	runs := s.Used(t)
	sum := 0.0
	for _, r := range runs {
		sum += OthersShare(r.Step)
	}
	return sum / float64(max(1, len(runs)))
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
