package result

import (
	"slices"
	"strings"

	"rumbench/workload"
)

const (
	sysbench = "sysbench" // the name of the workload and of its imported logs
	indexOp  = "index"
)

// testByName classifies a step that does not declare its test.
//
// Tests of sysbench are classified by their names, as published tables do:
// "point" in it is a point test, and so is the test "select" of 2016, which
// reads a row by its key; delete, insert, update or write makes a write test;
// all others are range tests. Those of a ratio of reads to writes are mixed.
// Steps of other workloads are classified by their primary operations, or, if
// these give no answer, by such words in the name.
func testByName(workloadName string, s *Step) Test {
	name, _, _ := strings.Cut(s.Name, "@") // without its levels
	t := Test{WarmUp: s.Warmup || hasPart(name, "warm", "warmup"), BeforeWrites: hasPart(name, "pre", "warmpre")}
	t.Access = accessByKinds(s)
	byName := accessByName(s.Name)
	test, _, _ := strings.Cut(name, ".")
	test, _, _ = strings.Cut(test, "=") // select may have numbers appended, as in select_range=100_clients=8
	switch {
	case workloadName != sysbench:
		if t.Access == workload.OtherAccess {
			t.Access = byName
		}
	case strings.HasPrefix(name, "ratio"):
		t.Access = workload.MixedAccess
	case slices.Contains([]string{"select", "select_range", "select_clients", "select_pk"}, test):
		t.Access = workload.PointAccess
	case byName != workload.OtherAccess:
		t.Access = byName
	case t.Access != workload.WriteAccess && s.Primary != indexOp: // else the load, or the building of its index
		t.Access = workload.RangeAccess
	}
	return t
}

// hasPart reports whether any part of a name is one of the words.
func hasPart(name string, words ...string) bool {
	return slices.ContainsFunc(parts(name, " _."), func(p string) bool { return slices.Contains(words, p) })
}

func parts(name, separators string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(separators, r) })
}

// accessByName classifies by the words in a step's name.
func accessByName(name string) workload.Access {
	has := func(word string) bool { return strings.Contains(strings.ToLower(name), word) }
	switch {
	case has("point"):
		return workload.PointAccess
	case slices.ContainsFunc([]string{"delete", "insert", "update", "write"}, has):
		return workload.WriteAccess
	case slices.ContainsFunc([]string{"range", "scan", "read-only"}, has):
		return workload.RangeAccess
	}
	return workload.OtherAccess
}

// accessByKinds classifies by the primary operation or its varieties: queries
// that are all lookups make a point test. Other operations of the same clients
// count too; those of other groups do not.
func accessByKinds(s *Step) workload.Access {
	var about, beside []workload.Access
	for _, g := range s.Groups {
		isOwn := func(op string) bool { return op == s.Primary || g.Of[op] == s.Primary }
		does := slices.ContainsFunc(g.Ops, isOwn)
		for _, op := range g.Ops {
			switch {
			case isOwn(op), !does && g.Name == s.Primary: // the operation that they are varieties of was not recorded
				about = append(about, accessOf(op))
			case does:
				beside = append(beside, accessOf(op))
			}
		}
	}
	if len(about) == 0 {
		about = []workload.Access{accessOf(s.Primary)}
	}
	if slices.Contains(about, workload.OtherAccess) {
		return workload.OtherAccess // its contents are unknown
	}
	for _, a := range append(about, beside...) {
		if a != about[0] && a != workload.OtherAccess {
			return workload.MixedAccess
		}
	}
	return about[0]
}

// accessOf classifies by the words in an operation kind's name: mixed if they
// contradict each other, other if there are none.
func accessOf(kind string) workload.Access {
	found := workload.OtherAccess
	for _, word := range parts(kind, " -_.") {
		switch a, ok := accessWords[word]; {
		case !ok:
		case found == workload.OtherAccess:
			found = a
		case a != found:
			return workload.MixedAccess
		}
	}
	return found
}

var accessWords = map[string]workload.Access{
	"insert": workload.WriteAccess, "update": workload.WriteAccess, "delete": workload.WriteAccess,
	"write": workload.WriteAccess,
	"put":   workload.WriteAccess, "replace": workload.WriteAccess, "upsert": workload.WriteAccess,
	"point": workload.PointAccess, "get": workload.PointAccess, "read": workload.PointAccess,
	"lookup": workload.PointAccess,
	"range":  workload.RangeAccess, "scan": workload.RangeAccess,
}
