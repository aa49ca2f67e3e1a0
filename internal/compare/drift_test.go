package compare_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// leveled simulates trials of three levels, whose order turns round from trial to trial. Each step is
// slower than the one before it by a share.
func leveled(n int, slower float64, r *rand.Rand) *compare.Campaign {
	var trials []*result.Trial
	for i := range n {
		names := []string{"r@1", "r@4", "r@16"}
		if i%2 == 1 {
			slices.Reverse(names)
		}
		t := made("a", i+1, "interleaved", nil)
		for at, name := range names {
			level := float64(strings.Index("r@1 r@4 r@16", name+" ")/4 + 1)
			if name == "r@16" {
				level = 3
			}
			v := 1000 * level * math.Exp(-slower*float64(at)+0.01*r.NormFloat64())
			one := made("a", i+1, "interleaved", numbers{"rows_per_s": v}, name)
			one.Steps[0].Base, one.Steps[0].Axes = "r", []result.Axis{{Name: "clients", Value: level}}
			t.Steps = append(t.Steps, one.Steps[0])
		}
		trials = append(trials, t)
	}
	return compare.New(trials)
}

// A drift during sweeps is found from levels that run first here and last there; without one there
// is none, however much the levels differ.
func TestDriftOverLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	const campaigns = 200
	for range campaigns {
		c := leveled(6, 0, r)
		if _, ok := c.Sweeps()[0].Panels[0].Drift(c.Targets[0]); ok {
			found++
		}
	}
	expect.True(t, found <= campaigns*3/100, "of campaigns drift by chance", found, campaigns)
	c := leveled(6, 0.05, r)
	ratio, ok := c.Sweeps()[0].Panels[0].Drift(c.Targets[0])
	want := math.Exp(0.1)
	expect.True(t, ok && math.Abs(ratio-want) <= 0.03, ratio, ok, want)
	c = leveled(4, 0.05, r)
	if _, ok := c.Sweeps()[0].Panels[0].Drift(c.Targets[0]); ok {
		t.Error("two trials of each order prove a drift")
	}
}

// Trials in two modes are distinguished, with the fact that goes with them.
func TestModesOfTrials(t *testing.T) {
	var trials []*result.Trial
	for _, target := range []string{"a", "b"} {
		for i, slow := range []bool{false, true, false, true} {
			v := 1000 + 3*float64(i)
			node := "0"
			if slow {
				v, node = 0.7*v, "1"
			}
			tr := made(target, i+1, "interleaved", numbers{"rows_per_s": v}, "s")
			tr.Canary = &observe.Canary{Compute: 1 + 0.01*float64(i), Memory: 90 + float64(i)}
			if slow {
				tr.Canary.Compute *= 1.2
			}
			tr.Host = observe.Facts{{Name: "numa node", Value: node}, {Name: "kernel", Value: "6.1"}}
			trials = append(trials, tr)
		}
	}
	c := compare.New(trials)
	s := c.Steps[0]
	k, _ := s.Rate("insert")
	m := c.Modes(s, k, c.Targets...)
	if m == nil || len(m.Low) != 4 || len(m.High) != 4 || math.Abs(m.Ratio-1/0.7) > 0.02 || texts(m.Differ) != "numa node: 1 and 0; time of computing just before the trial: 1.22 ns and 1.01 ns" {
		t.Fatalf("%+v", m)
	}
	if m := c.Modes(s, k, c.Targets[0]); m != nil {
		t.Errorf("four trials: %+v", m)
	}
}
