package history

import (
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// MinRuns is the number of points that a series needs before a change can be
// distinguished from chance.
const MinRuns = 2 * leastLevel

// FalseShare is the largest expected share of unchanged series among those reported as
// changed.
const FalseShare = 0.05

// Finding is a run at which numbers of a target changed, or from which they are not
// compared with earlier ones.
type Finding struct {
	Plan, Target string
	Several      bool   // the run has other targets too
	Run, Before  *Run   // the first run with the change, and the last without it
	Facts        []Fact // that differ between the two; those that split the runs come first
	Split        bool   // numbers before and since are not compared
	Moves        []Move // throughput first, then latency, then costs; may be empty if it is a split
	Note         string // why it is acknowledged; "" if it is not
	place        int    // of the run in the order of runs
}

// Move is a number that changed.
type Move struct {
	*Series
	*Change
}

// collection collects findings: one for a run, a target, and a note.
type collection struct {
	list  []*Finding
	runs  map[string]*Run // by directory
	notes Judged
}

// Detect finds the changes of all series that have MinRuns points, and returns
// the number of these series. With hundreds of series, chance alone would move
// the level of some. Therefore the p values of all are adjusted together, by
// Benjamini and Hochberg. The level at which the last of them counts as changed
// also applies to further changes within them, and clear steps near one count too.
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
	alpha := FalseShare * float64(len(changed)) / float64(len(series))
	for _, s := range changed {
		s.setChanges(steps(s.Values(), levels(s.Values(), alpha), func(position int) bool {
			return slices.ContainsFunc(s.factChanges(position), func(f Fact) bool {
				return f.Kind != Version || f.Name == result.ProgramFact
			})
		}))
	}
	return len(series)
}

// Together returns how many of m series have to change for one to be distinguished from
// chance, if none has more than n points.
func Together(n, m int) int { return max(1, int(math.Ceil(leastP(n)*float64(m)/FalseShare))) }

func (s *Series) setChanges(points []int) {
	ends := append(points[:len(points):len(points)], len(s.Points))
	start := 0
	for i, position := range points {
		c := s.newChange(Level, &s.Points[position-1], position, s.level(start, position), s.level(position,
			ends[i+1]), s.factChanges(position))
		if m := metric.ByName(s.Metric); m != nil && m.Better != "" && c.From != c.To {
			c.Verdict = compare.Worse
			if (c.To > c.From) == (m.Better == metric.Higher) {
				c.Verdict = compare.Better
			}
		}
		if c.First, c.Last = position, position; min(position-start, ends[i+1]-position) >= leastLevel { // else it is clear
			first, last := around(s.Values()[start:ends[i+1]], position-start)
			c.First, c.Last = start+first, start+last
		}
		s.setSpeed(&c, start, ends[i+1])
		s.Changes = append(s.Changes, c)
		start = position
	}
}

// newChange returns a change from the level of a point to that which begins at another.
func (s *Series) newChange(kind Kind, previousPoint *Point, index int, old, level float64, facts []Fact) Change {
	c := Change{Kind: kind, At: index, Dir: s.Points[index].Dir, Before: previousPoint.Dir, From: old, To: level,
		Facts: facts}
	if old != 0 {
		ratio := level / old
		c.Ratio = &ratio
	}
	return c
}

// Moves reports whether the level changed by at least a share of the old one.
func (c *Change) Moves(share float64) bool {
	if c.Ratio == nil {
		return c.To != c.From
	}
	return math.Abs(*c.Ratio-1) >= share
}
