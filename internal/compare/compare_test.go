package compare_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
)

func judged(t testing.TB, trials ...*result.Trial) *compare.Judgement {
	t.Helper()
	c := compare.New(trials)
	expect.Must(t, len(c.Targets) == 2, len(c.Targets), "targets")
	return c.Judge(c.Targets[0], c.Targets[1])
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, metric, order string
		a, b                []float64
		want                compare.Verdict
		reason              string
	}{
		{"faster", "rows_per_s", "interleaved", []float64{100, 101, 99}, []float64{200, 203, 199}, compare.Better, "significant"},
		{"slower", "rows_per_s", "sequential", []float64{100, 101, 99}, []float64{50, 50.5, 49}, compare.Worse, "significant"},
		{"less is better", "write_kb", "interleaved", []float64{4, 4.1, 4.05}, []float64{2, 2.05, 2.02}, compare.Better, "significant"},
		{"more is worse", "write_kb", "interleaved", []float64{2, 2.05, 2.02}, []float64{4, 4.1, 4.05}, compare.Worse, "significant"},
		{"chance", "rows_per_s", "interleaved", []float64{100, 104, 98}, []float64{101, 99, 103}, compare.Unclear, "chance"},
		{"the same", "rows_per_s", "interleaved", []float64{100, 104, 98, 101}, []float64{100.1, 104.2, 98.05, 101.1}, compare.Same, "±1 %"},
		{"one trial", "rows_per_s", "interleaved", []float64{100}, []float64{900}, compare.Unclear, "1 of at least 3"},
		{"two trials", "rows_per_s", "interleaved", []float64{100, 100}, []float64{900, 900}, compare.Unclear, "2 of at least 3"},
		{"contradictions", "rows_per_s", "interleaved", []float64{100, 300, 110, 250}, []float64{290, 120, 240, 130}, compare.Unstable, "standard deviation"},
		{"sure in spite of noise between blocks", "rows_per_s", "interleaved", []float64{100, 200, 400, 800}, []float64{110, 221, 439, 882}, compare.Better, "significant"},
		{"the same numbers apart prove nothing", "rows_per_s", "sequential", []float64{100, 200, 400, 800}, []float64{110, 221, 439, 882}, compare.Unstable, "standard deviation"},
		{"nothing stalled", "stall_s", "interleaved", []float64{0, 0, 0}, []float64{0, 0, 0}, compare.Same, ""},
		{"it stalls now", "stall_s", "interleaved", []float64{0, 0, 0, 0}, []float64{5, 5.1, 4.9, 5}, compare.Worse, "significant"},
		{"exact sizes", "space_amplification", "sequential", []float64{1000, 1000, 1000}, []float64{1100, 1100, 1100}, compare.Worse, "significant"},
		{"no direction", "live_rows", "interleaved", []float64{10, 10, 10}, []float64{20, 20, 20}, "", ""},
		{"different zeros are not the same", "stall_s", "interleaved", []float64{0, 0, 5}, []float64{5, 0, 0}, compare.Unclear, "chance"},
		{"an outlier proves nothing", "rows_per_s", "interleaved", []float64{100, 101, 99, 100, 102, 98, 100}, []float64{100, 101, 99, 100, 102, 98, 900}, compare.Unstable, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, append(series("a", c.order, c.metric, c.a...), series("b", c.order, c.metric, c.b...)...)...)
			e := &j.Items[0]
			expect.Equal(t, e.Verdict, c.want, "ratio, to, p", c.name, e.Ratio, e.Low, e.High, e.Adjusted)
			expect.Contains(t, e.Why, c.reason, "ratio, to, p", c.name, e.Ratio, e.Low, e.High, e.Adjusted)
		})
	}
}

