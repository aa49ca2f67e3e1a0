package importer

import (
	"regexp"
	"slices"
	"strconv"
)

// suiteTest is a parsed name of a suite's file: sb.KIND.TEST.rangeR.pkP.dopN. Tables
// of results name the same tests TEST_range=R.
type suiteTest struct {
	test, reach string
	pk          string // "1", "0"; "" is unknown
	clients     int    // 0 is unknown
}

var (
	suiteFile  = regexp.MustCompile(`^sb\.(?:o|io|vm|time|met)\.(.+)$`)
	suiteName  = regexp.MustCompile(`^sb\.(?:o|met|r\.qps)\.(.+)\.range(\d+)\.pk([01])(?:\.dop(\d+))?$`)
	suiteTable = regexp.MustCompile(`^(.+)_range=(\d+)$`)
)

// suiteTestOf parses the name of a file, as the suite or as published tables have it.
func suiteTestOf(name string) (t suiteTest, ok bool) {
	if m := suiteName.FindStringSubmatch(name); m != nil {
		clients, _ := strconv.Atoi(m[4])
		return suiteTest{m[1], m[2], m[3], clients}, true
	}
	if m := suiteTable.FindStringSubmatch(name); m != nil {
		return suiteTest{test: m[1], reach: m[2]}, true
	}
	return suiteTest{}, false
}

// is makes a run a run of a suite's test.
func (r *run) is(t suiteTest) {
	r.test, r.base = t.test, t.test
	r.step.Doc = "sysbench, test " + t.test
	if t.reach != "" {
		r.base += "_range=" + t.reach
		r.step.Doc += " with range " + t.reach
	}
	if t.pk != "" {
		r.pk = t.pk
		r.params["pk"] = t.pk
	}
	if t.clients > 0 {
		r.clients = t.clients
	}
}

// nameSteps names the steps whose runs contain only their test, as published tables
// do: with the key and the clients only if they differ between the runs of a test.
func nameSteps(runs []*run) {
	_, tests := groups(runs, func(r *run) string { return r.base })
	delete(tests, "")
	for _, same := range tests {
		several := func(value func(*run) string) bool {
			values, _ := groups(same, value)
			return len(slices.DeleteFunc(values, func(v string) bool { return v == "" })) > 1
		}
		keys := several(func(r *run) string { return r.pk })
		clients := several((*run).clientsText)
		for _, r := range same {
			r.step.Name = r.base
			if keys && r.pk != "" {
				r.step.Name += "_pk=" + r.pk
			}
			if n := r.clientsText(); clients && n != "" {
				r.step.Name += "_clients=" + n
			}
		}
	}
}

func (r *run) clientsText() string {
	if r.clients > 0 {
		return strconv.Itoa(r.clients)
	}
	return ""
}
