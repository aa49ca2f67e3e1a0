package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"rumbench/internal/stat"
)

// The limits allow for chance in 200 seeded campaigns.
func TestDecisionRuleOnEqualTargets(t *testing.T) {
	for _, w := range disturbances() {
		for _, n := range []int{3, 6} {
			if alone, corrected := falseFindings(200, n, w, true); alone > 6.5 || corrected > 9 {
				t.Errorf("%s, %d trials: %.1f %% of comparisons, %.1f %% of campaigns", w.name, n, alone, corrected)
			}
		}
	}
}

// The simulation detects a wrong design: without interleaving, a drift and a step
// appear as differences between targets.
func TestDecisionRuleWithoutInterleaving(t *testing.T) {
	for _, w := range disturbances() {
		alone, _ := falseFindings(50, 6, w, false)
		switch w.name {
		case "drift of 1 % per trial", "a step of 10 % in mid-campaign":
			if alone < 90 {
				t.Errorf("%s: only %.1f %% of comparisons", w.name, alone)
			}
		case "normal noise of 1 %", "lognormal noise of 5 %":
			if alone > 6.5 {
				t.Errorf("%s: %.1f %% of comparisons", w.name, alone)
			}
		}
	}
}

// An interval over trials of one draw is about that draw alone.
func TestCoverageOverDraws(t *testing.T) {
	for _, n := range []int{4, 10} {
		if once, anew := covered(n, 1, false), covered(n, n, false); once > 50 || anew < 93 {
			t.Errorf("%d trials: of one draw %.1f %%, of a draw for each block %.1f %%", n, once, anew)
		}
		if loads, trials := covered(n, n/2, true), covered(n, n/2, false); loads < 93 || trials > 90 {
			t.Errorf("%d trials of half as many loads: %.1f %%, and %.1f %% if trials counted", n, loads, trials)
		}
	}
}

func TestPowerIsFound(t *testing.T) {
	noise := stat.Noise{Pairs: math.Sqrt2 * 0.03, Apart: math.Sqrt2 * 0.05}
	for _, c := range []struct {
		n             int
		effect, alpha float64
		lowest, limit float64
	}{
		{4, 0, 0.05, 2, 7},
		{4, 0.30, 0.05, 95, 100},
		{10, 0.10, 0.05 / 5, 95, 100},
		{3, 0.03, 0.05 / 5, 0, 10},
	} {
		if got := power(noise, c.n, c.effect, c.alpha); got < c.lowest || got > c.limit {
			t.Errorf("%d trials, %g %%: found in %.1f %%", c.n, 100*c.effect, got)
		}
	}
}

func TestInterleavedBlocksTurnRound(t *testing.T) {
	for seed := range uint64(10) {
		order := interleaved(rand.New(rand.NewPCG(seed, 0)), 6)
		for k := 0; k < len(order); k += 4 {
			if o := order[k : k+4]; o[0]+o[1] != 1 || o[0] != o[3] || o[1] != o[2] {
				t.Fatalf("blocks %v of %v", o, order)
			}
		}
	}
}