// TestNotable: a difference has its direction also where too few trials prove it.
func TestNotable(t *testing.T) {
	for _, c := range []struct {
		metric string
		a, b   []float64
		want   compare.Verdict
	}{
		{"rows_per_s", []float64{100}, []float64{200}, compare.Better},
		{"rows_per_s", []float64{200}, []float64{100}, compare.Worse},
		{"write_kb", []float64{4}, []float64{2}, compare.Better},
		{"write_kb", []float64{2, 2.05, 2.02}, []float64{4, 4.1, 4.05}, compare.Worse},
		{"rows_per_s", []float64{100}, []float64{104}, ""},                            // within 5 %
		{"write_kb", []float64{0.0072, 0, 0, 0.0008}, []float64{0, 0, 0, 0.0008}, ""}, // zeros: no interval, no test
		{"write_kb", []float64{0.1, 0.2}, []float64{0, 0}, ""},
		{"rows_per_s", []float64{60, 140}, []float64{100, 160}, ""},     // within the variation
		{"live_rows", []float64{10, 10, 10}, []float64{20, 20, 20}, ""}, // neither direction is better
	} {
		j := judged(t, append(series("a", "interleaved", c.metric, c.a...), series("b", "interleaved", c.metric, c.b...)...)...)
		expect.Equal(t, j.Items[0].Notable(), c.want, c.metric, c.a, c.b)
	}
}

// Numbers that are missing or not comparable get no verdict, but a reason.
func TestNoVerdict(t *testing.T) {
	fresh := func() []*result.Trial {
		return append(series("a", "interleaved", "rows_per_s", 100, 101, 99), series("b", "interleaved", "rows_per_s", 200, 201, 199)...)
	}
	for _, c := range []struct {
		name   string
		do     func([]*result.Trial)
		reason string
	}{
		{"disturbed", func(l []*result.Trial) {
			l[3].Steps[0].Rows[0].Disturbed = true
		}, "other programs"},
		{"promise missed", func(l []*result.Trial) {
			breaks(&l[0].Steps[0], result.Group{Name: "insert"})
		}, "SLA missed"},
		{"rows missing", func(l []*result.Trial) {
			l[4].Steps[0].Warnings = []metric.Warning{{Code: remark.TooFewRows}}
		}, "b: rows missing"},
		{"invalid", func(l []*result.Trial) {
			for _, t := range l[3:] {
				t.Status = result.Invalid
			}
		}, "invalid"},
		{"not measured", func(l []*result.Trial) {
			for _, t := range l[3:] {
				t.Steps[0].Rows[0].Metric = "ops_per_s"
			}
		}, "not measured here"},
		{"did not come to it", func(l []*result.Trial) {
			for _, t := range l[3:] {
				t.Steps, t.Reason = nil, "the disk is full"
			}
		}, "the disk is full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			trials := fresh()
			c.do(trials)
			j := judged(t, trials...)
			e := j.Effect(j.Items[0].Step, compare.Key{Group: "insert", Op: "insert", Metric: "rows_per_s"})
			expect.True(t, e.Verdict == "" && strings.Contains(e.Why, c.reason) && !e.Sure(), e.Verdict, e.Why)
		})
	}
}

// Trials are paired only where they ran side by side.
func TestPairs(t *testing.T) {
	base := series("a", "interleaved", "rows_per_s", 100, 101, 99, 100)
	for _, c := range []struct {
		name string
		list []*result.Trial
		want int
	}{
		{"interleaved", series("b", "interleaved", "rows_per_s", 100, 101, 99, 100), 4},
		{"one is missing", series("b", "interleaved", "rows_per_s", 100, 101, 99), 3},
		{"too few in common", series("b", "interleaved", "rows_per_s", 100, 101), 0},
		{"sequential", series("b", "sequential", "rows_per_s", 100, 101, 99, 100), 0},
		{"of an old result", series("b", "", "rows_per_s", 100, 101, 99, 100), 0},
	} {
		j := judged(t, append(slices.Clone(base), c.list...)...)
		expect.Equal(t, j.Items[0].Pairs, c.want, c.name)
	}
	other := series("b", "interleaved", "rows_per_s", 100, 101, 99, 100)
	for _, u := range other {
		u.Dir = strings.Replace(u.Dir, "c/", "d/", 1)
	}
	expect.Equal(t, judged(t, append(base, other...)...).Items[0].Pairs, 0, "trials of two campaigns are paired")
}

