package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/run/drive"
	"rumbench/internal/run/ratesearch"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// The basis of the answer is reported, and so are reasons not to trust it.
func TestConclusion(t *testing.T) {
	kept := func(rate, ms float64) probe {
		return probe{rate: rate, took: time.Duration(ms * 1e6), n: 1e5, counts: true}
	}
	broke := func(rate float64) probe {
		return probe{rate: rate, broke: "p99 12 ms", n: 1e5, counts: true}
	}
	spoiled := broke(150)
	spoiled.disturbed, spoiled.counts = true, false
	few := kept(100, 3)
	few.n = 500
	precise := ratesearch.Answer{Kept: 150, Broke: 155, Low: 150, High: 155, Probes: 4, Precise: true}
	wide := ratesearch.Answer{Kept: 150, Broke: 200, Low: 100, High: 200, Probes: 4}
	for _, c := range []struct {
		answer        ratesearch.Answer
		probes        []probe
		note, warning string
	}{
		{precise, []probe{kept(100, 3), kept(150, 7), broke(155), kept(150, 8)}, "highest rate with p99 < 10 ms: 150/s (150 to 155), 4 probes; closed loop 160/s. Tried: 100/s 3 ms, 150/s 7 ms and 8 ms, 155/s broke it (p99 12 ms)", ""},
		{wide, []probe{kept(100, 3), kept(150, 8), broke(150), broke(200)}, "150/s (100 to 200)", "wider than the precision that was asked for: 1e+02 %, not 5 %"},
		{ratesearch.Answer{Broke: 100, High: 100, Probes: 2, Precise: true}, []probe{broke(200), broke(100)}, "no rate that was tried kept p99 < 10 ms in most of its probes (lowest 100/s: p99 12 ms), 2 probes; closed loop 160/s", ""},
		{ratesearch.Answer{Broke: 150, High: 150, Probes: 1, Precise: true}, []probe{{rate: 150, broke: "p99 12 ms", disturbed: true, counts: true}}, "(lowest 150/s: p99 12 ms; that is not measurable here: other programs disturbed every probe)", "disturbed"},
		{ratesearch.Answer{Kept: 100, Low: 100, High: math.Inf(1), Probes: 1, Precise: true}, []probe{kept(100, 3)}, "p99 < 10 ms: at least 100/s, 1 probe", ""},
		{ratesearch.Answer{Kept: 100, Low: 100, High: 105, Probes: 1, Precise: true}, []probe{few}, "", "only 500 operations, 5.0 of them beyond"},
		{ratesearch.Answer{Kept: 150, Broke: 155, Low: 150, High: 155, Probes: 3, Disturbed: 1, Precise: true}, []probe{spoiled, kept(150, 8), broke(155)}, "Tried: 150/s disturbed and 8 ms, 155/s", "other programs disturbed 1 of the 3 probes while these broke the promise: 1 were repeated"},
	} {
		r := &prober{Find: &plan.Find{Promise: "p99_ms < 10", Percentile: 99, Below: 10 * time.Millisecond, Precision: 0.05, Credit: 1, Seconds: 10}, made: map[float64][]probe{},
			trial: &trial{Spec: Spec{Target: plan.Target{Name: "x"}, Trial: 3}, res: &result.Trial{}}}
		for _, p := range c.probes {
			r.made[p.rate] = append(r.made[p.rate], p)
		}
		out := &result.Step{Name: "q", Groups: []result.Group{{Name: "query"}}}
		r.conclude(out, c.answer, 160)
		row := out.Rows[0]
		if row.Metric != "highest_rate" || row.Value != c.answer.Kept || row.Trial != 3 || row.N != int64(c.answer.Probes) || !strings.Contains(out.Notes[0].Text, c.note) {
			t.Errorf("%+v, %q, want %v, %q", row, out.Notes, c.answer.Kept, c.note)
		}
		how := out.Search.How
		expect.True(t, how.Precision == 0.05 && how.Seconds == 10, "how it was searched for is recorded as", how)
		expect.True(t, c.warning == "" == (len(out.Warnings) == 0) && strings.Contains(fmt.Sprint(row.Warnings), c.warning), row.Warnings, c.warning)
	}
}

