package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// Two targets, a load by two clients and a step of queries beside writers with
// a rate, in lines of 17 fields.
func TestIBench(t *testing.T) {
	trials := read(t, Options{}, "testdata/ibench")
	if len(trials) != 2 || trials[0].Target != "db-1.9" || trials[1].Target != "db-1.10" || names(trials) != "db-1.9.1 l.i0, db-1.9.1 q100.1, db-1.10.1 l.i0, db-1.10.1 q100.1" {
		t.Fatalf("trials %s", names(trials))
	}
	// 22000 rows of the first client and 11000 of the second, 100 a commit. Of
	// twelve intervals the fifth had none; the others had 2000 and 1000.
	load := step(t, trials, "db-1.10", 1, "l.i0")
	numbers(t, load, []want{
		{"rows", "insert", "", 33000}, {"rows_per_s", "insert", "", 33000. / 12}, {"ops_per_s", "insert", "", 330. / 12}, {"duration_s", "", "", 12},
		{"service_max_us", "insert", "", 1100002}, {"interval_ops_p50", "", "", 3000}, {"interval_ops_p95", "", "", 3000}, {"interval_ops_p99", "", "", 0},
		{"stalls", "", "", 1}, {"stall_s", "", "", 1}, {"errors", "", "", 0},
	})
	absent(t, load, "service_p50_us", "service_p99_us", "sla_met", "client_cpu_us", "host_cpu_us")
	if c := load.Curves[0]; c.Count != 330 || len(c.Points) != 3 || c.Points[0] != [2]float64{100 * 324. / 330, 1000} || c.Points[2] != [2]float64{100, 1100002} {
		t.Errorf("curve %+v", c)
	}
	// 1200 rows in 12 s are 100 a second, as promised; 300 queries a second.
	good := step(t, trials, "db-1.9", 1, "q100.1")
	numbers(t, good, []want{
		{"rows_per_s", "query", "", 300}, {"rows_per_s", "insert", "", 100}, {"rows_per_s", "delete", "", 100},
		{"service_max_us", "query", "", 411}, {"service_max_us", "insert", "", 900}, {"service_max_us", "delete", "", 800},
		{"sla_target", "", "", 100}, {"sla_met", "", "", 1}, {"saturated", "", "", 0}, {"sla_share", "", "", 1},
		{"client_cpu_us", "", "query", 3.6 / 12 * 1e6 / 300}, {"client_cpu_us", "", "insert row", 3.6 / 12 * 1e6 / 100},
	})
	expect.True(t, good.Primary == "query" && good.WritesPer == "insert" &&
		len(good.Warnings) <= 0, good.Primary, good.WritesPer, good.Warnings)
	// 1200 rows in 14.2 s miss the promise; what was done beside them is no match.
	bad := step(t, trials, "db-1.10", 1, "q100.1")
	numbers(t, bad, []want{{"sla_met", "", "", 0}, {"saturated", "", "", 1}, {"rows_per_s", "query", "", 8400 / 14.2}})
	sla := bad.Promise(bad.Groups[0].Name)
	// By 12 s, when all was to be done, 12 intervals of 85 rows were. The last
	// of 1105 rows at 13 s had been due at 11.05 s, that of 1200 at 14.2 s at 12 s.
	expect.True(t, sla != nil && !sla.Met && math.Abs(sla.Achieved-1200/14.2) <= 1e-9 && sla.Backlog == 1200-12*85 &&
		math.Abs(sla.MaxLateness-(14.2-12)) <= 1e-9 && sla.Intervals == 2 && sla.Worst == 85, sla)
	w := bad.Find("rows_per_s", "query", "").Warnings
	expect.True(t, len(w) == 1 && strings.HasPrefix(w[0].Text, "not comparable"), w)
	expect.Equal(t, len(bad.Find("rows_per_s", "insert", "").Warnings), 0, "the writers' own rate has warnings")
}

// The published percentiles are those of the first client.
func TestIBenchCompatible(t *testing.T) {
	s := step(t, read(t, Options{Compatible: true}, "testdata/ibench"), "db-1.10", 1, "l.i0")
	numbers(t, s, []want{{"interval_ops_p50", "", "", 2000}, {"rows_per_s", "insert", "", 33000. / 12}})
	w := s.Find("interval_ops_p50", "", "").Warnings
	expect.True(t, len(w) == 1 && w[0].Text == "compatible: of the first of several clients", w)
}