// Each machine counts once: with its pairs, and never with more than it has. Two prove nothing.
func TestSeveralMachines(t *testing.T) {
	on := func(list []*result.Trial, machines ...string) []*result.Trial {
		for i, u := range list {
			u.Machine = machines[i]
		}
		return list
	}
	values := []float64{100, 102, 50, 51, 200, 202}
	faster := []float64{110, 112, 55, 56, 221, 222}
	for _, c := range []struct {
		name           string
		base, other    []string
		want           int
		verdict        compare.Verdict
		pairsOfMachine bool
	}{
		{"three", []string{"x", "x", "y", "y", "z", "z"}, []string{"x", "x", "y", "y", "z", "z"}, 3, compare.Better, true},
		{"two", []string{"x", "x", "x", "y", "y", "y"}, []string{"x", "x", "x", "y", "y", "y"}, 2, compare.Unclear, true},
		{"one", []string{"x", "x", "x", "x", "x", "x"}, []string{"x", "x", "x", "x", "x", "x"}, 0, compare.Better, false},
		{"none in common", []string{"x", "x", "x", "x", "x", "x"}, []string{"y", "y", "y", "y", "y", "y"}, 0, "", false},
	} {
		j := judged(t, append(on(series("a", "interleaved", "rows_per_s", values...), c.base...),
			on(series("b", "interleaved", "rows_per_s", faster...), c.other...)...)...)
		e := &j.Items[0].Effect
		expect.True(t, e.Groups == c.want && e.Verdict == c.verdict &&
			(e.OverMachines() != nil) == c.pairsOfMachine, c.name, e.Groups, e.Verdict, e.Why)
	}
	// A machine with more blocks has no more weight, and that machines differ is no noise of trials.
	blocks := []string{"x", "x", "x", "y", "z"}
	j := judged(t, append(on(series("a", "interleaved", "rows_per_s", 100, 100, 100, 1000, 1000), blocks...),
		on(series("b", "interleaved", "rows_per_s", 200, 200, 200, 1000, 1000), blocks...)...)...)
	e := &j.Items[0].Effect
	if want := math.Cbrt(2); math.Abs(e.Ratio-want) > 1e-9 || e.Low > want || e.High < want || e.Variation() > 0 {
		t.Errorf("ratio %v [%v, %v], not %v; variation %v", e.Ratio, e.Low, e.High, want, e.Variation())
	}
}

// One machine of four is a tenth slower: ratios are those of all, and it alone is named.
func TestSlowMachine(t *testing.T) {
	var a, b []float64
	machines := []string{"m1", "m2", "m3", "m4"}
	for i := range 12 {
		v := 1000 * (1 + 0.01*float64(i%3))
		if machines[i%4] == "m4" {
			v *= 0.9
		}
		a, b = append(a, v), append(b, 1.2*v)
	}
	trials := append(series("a", "interleaved", "rows_per_s", a...), series("b", "interleaved", "rows_per_s", b...)...)
	for i, u := range trials {
		u.Machine = machines[i%4]
	}
	c := compare.New(trials)
	e := c.Judge(c.Targets[0], c.Targets[1]).Items[0].Effect
	expect.True(t, math.Abs(e.Ratio-1.2) <= 1e-9 && e.Groups == 4, "ratio on machines", e.Ratio, e.Groups)
	k, _ := compare.Capacity(c.Steps[0])
	apart := compare.MachinesApart(c.Steps[0], k, c.Targets...)
	expect.True(t, len(apart) == 1 && apart[0].Name == "m4" && math.Abs(apart[0].Ratio-0.9) <= 0.01 &&
		apart[0].High <= 0.94, apart)
}

// Exchanging the targets exchanges better and worse and inverts the ratio.
func TestExchange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom([]string{"interleaved", "sequential"}).Draw(t, "order")
		n := rapid.IntRange(1, 8).Draw(t, "trials")
		values := rapid.SliceOfN(rapid.Float64Range(0.5, 2), n, n)
		c := compare.New(append(series("a", order, "rows_per_s", values.Draw(t, "a")...), series("b", order, "rows_per_s", values.Draw(t, "b")...)...))
		x := c.Judge(c.Targets[0], c.Targets[1]).Items[0]
		y := c.Judge(c.Targets[1], c.Targets[0]).Items[0]
		turned := map[compare.Verdict]compare.Verdict{compare.Better: compare.Worse, compare.Worse: compare.Better}
		want := x.Verdict
		if turned[want] != "" {
			want = turned[want]
		}
		expect.Must(t, y.Verdict == want && math.Abs(x.Ratio*y.Ratio-1) <= 1e-12, x.Effect, "and", y.Effect)
		expect.Must(t, math.IsNaN(x.Low) || math.Abs(x.Low*y.High-1) <= 1e-9,
			"bounds", x.Low, "and", y.High, x.High, "and", y.Low)
		expect.Must(t, !x.Sure() || x.Low > 1 || 1 > x.High, "sure, but the interval holds 1", x.Low, "to", x.High)
	})
}

