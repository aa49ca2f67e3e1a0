package published_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/report/published"
	"rumbench/internal/result"
	"rumbench/internal/result/layout"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// tested returns a trial of sysbench with a rate for each of its tests.
func tested(target string, rates map[string]float64) *result.Trial {
	t := &result.Trial{Target: target, Trial: 1, Workload: "sysbench", Status: result.Complete}
	var names []string
	for name := range rates {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Steps = append(t.Steps, result.Step{Name: name, Status: result.Complete, Primary: "query", WritesPer: "query",
			Rows: []metric.Row{{Target: target, Step: name, Group: "query", Op: "query", Metric: "rows_per_s", Unit: "1/s", Value: rates[name]}}})
	}
	return t
}

// qps shows the cells of sysbench's tables, a line per test.
func qps(r *compare.Relative, show layout.Show, warmUps bool) (out []string) {
	tests, decimals := published.QPS(r, warmUps, nil)
	var b bytes.Buffer
	names := quantity.Texts(r.Targets, func(t *compare.Target) string { return t.Name })
	if err := layout.WriteQPS(&b, names, tests, show, decimals); err != nil {
		panic(err)
	}
	_, body, _ := strings.Cut(b.String(), "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(body), "\n")[1:] {
		cells := strings.Split(line, "\t")
		out = append(out, strings.Join(append(cells[len(cells)-1:], cells[:len(cells)-1]...), ","))
	}
	return out
}

func options(compatible bool) (o compare.RelativeOptions) {
	if compatible {
		o.Round = published.Round
	}
	return o
}

// Of two rates that are printed as 0 there is no ratio, and certainly not 1.
func TestRatioOfNothing(t *testing.T) {
	c := compare.New([]*result.Trial{tested("old", map[string]float64{"scan": 0.4, "range": 5}), tested("new", map[string]float64{"scan": 0.3, "range": 5})})
	for compatible, show := range map[bool]layout.Show{false: layout.Ratios, true: layout.RoundedRatios} {
		r := c.Relative(options(compatible))
		expect.Same(t, []string{"range,1.00", "scan,NA"}, qps(r, show, false), compatible)
		cell := r.Groups[0].Rows[1].Cells[1]
		expect.True(t, !(compatible && !math.IsNaN(cell.Ratio)), "ratio of numbers that are printed as 0", cell.Ratio)
	}
}

// Published tables of rates have the warm-up of the scan, and no other warm-up.
func TestWarmUpsOfPublishedTables(t *testing.T) {
	rates := map[string]float64{"scan": 1, "scan.warm": 2, "scan.warmpre": 3, "point-query.warm": 4, "point-query.pre": 5, "insert": 6, "points-covered-si.warm": 7, "read-only": 8}
	r := compare.New([]*result.Trial{tested("a", rates)}).Relative(compare.RelativeOptions{})
	for warmUps, want := range map[bool]string{
		false: "read-only scan scan.warm insert",
		true:  "read-only scan scan.warm insert point-query.pre point-query.warm points-covered-si.warm scan.warmpre",
	} {
		var got []string
		for _, line := range qps(r, layout.Numbers, warmUps) {
			test, _, _ := strings.Cut(line, ",")
			got = append(got, test)
		}
		expect.Equal(t, strings.Join(got, " "), want, warmUps, got)
	}
}

// A summary has costs per row and a rate, but no count and no length.
func TestSummaryOfSummary(t *testing.T) {
	tr := tested("a", map[string]float64{"l.i1": 1000})
	tr.Steps[0].Rows = append(tr.Steps[0].Rows, metric.Row{Target: "a", Trial: 1, Step: "l.i1", Metric: "read_kb", Per: "query", Value: 2.048, Unit: "KB"})
	c := compare.New([]*result.Trial{tr})
	l := published.Summaries(c, c.Targets[0], nil)[0].Blocks[0][0]
	expect.Equal(t, known(&l, "rmbps"), "rmbps 2", "2 MB a second")
}

