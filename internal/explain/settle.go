package explain

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Settled is the result of an experiment for a number: how much of its difference each of
// the settings causes.
type Settled struct {
	Step, Base, New string
	Metric          string
	All             *compare.Effect // of all settings together
	// Parts have the greatest share first. If all combinations of the settings were
	// measured, the shares are Shapley values, which sum to one, and else those of each
	// setting alone.
	Parts []Part
	Rest  float64 // the share that no setting causes alone
}

// Part is the contribution of a setting to a difference.
type Part struct {
	Setting compare.Difference
	Alone   *compare.Effect
	// Factor is the factor by which the setting changes the number on average over all
	// orders in which the settings can be made one after the other, with its 95 %
	// interval; NaN unless all combinations were measured.
	Factor, Low, High float64
	Share             float64 // of the logarithm of the whole ratio
	Proven            bool
}

// experiment is a number on targets with one base, indexed by the set of settings that a
// target has: bit i of a set is the i-th setting.
type experiment struct {
	settings []compare.Difference
	effects  map[int]*compare.Effect
}

// Settle reads an experiment: of targets with one base, one differs from it in several
// settings, and others in each of these alone, or in some. It returns the numbers that are
// proven to differ, throughput first; nothing if the targets are no experiment.
func Settle(list []*Explanation) (out []Settled) {
	whole := slices.MaxFunc(append([]*Explanation{{}}, list...),
		func(a, b *Explanation) int { return len(a.Differ) - len(b.Differ) })
	sets := map[int]*Explanation{}
	alone := 0
	for _, e := range list {
		set := 0
		for _, d := range e.Differ {
			set |= 1 << (slices.Index(whole.Differ, d) + 1)
		}
		if e.Base == whole.Base && set > 1 && set&1 == 0 { // bit 0: a setting that the whole does not have
			sets[set>>1] = e
			if len(e.Differ) == 1 {
				alone++
			}
		}
	}
	if len(whole.Differ) < 2 || alone < len(whole.Differ) {
		return nil
	}
	var rates []Settled
	for _, s := range whole.Steps {
		for i, k := range numbersOf(s.Of) {
			all := whole.judgement.Effect(s.Of, k)
			if !hasRatio(all) || !all.Sure() {
				continue
			}
			x := experiment{whole.Differ, map[int]*compare.Effect{}}
			for set, e := range sets {
				// An effect may describe the replacement of the metric, if others disturbed
				// the device.
				if own := e.judgement.Effect(s.Of, k); hasRatio(own) && own.New.Key == all.New.Key {
					x.effects[set] = own
				}
			}
			parts, rest := x.parts(all)
			found := Settled{Step: s.Of.Name, Base: whole.Base.Name, New: whole.New.Name, Metric: k.Metric, All: all,
				Parts: parts, Rest: rest}
			switch {
			case len(parts) == 0:
			case i == 0: // the rate
				rates = append(rates, found)
			default:
				out = append(out, found)
			}
		}
	}
	return append(rates, out...)
}

// numbersOf returns the subjects of experiments: a step's rate, and its costs.
func numbersOf(s *compare.Step) (out []compare.Key) {
	rate, _ := s.Rate(s.Primary)
	out = append(out, rate)
	for _, name := range costs {
		if k, ok := s.Own(name); ok {
			out = append(out, k)
		}
	}
	return out
}

// hasRatio reports whether an effect was judged, and its ratio has a logarithm.
func hasRatio(e *compare.Effect) bool {
	return e != nil && e.Verdict != "" && e.Ratio > 0 && !math.IsInf(e.Ratio, 0)
}