// The series of all clients are merged.
func TestIBenchSeries(t *testing.T) {
	c := expect.Value(Read([]string{"testdata/ibench/db-1.10/l.i0"}, Options{Now: at}))(t)
	lines := seriesOf(t, c.trials[0].runs[0])
	want := result.Line{Step: "l.i0", Source: "ops", T: 6, DT: 1, Group: "insert", Op: "insert", Ops: 30, Rows: 3000, Max: 1100002, Clients: []int64{20, 10}}
	expect.True(t, len(lines) == 12 && fmt.Sprint(lines[5]) == fmt.Sprint(want) && lines[4].Rows == 0 &&
		c.trials[0].Target == "db-1.10", lines, c.trials[0].Target)
}

// Older layouts: without deletes, without retries, and of 2016.
func TestIBenchLayouts(t *testing.T) {
	twelve := "i_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\tretry_i\tretry_q\n" +
		"1.0\t1.0\t500\t500\t40\t40\t-1\t700\t500\t40\t0\t1\n1.0\t2.0\t300\t400\t60\t50\t900\t650\t800\t100\t2\t1\nDone\n"
	ten := "i_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\n" +
		"10.0\t10.0\t50\t50\t4\t4\t800\t700\t500\t40\n10.0\t20.0\t30\t40\t6\t5\t900\t650\t800\t100\nDone\n"
	nine := "500 1.0 1.0 500.0 500 500.0 40 40.0 40.0\n800 1.0 2.0 400.0 800 300.0 100 50.0 60.0\nDone\n"
	for _, c := range []struct {
		name, log          string
		seconds            float64
		insertMax, retries float64 // -1: unknown
	}{{"twelve fields", twelve, 2, 900, 2}, {"ten fields", ten, 20, 900, -1}, {"nine fields", nine, 2, -1, -1}} {
		t.Run(c.name, func(t *testing.T) {
			dir := write(t, map[string]string{"old/q.log": c.log})
			s := step(t, read(t, Options{}, dir), "old", 1, "q")
			numbers(t, s, []want{{"rows_per_s", "insert", "", 800 / c.seconds}, {"rows_per_s", "query", "", 100 / c.seconds}, {"duration_s", "", "", c.seconds}})
			absent(t, s, "ops_per_s_insert", "sla_met")
			r := s.Find("ops_per_s", "insert", "")
			expect.True(t, r == nil, "the size of a commit is not known, but", r)
			if c.insertMax >= 0 {
				numbers(t, s, []want{{"service_max_us", "insert", "", c.insertMax}})
			} else {
				absent(t, s, "service_max_us")
			}
			if c.retries >= 0 {
				numbers(t, s, []want{{"errors", "", "", c.retries}})
			} else {
				absent(t, s, "errors")
			}
		})
	}
}

// Building indexes is one operation; the number of rows is unknown.
func TestIBenchIndex(t *testing.T) {
	dir := write(t, map[string]string{"old/l.x/o.ib.dop1.1": "python3 iibench.py --max_rows=100 --secondary_at_end\n" +
		"i_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\tretry_i\tretry_q\nCreated secondary indexes in 12.5 seconds\nTotals: 12.6 secs, 7.9 rows/sec, 100 rows, 0 insert retry, 0 query retry\nDone\n"})
	s := step(t, read(t, Options{}, dir), "old", 1, "l.x")
	numbers(t, s, []want{{"service_max_us", "index", "", 12.5e6}, {"duration_s", "", "", 12.5}})
	absent(t, s, "rows_per_s", "rows")
}

