package compare_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/workload"
)

// offered returns a campaign of two targets whose clients of step "s" were offered two
// kinds of work, beside a load that is the same for both.
func offered(a, b result.Group) *compare.Campaign {
	var trials []*result.Trial
	for target, g := range map[string]result.Group{"a": a, "b": b} {
		for n := 1; n <= 4; n++ {
			rate := 100.0 * float64(1+len(trials)/4*7)
			t := made(target, n, "interleaved", numbers{"rows_per_s": rate + float64(n%2)}, "load", "s")
			t.Steps[0].Groups = []result.Group{{Name: "insert", Clients: 1}}
			t.Steps[1].Groups = []result.Group{g}
			trials = append(trials, t)
		}
	}
	return compare.New(trials)
}

func TestOffered(t *testing.T) {
	open := result.Group{Name: "query", Clients: 8, Open: true, Rate: 500, Pace: "poisson", Queue: 100, Ramp: []result.Ramp{}}
	extra := func(change func(*result.Group)) result.Group { g := open; change(&g); return g }
	for _, c := range []struct {
		name  string
		group result.Group
		want  string
	}{
		{"the same", open, ""},
		{"rate", extra(func(g *result.Group) { g.Rate = 4000 }), "rate of query: 500/s and 4000/s"},
		{"a rate of transactions", extra(func(g *result.Group) { g.RateOf = "transaction" }), "rate of query: 500/s and 500/s of transaction"},
		{"no rate", result.Group{Name: "query", Clients: 8}, "rate of query: 500/s and none (closed loop)"},
		{"arrivals", extra(func(g *result.Group) { g.Pace = "even" }), "arrivals of query: poisson for all clients together and even for all clients together"},
		{"a rate of each client", extra(func(g *result.Group) { g.Open, g.Queue = false, 0 }), "arrivals of query: poisson for all clients together and poisson for each client"},
		{"queue", extra(func(g *result.Group) { g.Queue = 0 }), "queue of query: 100 and of any length"},
		{"ramp", extra(func(g *result.Group) { g.Ramp = []result.Ramp{{Seconds: 10, From: 100, To: 900}} }), "ramp of query: none and 100/s to 900/s in 10 s"},
		{"clients", extra(func(g *result.Group) { g.Clients = 16 }), "clients of query: 8 and 16"},
		{"unknown clients", extra(func(g *result.Group) { g.Clients = 0 }), ""},
		{"other clients", extra(func(g *result.Group) { g.Name = "scan" }), "clients of query: 8 and none; clients of scan: none and 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := offered(open, c.group)
			a, b := m.Target("a"), m.Target("b")
			expect.Equal(t, strings.Join(m.Step("s").Offered(a, b), "; "), c.want)
			want := c.want
			if want != "" {
				want = "other work: " + want
			}
			k := compare.Key{Group: "insert", Op: "insert", Metric: "rows_per_s", Per: ""}
			e := m.Judge(a, b).Effect(m.Step("s"), k)
			if (want == "") != (e.Why != want) && want != "" || want != "" && (e.Verdict != "" || !math.IsNaN(e.Ratio) || !math.IsNaN(e.P)) || want == "" && !e.Sure() {
				t.Errorf("verdict %q, ratio %v: %s", e.Verdict, e.Ratio, e.Why)
			}
			if e := m.Judge(a, b).Effect(m.Step("load"), k); !e.Sure() {
				t.Errorf("the load, which is the same: %q, %s", e.Verdict, e.Why)
			}
			list, whole := m.OtherWork(a, b)
			expect.True(t, !whole && (len(list) > 0) == (want != ""), "other work in, whole", list, whole)
			m.Across.Work = true
			if e := m.Judge(a, b).Effect(m.Step("s"), k); !e.Sure() || math.IsNaN(e.Ratio) {
				t.Errorf("asked for it: %q, %s", e.Verdict, e.Why)
			}
		})
	}
}

// What is put off is a cost of the operation that writes.
func TestDeferredIsOfWrites(t *testing.T) {
	t1 := made("a", 1, "interleaved", numbers{}, "s")
	t1.Steps[0].Primary = "query"
	for _, per := range []string{"query", "insert row"} {
		t1.Steps[0].Rows = append(t1.Steps[0].Rows, metric.Row{Metric: "deferred_kb", Per: per, Value: 1})
	}
	k, ok := compare.New([]*result.Trial{t1}).Steps[0].About("deferred_kb")
	expect.True(t, ok && k.Per == "insert row", k, ok)
}