var sixSteps = []string{"l.i0", "l.x", "l.i1", "qr100", "qr500", "qr1000"}

// Of two hundred campaigns with two equal targets, on a machine that is noisy and drifts,
// about ten claim a difference in what is asked about, and about ten in the other
// headline numbers.
func TestEqualTargetsAreNotToldApart(t *testing.T) {
	const campaigns = 200
	for _, trials := range []int{3, 4, 6, 10} {
		var asked, beyond int
		for seed := range uint64(campaigns) {
			m := machine{rng: rand.New(rand.NewPCG(seed, uint64(trials))), noise: 0.03, drift: 0.01}
			c := m.abba(trials, 1, sixSteps...)
			claims := map[bool]int{}
			for _, it := range c.Judge(c.Targets[0], c.Targets[1]).Items {
				if it.Sure() {
					claims[it.Asked] = 1
				}
			}
			asked, beyond = asked+claims[true], beyond+claims[false]
		}
		t.Logf("%d trials: of %d campaigns %d claim a difference in what is asked, %d beyond", trials, campaigns, asked, beyond)
		expect.True(t, asked <= 16 &&
			beyond <= 16, "trials: and of campaigns claim a difference", trials, asked, beyond, campaigns)
	}
}

// A slowdown of 3 % is found with as many trials as a first campaign recommends.
func TestSlowdownIsFound(t *testing.T) {
	const slower = 1.03
	found := 0
	for seed := range uint64(20) {
		pilot := machine{rng: rand.New(rand.NewPCG(seed, 1)), noise: 0.01, drift: 0.002}
		c := pilot.abba(8, 1, sixSteps...)
		j := c.Judge(c.Targets[0], c.Targets[1])
		need := 0
		for _, s := range c.Steps {
			k, _ := s.Rate("insert")
			need = max(need, j.Effect(s, k).Needed(0.03))
		}
		m := machine{rng: rand.New(rand.NewPCG(seed, 2)), noise: 0.01, drift: 0.002}
		c = m.abba(need+need%2, slower, sixSteps...)
		j = c.Judge(c.Targets[0], c.Targets[1])
		k, _ := c.Steps[0].Rate("insert")
		if j.Effect(c.Steps[0], k).Verdict == compare.Worse {
			found++
		} else {
			t.Logf("seed %d, %d trials: %+v", seed, need, j.Effect(c.Steps[0], k).Why)
		}
	}
	t.Logf("found in %d of 20", found)
	expect.True(t, found >= 17, "found in of 20 campaigns, about 18", found)
}

// What says the same as a headline number has its verdict.
func TestOneFactOneVerdict(t *testing.T) {
	m := machine{rng: rand.New(rand.NewPCG(3, 3)), noise: 0.02}
	for range 20 {
		c := m.abba(3, 1.08, sixSteps...)
		for _, target := range c.Targets {
			for _, trial := range target.Trials {
				for i := range trial.Steps {
					s := &trial.Steps[i]
					row := *s.Find("rows_per_s", "", "")
					row.Metric, row.Value = "ops_per_s", row.Value/50
					s.Rows = append(s.Rows, row)
				}
			}
		}
		j := c.Judge(c.Targets[0], c.Targets[1])
		for _, s := range c.Steps {
			rows, ops := j.Effect(s, compare.Key{Group: "insert", Op: "insert", Metric: "rows_per_s"}), j.Effect(s, compare.Key{Group: "insert", Op: "insert", Metric: "ops_per_s"})
			expect.Equal(t, rows.Verdict, ops.Verdict, "rows (), operations", s.Name, rows.Adjusted, ops.Adjusted)
		}
	}
}