// A log without its end is imported as far as it goes, and says so.
func TestIBenchCutOff(t *testing.T) {
	whole := text(t, "testdata/ibench/db-1.9/q100.1/o.ib.dop1.1")
	cut := whole[:strings.Index(whole, "\n1.0\t9.0")+8] // in the middle of the ninth interval
	dir := write(t, map[string]string{"db/q100.1/o.ib.dop1.1": cut, "db/q100.1/o.ctime.dop1.1": text(t, "testdata/ibench/db-1.9/q100.1/o.ctime.dop1.1")})
	trials := read(t, Options{}, dir)
	s := step(t, trials, "db", 1, "q100.1")
	numbers(t, s, []want{{"rows", "insert", "", 800}, {"rows_per_s", "query", "", 300}, {"duration_s", "", "", 8}})
	absent(t, s, "client_cpu_us")
	if s.Status != result.Partial || s.Find("rows", "insert", "").Warnings[0].Code != remark.PartialLog || !strings.Contains(trials[0].Reason, "o.ib.dop1.1:11): it has no totals") {
		t.Errorf("%s, %q, reason %q", s.Status, s.Warnings, trials[0].Reason)
	}
}

// Of the logs of several clients, of which one is cut off, only the time counts that all
// cover: the others did more in the meantime.
func TestIBenchCutClient(t *testing.T) {
	whole := text(t, "testdata/ibench/db-1.9/q100.1/o.ib.dop1.1")
	dir := write(t, map[string]string{"db/q100.1/o.ib.dop2.1": whole, "db/q100.1/o.ib.dop2.2": whole[:strings.Index(whole, "\n1.0\t9.0")+1]})
	s := step(t, read(t, Options{}, dir), "db", 1, "q100.1")
	numbers(t, s, []want{{"rows", "insert", "", 1600}, {"rows_per_s", "insert", "", 200}, {"rows_per_s", "query", "", 600}, {"duration_s", "", "", 8}})
}

// A log whose totals are not those of its intervals is marked.
func TestIBenchContradiction(t *testing.T) {
	whole := text(t, "testdata/ibench/db-1.9/q100.1/o.ib.dop1.1")
	seventh := strings.Index(whole, "\n1.0\t7.0")
	for _, c := range []struct{ log, want string }{
		{whole[:seventh] + whole[strings.Index(whole, "\nInsert rt"):], "the total of rows is 1200, and that of the intervals is 600"},
		{strings.Replace(whole, "Totals: 12.0 secs", "Totals: 6.0 secs", 1), "the total of seconds is 6, and the end of the intervals is 12"},
	} {
		s := step(t, read(t, Options{}, write(t, map[string]string{"db/q100.1/o.ib.dop1.1": c.log})), "db", 1, "q100.1")
		expect.Contains(t, strings.Join(metric.Texts(s.Warnings), "; "), c.want)
	}
	// Older releases print the rows that were asked for.
	asked := strings.Replace(whole, "1200 rows, 0 0 0 insert-delete-query retry", "9000 rows, 0 insert retry, 0 query retry", 1)
	if s := step(t, read(t, Options{}, write(t, map[string]string{"db/q100.1/o.ib.dop1.1": asked})), "db", 1, "q100.1"); len(s.Warnings) > 0 {
		t.Errorf("%q", s.Warnings)
	}
}

// Of a log of days neighbouring intervals are merged, of all clients alike:
// rates are means, counts and the greatest latency stay.
func TestIBenchLong(t *testing.T) {
	log := func(seconds int) string {
		var b strings.Builder
		b.WriteString("i_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\n")
		total := 0
		for i := 1; i <= seconds; i++ {
			rate := 100 * (1 + i%2) // 200, 100, 200 …
			total += rate
			fmt.Fprintf(&b, "1.0\t%d.0\t%d\t%d\t0\t0\t%d\t-1\t%d\t0\n", i, rate, total/i, 500+i%7, total)
		}
		return b.String() + "Done\n"
	}
	// The second client is not so long that its own rows have to be merged.
	dir := write(t, map[string]string{"db/l.i1/o.ib.dop2.1": log(mostRows/2 + 100), "db/l.i1/o.ib.dop2.2": log(mostRows/2 - 100)})
	s := step(t, read(t, Options{}, dir), "db", 1, "l.i1")
	rows := float64(150*(mostRows/2+100) + 150*(mostRows/2-100))
	numbers(t, s, []want{{"rows", "insert", "", rows}, {"duration_s", "", "", mostRows/2 + 100}, {"interval_ops_p50", "", "", 300}, {"interval_ops_p99", "", "", 300}, {"service_max_us", "insert", "", 506}})
	expect.True(t, slices.ContainsFunc(s.Notes, func(n metric.Warning) bool {
		return strings.Contains(n.Text, "2 at a time of each client are merged")
	}), s.Notes)
}