// A condition on work that differs cannot be judged, a table has no ratio of it,
// and no mean counts it.
func TestOtherWorkIsNoResult(t *testing.T) {
	m := offered(result.Group{Name: "query", Rate: 500}, result.Group{Name: "query", Rate: 4000})
	found := holds(t, "rows_per_s < 1000", m.Judge(m.Target("a"), m.Target("b")))
	expect.Equal(t, found.Judged, 1)
	expect.Contains(t, strings.Join(found.Blind, "\n"), "s: rows_per_s cannot be judged: other work: rate of query: 500/s and 4000/s")
	r := m.Relative(compare.RelativeOptions{Base: m.Target("a")})
	rows := group(t, r, compare.Write).Rows
	cell := rows[1].Cells[1]
	expect.True(t, math.IsNaN(cell.Ratio) && strings.HasPrefix(cell.Why, "other work") && len(cell.Refusals) == 1 &&
		cell.Verdict() == "", cell)
	mean := group(t, r, compare.Write).Means[1]
	expect.True(t, mean.Tests == 1 && len(mean.Left) == 1, mean)
	expect.True(t, cell.Apart != "" && rows[0].Cells[1].Apart == "", cell.Apart, rows[0].Cells[1].Apart)
}

func TestUnlikeDurability(t *testing.T) {
	a := series("a", "interleaved", "rows_per_s", 100, 101, 99)
	b := series("b", "interleaved", "rows_per_s", 13300, 13301, 13299)
	for _, list := range [][]*result.Trial{a, b} {
		for _, trial := range list {
			trial.Durability = map[string]string{"a": "os", "b": "none"}[trial.Target]
		}
	}
	judge := func(across bool) *compare.Effect {
		c := compare.New(append(a, b...))
		c.Across.Durability = across
		return &c.Judge(c.Targets[0], c.Targets[1]).Items[0].Effect
	}
	if e := judge(false); !e.Sure() {
		t.Errorf("targets of one plan: %q, %s", e.Verdict, e.Why)
	}
	for _, trial := range b {
		trial.Dir = strings.Replace(trial.Dir, "c/", "d/", 1)
	}
	if e := judge(false); e.Verdict != "" || !math.IsNaN(e.Ratio) || e.Why != "other durability: os and none" {
		t.Errorf("targets of two plans: %q, %v, %s", e.Verdict, e.Ratio, e.Why)
	}
	if e := judge(true); !e.Sure() {
		t.Errorf("asked for it: %q, %s", e.Verdict, e.Why)
	}
	c := compare.New(append(a, b...))
	expect.Equal(t, c.Durability(), "a: os, b: none")
	for _, unknown := range []string{"", result.Unknown} {
		for _, trial := range b {
			trial.Durability = unknown
		}
		if c := compare.New(append(a, b...)); compare.UnlikeDurability(c.Targets[0], c.Targets[1]) != "" || c.Durability() != "" || !judge(false).Sure() {
			t.Errorf("%q differs from a level", unknown)
		}
	}
}

