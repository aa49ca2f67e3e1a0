package compare_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// A trial that begins with a copy has lost none of the steps before it, whatever became of it later; the
// steps keep their order if the trial that has loaded is not the first.
func TestCopied(t *testing.T) {
	begins := func(n int, made time.Time, status result.Status, steps ...string) *result.Trial {
		tr := ran("a", n, steps...)
		tr.Start, tr.Status = &result.Start{Copy: "l.x", Load: 1, Loads: 1, Made: made}, status
		return tr
	}
	at := time.Unix(1, 0)
	failed := begins(1, time.Time{}, result.Failed, "l.i0")
	copied := begins(2, at, result.Complete, "l.i1", "qr100")
	short := begins(3, at, result.Failed, "l.i1")
	loader := begins(4, at, result.Complete, "l.i0", "l.x", "l.i1", "qr100")
	c := compare.New([]*result.Trial{copied, short, loader, failed})
	var names []string
	for _, s := range c.Steps {
		names = append(names, s.Name)
	}
	expect.List(t, names, []string{"l.i0", "l.x", "l.i1", "qr100"}, "steps")
	for trial, want := range map[*result.Trial]string{failed: "", copied: "l.i0 l.x", short: "l.i0 l.x", loader: ""} {
		var got []string
		for _, s := range c.Steps {
			if s.Copied(trial) {
				got = append(got, s.Name)
			}
		}
		expect.Equal(t, strings.Join(got, " "), want, "trial,, was copied after", trial.Trial, trial.Status, got)
	}
}

// The steps that load are asked about only if the question names them: there are fewer of them than trials.
func TestLoadsAreNotAsked(t *testing.T) {
	trials := func(start *result.Start) []*result.Trial {
		loader, copied := made("a", 1, "", numbers{"rows_per_s": 1}, "load", "read"), made("a", 2, "", numbers{"rows_per_s": 1}, "read")
		for _, tr := range []*result.Trial{loader, copied} {
			tr.Start = start
			for i := range tr.Steps {
				tr.Steps[i].Judged = []string{"rows_per_s"}
			}
		}
		return []*result.Trial{loader, copied}
	}
	for _, c := range []struct {
		start *result.Start
		steps []string
		want  bool
	}{{nil, nil, true}, {&result.Start{Copy: "load", Load: 1, Loads: 1}, nil, false}, {&result.Start{Copy: "load", Load: 1, Loads: 1}, []string{"load"}, true}} {
		m := compare.New(trials(c.start))
		m.Question.Steps = c.steps
		expect.Equal(t, len(m.Step("load").Asked()) > 0, c.want, "question about: asked about", c.start, c.steps)
		expect.True(t, !(len(c.steps) == 0 && len(m.Step("read").Asked()) == 0), "nothing is asked about")
	}
}

func ran(target string, n int, steps ...string) *result.Trial {
	tr := &result.Trial{Target: target, Trial: n, Status: result.Complete}
	for _, name := range steps {
		tr.Steps = append(tr.Steps, result.Step{Name: name, Status: result.Complete})
	}
	return tr
}

// Trials that began with copies of one load share its luck: equal targets whose loads differ are not called
// different more often than one time in twenty. Of targets that share their loads each trial counts.
func TestLoadsCountOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct {
		trials, loads int
		shared        bool
		unit          compare.Unit
		proven        float64 // at most this share
	}{
		{4, 2, false, compare.LoadUnit, 0}, {10, 2, false, compare.LoadUnit, 0}, {6, 3, false, compare.LoadUnit, 0.07},
		{10, 5, false, compare.LoadUnit, 0.07}, {6, 6, false, compare.TrialUnit, 0.07}, {6, 1, true, compare.TrialUnit, 0.07},
		{6, 2, true, compare.TrialUnit, 0.07},
	} {
		proven, campaigns := 0, 400
		for range campaigns {
			var all []*result.Trial
			luck := make([]float64, c.loads)
			for side, target := range []string{"a", "b"} {
				for i := range luck {
					if side == 0 || !c.shared {
						luck[i] = math.Exp(0.05 * r.NormFloat64())
					}
				}
				for n := range c.trials {
					load := n % c.loads
					tr := made(target, n+1, "interleaved", numbers{"rows_per_s": 1000 * luck[load] * math.Exp(0.01*r.NormFloat64())}, "read")
					tr.Start = &result.Start{Copy: "load", Load: load + 1, Loads: c.loads, Made: time.Unix(int64(load), 0)}
					if !c.shared {
						tr.Start.Made = time.Unix(int64(load), int64(side))
					}
					all = append(all, tr)
				}
			}
			e := &judged(t, all...).Items[0].Effect
			expect.Must(t, e.Unit == c.unit && (e.Groups == c.loads) == (c.unit == compare.LoadUnit), c, e.Unit, e.Groups)
			if e.Sure() {
				proven++
			}
		}
		t.Logf("%d trials of %d loads, shared %v: %d of %d", c.trials, c.loads, c.shared, proven, campaigns)
		expect.True(t, float64(proven) <= c.proven*float64(campaigns), c, proven)
	}
}

