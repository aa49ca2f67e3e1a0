package explain

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/quantity"
	"rumbench/internal/stat"
)

// Settled is what an experiment found of a number: how much of its difference each of the
// settings makes.
type Settled struct {
	Step, Metric string
	All          *compare.Effect // of all settings together
	// Whole is whether all combinations of the settings were measured. Then the shares
	// are Shapley values, which sum to one, and else those of each setting alone.
	Whole bool
	Parts []Part // the greatest share first
}

// Part is what a setting makes of a difference.
type Part struct {
	Setting compare.Difference
	Alone   *compare.Effect
	// Factor is by how much the setting changes the number on average over all orders in
	// which the settings can be made one after the other, with its 95 % interval; NaN
	// unless all combinations were measured.
	Factor, Low, High float64
	Share             float64 // of the logarithm of the whole ratio
	Proven            bool
}

// mostSettings is how many settings of an experiment are tried in all combinations.
const mostSettings = 3

// experiment is a number of targets with one base, by which of its settings they have: bit
// i of a set is the i-th setting.
type experiment struct {
	settings []compare.Difference
	effects  map[int]*compare.Effect
}

// Settle reads an experiment: of targets with one base, one differs from it in several
// settings, and others in some of these. It returns the numbers that are proven to
// differ; nothing where the targets are no experiment.
func Settle(list []*Explanation) (out []Settled) {
	whole := slices.MaxFunc(append([]*Explanation{{}}, list...), func(a, b *Explanation) int { return len(a.Differ) - len(b.Differ) })
	sets := map[int]*Explanation{}
	alone := false
	for _, e := range list {
		set := 0
		for _, d := range e.Differ {
			set |= 1 << (slices.Index(whole.Differ, d) + 1)
		}
		if e.Base == whole.Base && set > 1 && set&1 == 0 { // bit 0: a setting that the whole does not have
			sets[set>>1] = e
			alone = alone || len(e.Differ) == 1
		}
	}
	if len(whole.Differ) < 2 || !alone {
		return nil
	}
	for _, s := range whole.Steps {
		for _, sum := range s.Sums {
			if sum.Effect.Sure() {
				x := experiment{whole.Differ, map[int]*compare.Effect{}}
				for set, e := range sets {
					if own := e.judgement.Effect(s.Of, sum.New.Key); own != nil && own.Verdict != "" {
						x.effects[set] = own
					}
				}
				out = append(out, x.settle(s.Of.Name, sum))
			}
		}
	}
	return out
}

func (x experiment) settle(step string, sum *Sum) Settled {
	out := Settled{Step: step, Metric: sum.Metric, All: sum.Effect}
	logs := x.logs(sum.Effect)
	out.Whole = len(logs) > 0
	for i, setting := range x.settings {
		p := Part{Setting: setting, Alone: x.effects[1<<i], Factor: math.NaN(), Low: math.NaN(), High: math.NaN()}
		switch {
		case out.Whole:
			without, with := x.orders(logs, i)
			d := stat.Decide(without, with, stat.Blocks, 1-compare.Alpha)
			mean := stat.Mean(with) - stat.Mean(without)
			p.Factor, p.Low, p.High = math.Exp(mean), math.Exp(d.Interval.Low), math.Exp(d.Interval.High)
			all := logs[len(logs)-1]
			p.Share = mean / (stat.Mean(all) - stat.Mean(logs[0]))
			p.Proven = d.Agreed && d.P < compare.Alpha/float64(len(x.settings))
		case p.Alone == nil:
			continue
		default:
			p.Share, p.Proven = math.Log(p.Alone.Ratio)/math.Log(sum.Ratio), p.Alone.Sure()
		}
		out.Parts = append(out.Parts, p)
	}
	slices.SortStableFunc(out.Parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// logs returns for each set of settings the logarithms of the number in the trials whose
// numbers all sets have; nil if a set was not measured, or in too few of them.
func (x experiment) logs(all *compare.Effect) [][]float64 {
	n := 1 << len(x.settings)
	if len(x.settings) > mostSettings || len(x.effects) != n-1 {
		return nil
	}
	values := []map[int]float64{valuesOf(all.Base)}
	for set := 1; set < n; set++ {
		values = append(values, valuesOf(x.effects[set].New))
	}
	out := make([][]float64, n)
	for _, t := range all.Base.Trials {
		for set := range out {
			if v := values[set][t.Trial]; v > 0 {
				out[set] = append(out[set], math.Log(v))
			}
		}
	}
	for _, own := range out {
		if len(own) != len(all.Base.Trials) || len(own) < compare.LeastTrials {
			return nil
		}
	}
	return out
}

// valuesOf returns a number's values by the numbers of the trials.
func valuesOf(n *compare.Number) map[int]float64 {
	out := map[int]float64{}
	for i, t := range n.Trials {
		out[t.Trial] = n.Rows[i].Value
	}
	return out
}

// orders returns for each trial the mean logarithm before and after a setting is made, over
// all orders in which the settings can be made: L. S. Shapley, “A value for n-person
// games” (1953).
func (x experiment) orders(logs [][]float64, setting int) (without, with []float64) {
	n := len(x.settings)
	without, with = make([]float64, len(logs[0])), make([]float64, len(logs[0]))
	for set := range logs {
		if set>>setting&1 == 1 {
			continue
		}
		before := bits.OnesCount(uint(set)) // a set comes before it in that many of n! orders:
		share := factorial(before) * factorial(n-1-before) / factorial(n)
		for t := range without {
			without[t] += share * logs[set][t]
			with[t] += share * logs[set|1<<setting][t]
		}
	}
	return without, with
}

func factorial(n int) float64 { return math.Gamma(float64(n) + 1) }

// String says what the experiment found.
func (s Settled) String() string {
	text := fmt.Sprintf("%s, %s: %s in all", s.Step, metric.Label(s.Metric), quantity.Times(s.All.Ratio))
	rest := 1.0
	for _, p := range s.Parts {
		rest -= p.Share
		text += fmt.Sprintf("; %s %s instead of %s: ", p.Setting.What, short(p.Setting.New), short(p.Setting.Base))
		if s.Whole {
			text += fmt.Sprintf("%s (%s to %s), ", quantity.Times(p.Factor), quantity.Times(p.Low), quantity.Times(p.High))
		}
		if p.Alone != nil {
			text += quantity.Times(p.Alone.Ratio) + " alone, "
		}
		text += quantity.RoughShare(p.Share) + " of the difference"
		if !p.Proven {
			text += ", not proven"
		}
	}
	if !s.Whole && math.Abs(rest) >= 0.1 {
		text += fmt.Sprintf("; by no setting alone: %s", quantity.RoughShare(rest))
	}
	return text + "."
}
