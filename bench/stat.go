package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"rumbench/internal/stat"
)

// The simulation of whole campaigns: how often the decision rule of comparisons
// reports a difference between a target and itself, and how often it finds a real
// one.

const (
	family      = 5 * 6 // numbers judged together: five metrics in six steps
	ruleAlpha   = 0.05
	simulations = 2000 // campaigns per kind: they estimate a share of 5 % to ±1 %
)

// disturbance makes equal trials differ. All effects are logarithms.
type disturbance struct {
	name    string
	machine func(r *rand.Rand, slots int) []float64 // on all numbers of a trial, by its position in the campaign
	own     func(r *rand.Rand) float64              // on a single number
}

func lognormal(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return sd * r.NormFloat64() }
}

// bySlot returns an effect of the machine as a function of the slot.
func bySlot(f func(r *rand.Rand, slot, slots int) float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, slots int) []float64 {
		out := make([]float64, slots)
		for i := range out {
			out[i] = f(r, i, slots)
		}
		return out
	}
}

func disturbances() []disturbance {
	none := bySlot(func(*rand.Rand, int, int) float64 { return 0 })
	return []disturbance{
		{"normal noise of 1 %", none, func(r *rand.Rand) float64 { return math.Log1p(0.01 * r.NormFloat64()) }},
		{"lognormal noise of 5 %", none, lognormal(0.05)},
		{"heavy tails (t, 3 degrees)", none, func(r *rand.Rand) float64 {
			chi := math.Sqrt((square(r.NormFloat64()) + square(r.NormFloat64()) + square(r.NormFloat64())) / 3)
			return 0.01 * r.NormFloat64() / chi
		}},
		{"drift of 1 % per trial", bySlot(func(_ *rand.Rand, i, _ int) float64 { return -0.01 * float64(i) }),
			lognormal(0.01)},
		{"machine noise, correlated 0.8", autocorrelated(0.8, 0.03), lognormal(0.01)},
		{"a step of 10 % in mid-campaign",
			bySlot(func(_ *rand.Rand, i, slots int) float64 { return -0.1 * float64(2*i/slots) }), lognormal(0.01)},
		{"every tenth trial 1.3 times", bySlot(func(r *rand.Rand, _, _ int) float64 {
			if r.IntN(10) > 0 {
				return 0
			}
			return math.Log(1.3)
		}), lognormal(0.01)},
	}
}

func square(x float64) float64 { return x * x }

func autocorrelated(rho, sd float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, slots int) []float64 {
		out := make([]float64, slots)
		v := sd * r.NormFloat64()
		for i := range out {
			out[i] = v
			v = rho*v + sd*math.Sqrt(1-rho*rho)*r.NormFloat64()
		}
		return out
	}
}

// interleaved returns the order of a campaign of n blocks with two targets: a
// random permutation, its reverse, another permutation, and so on.
func interleaved(r *rand.Rand, n int) (order []int) {
	first := 0
	for k := range n {
		if k%2 == 0 {
			first = r.IntN(2)
		} else {
			first = 1 - first
		}
		order = append(order, first, 1-first)
	}
	return order
}

// sequential returns the order without interleaving.
func sequential(_ *rand.Rand, n int) []int {
	order := make([]int, 2*n)
	for i := n; i < 2*n; i++ {
		order[i] = 1
	}
	return order
}

// campaign simulates one campaign of a target against itself. It returns the
// number of comparisons that find a difference, without and with Holm's
// correction.
func campaign(r *rand.Rand, n int, w disturbance, paired bool) (alone, corrected int) {
	order := sequential
	if paired {
		order = interleaved
	}
	targets, machine := order(r, n), w.machine(r, 2*n)
	var p []float64
	var agreed []bool
	for range family {
		var values [2][]float64
		for slot, target := range targets {
			values[target] = append(values[target], machine[slot]+w.own(r))
		}
		design := stat.Apart
		if paired {
			design = stat.Blocks
		}
		d := stat.Decide(values[0], values[1], design, 1-ruleAlpha)
		p, agreed = append(p, d.P), append(agreed, d.Agreed)
		if d.P < ruleAlpha && d.Agreed {
			alone++
		}
	}
	for i, v := range stat.Holm(p) {
		if v < ruleAlpha && agreed[i] {
			corrected++
		}
	}
	return alone, corrected
}

