package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// tested returns a trial with a rate for each of its tests.
func tested(target string, n int, order string, rates map[string]float64) *result.Trial {
	t := &result.Trial{Target: target, Trial: n, Order: order, Workload: "sysbench", Status: result.Complete, Dir: fmt.Sprintf("c/trials/%s.%d", target, n)}
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
func group(t testing.TB, r *compare.Relative, g compare.Group) *compare.RelativeGroup {
	t.Helper()
	for i := range r.Groups {
		if r.Groups[i].Group == g {
			return &r.Groups[i]
		}
	}
	t.Fatalf("there is no group %s in %v", g, r.Groups)
	return nil
}

func TestRelative(t *testing.T) {
	c := compare.New([]*result.Trial{
		tested("old", 1, "", map[string]float64{"point-query": 1000, "hot-points": 400, "insert": 90, "scan": 7}),
		tested("new", 1, "", map[string]float64{"point-query": 1120, "hot-points": 200, "insert": 99, "delete": 5}),
	})
	r := c.Relative(compare.RelativeOptions{})
	expect.Must(t, r.Base().Name == "old" && len(r.Targets) == 2,
		"base", r.Base().Name, "of", len(r.Targets), "targets")
	points := group(t, r, compare.Point)
	expect.Must(t, len(points.Rows) == 2 && points.Rows[0].Step.Name == "hot-points", "point tests", points.Rows)
	for i, want := range []float64{0.5, 1.12} {
		expect.Equal(t, points.Rows[i].Cells[1].Ratio, want, points.Rows[i].Step.Name)
		expect.Equal(t, points.Rows[i].Cells[0].Ratio, 1, "the base has", points.Rows[i].Step.Name)
	}
	if m := points.Means[1]; math.Abs(m.Ratio-math.Sqrt(0.5*1.12)) > 1e-15 || m.Tests != 2 || len(m.Left) != 0 {
		t.Errorf("mean %+v", m)
	}
	writes := group(t, r, compare.Write) // the steps are in the order of trials; delete came last
	expect.Must(t, len(writes.Rows) == 2 && writes.Rows[1].Step.Name == "delete", "write tests", writes.Rows)
	if cell := writes.Rows[1].Cells[1]; !math.IsNaN(cell.Ratio) || cell.Missing != "" || cell.Why != "there is nothing to compare with: old: it did not reach this step" {
		t.Errorf("a test that only the new one has: %+v", cell)
	}
	if cell := writes.Rows[1].Cells[0]; cell.Missing == "" || !math.IsNaN(cell.Ratio) {
		t.Errorf("a test that the base has not: %+v", cell)
	}
	if m := writes.Means[1]; m.Tests != 1 || !slices.Equal(m.Left, []string{"delete"}) || m.Ratio != 1.1 {
		t.Errorf("mean of writes %+v", m)
	}
	scans := group(t, r, compare.Range)
	if m := scans.Means[1]; !math.IsNaN(m.Ratio) || m.Why != "no test counts" {
		t.Errorf("mean of nothing %+v", m)
	}
	other := c.Relative(compare.RelativeOptions{Base: c.Target("new")})
	expect.Equal(t, other.Base().Name, "new", "against")
	expect.Equal(t, group(t, other, compare.Point).Rows[0].Cells[1].Ratio, 2, "against")
}

func TestRelativeDoubts(t *testing.T) {
	missed := result.Group{Name: "insert", Rate: 100}
	for _, c := range []struct {
		name    string
		change  func(old, other *result.Trial)
		ratio   float64 // of the first test
		refusal string
		left    int
	}{
		{"none", func(_, _ *result.Trial) {}, 1.5, "", 0},
		{"SLA missed", func(_, b *result.Trial) { breaks(&b.Steps[0], missed) }, 1.5, "SLA missed", 1},
		{"SLA unknown", func(_, b *result.Trial) { b.Steps[0].Groups = []result.Group{{Name: "insert", Rate: 100}} }, 1.5, "", 0},
		{"the base's SLA", func(a, _ *result.Trial) { breaks(&a.Steps[0], missed) }, 1.5, "old: SLA missed", 1},
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
			g := group(t, compare.New([]*result.Trial{a, b}).Relative(compare.RelativeOptions{}), compare.Point)
			cell := g.Rows[0].Cells[1]
			expect.True(t, equal(cell.Ratio, c.ratio), cell.Ratio, cell.Why, c.ratio)
			expect.Equal(t, math.IsNaN(cell.Ratio), (cell.Why != ""), cell.Ratio, cell.Why, c.ratio)
			if refusal := fmt.Sprint(cell.Refusals); (c.refusal == "") != (len(cell.Refusals) == 0) || c.refusal != "" && refusal != "["+c.refusal+"]" {
				t.Errorf("refusals %s, want %q", refusal, c.refusal)
			}
			expect.Equal(t, len(g.Means[1].Left), c.left, "tests left out of the mean")
			expect.True(t, !(len(cell.Refusals) > 0 && cell.Verdict() != ""), "a verdict in spite of refusals", cell.Verdict())
		})
	}
}

