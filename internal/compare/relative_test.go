package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// tested is a trial with a rate for each of its tests.
func tested(target string, n int, order string, rates map[string]float64) *result.Trial {
	t := &result.Trial{Target: target, Trial: n, Order: order, Workload: sysbench, Status: result.Complete, Dir: fmt.Sprintf("c/trials/%s.%d", target, n)}
	var names []string
	for name := range rates {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Steps = append(t.Steps, result.Step{Name: name, Status: result.Complete, Primary: "query", WritesPer: "query", Rows: []metric.Row{
			{Target: target, Trial: n, Step: name, Group: "query", Op: "query", Metric: "rows_per_s", Unit: "1/s", Value: rates[name]}}})
	}
	return t
}

// group returns the group of a table, which must have it.
func group(t testing.TB, r *Relative, g Group) *RelativeGroup {
	t.Helper()
	for i := range r.Groups {
		if r.Groups[i].Group == g {
			return &r.Groups[i]
		}
	}
	t.Fatalf("there is no group %s in %v", g, r.Groups)
	return nil
}

func TestGroupOf(t *testing.T) {
	query := func(name string, groups ...result.Group) *Step {
		return step(name, "query", groups...)
	}
	for _, c := range []struct {
		name string
		step *Step
		want Group
	}{
		{"rows appended", step("l.i0", "insert", ops("insert", "insert")), Write},
		{"deletes beside inserts", step("l.i1", "insert", ops("insert", "insert"), ops("delete", "delete", "min id")), Write},
		{"indexes built", step("l.x", "index", ops("index", "insert", "index")), Other},
		{"rest", step("settle", ""), Other},
		{"range queries", query("qr100", ops("insert", "insert"), varieties("query", "range market", "range pdc")), Range},
		{"point queries", query("qp100", ops("insert", "insert"), varieties("query", "point")), Point},
		{"range queries, not said to be", query("qr100", ops("insert", "insert"), ops("query", "range market", "range pdc")), Range},
		{"both kinds of query", query("q", varieties("query", "range market", "point")), Mixed},
		{"a query of unknown kind", query("q", varieties("query", "point", "nearest neighbour")), Other},
		{"nothing but queries", query("q100", ops("query", "query")), Other},
		{"nothing but queries, and a name", query("scan all", ops("query", "query")), Range},
		{"reads and updates by the same clients", step("a", "read", ops("client", "read", "update")), Mixed},
		{"reads only", step("c", "read", ops("client", "read")), Point},
		{"scans and inserts", step("e", "scan", ops("client", "scan", "insert")), Mixed},
		{"read-modify-write", step("f", "read-modify-write"), Mixed},
		{"updates", step("u", "update row"), Write},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := GroupOf(c.step); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func step(name, primary string, groups ...result.Group) *Step {
	own := result.Step{Name: name, Primary: primary, Groups: groups}
	return New([]*result.Trial{{Target: "a", Workload: "ibench", Steps: []result.Step{own}}}).Steps[0]
}

func ops(name string, kinds ...string) result.Group { return result.Group{Name: name, Ops: kinds} }

func varieties(whole string, kinds ...string) result.Group {
	g := result.Group{Name: whole, Ops: kinds, Of: map[string]string{}}
	for _, k := range kinds {
		g.Of[k] = whole
	}
	return g
}

// The groups of sysbench's tests are those of published tables.
func TestGroupsOfSysbench(t *testing.T) {
	for want, names := range map[Group][]string{
		Point:  {"select", "select@8c", "select_range=100_clients=8", "hot-points_range=100", "point-query_range=100", "points-covered-pk_range=100", "points-notcovered-si", "random-points_range=1000"},
		Range:  {"select_random_ranges", "select_random_ranges@4c", "range-covered-pk_range=100", "range-notcovered-si", "read-only-count_range=1000", "read-only_range=10", "read-only-sum", "scan_range=100"},
		Write:  {"delete_range=100", "insert", "read-write_range=10", "update-index", "update-inlist", "update-nonindex", "update-one", "update-zipf", "write-only_range=10000"},
		Mixed:  {"ratio", "ratio@4r.8t", "ratio-points@8r"},
		Before: {"point-query.pre@4c", "points-covered-pk.pre@500", "ratio.warmup@4r.8t", "update-index.warmup@8c.500", "point-query.pre_range=100", "point-query.warm", "scan.warm_range=100", "scan.warmpre", "random-points.pre_range=10", "read-only.pre"},
	} {
		for _, name := range names {
			c := New([]*result.Trial{tested("a", 1, "", map[string]float64{name: 1})})
			if got := GroupOf(c.Steps[0]); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	if g := GroupOf(step("prefix-scan", "query")); g != Range { // "pre" is a part of a word
		t.Errorf("prefix-scan: %s", g)
	}
}

func TestRelative(t *testing.T) {
	c := New([]*result.Trial{
		tested("old", 1, "", map[string]float64{"point-query": 1000, "hot-points": 400, "insert": 90, "scan": 7}),
		tested("new", 1, "", map[string]float64{"point-query": 1120, "hot-points": 200, "insert": 99, "delete": 5}),
	})
	r := c.Relative(RelativeOptions{})
	if r.Base().Name != "old" || len(r.Targets) != 2 {
		t.Fatalf("base %s of %d targets", r.Base().Name, len(r.Targets))
	}
	points := group(t, r, Point)
	if len(points.Rows) != 2 || points.Rows[0].Step.Name != "hot-points" {
		t.Fatalf("point tests: %v", points.Rows)
	}
	for i, want := range []float64{0.5, 1.12} {
		if got := points.Rows[i].Cells[1].Ratio; got != want {
			t.Errorf("%s: %g, want %g", points.Rows[i].Step.Name, got, want)
		}
		if got := points.Rows[i].Cells[0].Ratio; got != 1 {
			t.Errorf("%s: the base has %g", points.Rows[i].Step.Name, got)
		}
	}
	if m := points.Means[1]; math.Abs(m.Ratio-math.Sqrt(0.5*1.12)) > 1e-15 || m.Tests != 2 || len(m.Left) != 0 {
		t.Errorf("mean %+v", m)
	}
	writes := group(t, r, Write) // the steps are in the order of trials; delete came last
	if len(writes.Rows) != 2 || writes.Rows[1].Step.Name != "delete" {
		t.Fatalf("write tests: %v", writes.Rows)
	}
	if cell := writes.Rows[1].Cells[1]; !math.IsNaN(cell.Ratio) || cell.Missing != "" || cell.Why != "there is nothing to compare with: old: it did not come to this step" {
		t.Errorf("a test that only the new one has: %+v", cell)
	}
	if cell := writes.Rows[1].Cells[0]; cell.Missing == "" || !math.IsNaN(cell.Ratio) {
		t.Errorf("a test that the base has not: %+v", cell)
	}
	if m := writes.Means[1]; m.Tests != 1 || !slices.Equal(m.Left, []string{"delete"}) || m.Ratio != 1.1 {
		t.Errorf("mean of writes %+v", m)
	}
	scans := group(t, r, Range)
	if m := scans.Means[1]; !math.IsNaN(m.Ratio) || m.Why != "no test counts" {
		t.Errorf("mean of nothing %+v", m)
	}
	other := c.Relative(RelativeOptions{Base: c.Target("new")})
	if got := group(t, other, Point).Rows[0].Cells[1].Ratio; other.Base().Name != "new" || got != 2 {
		t.Errorf("against %s: %g", other.Base().Name, got)
	}
}

func TestRelativeDoubts(t *testing.T) {
	missed := result.Group{Name: "insert", Rate: 100, SLA: &metric.SLA{Target: 100, Achieved: 80}}
	for _, c := range []struct {
		name   string
		change func(old, new *result.Trial)
		ratio  float64 // of the first test
		doubt  string
		left   int
	}{
		{"none", func(_, _ *result.Trial) {}, 1.5, "", 0},
		{"SLA missed", func(_, b *result.Trial) { b.Steps[0].Groups = []result.Group{missed} }, 1.5, "SLA missed", 1},
		{"SLA unknown", func(_, b *result.Trial) { b.Steps[0].Groups = []result.Group{{Name: "insert", Rate: 100}} }, 1.5, "", 0},
		{"the base's SLA", func(a, _ *result.Trial) { a.Steps[0].Groups = []result.Group{missed} }, 1.5, "", 1},
		{"invalid", func(_, b *result.Trial) { b.Status = result.Invalid }, 1.5, "invalid", 2},
		{"partial step", func(_, b *result.Trial) { b.Steps[0].Status = result.Partial }, 1.5, "partial", 1},
		{"disturbed", func(_, b *result.Trial) { b.Steps[0].Rows[0].Disturbed = true }, math.NaN(), "disturbed", 1},
		{"a base of 0", func(a, _ *result.Trial) { a.Steps[0].Rows[0].Value = 0 }, math.NaN(), "", 1},
		{"nothing done", func(_, b *result.Trial) { b.Steps[0].Rows[0].Value = 0 }, 0, "", 1},
		{"other work", func(_, b *result.Trial) { b.Params = map[string]any{"rows": 7.0} }, math.NaN(), "other work", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := tested("old", 1, "", map[string]float64{"point-1": 2, "point-2": 4})
			b := tested("new", 1, "", map[string]float64{"point-1": 3, "point-2": 4})
			c.change(a, b)
			g := group(t, New([]*result.Trial{a, b}).Relative(RelativeOptions{}), Point)
			cell := g.Rows[0].Cells[1]
			if !equal(cell.Ratio, c.ratio) || math.IsNaN(cell.Ratio) != (cell.Why != "") {
				t.Errorf("ratio %g (%s), want %g", cell.Ratio, cell.Why, c.ratio)
			}
			if doubt := fmt.Sprint(cell.Doubts); (c.doubt == "") != (len(cell.Doubts) == 0) || c.doubt != "" && doubt != "["+c.doubt+"]" {
				t.Errorf("doubts %s, want %q", doubt, c.doubt)
			}
			if got := len(g.Means[1].Left); got != c.left {
				t.Errorf("%d tests left out of the mean, want %d", got, c.left)
			}
			if len(cell.Doubts) > 0 && cell.Verdict() != "" {
				t.Errorf("a verdict %q in spite of doubts", cell.Verdict())
			}
		})
	}
}

func equal(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// Published tables divide rates that were rounded to whole numbers.
func TestRelativeOfRounded(t *testing.T) {
	c := New([]*result.Trial{tested("old", 1, "", map[string]float64{"scan": 2.4}), tested("new", 1, "", map[string]float64{"scan": 3.5})})
	for compatible, want := range map[bool]float64{false: 3.5 / 2.4, true: 2} {
		r := c.Relative(RelativeOptions{Compatible: compatible})
		if got := group(t, r, Range).Rows[0].Cells[1].Ratio; math.Abs(got-want) > 1e-12 {
			t.Errorf("compatible %v: %g, want %g", compatible, got, want)
		}
	}
	r := c.Relative(RelativeOptions{Compatible: true})
	if d := cmp.Diff([]string{"2.00"}, r.QPS(false, false, nil).Rows[0].Cells); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"2", "4"}, r.QPS(true, false, nil).Rows[0].Cells); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"1.46"}, c.Relative(RelativeOptions{}).QPS(false, false, nil).Rows[0].Cells); d != "" {
		t.Error(d)
	}
}