// A side whose trials loaded their own data is a side of as many loads; data that targets had are one. Fewer than three
// of them prove nothing and get no sign, and each trial counts by itself only if no load was used twice.
func TestLoadsOfOneSide(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	side := func(target string, loads int, second int64) (out []*result.Trial) {
		luck := [6]float64{}
		for i := range luck {
			luck[i] = math.Exp(0.05 * r.NormFloat64())
		}
		for n := range 6 {
			load := n % max(loads, 1)
			if loads == 6 {
				load = n
			}
			tr := made(target, n+1, "interleaved", numbers{"rows_per_s": 1000 * luck[load] * math.Exp(0.01*r.NormFloat64())}, "read")
			switch {
			case loads == 0:
				tr.Start = &result.Start{Copy: "data", Made: time.Unix(second, 0)}
			case loads < 6:
				tr.Start = &result.Start{Copy: "load", Load: load + 1, Loads: loads, Made: time.Unix(second, int64(load))}
			}
			out = append(out, tr)
		}
		return out
	}
	for _, c := range []struct {
		base, other int // loads; 0: data that the target had
		unit        compare.Unit
		groups      int
	}{{1, 6, compare.LoadUnit, 1}, {2, 6, compare.LoadUnit, 2}, {3, 2, compare.LoadUnit, 2}, {3, 6, compare.LoadUnit, 3},
		{0, 0, compare.LoadUnit, 1}, {6, 6, compare.TrialUnit, 0}} {
		proven, likely := 0, 0
		for range 400 {
			e := &judged(t, append(side("a", c.base, 1), side("b", c.other, 2)...)...).Items[0].Effect
			expect.Must(t, e.Unit == c.unit && e.Groups == c.groups, c, e.Unit, e.Groups)
			if e.Sure() {
				proven++
			} else if e.Notable() != "" {
				likely++
			}
		}
		t.Log(c, proven, likely)
		few := c.groups > 0 && c.groups < compare.LeastTrials
		expect.True(t, proven <= 28 && likely <= 20 && (!few || proven+likely == 0), c, proven, likely)
	}
	e := &judged(t, append(side("a", 0, 1), side("b", 0, 1)...)...).Items[0].Effect
	expect.Equal(t, e.Unit, compare.TrialUnit, "one directory")
}

// The sign of a number is that of its ratio: of the means of loads, whatever the medians of trials say.
func TestSignOfLoads(t *testing.T) {
	var all []*result.Trial
	for side, values := range [][]float64{{100, 130, 85, 10, 10.5, 9}, {40, 45, 39, 40, 45, 39}} {
		for i, v := range values {
			tr := made(string('a'+rune(side)), i+1, "interleaved", numbers{"rows_per_s": v}, "read")
			tr.Start = &result.Start{Copy: "load", Load: i%3 + 1, Loads: 3, Made: time.Unix(int64(i%3), int64(side))}
			all = append(all, tr)
		}
	}
	e := &judged(t, all...).Items[0].Effect
	expect.True(t, e.New.Value < e.Base.Value && e.Low > 1 && e.Notable() == compare.Better, e.Ratio, e.Low, e.Notable())
}
