package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// series makes series of made-up values.
func series(values ...[]float64) []*Family {
	f := &Family{}
	for _, list := range values {
		s := &Series{Name: Name{Metric: "rows_per_s"}}
		for _, v := range list {
			s.Points = append(s.Points, Point{Value: v, Trials: 1, trial: &result.Trial{}})
		}
		f.Series = append(f.Series, s)
	}
	return []*Family{f}
}

// noise is n values around 100, with a level from at on that is shifted.
func noise(r *rand.Rand, n, at int, shift float64) (out []float64) {
	for i := range n {
		v := 100 + r.NormFloat64()
		if i >= at {
			v += shift
		}
		out = append(out, v)
	}
	return out
}

// Fewer than MinRuns are not looked at. From there on, a clear change of a single
// series is found, and where it is.
func TestMinRuns(t *testing.T) {
	for _, n := range []int{2, MinRuns - 1, MinRuns, 11, 14, 20, 30, 60} {
		const tries = 20
		found, others := 0, 0
		for i := range tries {
			f := series(noise(rand.New(rand.NewPCG(uint64(i), 1)), n, n/2, 50))
			expect.Equal(t, Detect(f), map[bool]int{true: 1}[n >= MinRuns], "runs: series tested", n)
			for _, c := range f[0].Series[0].Changes {
				if c.At == n/2 {
					found++
				} else {
					others++
				}
			}
		}
		expect.True(t, !(n < MinRuns && found > 0) && !(n >= MinRuns && found < tries) &&
			others <= 3, "runs: found in of, and where there is none", n, found, tries, others)
	}
	expect.Equal(t, Detect(nil), 0, "series of none")
}

// If fewer series change than together says, none of them is found, however
// clear it is; if as many do, all are.
func TestTogether(t *testing.T) {
	const m = 60
	for _, c := range []struct{ runs, together int }{{10, 10}, {11, 11}, {12, 8}, {14, 4}, {16, 3}, {20, 1}, {40, 1}} {
		expect.Equal(t, Together(c.runs, m), c.together, c.runs)
		for _, changed := range []int{c.together - 1, c.together} {
			r := rand.New(rand.NewPCG(uint64(c.runs), 7))
			all := make([][]float64, m)
			for i := range all {
				if i < changed {
					all[i] = noise(r, c.runs, c.runs/2, 50)
				} else {
					all[i] = slices.Repeat([]float64{100}, c.runs)
				}
			}
			f := series(all...)
			Detect(f)
			found := 0
			for _, s := range f[0].Series {
				if len(s.Changes) > 0 {
					found++
				}
			}
			if want := map[bool]int{true: changed}[changed == c.together]; found != want {
				t.Errorf("%d runs: of %d series that changed %d were found", c.runs, changed, found)
			}
		}
	}
	expect.Equal(t, Together(14, 1), 1, "one series is found alone, not with")
}

// Of histories with sixty series of nothing but noise, about one in twenty shows
// of a change.
func TestFalseAlarms(t *testing.T) {
	const histories, m, n = 150, 60, 24
	r := rand.New(rand.NewPCG(2, 2))
	alarms := 0
	for range histories {
		var all [][]float64
		for range m {
			all = append(all, noise(r, n, 0, 0))
		}
		f := series(all...)
		Detect(f)
		if slices.ContainsFunc(f[0].Series, func(s *Series) bool { return len(s.Changes) > 0 }) {
			alarms++
		}
	}
	// 5 % are 7.5; more than 16 would come once in 400 such tests by chance.
	expect.True(t, alarms <= 16, "of histories without a change show one", alarms, histories)
	t.Logf("%d of %d", alarms, histories)
}

// Real changes are found amid noise, where they are, in all directions.
func TestDetect(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var all [][]float64
	for i := range 40 {
		shift := 0.0
		if i%4 == 0 {
			shift = map[bool]float64{true: 10, false: -10}[i%8 == 0]
		}
		all = append(all, noise(r, 30, 18, shift))
	}
	f := series(all...)
	expect.Equal(t, Detect(f), 40, "series tested")
	for i, s := range f[0].Series {
		if i%4 != 0 {
			continue
		}
		if len(s.Changes) != 1 {
			t.Errorf("series %d: %d changes", i, len(s.Changes))
			continue
		}
		c := s.Changes[0]
		verdict, end := compare.Better, 110.0
		if i%8 != 0 {
			verdict, end = compare.Worse, 90
		}
		expect.True(t, c.At >= 17 && c.At <= 19 && math.Abs(c.From-100) <= 1 && math.Abs(c.To-end) <= 1 &&
			c.Verdict == verdict && math.Abs(*c.Ratio-end/100) <= 0.02, i, c)
	}
}