// draw makes a campaign of two targets with some trials of some tests.
func draw(t *rapid.T, order string) (tests int, trials []*result.Trial) {
	tests = rapid.IntRange(1, 5).Draw(t, "tests")
	n := rapid.IntRange(1, 8).Draw(t, "trials")
	for _, target := range []string{"a", "b"} {
		for i := range n {
			rates := map[string]float64{}
			for k := range tests {
				rates[fmt.Sprintf("point-%d", k)] = rapid.Float64Range(1, 1e6).Draw(t, "rate")
			}
			trials = append(trials, tested(target, i+1, order, rates))
		}
	}
	return tests, trials
}

// Whichever of two is the base: the ratios are one over each other, and so are
// the means. The order of trials changes nothing.
func TestMeanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom([]string{"", "interleaved"}).Draw(t, "order")
		_, trials := draw(t, order)
		c := New(trials)
		mean := func(c *Campaign, base string) Mean {
			r := c.Relative(RelativeOptions{Base: c.Target(base)})
			return r.Groups[0].Means[1]
		}
		one, other := mean(c, "a"), mean(c, "b")
		if math.Abs(one.Ratio*other.Ratio-1) > 1e-9 {
			t.Fatalf("%g and %g", one.Ratio, other.Ratio)
		}
		if (one.Why == "") != (other.Why == "") || one.Why == "" && !(one.Low <= one.Ratio && one.Ratio <= one.High) {
			t.Fatalf("%+v and %+v", one, other)
		}
		mixed := New(rapid.Permutation(trials).Draw(t, "mixed"))
		again := mean(mixed, "a")
		if math.Abs(again.Ratio/one.Ratio-1) > 1e-9 {
			t.Fatalf("in another order %g instead of %g", again.Ratio, one.Ratio)
		}
		for _, row := range c.Relative(RelativeOptions{}).Groups[0].Rows {
			if row.Cells[0].Ratio != 1 {
				t.Fatalf("the base has %g", row.Cells[0].Ratio)
			}
		}
	})
}

