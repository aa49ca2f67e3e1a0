package result

import (
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/workload"
)

// readOlder converts a trial of an older build to what this one would have
// written.
func (t *Trial) readOlder() {
	typed := map[string]metric.Warning{} // the same texts recur
	read := func(list []metric.Warning) {
		for i := range list {
			text := list[i].Text
			if list[i].Code != "" {
				continue
			}
			if _, known := typed[text]; !known {
				typed[text] = metric.Read(text)
			}
			list[i] = typed[text]
		}
	}
	read(t.Warnings)
	for i := range t.Steps {
		s := &t.Steps[i]
		read(s.Warnings)
		read(s.Notes)
		for k := range s.Rows {
			r := &s.Rows[k]
			r.Metric = metric.CurrentName(r.Metric)
			read(r.Warnings)
			r.Mark()
		}
	}
}

// addHosting adds where the engine ran to a trial of an older build.
func (t *Trial) addHosting() {
	if t.Hosting != "" {
		return
	}
	for i := range t.Steps {
		if r := t.Steps[i].Find("server_cpu_us", "", ""); r != nil {
			t.Hosting = map[string]Hosting{metric.OfServer: Server, metric.OfProcess: Embedded}[r.Source]
			return
		}
	}
}

// addCPU adds cpu_us to the steps of an older build, which wrote only its
// parts.
func (t *Trial) addCPU() {
	if t.Hosting == "" {
		return
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Find("cpu_us", "", "") != nil {
			continue
		}
		for _, r := range s.Rows { // the range does not include rows appended in the loop
			if r.Metric != "server_cpu_us" {
				continue
			}
			if t.Hosting == Server {
				client := s.Find("client_cpu_us", "", r.Per)
				if client == nil || client.Source != metric.OfClient {
					continue
				}
				r.Value, r.Source = r.Value+client.Value, metric.OfAll
			}
			r.Metric = "cpu_us"
			s.Rows = append(s.Rows, r)
		}
	}
}

// readOlderImport converts a test of sysbench that an older build imported: it called
// the clients after what they did, and judged transactions by their queries.
func (t *Trial) readOlderImport() {
	if t.Imported == nil || t.Workload != sysbench {
		return
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if len(s.Groups) != 1 || !slices.Contains([]string{query, "scan", "event"}, s.Groups[0].Name) {
			continue
		}
		const clients = "clients"
		old := s.Groups[0].Name
		s.Groups[0].Name = clients
		for k := range s.Rows {
			if r := &s.Rows[k]; r.Group == old {
				r.Group = clients
			}
		}
		for k := range s.Curves {
			s.Curves[k].Group = clients
		}
		for k := range s.Stalls {
			s.Stalls[k].Group = clients
		}
		if slices.Contains(s.Groups[0].Ops, transaction) {
			s.judgeTransactions()
		}
	}
}

// judgeTransactions makes transactions what an imported test is about, with their
// queries beside them.
func (s *Step) judgeTransactions() {
	s.Primary, s.WritesPer = transaction, transaction
	s.Rows = slices.DeleteFunc(s.Rows, func(r metric.Row) bool { // of queries
		return strings.HasPrefix(r.Metric, "interval_ops_")
	})
	if queries := s.Find("rows_per_s", query, ""); queries != nil {
		beside := *queries
		beside.Metric, beside.Op = "queries_per_s", transaction
		s.Rows = append(s.Rows, beside)
	}
}

const (
	sysbench    = "sysbench" // the workload, and what its logs are imported as
	indexOp     = "index"
	query       = "query"
	transaction = "transaction"
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
		own := func(op string) bool { return op == s.Primary || g.Of[op] == s.Primary }
		does := slices.ContainsFunc(g.Ops, own)
		for _, op := range g.Ops {
			switch {
			case own(op), !does && g.Name == s.Primary: // the operation that they are varieties of was not recorded
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
		return workload.OtherAccess // what is in it is unknown
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
		switch a, known := accessWords[word]; {
		case !known:
		case found == workload.OtherAccess:
			found = a
		case a != found:
			return workload.MixedAccess
		}
	}
	return found
}

var accessWords = map[string]workload.Access{
	"insert": workload.WriteAccess, "update": workload.WriteAccess, "delete": workload.WriteAccess, "write": workload.WriteAccess,
	"put": workload.WriteAccess, "replace": workload.WriteAccess, "upsert": workload.WriteAccess,
	"point": workload.PointAccess, "get": workload.PointAccess, "read": workload.PointAccess, "lookup": workload.PointAccess,
	"range": workload.RangeAccess, "scan": workload.RangeAccess,
}