func TestNeededAndDetectable(t *testing.T) {
	m := machine{rng: rand.New(rand.NewPCG(7, 7)), noise: 0.02}
	c := m.abba(10, 1, "s")
	j := c.Judge(c.Targets[0], c.Targets[1])
	k, _ := c.Steps[0].Rate("insert")
	e := j.Effect(c.Steps[0], k)
	d := e.Detectable()
	expect.Equal(t, e.Needed(d), 10, "is found by 10 trials, but are needed for it", d)
	a, b := e.Needed(0.03), e.Needed(0.10)
	expect.True(t, a > b, "3 takes trials and 10 takes", a, b)
	expect.Equal(t, e.Needed(0.001), 0, "0.1 takes trials, which nobody runs")
	one := judged(t, append(series("a", "", "rows_per_s", 1), series("b", "", "rows_per_s", 2)...)...)
	if e := &one.Items[0].Effect; e.Needed(0.03) != 0 || !math.IsNaN(e.Detectable()) {
		t.Error("of one trial nothing is known about noise")
	}
}

// One level that promises less on one side is a difference, and is said in
// words; results of old do not say what their level means.
func TestApartByPromise(t *testing.T) {
	a, b := made("a", 1, "", nil, "s"), made("b", 1, "", nil, "s")
	a.Durability, b.Durability, b.Promise = "process", "process", "a crash may lose all"
	c := compare.New([]*result.Trial{a, b})
	expect.Equal(t, len(compare.Apart(c.Targets[0], c.Targets[1])), 0, "of a result of old")
	a.Promise = "a crash loses a second"
	expect.Equal(t, texts(compare.Apart(c.Targets[0], c.Targets[1])), "durability: process (a crash loses a second) and process (a crash may lose all)")
	for i, target := range c.Targets { // equal versions, two programs
		target.Trials[0].Promise = ""
		target.Trials[0].Build = &program.Build{SHA256: []string{"0123456789abcdef", "1123456789abcdef"}[i]}
	}
	expect.Contains(t, texts(compare.Apart(c.Targets[0], c.Targets[1])), "program: sha256 0123456789ab and sha256 1123456789ab")
}

func TestUnlike(t *testing.T) {
	a, b := made("a", 1, "", nil, "s"), made("b", 1, "", nil, "s")
	c := compare.New([]*result.Trial{a, b})
	expect.Equal(t, len(compare.Unlike(c.Targets[0], c.Targets[1])), 0)
	b.Profiled = result.ProfileSampled // which is no other work
	expect.Equal(t, len(compare.Unlike(c.Targets[0], c.Targets[1])), 0)
	expect.Equal(t, texts(compare.Apart(c.Targets[0], c.Targets[1])), "profile: off and sampled")
	b.Profiled = result.ProfileInside
	expect.Equal(t, strings.Join(compare.Unlike(c.Targets[0], c.Targets[1]), "; "), "profile off and inside")
	b.Profiled = ""
	b.Params = map[string]any{"rows": 6.0, "more": true}
	b.Workload, b.Durability, b.Knobs = "", "os", map[string]string{"cache": "1GiB"}
	expect.Equal(t, strings.Join(compare.Unlike(c.Targets[0], c.Targets[1]), "; "), "workload w and not known; more not known and true; rows 5 and 6")
	expect.Equal(t, texts(compare.Apart(c.Targets[0], c.Targets[1])), "durability: not known and os; cache: the default and 1GiB")
}

// What engines report of a knob is shown in place of what the plan says, as it leaves much
// to them; asking for the default is no difference, and neither is what was asked alike.
func TestApartFromDefaults(t *testing.T) {
	a, b := made("a", 1, "", nil, "s"), made("b", 1, "", nil, "s")
	a.Knobs = map[string]string{"options.noisy": "1"}
	b.Knobs = map[string]string{"options.sort": "on", "options.silent": "1", "page": "4KiB", "options.noisy": "1"}
	a.Settings = []engine.Setting{{Name: "sort", Value: "off"}, {Name: "page", Value: "4096"}, {Name: "noisy", Value: "1.1"}}
	b.Settings = []engine.Setting{{Name: "sort", Value: "on"}, {Name: "page", Value: "4096"}, {Name: "silent", Value: "1"}, {Name: "noisy", Value: "0.9"}}
	c := compare.New([]*result.Trial{a, b})
	expect.Equal(t, texts(compare.Apart(c.Targets[0], c.Targets[1])), "options.silent: the default and 1; options.sort: off and on")
}