// repeated makes trials of one test.
func repeated(target, order string, rates ...float64) []*result.Trial {
	var out []*result.Trial
	for i, v := range rates {
		out = append(out, tested(target, i+1, order, map[string]float64{"scan": v}))
	}
	return out
}

func TestMeanInterval(t *testing.T) {
	pow := func(x ...float64) []float64 {
		for i := range x {
			x[i] = math.Exp(x[i])
		}
		return x
	}
	for _, c := range []struct {
		name, order string
		a, b        []float64
		low, high   float64 // logarithms; NaN: none
	}{
		// The differences are 0.1, 0.2, 0.3: mean 0.2, deviation 0.1; t(2) = 4.302653.
		{"three pairs", "interleaved", pow(1, 2, 3), pow(1.1, 2.2, 3.3), 0.2 - 4.302653*0.1/math.Sqrt(3), 0.2 + 4.302653*0.1/math.Sqrt(3)},
		// Both have a deviation of 0.1, so Welch is Student with 4 degrees of freedom; t(4) = 2.776445.
		{"three and three apart", "sequential", pow(1, 1.1, 1.2), pow(1.5, 1.6, 1.7), 0.5 - 2.776445*0.1*math.Sqrt(2./3), 0.5 + 2.776445*0.1*math.Sqrt(2./3)},
		{"no noise", "interleaved", []float64{2, 2, 2}, []float64{3, 3, 3}, math.Log(1.5), math.Log(1.5)},
		{"two pairs", "interleaved", []float64{1, 2}, []float64{1, 2}, math.NaN(), math.NaN()},
		{"one", "", []float64{1}, []float64{1}, math.NaN(), math.NaN()},
		{"three and two", "interleaved", []float64{1, 2, 3}, []float64{1, 2}, math.NaN(), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(append(repeated("a", c.order, c.a...), repeated("b", c.order, c.b...)...)).Relative(RelativeOptions{})
			m := r.Groups[0].Means[1]
			low, high := math.Log(m.Low), math.Log(m.High)
			if math.IsNaN(c.low) != (m.Why != "") || math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 || math.IsNaN(c.low) != math.IsNaN(low) {
				t.Errorf("%g to %g (%s), want %g to %g", low, high, m.Why, c.low, c.high)
			}
		})
	}
}