// A percentile of too few samples is the greatest of them, in all trials, and is
// neither judged nor counted among the tests.
func TestFewSamples(t *testing.T) {
	for _, c := range []struct {
		n1, n2   int64
		few      int64
		headline bool
	}{{1000, 5000, 0, true}, {0, 0, 0, true}, {5000, 999, 999, true}, {999, 5000, 999, false}, {6, 1, 1, false}} {
		var trials []*result.Trial
		for target, value := range map[string]float64{"a": 100, "b": 300} {
			for n := 1; n <= 4; n++ {
				tr := made(target, n, "interleaved", numbers{"rows_per_s": 100 + float64(n), "service_p99_us": value + float64(n)}, "s")
				for i := range tr.Steps[0].Rows {
					tr.Steps[0].Rows[i].N = 5000
				}
				p99 := tr.Steps[0].Find("service_p99_us", "", "")
				if p99.N = c.n1; target == "b" && n == 1 {
					p99.N = c.n2
				}
				greatest := *p99
				greatest.Metric, greatest.Value = "service_max_us", 9*value
				tr.Steps[0].Rows = append(tr.Steps[0].Rows, greatest)
				trials = append(trials, tr)
			}
		}
		m := compare.New(trials)
		s, a, b := m.Steps[0], m.Target("a"), m.Target("b")
		k := compare.Key{Group: "insert", Op: "insert", Metric: "service_p99_us", Per: ""}
		j := m.Judge(a, b)
		n, e := s.Number(b, k), j.Effect(s, k)
		expect.True(t, n.MaxOf == c.few && !(c.few > 0 &&
			(n.Value != 2700 || len(n.Rows) != 4 || n.Rows[0].Metric != "service_max_us")), c, n.MaxOf, n.Value)
		if judged := e.Verdict != ""; judged != (c.few == 0) || math.IsNaN(e.P) == judged || math.IsNaN(e.Ratio) == judged {
			t.Errorf("%+v: %q, p %v, ratio %v: %s", c, e.Verdict, e.P, e.Ratio, e.Why)
		}
		expect.Equal(t, slices.Contains(s.Headline(), k), c.headline, "the headline is", c, s.Headline())
		expect.Equal(t, headlinesTested(j), map[bool]int{true: 2, false: 1}[c.few == 0], "corrected for numbers", c)
	}
}

// A gate asks for a percentile where the base has one, and is not passed where
// the other side then has none.
func TestGateOfFewSamples(t *testing.T) {
	g := expect.Value(compare.NewGate("service_p99_us > 1.1 && sure"))(t)
	for _, c := range []struct {
		base, whole   int64
		judged, blind int
	}{{1000, 1000, 1, 0}, {1000, 999, 0, 1}, {999, 1000, 0, 0}, {1, 1, 0, 0}} {
		var trials []*result.Trial
		for _, target := range []string{"a", "b"} {
			for n := 1; n <= 3; n++ {
				tr := made(target, n, "interleaved", numbers{"service_p99_us": 100 + float64(n)}, "s")
				greatest := tr.Steps[0].Rows[0]
				greatest.Metric = "service_max_us"
				tr.Steps[0].Rows[0].N = map[string]int64{"a": c.base, "b": c.whole}[target]
				tr.Steps[0].Rows = append(tr.Steps[0].Rows, greatest)
				trials = append(trials, tr)
			}
		}
		found, err := g.Find(judged(t, trials...), nil)
		expect.True(t, err == nil && found.Judged == c.judged && len(found.Blind) == c.blind, c, found, err)
	}
}

// Where the greatest is not known either, there is no number.
func TestFewSamplesAlone(t *testing.T) {
	tr := made("a", 1, "", numbers{"service_p99_us": 5}, "s")
	tr.Steps[0].Rows[0].N = 6
	m := compare.New([]*result.Trial{tr})
	if n := m.Steps[0].Number(m.Targets[0], compare.KeyOf(&tr.Steps[0].Rows[0])); n.Missing != "6 samples, and p99 needs 1000 operations" {
		t.Errorf("%+v", n)
	}
}

// Bytes are shown and not judged; a condition that waits for a verdict on them
// would never hold.
func TestBytesAreNotJudged(t *testing.T) {
	j := judged(t, append(series("a", "sequential", "db_bytes", 1000, 1000, 1000), series("b", "sequential", "db_bytes", 9000, 9000, 9000)...)...)
	e := &j.Items[0]
	expect.True(t, !e.Headline && e.Verdict == "" && e.Ratio == 9, e)
	for _, text := range []string{"db_bytes > 1.1 && sure", "rows_per_s < 1 && verdict.data_bytes == 'worse'", "live_rows < 1 && sure"} {
		expect.Refused(compare.NewGate(text))(t, "is never judged", text)
	}
	_, err := compare.NewGate("db_bytes > 1.1")
	expect.NoError(t, err)
	settle := made("a", 1, "", numbers{"db_bytes": 1e6}, "settle")
	keys := compare.New([]*result.Trial{settle}).Steps[0].Headline()
	expect.True(t, len(keys) == 0, "without live bytes is judged", keys)
}

// searched returns a target whose trials found a rate.
func searched(target string, found *result.Search, trials int) (out []*result.Trial) {
	for n := 1; n <= trials; n++ {
		t := made(target, n, "interleaved", nil, "s")
		t.Steps[0].Search = found
		t.Steps[0].Rows = []metric.Row{{Step: "s", Group: "query", Metric: "highest_rate", Unit: "1/s", Value: found.Kept}}
		out = append(out, t)
	}
	return out
}

