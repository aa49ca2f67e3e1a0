package history

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// sung sets the canary of all trials of a run: the time that computing and reading memory took, relative
// to 1 ns and 100 ns, which vary by 1 % and 8 %.
func sung(r *rand.Rand, compute, memory float64) func(*result.Campaign, []*result.Trial) {
	return historytest.Each(func(t *result.Trial) {
		t.Canary = &observe.Canary{Compute: compute * (1 + 0.01*r.Float64()), Memory: 100 * memory * (1 + 0.08*r.Float64())}
	})
}

// A change of a number that comes with a change of the machine's own speed has it; one of time that is no
// greater has no verdict.
func TestMachineSpeed(t *testing.T) {
	type change = func(*result.Campaign, []*result.Trial)
	rate := func(by float64) change { return historytest.Scale("rows_per_s", by) }
	version := historytest.Each(func(t *result.Trial) { t.Versions[2].Value = "v3" })
	for name, c := range map[string]struct {
		runs, canaryAt  int
		compute, memory float64 // from the run on at which the canary changes
		metric          string
		now             []change // from the middle on
		want            string
	}{
		"with the rate":              {20, 10, 1.07, 1, "rows_per_s", []change{rate(0.93)}, `level  computing 1.07 true`},
		"one run off":                {20, 11, 1.07, 1, "rows_per_s", []change{rate(0.93)}, `level  computing 1.07 true`},
		"the rate changed more":      {20, 10, 1.07, 1, "rows_per_s", []change{rate(0.8)}, `level worse computing 1.07 false`},
		"the other way":              {20, 10, 1.07, 1, "rows_per_s", []change{rate(1.06)}, `level better computing 1.07 false`},
		"a faster machine":           {20, 10, 0.9, 1, "rows_per_s", []change{rate(1.1)}, `level  computing 0.90 true`},
		"memory":                     {20, 10, 1, 1.4, "rows_per_s", []change{rate(0.75)}, `level  reading memory 1.39 true`},
		"the latency":                {20, 10, 1.07, 1, "service_p99_us", []change{historytest.Scale("service_p99_us", 1.07)}, `level  computing 1.07 true`},
		"KB depend on no speed":      {20, 10, 1.07, 1, "write_kb", []change{historytest.Scale("write_kb", 1.05)}, `level worse computing 1.07 false`},
		"much earlier":               {20, 5, 1.07, 1, "rows_per_s", []change{rate(0.93)}, `level worse`},
		"much later":                 {20, 16, 1.07, 1, "rows_per_s", []change{rate(0.93)}, `level worse`},
		"the canary alone":           {20, 10, 1.07, 1, "rows_per_s", nil, ``},
		"neither":                    {20, 20, 1, 1, "rows_per_s", nil, ``},
		"a steady canary":            {20, 20, 1, 1, "rows_per_s", []change{rate(0.93)}, `level worse`},
		"six runs":                   {6, 3, 1.25, 1, "rows_per_s", []change{rate(0.8), version}, `open  computing 1.25 true`},
		"six runs, a little slower":  {6, 3, 1.05, 1, "rows_per_s", []change{rate(0.8), version}, `open `},
		"six runs, a steady machine": {6, 6, 1, 1, "rows_per_s", []change{rate(0.8), version}, `open `},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := historytest.New(t), rand.New(rand.NewPCG(1, 1))
			for i := range c.runs {
				changes := []change{sung(r, 1, 1)}
				if i >= c.canaryAt {
					changes[0] = sung(r, c.compute, c.memory)
				}
				if i >= c.runs/2 {
					changes = append(changes, c.now...)
				}
				s.Nights(i, i+1, changes...)
			}
			list, _ := families(s, Pick{Metrics: []string{c.metric}})
			Findings(list, nil)
			series, got := find(list, "l.i1", c.metric), ""
			for _, found := range append(series.Changes, series.Breaks...) {
				got = fmt.Sprintf("%s %s", found.Kind, found.Verdict)
				if found.Speed != nil {
					if e, ok := series.effect(found.Dir); found.Speed.Explains && (!ok || e.Verdict != "" || e.Why == "") {
						t.Errorf("a condition judges %+v", e)
					}
					got += fmt.Sprintf(" %s %.2f %v", found.Speed.Load, found.Speed.Ratio, found.Speed.Explains)
				}
			}
			expect.Equal(t, got, c.want)
		})
	}
}

// Of equal machines whose canaries vary, no change is said to come with one: fewer than one in forty.
func TestMachineSpeedByChance(t *testing.T) {
	r, found := rand.New(rand.NewPCG(4, 4)), 0
	const tries = 400
	for range tries {
		list := series(noise(r, 20, 10, -20))
		s := list[0].Series[0]
		for i := range s.Points {
			s.Points[i].trials = []*result.Trial{{Canary: &observe.Canary{Compute: 1 + 0.06*r.NormFloat64(), Memory: 100 + 15*r.NormFloat64()}}}
		}
		Detect(list)
		for _, c := range s.Changes {
			if c.Speed != nil {
				found++
			}
		}
	}
	expect.True(t, found <= tries/40, found, tries)
	t.Logf("%d of %d", found, tries)
}

// An odd run has the machine's speed before its trials if that was odd, too, and in the same direction.
func TestOddSpeed(t *testing.T) {
	for name, c := range map[string]struct {
		by, compute, memory float64 // of run 2 of five
		want                string
	}{
		"slower":           {0.5, 1.6, 1, "computing took 1.60× as long"},
		"by memory":        {0.5, 1, 2.1, "reading memory took"},
		"faster":           {2, 0.6, 1, "computing took 0.601"},
		"a steady machine": {0.5, 1, 1, ""},
		"the other way":    {0.5, 0.6, 1, ""},
	} {
		s, r := historytest.New(t), rand.New(rand.NewPCG(2, 2))
		for i := range 5 {
			if i == 2 {
				s.Nights(i, i+1, historytest.Scale("rows_per_s", c.by), sung(r, c.compute, c.memory))
			} else {
				s.Nights(i, i+1, sung(r, 1, 1))
			}
		}
		list, _ := families(s, Pick{})
		Findings(list, nil)
		o := list[0].Odd
		expect.Must(t, o != nil && filepath.Base(o.Dir) == "night-02", name, o)
		got := ""
		if o.Speed != nil {
			got = o.Speed.String()
		}
		expect.True(t, len(got) >= len(c.want) && got[:len(c.want)] == c.want &&
			(c.want == "") == (got == ""), name, got, c.want)
	}
}
