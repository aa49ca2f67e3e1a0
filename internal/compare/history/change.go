package history

import (
	"math"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
)

// MinRuns is the number of points that a series needs before a change can be
// distinguished from chance.
const MinRuns = 2 * leastLevel

// FalseShare is the largest expected share of unchanged series among those reported as
// changed.
const FalseShare = 0.05

// Change is a point of a series at which a new level begins.
type Change struct {
	At   int     `json:"at"`   // the first point on the new level; the one before is the last on the old
	From float64 `json:"from"` // the old level: the median of its points
	To   float64 `json:"to"`   // the new level
	// Ratio is To ÷ From, nil if From is 0.
	Ratio *float64 `json:"ratio,omitempty"`
	// Verdict is compare.Better, compare.Worse, or "" if neither direction is better.
	Verdict compare.Verdict `json:"verdict,omitempty"`
	// Facts are the other changes between the two runs.
	Facts []Fact `json:"facts"`
}

// Detect finds the changes of all series that have MinRuns points, and returns
// the number of these series. With hundreds of series, chance alone would move
// the level of some. Therefore the p values of all are adjusted together, by
// Benjamini and Hochberg. The level at which the last of them counts as changed
// also applies to further changes within them.
func Detect(families []*Family) (tested int) {
	var series []*Series
	var p []float64
	for _, f := range families {
		for _, s := range f.Series {
			if len(s.Points) >= MinRuns {
				_, own := change(s.Values())
				series, p = append(series, s), append(p, own)
			}
		}
	}
	var changed []*Series
	for i, adjusted := range stat.BenjaminiHochberg(p) {
		if adjusted <= FalseShare {
			changed = append(changed, series[i])
		}
	}
	for _, s := range changed {
		s.setChanges(levels(s.Values(), FalseShare*float64(len(changed))/float64(len(series))))
	}
	return len(series)
}

// Together returns how many of m series have to change for one to be distinguished from
// chance, if none has more than n points.
func Together(n, m int) int { return max(1, int(math.Ceil(leastP(n)*float64(m)/FalseShare))) }

func (s *Series) setChanges(points []int) {
	ends := append(points[:len(points):len(points)], len(s.Points))
	start := 0
	for i, at := range points {
		c := Change{At: at, From: s.level(start, at), To: s.level(at, ends[i+1]), Facts: s.factChanges(at)}
		if c.From != 0 {
			ratio := c.To / c.From
			c.Ratio = &ratio
		}
		if m := metric.ByName(s.Metric); m != nil && m.Better != "" && c.From != c.To {
			c.Verdict = compare.Worse
			if (c.To > c.From) == (m.Better == metric.Higher) {
				c.Verdict = compare.Better
			}
		}
		s.Changes = append(s.Changes, c)
		start = at
	}
}

// Moves reports whether the level changed by at least a share of the old one.
func (c *Change) Moves(share float64) bool {
	if c.Ratio == nil {
		return c.To != c.From
	}
	return math.Abs(*c.Ratio-1) >= share
}
