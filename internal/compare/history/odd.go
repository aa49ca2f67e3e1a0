package history

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/stat"
)

// Far returns the rates that are far from their median in the direction of the mean.
func (o *Odd) Far() []OddRate {
	return slices.DeleteFunc(slices.Clone(o.Rates), func(r OddRate) bool {
		return !apart(r.Ratio) || (r.Ratio < 1) != (o.Ratio < 1)
	})
}

// The rules of a guess.
const (
	oddBy      = 1.0 / 3 // the share by which an odd run is away from others
	fewestRuns = 3       // of which one may be odd
	oddSpreads = 3       // by how many standard deviations, once those are known
)

// apart reports whether rates with a ratio are far from each other.
func apart(ratio float64) bool { return math.Abs(ratio-1) > oddBy }

// findOdd finds the run whose rates are farthest from the median of the others, unless a finding
// or a note is about it.
func (c *collection) findOdd(f *Family) {
	f.Odd = nil
	kinds := map[identity][]*Series{}
	var order []identity
	for _, s := range f.Series {
		if kind := s.identity(); s.rate && len(s.Points) >= fewestRuns {
			if kinds[kind] == nil {
				order = append(order, kind)
			}
			kinds[kind] = append(kinds[kind], s)
		}
	}
	far := func(o *Odd) float64 { return math.Abs(math.Log(o.Ratio)) }
	for _, kind := range order {
		suspect := suspects(kinds[kind])
		for _, r := range f.Runs {
			if !suspect[r.Dir] {
				continue
			}
			o := c.oddRun(r, kinds[kind])
			if o != nil && (f.Odd == nil || far(o) > far(f.Odd)) {
				f.Odd = o
			}
		}
	}
}

// suspects returns the runs that may be odd: on a level of many runs, those half as far from it. The others need not
// be compared with all runs.
func suspects(series []*Series) map[string]bool {
	out := map[string]bool{}
	for _, s := range series {
		for start, end := 0, 0; start < len(s.Points); start = end {
			_, end = s.bounds(start)
			level := s.level(start, end)
			for _, p := range s.Points[start:end] {
				if end-start < MinRuns || math.Abs(p.Value/level-1) > oddBy/2 {
					out[p.Dir] = true
				}
			}
		}
	}
	return out
}

// oddRun returns how a run is odd in the series of a kind; nil if it is not, or that is known.
func (c *collection) oddRun(r *Run, series []*Series) *Odd {
	dir, o := r.Dir, &Odd{Dir: r.Dir, Target: series[0].Target}
	ratios := map[string][]float64{} // to the other runs
	for _, s := range series {
		index := slices.IndexFunc(s.Points, func(p Point) bool { return p.Dir == dir })
		if index < 0 || c.notes.note(dir, s.Name) != "" || slices.Min(s.Values()) <= 0 {
			continue
		}
		start, end := s.bounds(index)
		if end-start < fewestRuns {
			continue
		}
		value, others := s.Points[index].Value, slices.Delete(s.Values()[start:end], index-start, index-start+1)
		median := stat.Median(others)
		o.Rates = append(o.Rates, OddRate{s.Name, value, median, value / median})
		for _, p := range s.Points[start:end] {
			if p.Dir != dir {
				ratios[p.Dir] = append(ratios[p.Dir], value/p.Value)
			}
		}
	}
	known := func(f *Finding) bool { // that the rates changed there
		return !f.Split && f.Target == o.Target && f.Run == r
	}
	if len(o.Rates) == 0 || slices.ContainsFunc(c.list, known) {
		return nil
	}
	alike := 0
	var all []float64 // logarithms
	for _, list := range ratios {
		mean := geometricMean(list)
		if all = append(all, math.Log(mean)); !apart(mean) {
			alike++
		}
	}
	own := make([]float64, len(o.Rates))
	for i := range own {
		own[i] = o.Rates[i].Ratio
	}
	o.Others, o.Ratio = len(ratios), geometricMean(own)
	if !apart(o.Ratio) || alike*3 >= o.Others { // else it is one of two kinds of runs
		return nil
	}
	if o.Others >= leastLevel && math.Abs(math.Log(o.Ratio)) < oddSpreads*stat.Deviation(all) {
		return nil // they vary as much
	}
	slices.SortStableFunc(o.Rates, func(a, b OddRate) int {
		return cmp.Or(cmp.Compare(a.Ratio, b.Ratio), cmp.Compare(a.Step, b.Step)) * cmp.Compare(1, o.Ratio)
	})
	o.Speed = oddSpeed(o, series[0])
	return o
}

func geometricMean(ratios []float64) float64 {
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}