// falseFindings returns the percentage of comparisons, and of campaigns after the
// correction, in which a target differs from itself.
func falseFindings(campaigns, n int, w disturbance, paired bool) (perComparison, perCampaign float64) {
	for i := range campaigns {
		alone, corrected := campaign(rand.New(rand.NewPCG(uint64(i), uint64(n))), n, w, paired)
		perComparison += 100 * float64(alone) / float64(family*campaigns)
		if corrected > 0 {
			perCampaign += 100 / float64(campaigns)
		}
	}
	return perComparison, perCampaign
}

// covered returns the percentage of campaigns of n blocks whose 95 % interval holds the ratio of two targets over all
// draws, or loads, which is 1. Each suits a target more or less, by 5 %. Blocks take turns at them, and with fewer
// draws than blocks each counts once if grouped.
func covered(n, draws int, grouped bool) (share float64) {
	const draw, noise = 0.05, 0.01
	for i := range simulations {
		r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
		values, means := [2][]float64{make([]float64, n), make([]float64, n)}, [2][]float64{}
		for target := range values {
			for d := range draws {
				suits, sum, blocks := draw*r.NormFloat64(), 0.0, 0
				for block := d; block < n; block += draws {
					values[target][block] = suits + noise*r.NormFloat64()
					sum, blocks = sum+values[target][block], blocks+1
				}
				means[target] = append(means[target], sum/float64(blocks))
			}
		}
		d := stat.Decide(values[0], values[1], stat.Blocks, 1-ruleAlpha)
		if grouped {
			d = stat.Decide(means[0], means[1], stat.Grouped, 1-ruleAlpha)
		}
		if d.Interval.Low <= 0 && 0 <= d.Interval.High {
			share += 100. / simulations
		}
	}
	return share
}

// coverage measures what intervals hold if rows and keys are drawn, or data loaded, once, some times, and anew for
// each block.
func coverage(string) (out []budget, err error) {
	for _, n := range []int{3, 4, 6, 10} {
		out = append(out, budget{
			subject: fmt.Sprintf("intervals that miss the ratio over draws, %d trials", n),
			value:   100 - covered(n, n, false), limit: 7, unit: "%",
			measured: fmt.Sprintf("draws that vary by 5 %%, anew for each block; of one draw %.0f %% miss it",
				100-covered(n, 1, false)),
		})
	}
	for _, c := range [][2]int{{4, 2}, {6, 3}, {10, 2}, {10, 5}} {
		out = append(out, budget{
			subject: fmt.Sprintf("intervals that miss the ratio over loads, %d trials of %d loads", c[0], c[1]),
			value:   100 - covered(c[0], c[1], true), limit: 7, unit: "%",
			measured: fmt.Sprintf("loads that vary by 5 %%, each counted once; if trials counted, %.0f %% would miss it",
				100-covered(c[0], c[1], false)),
		})
	}
	return out, nil
}

// decisionRule measures how often equal targets are judged different with
// interleaved trials and, for information, with sequential ones.
func decisionRule(string) (out []budget, err error) {
	for _, w := range disturbances() {
		worst := 0.0
		var together, apart []string
		for _, n := range []int{3, 4, 6, 10} {
			alone, corrected := falseFindings(simulations, n, w, true)
			worst = max(worst, corrected)
			together = append(together, fmt.Sprintf("%.1f/%.1f", alone, corrected))
			alone, corrected = falseFindings(simulations/10, n, w, false)
			apart = append(apart, fmt.Sprintf("%.0f/%.0f", alone, corrected))
		}
		out = append(out, budget{
			subject: "false alarms: " + w.name, value: worst, limit: 6, unit: "%",
			measured: fmt.Sprintf("3, 4, 6, 10 trials: %s of comparisons alone/of campaigns with %d comparisons; not "+
				"interleaved: %s", strings.Join(together, " "), family, strings.Join(apart, " ")),
		})
	}
	return out, nil
}
