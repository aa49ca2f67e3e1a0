package compare

import (
	"slices"
	"strings"
)

// Group is a kind of test. A mean is taken of tests of one group only: whoever
// reads faster and writes slower is not “the same on the whole”.
type Group string

// The groups, in the order of tables.
const (
	Point Group = "point" // rows looked up by a key
	Range Group = "range" // rows read in the order of an index, or all
	Write Group = "write" // insert, update, delete
	Mixed Group = "mixed" // several of these in one number
	Other Group = "other" // none of them, or not known
	// Before are the tests that prepare or repeat others: to warm a cache up, or
	// to have the numbers from before the writes.
	Before Group = "warm-up and before the writes"
)

// hasMean tells whether the tests of the group have enough in common for a mean.
func (g Group) hasMean() bool { return g != Other && g != Before }

// groups are all of them, in the order of tables.
var groups = [...]Group{Point, Range, Write, Mixed, Other, Before}

// sysbench is the name of the workload whose tests are grouped by their names.
const sysbench = "sysbench"

// writeWords are the parts of a test's name that make it a write test.
var writeWords = [...]string{"delete", "insert", "update", "write"}

// GroupOf says which group a step belongs to.
//
// Tests of sysbench are grouped by their names, as published tables do: "point"
// in it is a point test, and so is the test "select" of 2016, which reads a row by
// its key; delete, insert, update or write makes a write test; all others are
// range tests. Those of a ratio of reads to writes are mixed. Steps of other
// workloads are grouped by the kinds of operation that they are about, and where
// these tell nothing, by such words in the name.
func GroupOf(s *Step) Group {
	test, _, _ := strings.Cut(s.Name, "@") // what it is, without the levels that it is at
	if s.Warmup || isBefore(test) {
		return Before
	}
	if s.workload() == sysbench {
		switch {
		case strings.HasPrefix(test, "ratio"):
			return Mixed
		case isSelect(test):
			return Point
		}
		if g := groupByName(s.Name); g != Other {
			return g
		}
		if g := s.groupByKinds(); g == Write || s.Primary == "index" {
			return g // the load, and the building of its index, of which logs tell nothing
		}
		return Range
	}
	if g := s.groupByKinds(); g != Other {
		return g
	}
	return groupByName(s.Name)
}

// isSelect tells whether a test is the suite's "select", with or without the
// numbers that are appended to names, as in "select_range=100_clients=8".
func isSelect(test string) bool {
	name, _, _ := strings.Cut(test, "_range=")
	name, _, _ = strings.Cut(name, "_clients=")
	name, _, _ = strings.Cut(name, "_pk=")
	return name == "select"
}

// isBefore tells whether a part of the name says that the test is a warm-up or
// one of those before the writes.
func isBefore(name string) bool {
	return isWarmUp(name) || hasPart(name, "pre", "warmpre")
}

// isWarmUp tells whether a part of the name says that the test is a warm-up.
func isWarmUp(name string) bool { return hasPart(name, "warm", "warmup") }

// hasPart tells whether one of the parts of a name is one of some words.
func hasPart(name string, words ...string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' || r == ' ' })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) })
}

func groupByName(name string) Group {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "point"):
		return Point
	case slices.ContainsFunc(writeWords[:], func(w string) bool { return strings.Contains(name, w) }):
		return Write
	case strings.Contains(name, "range"), strings.Contains(name, "scan"), strings.Contains(name, "read-only"):
		return Range
	}
	return Other
}

func (s *Step) workload() string {
	for _, runs := range s.runsInOrder() {
		return runs[0].Trial.Workload
	}
	return ""
}

// groupByKinds goes by the primary operation, or, where it has varieties, by
// those: queries that are all lookups make a point test. What else the same
// clients do counts too; what others do beside them does not.
func (s *Step) groupByKinds() Group {
	about, beside := s.kinds()
	found := groupOfKind(about[0])
	for _, kind := range about[1:] {
		found = together(found, groupOfKind(kind))
	}
	if found == Other {
		return Other
	}
	for _, kind := range beside {
		if g := groupOfKind(kind); g != Other {
			found = together(found, g)
		}
	}
	return found
}

// together is the group of a test with operations of both groups.
func together(a, b Group) Group {
	switch {
	case a == b:
		return a
	case a == Other || b == Other: // what is in it is not known
		return Other
	}
	return Mixed
}

// kinds are the kinds of operation that count as the primary one, at least
// itself, and the others that the same clients perform.
func (s *Step) kinds() (about, beside []string) {
	for _, g := range s.Groups() {
		var own, others []string
		for _, op := range g.Ops {
			if op == s.Primary || g.Of[op] == s.Primary {
				own = append(own, op)
			} else {
				others = append(others, op)
			}
		}
		if len(own) == 0 && g.Name == s.Primary {
			own, others = others, nil // of what they are varieties was not recorded
		}
		if len(own) > 0 {
			about, beside = append(about, own...), append(beside, others...)
		}
	}
	if len(about) == 0 {
		about = []string{s.Primary}
	}
	return about, beside
}

// kindWords are the words that tell what an operation does.
var kindWords = [...]struct {
	group Group
	words []string
}{
	{Write, []string{"insert", "update", "delete", "write", "put", "replace", "upsert"}},
	{Point, []string{"point", "get", "read", "lookup"}},
	{Range, []string{"range", "scan"}},
}

// groupOfKind goes by the words in an operation kind's name: Mixed where they
// contradict each other, Other where there is none.
func groupOfKind(kind string) Group {
	found := Other
	for _, word := range strings.FieldsFunc(kind, func(r rune) bool { return r == ' ' || r == '-' || r == '_' || r == '.' }) {
		for _, k := range kindWords {
			if !slices.Contains(k.words, word) {
				continue
			}
			if found != Other && found != k.group {
				return Mixed
			}
			found = k.group
		}
	}
	return found
}