// measured returns a trial of the insert benchmark's query step, with round numbers:
// 100 s, 20,000 queries and 2000 rows inserted.
func measured(target string, clients int, host ...observe.Fact) *result.Trial {
	s := result.Step{Name: "qr100", Status: result.Complete, Seconds: 100, Primary: "query", WritesPer: "insert",
		Groups:   []result.Group{{Name: "insert", Clients: 1, Rate: 20}, {Name: "query", Clients: clients}},
		Counters: []result.CounterChange{{Name: "device.writes", Labels: `dev="vda"`, Value: 500}, {Name: "device.leaf.writes", Value: 9000}}}
	add := func(group, op, name, per string, value float64, n int64) {
		s.Rows = append(s.Rows, metric.Row{Group: group, Op: op, Metric: name, Per: per, Value: value, N: n})
	}
	add("insert", "insert", "rows_per_s", "", 20, 0)
	add("query", "query", "rows_per_s", "", 200, 0)
	for metric, total := range map[string]float64{"device_reads": 3000, "read_kb": 204800, "write_kb": 102400, "context_switches": 60000, "host_cpu_us": 93 * 20000} {
		add("", "", metric, "query", total/20000, 20000)
		add("", "", metric, "insert row", total/2000, 2000)
	}
	add("", "", "data_bytes", "", 3<<29, 0)
	add("", "", "db_bytes", "", 5<<29, 0)
	add("", "", "server_memory_bytes", "", 1<<28, 0)
	add("query", "query", "service_max_us", "", 12500, 0)
	add("query", "", "interval_ops_p50", "", 205, 0)
	add("query", "", "interval_ops_p99", "", 120, 0)
	add("", "", "duration_s", "", 100, 0)
	return &result.Trial{Target: target, Trial: 1, Status: result.Complete, Workload: "ibench", Host: host, Steps: []result.Step{s}}
}

func TestPublishedNumbers(t *testing.T) {
	of48 := observe.Fact{Name: "cpus online", Value: "48"}
	c := compare.New([]*result.Trial{measured("one", 1, of48), measured("four", 4)})
	steps := published.Summaries(c, c.Targets[0], nil)
	expect.Must(t, len(steps) == 1 && len(steps[0].Blocks) == 1 && len(steps[0].Blocks[0]) == 2, steps)
	got := steps[0].Blocks[0][0]
	for column, want := range map[string]float64{
		"ips": 20, "qps": 200, "rps": 30, "rmbps": 2, "wps": 5, "wmbps": 1, "rpq": 0.15, "rkbpq": 10.24, "wpi": 0.25, "wkbpi": 51.2,
		"csps": 600, "cpups": 100 * 0.0186 / 48, "cspq": 3, "cpupq": 93,
		"dbgb1": 1.5, "dbgb2": 2.5, "rss": 0.25, "maxop": 0.0125, "p50": 205, "p99": 120,
	} {
		v := got.Value(column)
		expect.True(t, math.Abs(v-want) <= 1e-12, column, v, want)
	}
	// Of a host of unknown size no share of it is known; four clients are not one.
	four := steps[0].Blocks[0][1]
	expect.Equal(t, known(&four, "cpups", "p50", "p99", "cpupq"), "cpupq 93")
	costs := published.Costs(c, c.Targets[0])[0].Blocks[0]
	// 93 µs of 48 processors are 0.000194 % per operation a second.
	expect.Equal(t, known(&costs[0], "cpu/o", "wKB/o", "o/s", "cs/o")+", "+known(&costs[1], "cpu/o"), "cpu/o 0.00019375 wKB/o 5.12 o/s 200 cs/o 3, ")
	blocks := published.Summaries(c, c.Targets[1], []*compare.Target{c.Targets[0]})[0].Blocks
	expect.True(t, len(blocks) == 2 && blocks[0][0].Tag == "four" && blocks[1][0].Tag == "one", blocks)
}

// known shows the columns of a line that are known.
func known(l *layout.Line, columns ...string) string {
	var out []string
	for _, c := range columns {
		if v := l.Value(c); !math.IsNaN(v) {
			out = append(out, fmt.Sprintf("%s %.10g", c, v))
		}
	}
	return strings.Join(out, " ")
}

