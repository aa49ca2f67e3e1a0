package history

import (
	"cmp"
	"maps"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// chain is a number of a target in all runs of its plan, in whatever series it is.
type chain []link

// link is a point of a series.
type link struct {
	*Series
	at int
}

func (l link) point() *Point { return &l.Points[l.at] }

// chainsOf returns the numbers of the families as chains, in the order of runs.
func chainsOf(families []*Family) (out []chain) {
	type key struct {
		plan string
		name Name
	}
	places := map[key]int{}
	for _, f := range families {
		for _, s := range f.Series {
			k := key{f.Plan, s.Name}
			k.name.Engine, k.name.Durability, k.name.Offer, k.name.Source = "", "", "", ""
			i, found := places[k]
			if !found {
				i = len(out)
				places[k], out = i, append(out, nil)
			}
			for position := range s.Points {
				out[i] = append(out[i], link{s, position})
			}
		}
	}
	for _, c := range out {
		slices.SortStableFunc(c, func(a, b link) int { return cmp.Compare(a.point().place, b.point().place) })
	}
	return out
}

// findBreaks finds the differences between runs that no test of levels covers. Of runs that
// mostly differ in what they did, such as those of a sweep, it finds the last difference.
func findBreaks(families []*Family) {
	seen := recorded{}
	chains := chainsOf(families)
	alike := map[identity][]*Point{}
	for _, c := range chains {
		for _, l := range c {
			alike[l.identity()] = append(alike[l.identity()], l.point())
		}
	}
	for _, c := range chains {
		var begun []int // the links that begin a series, but for the first
		for i, now := range c {
			if now.at > 0 {
				continue
			}
			now.Breaks, now.follows, now.ended = nil, i > 0, now.Series != c[len(c)-1].Series
			now.findOpen()
			if i > 0 {
				begun = append(begun, i)
			}
		}
		if 2*len(begun) > len(c) {
			begun = begun[len(begun)-1:]
		}
		for _, i := range begun {
			split := newSplit(c[i-1], c[i], seen.between(c, i))
			split.Before, split.Dir = turn(alike[c[i-1].identity()], alike[c[i].identity()], split)
			c[i].Breaks = append(c[i].Breaks, split)
		}
	}
}

// identity is what the runs of a series share with those of other numbers.
type identity struct {
	*Family
	target, engine, durability string
}

func (s *Series) identity() identity { return identity{s.family, s.Target, s.Engine, s.Durability} }

// turn returns the last run before and the first run since a split, of all numbers that it
// splits: the run may lack the number itself, such as a percentile with too few samples.
func turn(before, since []*Point, split Change) (last, first string) {
	order := func(a, b *Point) int { return cmp.Compare(a.place, b.place) }
	begun := slices.MinFunc(since, order)
	before = slices.DeleteFunc(slices.Clone(before), func(p *Point) bool { return p.place >= begun.place })
	if len(before) == 0 {
		return split.Before, split.Dir
	}
	return slices.MaxFunc(before, order).Dir, begun.Dir
}

// newSplit returns the break between the level of a point and that of the first point of
// another series.
func newSplit(previousLink, now link, facts []Fact) Change {
	start, _ := previousLink.bounds(previousLink.at)
	_, end := now.bounds(0)
	facts = compare.AppendNew(seriesFacts(previousLink, now), facts...)
	return now.newChange(Split, previousLink.point(), 0, previousLink.level(start, previousLink.at+1), now.level(0,
		end), facts)
}

// bounds returns the first point of the level that a point is on, and the first of the next.
func (s *Series) bounds(position int) (start, end int) {
	end = len(s.Points)
	for _, c := range slices.Concat(s.Changes, s.Breaks) {
		if c.At > position {
			end = min(end, c.At)
		} else {
			start = max(start, c.At)
		}
	}
	return start, end
}

// findOpen finds the clearest step on the last level of a main number where a recorded fact changed. Nothing
// is proven by that: the runs may be too few.
func (s *Series) findOpen() {
	if s.weight >= weightOfLatency || len(s.Points) < 2 {
		return
	}
	values := s.Values()
	start, end := s.bounds(len(values) - 1)
	position := clearest(values, start, end, func(at int) bool {
		_, distinct := step(values[start:at], values[at:end])
		return distinct && len(s.factChanges(at)) > 0
	})
	if position == 0 {
		return
	}
	c := s.newChange(Open, &s.Points[position-1], position, s.level(start, position), s.level(position, end),
		s.factChanges(position))
	s.setSpeed(&c, start, end)
	s.Breaks = append(s.Breaks, c)
}

// recorded are the recorded facts that differ between two trials.
type recorded map[[2]*result.Trial][]Fact

// between returns the facts that differ between a link and the one before; all numbers of a
// trial share them.
func (seen recorded) between(c chain, i int) []Fact {
	key := [2]*result.Trial{c[i-1].point().trial, c[i].point().trial}
	if _, ok := seen[key]; !ok {
		var trials []*result.Trial
		for _, l := range c {
			trials = append(trials, l.point().trial)
		}
		seen[key] = factChanges(trials, i)
	}
	return seen[key]
}

// familyFacts returns the facts that separate the runs of two families.
func familyFacts(a, b *Family, x, y *result.Trial) (out []Fact) {
	differ := func(kind, name, old, level string) {
		if old != level {
			out = append(out, Fact{kind, name, old, level})
		}
	}
	differ(Work, "workload", a.Workload, b.Workload)
	names := slices.Sorted(maps.Keys(a.Params))
	for _, name := range compare.AppendNew(names, slices.Sorted(maps.Keys(b.Params))...) {
		differ(Work, name, paramIn(a.Params, name), paramIn(b.Params, name))
	}
	for _, name := range observe.FactsThat(observe.SetsKind) {
		if a.Machine != b.Machine {
			differ(HostFact, name, x.Host.Value(name), y.Host.Value(name))
		}
	}
	return out
}

func paramIn(params map[string]any, name string) string {
	if v, ok := params[name]; ok {
		return ParamText(v)
	}
	return ""
}

// seriesFacts returns the facts that separate two series of a number.
func seriesFacts(previousLink, now link) []Fact {
	x, y := previousLink.point().trial, now.point().trial
	out := familyFacts(previousLink.family, now.family, x, y)
	for _, f := range []Fact{
		{Knob, "durability", previousLink.Durability, now.Durability}, {PlanKey, "engine", previousLink.Engine, now.Engine},
		{Source, previousLink.Metric, previousLink.Source, now.Source},
	} {
		if f.From != f.To {
			out = append(out, f)
		}
	}
	if previousLink.Offer == now.Offer {
		return out
	}
	offered := compare.GroupsDiffer(groupsIn(x, previousLink.Step), groupsIn(y, now.Step))
	for _, d := range offered {
		out = append(out, Fact{Work, d.What, d.Base, d.New})
	}
	if len(offered) == 0 { // the question of a search
		out = append(out, Fact{Work, "offer", previousLink.Offer, now.Offer})
	}
	return out
}

func groupsIn(t *result.Trial, step string) []result.Group {
	for i := range t.Steps {
		if t.Steps[i].Name == step {
			return t.Steps[i].Groups
		}
	}
	return nil
}
