package compare

import (
	"slices"

	"rumbench/internal/result"
	"rumbench/workload"
)

// Group is a kind of test. Means are taken within a group only: a target that
// reads faster and writes slower is not “the same on the whole”.
type Group string

// The groups, in the order of tables.
const (
	Point = Group(workload.PointAccess)
	Range = Group(workload.RangeAccess)
	Write = Group(workload.WriteAccess)
	Mixed = Group(workload.MixedAccess)
	Other = Group(workload.OtherAccess)
	// Before are the tests that prepare or repeat others: to warm up a cache, or
	// to measure before the writes.
	Before Group = "warm-up and before the writes"
)

// hasMean reports whether the tests of the group have enough in common for a mean.
func (g Group) hasMean() bool { return g != Other && g != Before }

// Groups returns all groups in the order of tables.
func Groups() []Group { return []Group{Point, Range, Write, Mixed, Other, Before} }

// GroupOf returns the group that a step belongs to.
func GroupOf(s *Step) Group {
	t := s.Test()
	if s.Warmup || t.WarmUp || t.BeforeWrites {
		return Before
	}
	return Group(t.Access)
}

// Test returns the class of the step, from its first run.
func (s *stepRuns) Test() result.Test {
	r := s.First()
	return r.Trial.TestOf(r.Step)
}

// First returns the first run that has clients, or else the first one.
func (s *stepRuns) First() *Run {
	runs := s.runsInOrder()
	return &runs[max(0, slices.IndexFunc(runs, func(r Run) bool { return len(r.Step.Groups) > 0 }))]
}
