package compare

import (
	"maps"
	"math"
	"slices"

	"rumbench/internal/stat"
)

// OverMachines is how far the machines of a campaign agree on the ratio of a number.
type OverMachines struct {
	Names  []string
	Ratios []float64 // by machine
	SD     float64   // relative standard deviation between them
}

// OverMachines returns how far machines agree; nil unless several ran trials of both targets.
func (e *Effect) OverMachines() *OverMachines {
	if e.Groups < 2 || e.Unit != MachineUnit || e.Base.Low <= 0 || e.New.Low <= 0 {
		return nil
	}
	c := grouped(e.Base, e.New)
	out := &OverMachines{Names: c.names}
	for i := range c.a {
		out.Ratios = append(out.Ratios, c.b[i]/c.a[i])
	}
	out.SD = stat.Deviation(logarithms(out.Ratios))
	return out
}

// MachineApart is a machine that is not as fast as the others.
type MachineApart struct {
	Name             string
	Ratio, Low, High float64 // of its mean to that of the others, with the bounds of its interval
}

// machineFloor is the share by which a machine must differ from the others to be named.
const machineFloor = 0.03

// leastMeasured is the number of values of a machine below which it is not judged.
const leastMeasured = 3

// MachinesApart returns the machines whose number, in the mean over targets, is known to be more than 3 %
// off that of the others: of equal machines one in twenty campaigns names one. Ratios of targets are not
// affected as long as each is one of a single machine, but such a machine is another kind, or has a defect.
func MachinesApart(s *Step, k Key, targets ...*Target) []MachineApart {
	blocks := map[string]map[int][]float64{} // logarithms of the targets, by machine and block
	numbered := 0                            // targets that have the number
	for _, t := range targets {
		n := s.number(t, k)
		if len(n.Trials) > 0 {
			numbered++
		}
		for i, trial := range n.Trials {
			if v := n.Rows[i].Value; v > 0 && trial.Machine != "" {
				if blocks[trial.Machine] == nil {
					blocks[trial.Machine] = map[int][]float64{}
				}
				blocks[trial.Machine][trial.Trial] = append(blocks[trial.Machine][trial.Trial], math.Log(v))
			}
		}
	}
	means := map[string][]float64{}
	for m, byBlock := range blocks {
		for _, v := range byBlock {
			if len(v) == numbered {
				means[m] = append(means[m], stat.Mean(v))
			}
		}
	}
	return MachinesOff(means)
}

// MachinesOff returns the machines whose values, given as logarithms, are known to be more than 3 % off
// those of the others. It removes them from the map.
func MachinesOff(logs map[string][]float64) (out []MachineApart) {
	for {
		worst := mostApart(logs)
		if worst == nil {
			return out
		}
		out = append(out, *worst)
		delete(logs, worst.Name) // or the others seem fast beside it
	}
}

// mostApart returns the machine that is farthest from the others, nil if none is known to be too far.
func mostApart(logs map[string][]float64) (worst *MachineApart) {
	means := func(own func(machine string) bool) (all []float64) {
		for m, v := range logs {
			if own(m) {
				all = append(all, v...)
			}
		}
		slices.Sort(all) // the same sums each time
		return all
	}
	level := 1 - (1-confidence)/float64(max(1, len(logs))) // any of them may be off by chance
	for _, m := range slices.Sorted(maps.Keys(logs)) {
		mine, others := means(func(o string) bool { return o == m }), means(func(o string) bool { return o != m })
		if min(len(mine), len(others)) < leastMeasured {
			continue
		}
		_, i := stat.Welch(others, mine, level)
		found := i.Low > math.Log1p(machineFloor) || i.High < -math.Log1p(machineFloor)
		if found && (worst == nil || math.Abs(i.Value) > math.Abs(math.Log(worst.Ratio))) {
			worst = &MachineApart{m, math.Exp(i.Value), math.Exp(i.Low), math.Exp(i.High)}
		}
	}
	return worst
}