// From six pairs on the trials are drawn again and again. A test that is much
// noisier than its neighbour does not make the mean as noisy as itself.
func TestMeanIntervalOfManyTrials(t *testing.T) {
	m := &machine{rng: rand.New(rand.NewPCG(3, 0)), noise: 0.05}
	var trials []*result.Trial
	for n := 1; n <= 8; n++ {
		for _, target := range []string{"a", "b"} {
			factor := map[string]float64{"a": 1, "b": 1.3}[target]
			rates := map[string]float64{}
			for k := range 9 {
				rates[fmt.Sprintf("point-%d", k)] = factor * math.Exp(m.noise*m.rng.NormFloat64())
			}
			trials = append(trials, tested(target, n, "interleaved", rates))
		}
	}
	got := New(trials).Relative(RelativeOptions{}).Groups[0].Means[1]
	if got.Why != "" || got.Low > 1.3 || got.High < 1.3 || got.High/got.Low > 1.1 {
		t.Errorf("%+v, want about 1.3 with a narrow interval", got)
	}
	if again := New(trials).Relative(RelativeOptions{}).Groups[0].Means[1]; again.Low != got.Low || again.High != got.High {
		t.Error("the same trials gave another interval")
	}
}

func TestAbout(t *testing.T) {
	s := result.Step{Name: "q", Primary: "query", WritesPer: "insert"}
	add := func(group, op, name, per string) {
		s.Rows = append(s.Rows, metric.Row{Group: group, Op: op, Metric: name, Per: per, Value: float64(len(s.Rows) + 1)})
	}
	add("insert", "insert", "rows_per_s", "")
	add("query", "query", "rows_per_s", "")
	add("", "", "read_kb", "insert row")
	add("", "", "read_kb", "query")
	add("", "", "write_kb", "query")
	add("", "", "write_kb", "insert row")
	add("", "", "db_bytes", "")
	add("query", "", "stall_s", "")
	add("insert", "", "stall_s", "")
	add("insert", "", "sla_share", "")
	add("query", "point", "service_p99_us", "")
	add("insert", "insert", "service_p99_us", "")
	add("query", "range", "service_max_us", "")
	add("query", "point", "service_max_us", "")
	c := New([]*result.Trial{{Target: "a", Steps: []result.Step{s}}})
	for metric, want := range map[string]Key{
		"":               {"query", "query", "rows_per_s", ""},
		"rows_per_s":     {"query", "query", "rows_per_s", ""},
		"read_kb":        {"", "", "read_kb", "query"},
		"write_kb":       {"", "", "write_kb", "insert row"},
		"db_bytes":       {"", "", "db_bytes", ""},
		"stall_s":        {"query", "", "stall_s", ""},
		"sla_share":      {"insert", "", "sla_share", ""},
		"service_p99_us": {"query", "point", "service_p99_us", ""},
	} {
		if k, ok := c.Steps[0].About(metric); !ok || k != want {
			t.Errorf("%q: %+v %v, want %+v", metric, k, ok, want)
		}
	}
	for _, metric := range []string{"service_max_us", "engine_stalls"} { // of two kinds neither is the step's; not there
		if k, ok := c.Steps[0].About(metric); ok {
			t.Errorf("%q: %+v", metric, k)
		} else if n := c.Steps[0].Number(c.Targets[0], k); n.Missing != "not measured here" {
			t.Errorf("%q: %+v", metric, n)
		}
	}
}