// Only what may have kept operations waiting disturbs a probe.
func TestDisturbed(t *testing.T) {
	wrote := func(mb float64) metric.Warning {
		return metric.Warn(remark.Disturbed, metric.Values{"did": "wrote", "others": mb, "all": mb})
	}
	for _, c := range []struct {
		warning metric.Warning
		want    bool
	}{
		{wrote(0.2), false},
		{wrote(50), true},
		{metric.Warn(remark.ProcessorsShared, metric.Values{"all": 20.0, "worker": "the server", "server": 5.0}), true},
		{metric.Warn(remark.BesideMissed, nil), false},
	} {
		s := &result.Step{Seconds: 10, Rows: []metric.Row{{}, {Warnings: []metric.Warning{c.warning}}}}
		expect.Equal(t, disturbed(s), c.want, c.warning)
	}
}

// An answer that no try held is not given as held, also if other programs disturbed all tries.
func TestHolds(t *testing.T) {
	broke, disturbed := probe{broke: "p95 92 ms", counts: true}, probe{broke: "p95 92 ms", disturbed: true}
	for name, c := range map[string]struct {
		tries      []probe
		kept, held float64
		doubt      string
	}{
		"held":              {[]probe{{counts: true}}, 1000, 950, "[]"},
		"held lower":        {[]probe{broke, {counts: true}}, 855, 855, "and not for 8 s at 950/s: p95 92 ms]"},
		"once disturbed":    {[]probe{disturbed, {counts: true}}, 1000, 950, "[]"},
		"never held":        {[]probe{broke, broke, broke, broke}, 0, 0, "and not for 8 s at 950/s: p95 92 ms]"},
		"only disturbed":    {slices.Repeat([]probe{disturbed}, mostHolds), 1000, 0, "p95 92 ms, beside other programs]"},
		"disturbed at last": {[]probe{broke, disturbed, disturbed, disturbed}, 0, 0, "at 950/s: p95 92 ms]"},
	} {
		r := &prober{Find: &plan.Find{}, made: map[float64][]probe{}}
		a := ratesearch.Answer{Kept: 1000, Low: 1000, High: 1100}
		expect.NoError(t, r.tryHolds(&a, func(try int, p *probe) (float64, error) {
			p.broke, p.disturbed, p.counts = c.tries[try].broke, c.tries[try].disturbed, c.tries[try].counts
			return 8, nil
		}))
		expect.Near(t, a.Kept, c.kept, 0.01, name)
		expect.Near(t, r.held, c.held, 0.01, name)
		expect.Contains(t, fmt.Sprint(metric.Texts(r.doubt)), c.doubt, name)
	}
}

// Operations of a lead-in are in no number of the step, but the workload's checks
// count them.
func TestLeadIn(t *testing.T) { synctest.Test(t, testLeadIn) }

func testLeadIn(t *testing.T) {
	var done atomic.Int64
	s := script(t, workload.Group{Clients: 1}, func(*workload.Outcome, int, int) error { done.Add(1); return nil })
	s.Plan.Rate = &plan.Rate{At: []float64{100}, Like: pace.Arrivals{Kind: pace.Even, LeadIn: 0.5}}
	q := step(t, run(t, s, result.Complete), "s")
	n := row(t, q, "t", "", "offered_per_s").N
	expect.True(t, n == 60 && done.Load() >= 100, "were offered in the window, done in all", n, done.Load())
	expect.Equal(t, q.Groups[0].LeadIn, 0.5, q.Groups[0])
}

// A search with a client whose operations take 2 ms finds no more than 500 a
// second, give or take the chance of random arrivals, and its probes are steps
// like any other.
func TestFind(t *testing.T) { synctest.Test(t, testFind) }

