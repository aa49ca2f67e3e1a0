package result

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rumbench/internal/metric"
	"rumbench/workload"
)

// Results of builds that knew no cpu_us have it when they are read: of a server
// the sum of its parts, of an embedded engine its process, and where a part is
// unknown none.
func TestCPUOfOlderBuilds(t *testing.T) {
	row := func(name, per, source string, v float64) metric.Row {
		return metric.Row{Step: "q", Metric: name, Unit: "µs", Per: per, Source: source, Value: v, N: 10}
	}
	for _, c := range []struct {
		name    string
		rows    []metric.Row
		hosting Hosting
		want    []string
	}{
		{"server", []metric.Row{row("server_cpu_us", "query", metric.OfServer, 40), row("server_cpu_us", "insert row", metric.OfServer, 400),
			row("client_cpu_us", "query", metric.OfClient, 10), row("client_cpu_us", "insert row", metric.OfClient, 100)}, Server,
			[]string{"50 query " + metric.OfAll, "500 insert row " + metric.OfAll}},
		{"embedded", []metric.Row{row("server_cpu_us", "query", metric.OfProcess, 40), row("client_cpu_us", "query", "null engine", 10)}, Embedded,
			[]string{"40 query " + metric.OfProcess}},
		{"without the client", []metric.Row{row("server_cpu_us", "query", metric.OfServer, 40)}, Server, nil},
		{"imported", []metric.Row{row("client_cpu_us", "query", "/usr/bin/time of the client", 10)}, "", nil},
		{"newer", []metric.Row{row("cpu_us", "query", metric.OfAll, 55), row("server_cpu_us", "query", metric.OfServer, 40), row("client_cpu_us", "query", metric.OfClient, 10)}, Server,
			[]string{"55 query " + metric.OfAll}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, TrialFile, &Trial{Format: Format, Status: Complete, Steps: []Step{{Name: "q", Rows: c.rows}}})
			tr, err := ReadTrial(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range tr.Steps[0].Rows {
				if r.Metric == "cpu_us" {
					got = append(got, fmt.Sprint(r.Value, " ", r.Per, " ", r.Source))
				}
			}
			if tr.Hosting != c.hosting || !slices.Equal(got, c.want) {
				t.Errorf("hosting %q, %q; want %q, %q", tr.Hosting, got, c.hosting, c.want)
			}
		})
	}
}

func TestAccessOfOlderBuilds(t *testing.T) {
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
		t.Run(c.name, func(t *testing.T) {
			if got := (&Trial{Workload: "ibench"}).TestOf(&c.step); got != (Test{Access: c.want}) {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
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
func TestSysbenchOfOlderBuilds(t *testing.T) {
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
			if got := (&Trial{Workload: "sysbench"}).TestOf(&s); got != c.want {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		}
	}
	// What was declared counts, whatever the name.
	s := Step{Name: "point.warm", Access: workload.MixedAccess, BeforeWrites: true}
	if got := (&Trial{}).TestOf(&s); got != (Test{Access: workload.MixedAccess, BeforeWrites: true}) {
		t.Errorf("%+v", got)
	}
}

// Warnings and notes of builds that wrote texts only have codes when they are
// read, numbers the marks that belong to them, and metrics their names of today.
func TestWarningsOfOlderBuilds(t *testing.T) {
	const trial = `{"format": 1, "status": "complete", "warnings": ["a remark"], "steps": [{"name": "q", "warnings":
		["group g: get: rows were missing: 1 of 2 were found for each get; what is not there costs less. The step cannot be compared"], "notes":
		["the server waited for its clients in 64 % of the samples: of the 2 processors that it may use rumbench had 1.90, and its threads stood in line for 0.20 more, but other programs had some too"],
		"not_comparable": ["rows missing"], "rows": [
		{"metric": "write_kb", "warnings": ["the device wrote 12.0 MB, of which this process caused 2.0 MB: somebody else used it"]},
		{"metric": "write_kb", "warnings": ["lower bound: 3.0 MB were written, and changes of 1.0 MB were put off beyond the end of the step, which was too short for them to be written as they come"]},
		{"metric": "settled_write_kb", "disturbed": true},
		{"metric": "server_line_us", "value": 7}]}]}`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, TrialFile), []byte(trial), 0o644); err != nil {
		t.Fatal(err)
	}
	tr, err := ReadTrial(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &tr.Steps[0]
	if !metric.Has(s.Warnings, metric.TooFewRows) || !metric.Has(s.Notes, metric.ClientWaitedOthers) || tr.Warnings[0].Text != "a remark" {
		t.Errorf("%+v, %+v, %+v", s.Warnings, s.Notes, tr.Warnings)
	}
	for i, want := range []struct{ disturbed, atLeast bool }{{true, false}, {false, true}, {true, false}, {}} {
		if r := s.Rows[i]; r.Disturbed != want.disturbed || r.AtLeast != want.atLeast {
			t.Errorf("%+v", r)
		}
	}
	if r := s.Find("server_runqueue_us", "", ""); r == nil || r.Value != 7 {
		t.Errorf("%+v", r)
	}
}

// Tests of sysbench that older builds imported are about transactions, with their
// queries beside them, as a run of the workload; the clients are called alike.
func TestImportsOfOlderBuilds(t *testing.T) {
	row := func(op, name, per string, v float64) metric.Row {
		r := metric.Row{Step: "s", Op: op, Metric: name, Per: per, Value: v, N: int64(2 * v)}
		if per == "" {
			r.Group = "query"
		}
		return r
	}
	read := func(imported *Imported, ops ...string) Step {
		dir := t.TempDir()
		step := Step{Name: "s", Primary: "query", WritesPer: "query", Groups: []Group{{Name: "query", Clients: 2, Ops: ops}}, Stalls: []metric.Span{{Group: "query", To: 1}},
			Rows: []metric.Row{row("query", "rows_per_s", "", 2000), row("transaction", "rows_per_s", "", 100), row("", "interval_ops_p50", "", 1990), row("", "read_kb", "query", 3)}}
		write(t, dir, TrialFile, &Trial{Format: Format, Status: Complete, Workload: sysbench, Imported: imported, Steps: []Step{step}})
		trial, err := ReadTrial(dir)
		if err != nil {
			t.Fatal(err)
		}
		return trial.Steps[0]
	}
	s := read(&Imported{Tool: "sysbench 1.0.20"}, "query", "transaction")
	beside := s.Find("queries_per_s", "transaction", "")
	if s.Primary != "transaction" || s.WritesPer != "transaction" || s.Groups[0].Name != "clients" || s.Stalls[0].Group != "clients" || beside == nil || beside.Value != 2000 || beside.Group != "clients" {
		t.Errorf("%+v", s)
	}
	if s.Find("interval_ops_p50", "", "") != nil || s.Find("read_kb", "", "query").Group != "" || s.Find("rows_per_s", "query", "").Value != 2000 {
		t.Errorf("%+v", s.Rows)
	}
	if s := read(&Imported{Tool: "sysbench 1.0.20"}, "query"); s.Primary != "query" || s.Groups[0].Name != "clients" || s.Find("interval_ops_p50", "", "") == nil {
		t.Errorf("single statements: %+v", s)
	}
	if s := read(nil, "query", "transaction"); s.Primary != "query" || s.Groups[0].Name != "query" {
		t.Errorf("not imported: %+v", s)
	}
}