// measured is a trial of the insert benchmark's query step, with round numbers:
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
	c := New([]*result.Trial{measured("one", 1, of48), measured("four", 4)})
	steps := c.MergedSteps(c.Targets[0], nil)
	if len(steps) != 1 || len(steps[0].Blocks) != 1 || len(steps[0].Blocks[0]) != 2 {
		t.Fatalf("%+v", steps)
	}
	got := steps[0].Blocks[0][0]
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"ips", got.IPS, 20}, {"qps", got.QPS, 200}, {"rps", got.Reads, 30}, {"rmbps", got.ReadMB, 2}, {"wps", got.Writes, 5}, {"wmbps", got.WriteMB, 1},
		{"rpq", got.ReadsPer, 0.15}, {"rkbpq", got.ReadKBPer, 10.24}, {"wpi", got.WritesPer, 0.25}, {"wkbpi", got.WriteKBPer, 51.2},
		{"csps", got.Switches, 600}, {"cpups", got.CPU, 100 * 0.0186 / 48}, {"cspq", got.SwitchesPer, 3}, {"cpupq", got.CPUPer, 93},
		{"dbgb1", got.DataGB, 1.5}, {"dbgb2", got.DirGB, 2.5}, {"rss", got.MemoryGB, 0.25}, {"maxop", got.MaxOp, 0.0125}, {"p50", got.P50, 205}, {"p99", got.P99, 120},
	} {
		if math.Abs(v.got-v.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", v.name, v.got, v.want)
		}
	}
	// Of a host of unknown size no share of it is known; four clients are not one.
	if four := steps[0].Blocks[0][1]; !math.IsNaN(four.CPU) || !math.IsNaN(four.P50) || !math.IsNaN(four.P99) || four.CPUPer != 93 {
		t.Errorf("%+v", four)
	}
	costs := c.CostTests(c.Targets[0])[0].Costs
	// 93 µs of 48 processors are 0.000194 % per operation a second.
	if cpu := costs[0].CPU; math.Abs(cpu-0.00019375) > 1e-12 || !math.IsNaN(costs[1].CPU) {
		t.Errorf("cpu/o %g and %g", cpu, costs[1].CPU)
	}
	if costs[0].WriteKB != 5.12 || costs[0].Rate != 200 || costs[0].Switches != 3 {
		t.Errorf("%+v", costs[0])
	}
	blocks := c.MergedSteps(c.Targets[1], []*Target{c.Targets[0]})[0].Blocks
	if len(blocks) != 2 || blocks[0][0].Tag != "four" || blocks[1][0].Tag != "one" {
		t.Errorf("%+v", blocks)
	}
}