func TestRatesOfLoads(t *testing.T) {
	for _, c := range []struct {
		primary, writes string
		access          workload.Access // "" is not declared
		unit            string
		want            string
	}{
		{"insert", "insert", "", "", "ips 7 qps 0"}, {"index", "index", "", "", "ips 7 qps 0"},
		{"query", "query", "", "", "qps 7"}, {"query", "insert", "", "", "qps 7"},
		{"load", "load", workload.WriteAccess, "row", "ips 7 qps 0"}, {"index", "index", workload.OtherAccess, "row", "ips 7 qps 0"},
		{"scan", "scan", workload.RangeAccess, "row", "qps 7"}, {"query", "query", workload.WriteAccess, "query", "qps 7"},
	} {
		s := result.Step{Name: "l", Status: result.Complete, Primary: c.primary, WritesPer: c.writes, Access: c.access, Seconds: 1,
			Groups: []result.Group{{Name: c.primary, Ops: []string{c.primary}, Units: map[string]string{c.primary: c.unit}}},
			Rows:   []metric.Row{{Group: c.primary, Op: c.primary, Metric: "rows_per_s", Value: 7}}}
		m := compare.New([]*result.Trial{{Target: "a", Status: result.Complete, Steps: []result.Step{s}}})
		l := published.Summaries(m, m.Targets[0], nil)[0].Blocks[0][0]
		expect.Equal(t, known(&l, "ips", "qps", "rps", "wpi", "dbgb2"), c.want, c.primary, c.writes)
	}
}

// Published tables divide rates that were rounded to whole numbers.
func TestQPSOfRounded(t *testing.T) {
	c := compare.New([]*result.Trial{tested("old", map[string]float64{"scan": 2.4}), tested("new", map[string]float64{"scan": 3.5})})
	for want, show := range map[string]layout.Show{"scan,2.00": layout.RoundedRatios, "scan,2,4": layout.Numbers, "scan,1.46": layout.Ratios} {
		expect.Equal(t, qps(c.Relative(options(false)), show, false)[0], want)
	}
}

// Where other work was done there is no ratio, and it is said beside the table.
func TestQPSOfOtherWork(t *testing.T) {
	trials := []*result.Trial{tested("a", map[string]float64{"insert": 1, "scan": 1}), tested("b", map[string]float64{"insert": 1, "scan": 1})}
	for i, rate := range []float64{500, 4000} {
		trials[i].Steps[0].Groups = []result.Group{{Name: "query", Rate: rate}}
	}
	c := compare.New(trials)
	r := c.Relative(compare.RelativeOptions{})
	expect.Same(t, []string{"scan,1.00", "insert,NA"}, qps(r, layout.Ratios, false))
	want := "⚠ b in insert: other work: rate of query: 500/s and 4000/s; not comparable"
	for _, got := range [][]string{published.QPSRemarks(r, false), published.Remarks(c, c.Targets[0])} {
		expect.Same(t, []string{want}, got)
	}
}

// A published figure stands beside the number that comes nearest to it.
func TestBeside(t *testing.T) {
	c := compare.New([]*result.Trial{measured("one", 1), measured("four", 4)})
	set := plan.Published{Rows: []plan.PublishedRow{
		{Name: "lsm", Like: "one", Step: "qr100", Per: "insert row", Figures: map[string]float64{"write_kb": 1.75, "rows_per_s": 0.02}},
		{Name: "btree", Like: "four", Step: "qr100", Per: "index row", Figures: map[string]float64{"write_kb": 30.69, "rows_per_s": 0.06}},
		{Name: "other", Like: "none", Step: "l.x", Figures: map[string]float64{"db_bytes": 1}},
	}}
	got := published.Beside(c, &set)
	expect.Must(t, len(got) == 2 && got[0].Step == "qr100" && got[1].Step == "l.x", got)
	expect.Same(t, []string{"rows_per_s", "write_kb"}, got[0].Metrics)
	expect.Same(t, []string{"insert row", "insert row"}, got[0].Pers)
	first, second := got[0].Rows[0], got[0].Rows[1]
	expect.True(t, first.Target == c.Targets[0] && second.Target == c.Targets[1] && second.Base == c.Targets[0], second)
	if k := first.Cells[1].Key; k.Per != "insert row" || k.Metric != "write_kb" || !math.IsNaN(first.Cells[1].Ratio) {
		t.Errorf("%+v", first.Cells[1])
	}
	// Rates of rows are of one unit, whatever was done to them; costs are not.
	if f := second.Cells[0]; math.Abs(f.Ratio-3) > 1e-12 || f.Digits != 1 {
		t.Errorf("%+v", f)
	}
	if f := second.Cells[1]; !math.IsNaN(f.Ratio) {
		t.Errorf("%+v", f)
	}
	if f := got[1].Rows[0].Cells[0]; !f.Published || f.Why != "no trial of none has been begun" {
		t.Errorf("%+v", f)
	}
}