// Two searches do not find differences smaller than their precision.
func TestSearchesAreAsPreciseAsTheyAre(t *testing.T) {
	how := func(precision float64) result.SearchPlan {
		return result.SearchPlan{Precision: precision, Seconds: 10, Arrivals: "poisson"}
	}
	found := func(kept, broke float64, plan result.SearchPlan) *result.Search {
		return &result.Search{Promise: "p99_ms < 10", Kept: kept, Broke: broke, Low: kept, High: broke, Probes: 20, How: plan}
	}
	capped := found(1000, 0, how(0.05))
	capped.Capped = true
	wide := found(1000, 1050, how(0.05))
	wide.Low, wide.High = 900, 1150
	open := found(1000, 1050, how(0.05))
	open.Low, open.High = 900, 0
	other := found(2000, 2100, how(0.05))
	other.Promise = "p99_ms < 50"
	longer := found(2000, 2100, result.SearchPlan{Precision: 0.05, Seconds: 60, Arrivals: "poisson"})
	for _, c := range []struct {
		name   string
		a, b   *result.Search
		want   compare.Verdict
		reason string
	}{
		{"one step of the grid", found(1000, 1050, how(0.05)), found(1050, 1100, how(0.05)), compare.Unclear, "the searches are precise to 5 %"},
		{"two steps", found(1000, 1050, how(0.05)), found(1110, 1160, how(0.05)), compare.Better, "significant"},
		{"two steps down", found(1110, 1160, how(0.05)), found(1000, 1050, how(0.05)), compare.Worse, "significant"},
		{"the same rate", found(1000, 1050, how(0.05)), found(1000, 1050, how(0.05)), compare.Unclear, ""},
		{"a coarse search", found(1000, 1500, how(0.5)), found(1400, 2100, how(0.5)), compare.Unclear, "50 %"},
		{"an interval", wide, found(1110, 1160, how(0.05)), compare.Unclear, "precise to 28 %"},
		{"an open interval", open, found(1110, 1160, how(0.05)), "", "upper limit, 1000/s"},
		{"at the upper limit", capped, found(2000, 2100, how(0.05)), "", "upper limit, 1000/s"},
		{"another promise", found(1000, 1050, how(0.05)), other, "", "other work: find p99 < 10 ms and p99 < 50 ms"},
		{"longer probes", found(1000, 1050, how(0.05)), longer, "", "probes of 10 s and 60 s"},
	} {
		m := compare.New(append(searched("a", c.a, 4), searched("b", c.b, 4)...))
		e := m.Judge(m.Targets[0], m.Targets[1]).Items[0]
		expect.Equal(t, e.Verdict, c.want, c.name)
		expect.Contains(t, e.Why, c.reason, c.name)
		expect.True(t, !(c.want != "" && e.High/e.Low < 1.09), "the interval is to", c.name, e.Low, e.High)
	}
}

// The probes of a search are shown, and not judged.
func TestProbesAreNotJudged(t *testing.T) {
	trials := searched("a", &result.Search{Promise: "p99_ms < 10", Kept: 1000, Broke: 1050, Low: 1000, High: 1050}, 4)
	for _, tr := range trials {
		for _, name := range []string{"s@1000", "other@1000"} {
			p := made("a", 1, "", numbers{"rows_per_s": 1000}, name).Steps[0]
			p.Axes = []result.Axis{{Name: "rate", Value: 1000}}
			tr.Steps = append(tr.Steps, p)
		}
	}
	c := compare.New(trials)
	for name, want := range map[string]bool{"s": false, "s@1000": true, "other@1000": false} {
		s := c.Step(name)
		expect.True(t, compare.IsProbe(s) == want && !(want && len(s.Headline()) > 0), name, compare.IsProbe(s), s.Headline())
	}
}