func TestRatesOfLoads(t *testing.T) {
	load := func(primary, writes string) *result.Trial {
		return &result.Trial{Target: "a", Status: result.Complete, Steps: []result.Step{{Name: "l", Status: result.Complete, Primary: primary, WritesPer: writes, Seconds: 1,
			Rows: []metric.Row{{Group: primary, Op: primary, Metric: "rows_per_s", Value: 7}}}}}
	}
	for _, c := range []struct {
		primary, writes string
		ips, qps        float64
	}{
		{"insert", "insert", 7, 0}, {"index", "index", 7, 0}, {"query", "query", math.NaN(), 7}, {"query", "insert", math.NaN(), 7},
	} {
		m := New([]*result.Trial{load(c.primary, c.writes)})
		s := m.MergedSteps(m.Targets[0], nil)[0].Blocks[0][0]
		if !equal(s.IPS, c.ips) || !equal(s.QPS, c.qps) {
			t.Errorf("%s, writes per %s: %g and %g", c.primary, c.writes, s.IPS, s.QPS)
		}
		if !math.IsNaN(s.Reads) || !math.IsNaN(s.WritesPer) || !math.IsNaN(s.DirGB) {
			t.Errorf("%s: something out of nothing: %+v", c.primary, s)
		}
	}
}

// What warms up is shown, and in no verdict, mean or number that is judged.
func TestWarmUpIsJudgedNowhere(t *testing.T) {
	var trials []*result.Trial
	for n := 1; n <= 4; n++ {
		for target, rate := range map[string]float64{"a": 100, "b": 200} {
			tr := tested(target, n, "interleaved", map[string]float64{"scan-first": rate + float64(n), "scan": rate + float64(n)})
			tr.Steps[1].Warmup = true
			trials = append(trials, tr)
		}
	}
	slices.SortFunc(trials, func(x, y *result.Trial) int { return strings.Compare(x.Target, y.Target) })
	c := New(trials)
	j := c.Judge(c.Targets[0], c.Targets[1], DefaultRule())
	for _, it := range j.Items {
		if it.Step.Name != "scan" {
			t.Errorf("%s of %s was judged", it.Metric(), it.Step.Name)
		}
	}
	if n := j.family(); n != 1 {
		t.Errorf("%d numbers are corrected for", n)
	}
	// Its own interval would be too wide.
	for i, tr := range trials {
		tr.Steps[1].Rows[0].Value *= float64(1 + i%3)
	}
	if enough, _, worst := Precise(trials, 0.05); !enough || worst != "scan" {
		t.Errorf("not precise enough because of %s", worst)
	}
	r := c.Relative(RelativeOptions{})
	if m := group(t, r, Range).Means[1]; m.Tests != 1 || m.Left != nil {
		t.Errorf("a mean of %d tests without %v", m.Tests, m.Left)
	}
	warm := group(t, r, Before)
	if len(warm.Rows) != 1 || warm.Means != nil || warm.Rows[0].Cells[1].Verdict() != "" || !(warm.Rows[0].Cells[1].Ratio > 1.9) {
		t.Errorf("%+v", warm)
	}
	// Those from before the writes are measurements like others.
	for i := range trials {
		before := &trials[i].Steps[1]
		before.Name, before.Warmup, before.Rows[0].Value = "scan.pre@4c", false, trials[i].Steps[0].Rows[0].Value
	}
	c = New(trials)
	if n := c.Judge(c.Targets[0], c.Targets[1], DefaultRule()).family(); n != 2 {
		t.Errorf("with a test from before the writes %d numbers are corrected for", n)
	}
	if g := group(t, c.Relative(RelativeOptions{}), Before); g.Rows[0].Cells[1].Verdict() != Better {
		t.Errorf("%+v", g.Rows[0].Cells[1].Effect)
	}
}