func equal(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// Values may be rounded before they are divided.
func TestRelativeOfRounded(t *testing.T) {
	c := compare.New([]*result.Trial{tested("old", 1, "", map[string]float64{"scan": 2.4}), tested("new", 1, "", map[string]float64{"scan": 3.5})})
	for _, round := range []func(compare.Number) float64{nil, func(n compare.Number) float64 { return math.Round(n.Value) }} {
		want := 3.5 / 2.4
		if round != nil {
			want = 2
		}
		r := c.Relative(compare.RelativeOptions{Round: round})
		got := group(t, r, compare.Range).Rows[0].Cells[1].Ratio
		expect.True(t, math.Abs(got-want) <= 1e-12 && r.Compatible == (round != nil), r.Compatible, got, want)
	}
	for _, base := range []float64{0.3, 0.4} { // a base that prints as 0
		c := compare.New([]*result.Trial{tested("old", 1, "", map[string]float64{"scan": base}), tested("new", 1, "", map[string]float64{"scan": 4 * base})})
		r := c.Relative(compare.RelativeOptions{Round: func(n compare.Number) float64 { return math.Round(n.Value) }})
		cell := group(t, r, compare.Range).Rows[0].Cells[1]
		expect.True(t, math.IsNaN(cell.Ratio) && cell.Why != "" &&
			!cell.Counts(), base, 4*base, cell.Ratio, cell.Why)
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
		c := compare.New(trials)
		mean := func(c *compare.Campaign, base string) compare.Mean {
			r := c.Relative(compare.RelativeOptions{Base: c.Target(base)})
			return r.Groups[0].Means[1]
		}
		one, other := mean(c, "a"), mean(c, "b")
		expect.Must(t, math.Abs(one.Ratio*other.Ratio-1) <= 1e-9, one.Ratio, "and", other.Ratio)
		if (one.Why == "") != (other.Why == "") || one.Why == "" && !(one.Low <= one.Ratio && one.Ratio <= one.High) {
			t.Fatalf("%+v and %+v", one, other)
		}
		mixed := compare.New(rapid.Permutation(trials).Draw(t, "mixed"))
		again := mean(mixed, "a")
		expect.Must(t, math.Abs(again.Ratio/one.Ratio-1) <= 1e-9,
			"in another order", again.Ratio, "instead of", one.Ratio)
		for _, row := range c.Relative(compare.RelativeOptions{}).Groups[0].Rows {
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
		// The differences are 0.1, 0.2, 0.3: mean 0.2, deviation 0.1; t(2) = 5.339333 at
		// 1 − 0.05 ÷ 1.5, as the pairs' test is the better of two.
		{"three pairs", "interleaved", pow(1, 2, 3), pow(1.1, 2.2, 3.3), 0.2 - 5.339333*0.1/math.Sqrt(3), 0.2 + 5.339333*0.1/math.Sqrt(3)},
		// Both have a deviation of 0.1, so Welch is Student with 4 degrees of freedom; t(4) = 2.776445.
		{"three and three apart", "sequential", pow(1, 1.1, 1.2), pow(1.5, 1.6, 1.7), 0.5 - 2.776445*0.1*math.Sqrt(2./3), 0.5 + 2.776445*0.1*math.Sqrt(2./3)},
		{"no noise", "interleaved", []float64{2, 2, 2}, []float64{3, 3, 3}, math.Log(1.5), math.Log(1.5)},
		{"two pairs", "interleaved", []float64{1, 2}, []float64{1, 2}, math.NaN(), math.NaN()},
		{"one", "", []float64{1}, []float64{1}, math.NaN(), math.NaN()},
		{"three and two", "interleaved", []float64{1, 2, 3}, []float64{1, 2}, math.NaN(), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare.New(append(repeated("a", c.order, c.a...), repeated("b", c.order, c.b...)...)).Relative(compare.RelativeOptions{})
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
	got := compare.New(trials).Relative(compare.RelativeOptions{}).Groups[0].Means[1]
	expect.True(t, got.Why == "" && got.Low <= 1.3 && got.High >= 1.3 &&
		got.High/got.Low <= 1.1, "about 1.3 with a narrow interval", got)
	again := compare.New(trials).Relative(compare.RelativeOptions{}).Groups[0].Means[1]
	expect.True(t, again.Low == got.Low && again.High == got.High, "the same trials gave another interval")
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
	c := compare.New([]*result.Trial{{Target: "a", Steps: []result.Step{s}}})
	for metric, want := range map[string]compare.Key{
		"":               {Group: "query", Op: "query", Metric: "rows_per_s", Per: ""},
		"rows_per_s":     {Group: "query", Op: "query", Metric: "rows_per_s", Per: ""},
		"read_kb":        {Group: "", Op: "", Metric: "read_kb", Per: "query"},
		"write_kb":       {Group: "", Op: "", Metric: "write_kb", Per: "insert row"},
		"db_bytes":       {Group: "", Op: "", Metric: "db_bytes", Per: ""},
		"stall_s":        {Group: "query", Op: "", Metric: "stall_s", Per: ""},
		"sla_share":      {Group: "insert", Op: "", Metric: "sla_share", Per: ""},
		"service_p99_us": {Group: "query", Op: "point", Metric: "service_p99_us", Per: ""},
	} {
		k, ok := c.Steps[0].About(metric)
		expect.True(t, ok && k == want, metric, k, ok, want)
	}
	for _, metric := range []string{"service_max_us", "engine_stalls"} { // of two kinds neither is the step's; not there
		if k, ok := c.Steps[0].About(metric); ok {
			t.Errorf("%q: %+v", metric, k)
		} else if n := c.Steps[0].Number(c.Targets[0], k); n.Missing != "not measured here" {
			t.Errorf("%q: %+v", metric, n)
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
	c := compare.New(trials)
	j := c.Judge(c.Targets[0], c.Targets[1])
	for _, it := range j.Items {
		expect.Equal(t, it.Step.Name, "scan", "of was judged", it.Metric())
	}
	expect.Equal(t, headlinesTested(j), 1, "numbers are corrected for")
	// Its own interval would be too wide.
	for i, tr := range trials {
		tr.Steps[1].Rows[0].Value *= float64(1 + i%3)
	}
	enough, _, worst := compare.Precise(trials, 0.05)
	expect.True(t, enough && worst == "rows_per_s of scan", "not precise enough because of", worst)
	r := c.Relative(compare.RelativeOptions{})
	m := group(t, r, compare.Range).Means[1]
	expect.True(t, m.Tests == 1 && m.Left == nil, "a mean of tests without", m.Tests, m.Left)
	warm := group(t, r, compare.Before)
	expect.True(t, len(warm.Rows) == 1 && warm.Means == nil && warm.Rows[0].Cells[1].Verdict() == "" &&
		warm.Rows[0].Cells[1].Ratio > 1.9, warm)
	// Those from before the writes are measurements like others.
	for i := range trials {
		before := &trials[i].Steps[1]
		before.Name, before.Warmup, before.Rows[0].Value = "scan.pre@4c", false, trials[i].Steps[0].Rows[0].Value
	}
	c = compare.New(trials)
	expect.Equal(t, headlinesTested(c.Judge(c.Targets[0], c.Targets[1])), 2,
		"with a test from before the writes", "numbers are corrected for")
	g := group(t, c.Relative(compare.RelativeOptions{}), compare.Before)
	expect.True(t, g.Rows[0].Cells[1].Verdict() == compare.Better, g.Rows[0].Cells[1].Effect)
}

// What a log does not say is no difference; what rumbench was not asked for is.
func TestUnlikeUnknown(t *testing.T) {
	value := func(target string, params map[string]any, imported bool) *result.Trial {
		tr := tested(target, 1, "", map[string]float64{"scan": 1})
		if tr.Params = params; imported {
			tr.Imported = &result.Imported{}
		}
		return tr
	}
	for _, imported := range []bool{false, true} {
		c := compare.New([]*result.Trial{value("a", map[string]any{"rows": 5, "tables": 1}, imported), value("b", map[string]any{"rows": 6}, imported)})
		want := map[bool]string{false: "rows 5 and 6; tables 1 and not known", true: "rows 5 and 6"}[imported]
		expect.Equal(t, strings.Join(compare.Unlike(c.Targets[0], c.Targets[1]), "; "), want, imported)
	}
}
