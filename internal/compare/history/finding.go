package history

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/result"
)

// Findings returns the changes of the families, searched by Detect, and the breaks between them:
// splits first, then by run, the last first. It marks those that are acknowledged, and sets the
// families' odd runs.
func Findings(families []*Family, notes Judged) []*Finding {
	c := collection{runs: map[string]*Run{}, notes: notes}
	for _, f := range families {
		for _, r := range f.Runs {
			c.runs[r.Dir] = r
		}
	}
	findBreaks(families)
	for _, f := range families {
		for _, s := range f.Series {
			for _, list := range [][]Change{s.Breaks, s.Changes} {
				for i := range list {
					list[i].Note = notes.note(list[i].Dir, s.Name)
					c.add(f, Move{s, &list[i]})
				}
			}
		}
	}
	c.addUnrelated(families)
	for _, f := range families {
		c.findOdd(f)
	}
	for _, f := range c.list {
		slices.SortStableFunc(f.Moves, Move.compare)
		for _, m := range f.Moves {
			f.Facts = compare.AppendNew(f.Facts, m.Facts...)
		}
	}
	slices.SortStableFunc(c.list, func(a, b *Finding) int {
		if a.Split != b.Split {
			return map[bool]int{true: -1, false: 1}[a.Split]
		}
		return cmp.Compare(b.place, a.place)
	})
	return c.list
}

func (c *collection) add(f *Family, m Move) {
	found := c.at(f.Plan, m.Target, m.Dir, m.Before, m.Note)
	found.Split = found.Split || m.Kind == Split
	found.Moves = append(found.Moves, m)
}

// at returns the finding about a run and a target, which it makes on the first call.
func (c *collection) at(plan, target, dir, before, note string) *Finding {
	r := c.runs[dir]
	for _, f := range c.list {
		if f.Run == r && f.Target == target && f.Note == note {
			return f
		}
	}
	f := &Finding{Plan: plan, Target: target, Run: r, Before: c.runs[before], Note: note, Several: len(r.Targets()) > 1,
		place: r.place}
	c.list = append(c.list, f)
	return f
}

// addUnrelated adds the runs that begin a family and have no number in common with the runs
// before, because their steps have other names.
func (c *collection) addUnrelated(families []*Family) {
	type begun struct {
		*Family
		run   *Run
		trial *result.Trial
	}
	last := map[[2]string]begun{} // by plan and target
	var beguns []begun
	for _, f := range families {
		for i, r := range f.Runs {
			for _, t := range f.trials[i] {
				beguns = append(beguns, begun{f, r, t})
			}
		}
	}
	slices.SortStableFunc(beguns, func(a, b begun) int { return cmp.Compare(a.run.place, b.run.place) })
	type member struct {
		*Family
		target string
	}
	seen := map[member]bool{}
	for _, now := range beguns {
		target := now.trial.Target
		previousBegun, follows := last[[2]string{now.Plan, target}]
		begins := follows && previousBegun.Family != now.Family && !seen[member{now.Family, target}]
		if begins && previousBegun.has(target, false) && now.has(target, false) && !now.has(target, true) {
			note := c.notes.note(now.run.Dir, Name{Target: target})
			f := c.at(now.Plan, target, now.run.Dir, previousBegun.run.Dir, note)
			f.Split, f.Facts = true, familyFacts(previousBegun.Family, now.Family, previousBegun.trial, now.trial)
		}
		last[[2]string{now.Plan, target}], seen[member{now.Family, target}] = now, true
	}
}

// has reports whether the family has a series of a target, or one that follows another.
func (f *Family) has(target string, follows bool) bool {
	return slices.ContainsFunc(f.Series, func(s *Series) bool { return s.Target == target && (s.follows || !follows) })
}

// Main reports whether the number is the main one of its step.
func (m Move) Main() bool { return m.weight < weightOfLatency }

// compare sorts moves for a reader: throughput first; among alike numbers the one that moved
// farthest.
func (m Move) compare(o Move) int {
	far := func(m Move) float64 {
		if m.Ratio == nil || *m.Ratio <= 0 {
			return math.Inf(1)
		}
		return math.Abs(math.Log(*m.Ratio))
	}
	return cmp.Or(cmp.Compare(m.weight, o.weight), cmp.Compare(far(o), far(m)))
}
