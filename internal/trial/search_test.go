package trial

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/internal/metric"
	"rumbench/internal/pace"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/workload"
)

// whole returns a search over an engine that keeps the promise up to a capacity.
func whole(f plan.Find, capacity float64) (*search, *result.Step) {
	s := &search{grid: grid{&f}, probe: func(_ context.Context, rate float64) (probe, error) {
		p := probe{rate: rate, n: 1e6, took: time.Duration(rate)}
		if rate > capacity {
			p.broke = "it was too much"
		}
		return p, nil
	}}
	return s, &result.Step{Name: "q", Rows: []metric.Row{{Target: "x", Trial: 3}}}
}

// The answer is the greatest rate of the grid that the engine can do, of those
// that may be tried; no more probes are made than was said before.
func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := plan.Find{Promise: "p99_ms < 10", Percentile: 99, Below: time.Hour, Precision: rapid.SampledFrom([]float64{0.01, 0.05, 0.2, 1}).Draw(t, "precision")}
		ceiling := math.Exp(rapid.Float64Range(0, 14).Draw(t, "ln ceiling"))
		capacity := ceiling * rapid.Float64Range(0.0001, 1.2).Draw(t, "share")
		if rapid.Bool().Draw(t, "from") {
			f.From = ceiling * rapid.Float64Range(0.01, 0.4).Draw(t, "least")
		}
		if rapid.Bool().Draw(t, "to") {
			f.To = ceiling * rapid.Float64Range(0.5, 2).Draw(t, "greatest")
		}
		s, out := whole(f, capacity)
		if err := s.run(t.Context(), ceiling); err != nil {
			t.Fatal(err)
		}
		s.conclude(out, (&trial{Spec: Spec{Target: plan.Target{Name: "x"}, Trial: 3}}).all("q"), "query", 10, ceiling)
		if len(s.probes) > MostProbes(&f) {
			t.Fatalf("%d probes, at most %d were said", len(s.probes), MostProbes(&f))
		}
		high := s.nearest(ceiling)
		least := s.least(high + 1)
		if f.To > 0 {
			high = s.last()
			least = s.least(high)
		}
		want := 0.0
		for k := least; k <= high; k++ {
			if r := s.rate(k); r <= capacity {
				want = r
			}
		}
		for _, p := range s.probes {
			if p.rate < f.From || f.To > 0 && p.rate > f.To {
				t.Fatalf("%v was tried, of %v to %v", p.rate, f.From, f.To)
			}
		}
		if how := out.Search.How; how == nil || how.Precision != f.Precision || how.From != f.From || how.To != f.To || how.Seconds != 10 {
			t.Fatalf("how it was searched for is recorded as %+v", how)
		}
		got := out.Rows[len(out.Rows)-1]
		if got.Metric != "highest_rate" || got.Value != want || got.Trial != 3 || len(got.Warnings) > 0 {
			t.Fatalf("%+v, want %v of capacity %v: %q", got, want, capacity, out.Notes)
		}
	})
}