// Versions stand first among what differs.
func TestVersionsDiffer(t *testing.T) {
	a, b := made("a", 1, "", nil, "s"), made("b", 1, "", nil, "s")
	version := func(tr *result.Trial, name, v string) {
		tr.Versions = append(tr.Versions, observe.Fact{Name: name, Value: v})
	}
	a.Engine, b.Engine = "mysql", "mysql"
	version(a, "mysql", "driver 1")
	version(b, "mysql", "driver 1")
	version(a, "server", "8.0.43")
	version(b, "server", "8.4.6")
	b.Seed = 7
	c := compare.New([]*result.Trial{a, b})
	expect.Equal(t, texts(compare.Apart(c.Targets[0], c.Targets[1])), "mysql version: 8.0.43 and 8.4.6; seed: 0 for all trials and 7 for all trials")
	again := made("b", 2, "", nil, "s")
	again.Engine = "mysql"
	version(again, "server", "8.4.7")
	c = compare.New([]*result.Trial{a, b, again})
	expect.Equal(t, (compare.Apart(c.Targets[0], c.Targets[1])[0]).String(), "mysql version: 8.0.43 and 8.4.6 or 8.4.7")
}

// headlinesTested returns the number of headline numbers that a correction counts.
func headlinesTested(j *compare.Judgement) (n int) {
	for _, it := range j.Items {
		if it.Headline && !math.IsNaN(it.P) {
			n++
		}
	}
	return n
}

// Parameters that a plan sets for a target do not prevent its comparison with the
// others of that plan. All other differences do.
func TestOwnParams(t *testing.T) {
	trial := func(dir, target string, n int, rows float64, own ...string) *result.Trial {
		out := made(target, n, "interleaved", numbers{"rows_per_s": 100 + float64(n)}, "s")
		out.Dir, out.Params, out.OwnParams = dir+"/trials/"+target, map[string]any{"rows": rows}, own
		return out
	}
	for _, c := range []struct {
		name   string
		trials []*result.Trial
		want   string
	}{
		{"own", []*result.Trial{trial("c", "a", 1, 5), trial("c", "b", 1, 6, "rows")}, ""},
		{"of the first", []*result.Trial{trial("c", "a", 1, 5, "rows"), trial("c", "b", 1, 6)}, ""},
		{"not own", []*result.Trial{trial("c", "a", 1, 5), trial("c", "b", 1, 6)}, "rows 5 and 6"},
		{"another is own", []*result.Trial{trial("c", "a", 1, 5), trial("c", "b", 1, 6, "batch")}, "rows 5 and 6"},
		{"another plan", []*result.Trial{trial("c", "a", 1, 5), trial("d", "b", 1, 6, "rows")}, "rows 5 and 6"},
		{"changed between trials", []*result.Trial{trial("c", "a", 1, 5), trial("c", "b", 1, 6, "rows"), trial("c", "b", 2, 7, "rows")}, "rows 6 and 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := compare.New(c.trials)
			a, b := m.Target("a"), m.Target("b")
			expect.Equal(t, strings.Join(compare.Unlike(a, b), "; "), c.want, "unlike")
			own := len(c.trials[0].OwnParams)+len(c.trials[1].OwnParams) > 0 && c.name != "another is own"
			expect.Equal(t, slices.Contains(compare.Apart(a, b), compare.Difference{What: "params.rows", Base: "5", New: "6"}), own, compare.Apart(a, b))
		})
	}
}

// A step that began cold is another step than one that began without a restart, or with caches kept.
func TestOfferedBegun(t *testing.T) {
	group := result.Group{Name: "query", Clients: 8}
	for _, c := range []struct {
		a, b workload.Caches
		want string
	}{
		{"", "", ""}, {workload.CachesDropped, workload.CachesDropped, ""},
		{"", workload.CachesDropped, "begun without a restart and cold, just opened"},
		{workload.CachesKept, workload.CachesDropped, "begun after a restart, caches kept and cold, just opened"},
	} {
		var trials []*result.Trial
		for i := range 4 {
			for target, caches := range map[string]workload.Caches{"a": c.a, "b": c.b} {
				one := made(target, i+1, "interleaved", numbers{"rows_per_s": 100 + float64(i%2)}, "s")
				one.Steps[0].Groups, one.Steps[0].Caches = []result.Group{group}, caches
				trials = append(trials, one)
			}
		}
		m := compare.New(trials)
		a, b := m.Target("a"), m.Target("b")
		expect.Equal(t, strings.Join(m.Step("s").Offered(a, b), "; "), c.want)
		_, _, err := m.Comparable(a, b)
		expect.True(t, (err != nil) == (c.want != ""), c.want, err)
	}
}