// What was read back differs too, if rumbench has not set it: on servers that were
// attached to, and of other versions.
func TestApartAsFound(t *testing.T) {
	read := func(name, value string) engine.Setting {
		return engine.Setting{Name: name, Value: value, Source: engine.ReadBack}
	}
	both := func(knobs map[string]string, version string, settings ...engine.Setting) *result.Trial {
		tr := made("a", 1, "", nil, "s")
		tr.Engine, tr.Knobs, tr.Settings = "mysql", knobs, append(settings, read("version_comment", version), read("jit", "on"))
		tr.Versions = observe.Facts{{Name: "server", Value: version}}
		return tr
	}
	dsn, cached := map[string]string{"dsn": "root@unix(x)/"}, map[string]string{"cache": "64MiB"}
	for name, c := range map[string]struct {
		base, other *result.Trial
		want        string
	}{
		"attached": {
			both(dsn, "10.11", read("isolation", "repeatable-read"), read("innodb_buffer_pool_size", "67108864")),
			both(dsn, "10.11", read("isolation", "read-committed"), read("innodb_buffer_pool_size", "16777216")),
			"isolation: repeatable-read and read-committed; innodb_buffer_pool_size: 64 MiB and 16 MiB",
		},
		"versions": {
			both(cached, "17", read("data_checksums", "off")), both(cached, "18", read("data_checksums", "on"), read("io_method", "worker")),
			"mysql version: 17 and 18; data_checksums: off and on",
		},
		"that follow from a knob": {both(cached, "17", read("shared_buffers", "8192")), both(nil, "17", read("shared_buffers", "1024")),
			"cache: 64MiB and the default"},
		"asked alike": {both(map[string]string{"options.noisy": "1"}, "17", read("noisy", "1.1")),
			both(map[string]string{"options.noisy": "1"}, "17", read("noisy", "0.9")), ""},
	} {
		c.other.Target = "b"
		all := compare.New([]*result.Trial{c.base, c.other})
		expect.Equal(t, texts(compare.Apart(all.Targets[0], all.Targets[1])), c.want, name)
	}
}

// An engine whose cache cannot be limited has more memory than one with a cache
// of so many bytes: that is said, whatever the engines.
func TestUnequalCaches(t *testing.T) {
	a, b, c := made("a", 1, "", nil, "s"), made("b", 1, "", nil, "s"), made("c", 1, "", nil, "s")
	a.Engine, a.Knobs, a.Settings = "lsm", map[string]string{"cache": "16MiB"}, []engine.Setting{{Name: "cache", Value: "16 MiB, and memtables besides"}}
	b.Engine, b.Settings = "mapped", []engine.Setting{{Name: "cache", Value: "without a limit"}}
	c.Engine = "silent"
	camp := compare.New([]*result.Trial{a, b, c})
	expect.Equal(t, camp.UnequalCaches(), "a: 16 MiB, b: without a limit", "caches")
	expect.Contains(t, texts(compare.Apart(camp.Targets[0], camp.Targets[1])), "cache: 16MiB and without a limit", "apart")
	expect.Lacks(t, texts(compare.Apart(camp.Targets[0], camp.Targets[2])), "cache", "an unknown cache differs")
	expect.Equal(t, compare.New([]*result.Trial{a, c}).UnequalCaches(), "", "one cache that is known")
}

func texts(list []compare.Difference) string {
	var out []string
	for _, d := range list {
		out = append(out, d.String())
	}
	return strings.Join(out, "; ")
}

// breaks has the only group of a step break its promise of 100 a second.
func breaks(s *result.Step, g result.Group) {
	b := account.Builder{All: metric.Row{Target: s.Rows[0].Target, Trial: s.Rows[0].Trial, Step: s.Name}}
	b.Promise(g.Name, &metric.SLA{Target: 100, Achieved: 80})
	s.Groups, s.Rows = []result.Group{g}, append(s.Rows, b.Rows...)
}