// Levels are medians, given in the words of the metric; a level of 0 has no ratio.
func TestLevels(t *testing.T) {
	for name, c := range map[string]struct {
		metric     string
		start, end float64
		verdict    compare.Verdict
		ratio      float64 // 0: none
		moves      bool    // by 10 %
	}{
		"higher is better": {"rows_per_s", 100, 120, compare.Better, 1.2, true},
		"lower is better":  {"service_p99_us", 100, 120, compare.Worse, 1.2, true},
		"less":             {"write_kb", 2, 1, compare.Better, 0.5, true},
		"neither":          {"live_rows", 100, 120, "", 1.2, true},
		"from zero":        {"stall_s", 0, 3, compare.Worse, 0, true},
		"to zero":          {"stall_s", 3, 0, compare.Better, 0, true},
		"hardly":           {"space_amplification", 1000, 1001, compare.Worse, 1.001, false},
	} {
		values := append(slices.Repeat([]float64{c.start}, 12), slices.Repeat([]float64{c.end}, 12)...)
		f := series(values)
		f[0].Series[0].Metric = c.metric
		Detect(f)
		changes := f[0].Series[0].Changes
		if len(changes) != 1 {
			t.Errorf("%s: %d changes", name, len(changes))
			continue
		}
		got := changes[0]
		ratioOK := got.Ratio == nil && c.start == 0 || got.Ratio != nil && *got.Ratio == c.end/c.start
		expect.True(t, got.At == 12 && got.From == c.start && got.To == c.end && got.Verdict == c.verdict &&
			ratioOK && got.Moves(0.1) == c.moves, name, got)
	}
}

// Beside a change stands what else changed there, but nothing that changes all
// the time, except versions.
func TestFacts(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 12)
	s.Nights(12, 24, historytest.Scale("rows_per_s", 1.3), historytest.Each(func(t *result.Trial) {
		t.Versions[2].Value = "v2.1.8"
		t.Settings[0].Value = "536870912"
		t.Knobs["cache"] = "512MiB"
		t.Knobs["compression"] = "none"
		t.Seed = 2
		t.Host[1].Value = "6.1.0-26"
		t.Host = append(t.Host, observe.Fact{Name: "swap", Value: "off"}, observe.Fact{Name: "swap", Value: "2 GiB"})
		t.Versions = t.Versions[1:] // rumbench's is not known
	}))
	for i := range 24 { // another build of Go each night
		c, trials := historytest.Night(i)
		for n := range trials {
			path := fmt.Sprintf("night-%02d/trials/db.%d", i, n+1)
			tr := expect.Value(result.ReadTrial(s.Path(path)))(t)
			for k := range tr.Versions {
				if tr.Versions[k].Name == "go" {
					tr.Versions[k].Value = fmt.Sprint("nightly ", i)
				}
			}
			trials[n] = tr
		}
		s.Add(fmt.Sprintf("night-%02d", i), c, trials)
	}
	f, _ := families(s, Pick{Metrics: []string{"rows_per_s"}})
	rate := find(f, "l.i1", "rows_per_s")
	expect.Must(t, len(rate.Changes) == 1 && rate.Changes[0].At == 12, rate.Changes)
	want := []Fact{
		{Version, "rumbench", "0.3.0", ""},
		{Version, "go", "nightly 11", "nightly 12"},
		{Version, "pebble", "v2.1.7", "v2.1.8"},
		{PlanKey, "seed", "1 for all trials", "2 for all trials"},
		{Knob, "cache", "1GiB", "512MiB"},
		{Setting, "cache", "1073741824", "536870912"},
		{HostFact, "kernel", "6.1.0-25", "6.1.0-26"},
		{Knob, "compression", "", "none"},
		{HostFact, "swap", "", "off, 2 GiB"},
	}
	expect.Same(t, want, rate.Changes[0].Facts)
}
