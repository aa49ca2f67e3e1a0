package compare_test

import (
	"fmt"
	"math"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// swept returns a trial with a step at each place.
func swept(target string, n int, rate func(clients, tables float64) float64, clients, tables []float64) *result.Trial {
	t := made(target, n, "interleaved", numbers{"rows_per_s": 1}, make([]string, len(clients)*len(tables))...)
	i := 0
	for _, b := range tables {
		for _, a := range clients {
			s := &t.Steps[i]
			i++
			s.Name, s.Base, s.Axes = fmt.Sprintf("r.t%g.c%g", b, a), "r", []result.Axis{{Name: "clients", Value: a}, {Name: "tables", Value: b}, {Name: "range", Value: 100}}
			s.Rows[0].Value = rate(a, b)
		}
	}
	return t
}

// A probe that does not count makes room for one of the same rate that does.
func TestUncountedProbe(t *testing.T) {
	trial := &result.Trial{Target: "a", Trial: 1, Status: result.Complete}
	for i, name := range []string{"s@1", "s@2", "s@2#2", "s@2#3"} {
		trial.Steps = append(trial.Steps, result.Step{Name: name, Base: "s", Uncounted: i == 1, Axes: []result.Axis{{Name: "rate", Value: float64(min(2, i+1))}}})
	}
	w := compare.New([]*result.Trial{trial}).Sweeps()[0]
	expect.Equal(t, w.Panels[0].Levels[1].Step.Name, "s@2#2", "is shown")
	expect.True(t, len(w.Twice) == 2 && w.Twice[0].Name == "s@2" && w.Twice[1].Name == "s@2#3", w.Twice)
}

func TestSweeps(t *testing.T) {
	flat := func(float64, float64) float64 { return 1 }
	trial := swept("a", 1, flat, []float64{8, 1, 64}, []float64{32, 1})
	trial.Steps = append(trial.Steps, result.Step{Name: "settle"}, result.Step{Name: "alone", Base: "alone", Axes: []result.Axis{{Name: "clients", Value: 1}}},
		result.Step{Name: "again", Base: "r", Axes: trial.Steps[0].Axes})
	var got []string
	for _, w := range compare.New([]*result.Trial{trial}).Sweeps() {
		got = append(got, w.Base+" over "+w.Axis)
		for _, p := range w.Panels {
			text := fmt.Sprint(p.At)
			for _, l := range p.Levels {
				text += fmt.Sprintf(" %g:%s", l.Value, l.Step.Name)
			}
			got = append(got, text)
		}
		for _, s := range w.Twice {
			got = append(got, "twice "+s.Name)
		}
	}
	want := []string{"r over clients", "[{tables 1}] 1:r.t1.c1 8:r.t1.c8 64:r.t1.c64", "[{tables 32}] 1:r.t32.c1 8:r.t32.c8 64:r.t32.c64", "twice again"}
	expect.Same(t, want, got)
}

// The mean over a sweep is the geometric one, with an interval from the trials.
func TestMeanOver(t *testing.T) {
	var trials []*result.Trial
	for n := 1; n <= 7; n++ {
		noise := 1 + 0.01*math.Sin(float64(n))
		trials = append(trials,
			swept("rr", n, func(c, _ float64) float64 { return 100 * c * noise }, []float64{1, 4}, []float64{1}),
			swept("rc", n, func(c, _ float64) float64 { return 100 * noise * map[float64]float64{1: 1, 4: 2}[c] }, []float64{1, 4}, []float64{1}))
	}
	c := compare.New(trials)
	m := c.MeanOver(c.Targets[0], c.Targets[1], c.Sweeps()[0].Steps())
	expect.True(t, math.Abs(m.Ratio-math.Sqrt(0.5)) <= 1e-9 && m.Tests == 2 && m.Low <= m.Ratio &&
		m.Ratio <= m.High && m.High < 0.75, m)
}

// A parameter that the plan sets for a target is a knob of families, any other is not.
func TestFamiliesOfParams(t *testing.T) {
	target := func(name, schema string, own ...string) *result.Trial {
		return &result.Trial{Target: name, Engine: "mysql", OwnParams: own, Params: map[string]any{"schema": schema, "rows": 5.0}, Knobs: map[string]string{"schema": "x"}}
	}
	for own, want := range map[string]int{"schema": 1, "rows": 0} {
		c := compare.New([]*result.Trial{target("a", "wide"), target("b", "narrow", own)})
		f := c.Families()
		expect.Must(t, len(f) == want, len(f), "families with own", own, f)
		if want > 0 && (f[0].Knob != "params.schema" || f[0].Value(c.Targets[0]) != "wide" || f[0].Value(c.Targets[1]) != "narrow") {
			t.Errorf("family of %s: %s and %s", f[0].Knob, f[0].Value(c.Targets[0]), f[0].Value(c.Targets[1]))
		}
	}
}

func TestFamilies(t *testing.T) {
	target := func(name, engine string, knobs ...string) *result.Trial {
		out := &result.Trial{Target: name, Engine: engine, Knobs: map[string]string{"cache": "1GB"}}
		for i := 0; i < len(knobs); i += 2 {
			out.Knobs[knobs[i]] = knobs[i+1]
		}
		return out
	}
	c := compare.New([]*result.Trial{
		target("rr", "mysql", "isolation", "repeatable-read"),
		target("pg", "postgres", "isolation", "repeatable-read"),
		target("rc", "mysql", "isolation", "read-committed"),
		target("rr-lazy", "mysql", "isolation", "repeatable-read", "durability", "none"),
		target("rc-lazy", "mysql", "isolation", "read-committed", "durability", "none"),
		target("rr-twin", "mysql", "isolation", "repeatable-read"),
	})
	var got []string
	for _, f := range c.Families() {
		text := f.Knob + ":"
		for _, t := range f.Targets {
			text += " " + t.Name
		}
		got = append(got, text)
	}
	want := []string{"isolation: rr rc rr-twin", "isolation: rr-lazy rc-lazy", "durability: rr rr-lazy rr-twin", "durability: rc rc-lazy"}
	expect.Same(t, want, got)
}