// The basis of the answer is reported, and so are reasons not to trust it.
func TestConclusion(t *testing.T) {
	f := plan.Find{Promise: "p99_ms < 10", Percentile: 99, Below: 10 * time.Millisecond, Precision: 0.05}
	kept := func(at int, ms float64) probe {
		return probe{at: at, rate: float64(at), took: time.Duration(ms * 1e6), n: 1e5}
	}
	broke := func(at int) probe { return probe{at: at, rate: float64(at), broke: "p99 12 ms", n: 1e5} }
	for _, c := range []struct {
		probes        []probe
		value         float64
		note, warning string
	}{
		{[]probe{kept(100, 3), broke(200), kept(150, 8)}, 150, "p99 < 10 ms holds up to 150/s; broken at 200/s (p99 12 ms). Tried: 100/s 3 ms, 150/s 8 ms, 200/s broke it (p99 12 ms)", ""},
		{[]probe{broke(200), broke(100)}, 0, "no rate that was tried kept it (lowest 100/s: p99 12 ms)", ""},
		{[]probe{kept(100, 3)}, 100, "kept at the highest rate tried, 100/s (p99 3 ms); without a rate the clients did 111/s, and more was not tried", ""},
		{[]probe{kept(100, 9), kept(150, 4)}, 150, "", "not monotone: 9 ms at 100/s, but 4 ms at 150/s"},
		{[]probe{kept(100, 2), kept(150, 1)}, 150, "", ""}, // far from the limit that means nothing
		{[]probe{{at: 100, rate: 100, took: 1, n: 500}}, 100, "", "only 500 operations, 5.0 of them beyond"},
	} {
		s, out := whole(f, 0)
		s.probes = c.probes
		s.conclude(out, (&trial{Spec: Spec{Target: plan.Target{Name: "x"}, Trial: 3}}).all("q"), "query", 10, 111)
		row := out.Rows[1]
		if row.Value != c.value || !strings.Contains(out.Notes[0].Text, c.note) {
			t.Errorf("%v, %q, want %v, %q", row.Value, out.Notes, c.value, c.note)
		}
		if c.warning == "" != (len(out.Warnings) == 0) || !strings.Contains(fmt.Sprint(row.Warnings), c.warning) {
			t.Errorf("warnings %q, want %q", row.Warnings, c.warning)
		}
	}
}

// A search with a client whose operations take 2 ms finds no more than 500 a
// second, give or take the chance of random arrivals, and its probes are steps
// like any other.
func TestFind(t *testing.T) {
	s := script(t, workload.Group{Clients: 1}, func(*workload.Outcome, int, int) error { return nil })
	s.Plan.Find = &plan.Find{Promise: "p95_ms < 100", Percentile: 95, Below: 100 * time.Millisecond, Precision: 0.3, Like: pace.Arrivals{Kind: pace.Poisson}, Seconds: 1}
	tr := run(t, s, result.Complete)
	q := step(t, tr, "s")
	best := row(t, q, "t", "", "highest_rate")
	if best.Value <= 0 || best.Value > 600 || best.N < 2 || best.Unit != "1/s" {
		t.Errorf("%+v: %q", best, q.Notes)
	}
	if q.Find("offered_per_s", "", "") != nil {
		t.Error("the step itself is no closed loop")
	}
	probes := 0
	for i := range tr.Steps {
		p := &tr.Steps[i]
		if p.Base != "s" {
			continue
		}
		probes++
		rate := p.Axes[len(p.Axes)-1]
		if rate.Name != "rate" || p.Name != fmt.Sprintf("s@%g", rate.Value) {
			t.Errorf("step %s: %+v", p.Name, p.Axes)
		}
		g := p.Groups[len(p.Groups)-1]
		if !g.Open || math.Abs(g.Rate-rate.Value) > 1e-6 || g.SLA == nil || g.Pace != "poisson" {
			t.Errorf("%s: %+v", p.Name, g)
		}
		if !has(metric.Texts(p.Notes), "p95_ms < 100 was ") {
			t.Errorf("%s: %q", p.Name, p.Notes)
		}
		// A random schedule of a second: six times the square root is beyond chance.
		if n := float64(row(t, p, "t", "", "offered_per_s").N); math.Abs(n-rate.Value) > 6*math.Sqrt(rate.Value) {
			t.Errorf("%s: %v were offered", p.Name, n)
		}
		for _, m := range []string{"shed", "abandoned", "queue_max", "sla_met"} {
			row(t, p, "t", "", m)
		}
		if rate.Value == best.Value && row(t, p, "t", "transaction", "response_p95_us").Value > 100e3 {
			t.Errorf("%s kept no promise", p.Name)
		}
	}
	if int64(probes) != best.N {
		t.Errorf("%d probes, %d were reported", probes, best.N)
	}
}