func testFind(t *testing.T) {
	const hold = 2.0
	s := script(t, workload.Group{Clients: 1}, func(*workload.Outcome, int, int) error { return nil })
	s.Plan.Find = &plan.Find{Promise: "p95_ms < 100", Percentile: 95, Below: 100 * time.Millisecond, Precision: 0.5, Like: pace.Arrivals{Kind: pace.Poisson, LeadIn: 0.1}, Seconds: 0.5,
		Credit: 0.05, Hold: hold}
	tr := run(t, s, result.Complete)
	q := step(t, tr, "s")
	best := row(t, q, "t", "", "highest_rate")
	expect.True(t, best.Value > 0 && best.Value <= 600 && best.N >= 2 && best.Unit == "1/s", best, q.Notes)
	expect.True(t, q.Find("offered_per_s", "", "") == nil, "the step itself is no closed loop")
	probes := 0
	for i := range tr.Steps {
		p := &tr.Steps[i]
		if p.Base != "s" {
			continue
		}
		if strings.Contains(p.Name, "#held") {
			expect.True(t, p.Seconds >= hold && q.Search.Held > 0 && q.Search.HeldSeconds == hold,
				"took s", p.Name, p.Seconds, q.Search)
			continue
		}
		probes++
		rate := p.Axes[len(p.Axes)-1]
		if name, again, _ := strings.Cut(p.Name, "#"); rate.Name != "rate" || name != fmt.Sprintf("s@%g", rate.Value) || again == "1" {
			t.Errorf("step %s: %+v", p.Name, p.Axes)
		}
		g := p.Groups[len(p.Groups)-1]
		expect.True(t, g.Open && math.Abs(g.Rate-rate.Value) <= 1e-6 && p.Promise(g.Name) != nil && g.Pace == "poisson", p.Name, g)
		expect.True(t, has(metric.Texts(p.Notes), "p95 < 100 ms was "), p.Name, p.Notes)
		// A random schedule: six times the square root is beyond chance.
		due := rate.Value * max(0.5, math.Ceil(220/rate.Value)) // p95 needs 200 operations
		n := float64(row(t, p, "t", "", "offered_per_s").N)
		expect.True(t, math.Abs(n-due) <= 6*math.Sqrt(due), "were offered", p.Name, n)
		for _, m := range []string{"shed", "abandoned", "queue_max", "sla_met"} {
			row(t, p, "t", "", m)
		}
		expect.True(t, !has(metric.Texts(p.Notes), "p95 < 100 ms was kept") || row(t, p, "t", "transaction", "response_p95_us").Value <= 100e3, p.Name)
	}
	expect.Equal(t, int64(probes), best.N, "probes", probes)
	expect.True(t, q.Search.Held > 0, "held", q.Search)
	expect.True(t, len(withCode(best.Warnings, remark.DebtUnknown)) == 1,
		"an engine that reports no debt", best.Warnings)
}

// A probe in which put-off work grows by more than the plan allows breaks the promise.
func TestCreditBreaks(t *testing.T) {
	for _, c := range []struct {
		limit, credit float64
		broken        bool
	}{{0.05, 0.06, true}, {0.05, 0.04, false}, {1, 3, false}} {
		totals := hist.NewTotals(hist.Shape{Kinds: 1, Paced: true})
		totals.Kinds[0].Response.Record(1000)
		r := &prober{Find: &plan.Find{Promise: "p99_ms < 10", Percentile: 99, Below: 10 * time.Millisecond, Credit: c.limit},
			trial: &trial{driven: &drive.Result{Groups: []hist.Group{{Totals: totals, Undone: hist.NewDist(), Arrivals: &hist.Arrivals{}}}}}}
		p := probe{}
		r.judge(&p, &workload.Step{Groups: []workload.Group{{Ops: []workload.OpKind{{}}}}},
			&result.Step{Status: result.Complete, Groups: []result.Group{{}}, Rows: []metric.Row{
				{Metric: metric.DebtGrowthShare, Value: c.credit}, {Metric: metric.SLAMet, Value: 1},
				{Metric: metric.SLAAchieved, Value: 1}}})
		expect.True(t, strings.Contains(p.broke, "on credit") == c.broken && (p.broke != "") == c.broken, c, p.broke)
	}
}