// parts returns the contribution of each setting to a number, and the share that no setting
// causes alone.
func (x experiment) parts(all *compare.Effect) (out []Part, rest float64) {
	logs := x.logs(all)
	rest = 1
	for i, setting := range x.settings {
		p := Part{Setting: setting, Alone: x.effects[1<<i], Factor: math.NaN(), Low: math.NaN(), High: math.NaN()}
		switch {
		case logs != nil:
			x.shapley(&p, logs, i, all)
		case p.Alone == nil:
			return nil, 0
		default:
			p.Share, p.Proven = math.Log(p.Alone.Ratio)/math.Log(all.Ratio), p.Alone.Sure()
		}
		out = append(out, p)
		rest -= p.Share
	}
	slices.SortStableFunc(out, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	return out, rest
}

// shapley sets the effect of a setting on average over all orders.
func (x experiment) shapley(p *Part, logs [][]float64, setting int, all *compare.Effect) {
	without, extra := x.orders(logs, setting)
	design := stat.Apart
	switch {
	case all.Machines > 0:
		design = stat.Machines
	case all.Pairs > 0:
		design = stat.Blocks
	}
	d := stat.Decide(without, extra, design, 1-compare.Alpha)
	mean := stat.Mean(extra) - stat.Mean(without)
	p.Factor, p.Low, p.High = math.Exp(mean), math.Exp(min(mean, d.Interval.Low)), math.Exp(max(mean, d.Interval.High))
	p.Share = mean / (stat.Mean(logs[len(logs)-1]) - stat.Mean(logs[0]))
	p.Proven = d.Agreed && d.P < compare.Alpha/float64(len(x.settings)) && math.Abs(mean) >= leastLog
}

// logs returns for each set of settings the logarithms of the number in the trials that all
// sets have; nil if a set was not measured, or too few trials are common.
func (x experiment) logs(all *compare.Effect) [][]float64 {
	if len(x.effects) != 1<<len(x.settings)-1 {
		return nil
	}
	out := make([][]float64, 1<<len(x.settings))
	values := []map[int]float64{valuesOf(all.Base)}
	for set := 1; set < len(out); set++ {
		values = append(values, valuesOf(x.effects[set].New))
	}
	var trials []*result.Trial
	for _, t := range all.Base.Trials {
		if slices.ContainsFunc(values, func(byKey map[int]float64) bool { return !(byKey[t.Trial] > 0) }) {
			continue
		}
		for set := range out {
			out[set] = append(out[set], math.Log(values[set][t.Trial]))
		}
		trials = append(trials, t)
	}
	if all.Machines > 0 {
		for set := range out {
			out[set] = compare.PerMachine(out[set], trials)
		}
	}
	if len(out[0]) < compare.LeastTrials {
		return nil
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
// all orders in which the settings can be made: L. S. Shapley, “A value for n-person games”
// (1953).
func (x experiment) orders(logs [][]float64, setting int) (without, extra []float64) {
	n := len(x.settings)
	without, extra = make([]float64, len(logs[0])), make([]float64, len(logs[0]))
	for set := range logs {
		if set>>setting&1 == 1 {
			continue
		}
		before := bits.OnesCount(uint(set)) // a set comes before it in that many of n! orders:
		share := factorial(before) * factorial(n-1-before) / factorial(n)
		for t := range without {
			without[t] += share * logs[set][t]
			extra[t] += share * logs[set|1<<setting][t]
		}
	}
	return without, extra
}

func factorial(n int) float64 { return math.Gamma(float64(n) + 1) }

// String returns the result of the experiment in words.
func (s Settled) String() string {
	text := fmt.Sprintf("%s, %s: %s in all", s.Step, metric.Label(s.Metric), quantity.Times(s.All.Ratio))
	for _, p := range s.Parts {
		text += "; " + p.sentence()
	}
	if math.Abs(s.Rest) >= 0.1 {
		text += "; by no setting alone: " + quantity.RoughShare(s.Rest)
	}
	return text + "."
}

// Records returns the parts as lines of JSON.
func (s Settled) Records() (out []Record) {
	for _, p := range s.Parts {
		out = append(out, Record{Step: s.Step, Base: s.Base, New: s.New, Metric: s.Metric, Per: s.All.New.Per,
			Item: Item("setting " + p.Setting.What), Proven: p.Proven, Sentence: p.sentence(),
			Log: quantity.Known(math.Log(p.Factor)), Low: quantity.Known(math.Log(p.Low)),
			High: quantity.Known(math.Log(p.High)), Share: quantity.Known(p.Share)})
	}
	return out
}

func (p Part) sentence() string {
	text := fmt.Sprintf("%s %s instead of %s: ", p.Setting.What, short(p.Setting.New), short(p.Setting.Base))
	if p.Factor > 0 {
		text += fmt.Sprintf("%s (%s to %s), ", quantity.Times(p.Factor), quantity.Digits(p.Low), quantity.Times(p.High))
	}
	if p.Alone != nil {
		text += quantity.Times(p.Alone.Ratio) + " alone, "
	}
	text += quantity.RoughShare(p.Share) + " of the difference"
	if !p.Proven {
		text += ", not proven"
	}
	return text
}
