package result

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/workload"
)

func TestAccess(t *testing.T) {
	query := func(name string, groups ...Group) Step {
		return step(name, "query", groups...)
	}
	for _, c := range []struct {
		name string
		step Step
		want workload.Access
	}{
		{"rows appended", step("l.i0", "insert", ops("insert", "insert")), workload.WriteAccess},
		{"deletes beside inserts", step("l.i1", "insert", ops("insert", "insert"), ops("delete", "delete", "min id")), workload.WriteAccess},
		{"indexes built", step("l.x", "index", ops("index", "insert", "index")), workload.OtherAccess},
		{"rest", step("settle", ""), workload.OtherAccess},
		{"range queries", query("qr100", ops("insert", "insert"), varieties("query", "range market", "range pdc")), workload.RangeAccess},
		{"point queries", query("qp100", ops("insert", "insert"), varieties("query", "point")), workload.PointAccess},
		{"range queries, not said to be", query("qr100", ops("insert", "insert"), ops("query", "range market", "range pdc")), workload.RangeAccess},
		{"both kinds of query", query("q", varieties("query", "range market", "point")), workload.MixedAccess},
		{"a query of unknown kind", query("q", varieties("query", "point", "nearest neighbour")), workload.OtherAccess},
		{"nothing but queries", query("q100", ops("query", "query")), workload.OtherAccess},
		{"nothing but queries, and a name", query("scan all", ops("query", "query")), workload.RangeAccess},
		{"reads and updates by the same clients", step("a", "read", ops("client", "read", "update")), workload.MixedAccess},
		{"reads only", step("c", "read", ops("client", "read")), workload.PointAccess},
		{"scans and inserts", step("e", "scan", ops("client", "scan", "insert")), workload.MixedAccess},
		{"read-modify-write", step("f", "read-modify-write"), workload.MixedAccess},
		{"updates", step("u", "update row"), workload.WriteAccess},
	} {
		expect.Equal(t, (&Trial{Workload: "ibench"}).TestOf(&c.step), Test{Access: c.want}, c.want, c.name)
	}
}

func step(name, primary string, groups ...Group) Step {
	return Step{Name: name, Primary: primary, Groups: groups}
}

func ops(name string, kinds ...string) Group { return Group{Name: name, Ops: kinds} }

func varieties(whole string, kinds ...string) Group {
	g := Group{Name: whole, Ops: kinds, Of: map[string]string{}}
	for _, k := range kinds {
		g.Of[k] = whole
	}
	return g
}

// Tests of sysbench are placed as in published tables.
func TestAccessOfSysbench(t *testing.T) {
	warm, before := Test{WarmUp: true}, Test{BeforeWrites: true}
	as := func(t Test, a workload.Access) Test { t.Access = a; return t }
	for _, c := range []struct {
		want  Test
		names []string
	}{
		{Test{Access: workload.PointAccess}, []string{"select", "select@8c", "select_range=100_clients=8", "hot-points_range=100", "point-query_range=100", "points-covered-pk_range=100", "points-notcovered-si", "random-points_range=1000"}},
		{Test{Access: workload.RangeAccess}, []string{"select_random_ranges", "select_random_ranges@4c", "range-covered-pk_range=100", "range-notcovered-si", "read-only-count_range=1000", "read-only_range=10", "read-only-sum", "scan_range=100", "prefix-scan"}},
		{Test{Access: workload.WriteAccess}, []string{"delete_range=100", "insert", "read-write_range=10", "update-index", "update-inlist", "update-nonindex", "update-one", "update-zipf", "write-only_range=10000"}},
		{Test{Access: workload.MixedAccess}, []string{"ratio", "ratio@4r.8t", "ratio-points@8r"}},
		{as(before, workload.PointAccess), []string{"point-query.pre@4c", "points-covered-pk.pre@500", "point-query.pre_range=100", "random-points.pre_range=10"}},
		{as(before, workload.RangeAccess), []string{"scan.warmpre", "read-only.pre"}},
		{as(warm, workload.PointAccess), []string{"point-query.warm", "select.warmup@3c"}},
		{as(warm, workload.RangeAccess), []string{"scan.warm_range=100"}},
		{as(warm, workload.WriteAccess), []string{"update-index.warmup@8c.500"}},
		{as(warm, workload.MixedAccess), []string{"ratio.warmup@4r.8t"}},
	} {
		for _, name := range c.names {
			s := step(name, "query")
			expect.Equal(t, (&Trial{Workload: "sysbench"}).TestOf(&s), c.want, name)
		}
	}
	// What was declared counts, whatever the name.
	s := Step{Name: "point.warm", Access: workload.MixedAccess, BeforeWrites: true}
	expect.Equal(t, (&Trial{}).TestOf(&s), Test{Access: workload.MixedAccess, BeforeWrites: true})
}
