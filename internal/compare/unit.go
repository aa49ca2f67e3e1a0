package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// Unit is what counts once in a comparison. Machines differ, and may differ in how much faster one engine is than
// another: two machines that are equal on paper are not. So do loads of the same rows. Trials of one machine, or
// of copies of one load, say nothing about that, however many there are. So each machine or each load counts once,
// with the means of its trials.
type Unit string

// The units.
const (
	TrialUnit   Unit = "trial"
	MachineUnit Unit = "machine" // if several ran trials
	LoadUnit    Unit = "load"    // if trials of a side began with copies of one, and none of the other side
)

// UnitOf returns what counts once among the trials of two sides.
func UnitOf(base, other []*result.Trial) Unit {
	if len(MachinesOf(slices.Concat(base, other))) > 1 {
		return MachineUnit
	}
	copied := func(t *result.Trial) bool { return t.Start != nil }
	if !slices.ContainsFunc(base, copied) && !slices.ContainsFunc(other, copied) {
		return TrialUnit
	}
	a, b := LoadUnit.Groups(base), LoadUnit.Groups(other)
	repeated := len(a) < len(base) || len(b) < len(other)
	if repeated && !slices.ContainsFunc(a, func(load string) bool { return slices.Contains(b, load) }) {
		return LoadUnit
	}
	return TrialUnit
}

// Groups returns the names of the units that ran trials, sorted.
func (u Unit) Groups(trials []*result.Trial) (out []string) {
	for _, t := range trials {
		if name := u.name(t); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Count returns how many units the side has that has fewer.
func (u Unit) Count(base, other []*result.Trial) int {
	return min(len(u.Groups(base)), len(u.Groups(other)))
}

// name returns the unit that a trial belongs to. A load is known by when it was made; a trial without that
// has loaded its own data, or copied those that its target had.
func (u Unit) name(t *result.Trial) string {
	switch {
	case u == MachineUnit:
		return t.Machine
	case t.Start == nil:
		return fmt.Sprintf("%s/%s.%d", filepath.Dir(t.Dir), t.Target, t.Trial)
	case t.Start.Made.IsZero():
		return fmt.Sprintf("%s/%s of load %d", filepath.Dir(t.Dir), t.Target, t.Start.Load)
	}
	return fmt.Sprintf("%4d at %d", t.Start.Load, t.Start.Made.UnixNano())
}

// partners returns for each unit of one side that of the other whose trials ran beside its own; nil if any has none, or
// several. A machine is its own partner.
func (u Unit) partners(base, other []*result.Trial) map[string]string {
	partner, inverse, single := map[string]string{}, map[string]string{}, true
	if u == MachineUnit {
		for _, name := range u.Groups(slices.Concat(base, other)) {
			partner[name] = name
		}
		return partner
	}
	beside(base, other, func(i, j int) bool {
		a, b := u.name(base[i]), u.name(other[j])
		single = single && cmp.Or(partner[a], b) == b && cmp.Or(inverse[b], a) == a
		partner[a], inverse[b] = b, a
		return true
	})
	if !single || len(partner) < len(u.Groups(base)) || len(inverse) < len(u.Groups(other)) {
		return nil
	}
	return partner
}

// MachinesOf returns the machines of a fleet that ran trials, sorted; none if rumbench ran them itself.
func MachinesOf(trials []*result.Trial) (out []string) { return MachineUnit.Groups(trials) }

// cells are the means of the units that count once each.
type cells struct {
	Unit
	names []string // of the base's
	a, b  []float64
	// paired: a[i] and b[i] are of one machine, or of loads whose trials ran side by side.
	paired bool
}

// grouped returns the means of the units that ran trials of both numbers: of their pairs if there are any. There are
// none if each trial counts by itself.
func grouped(base, other *Number) cells {
	c := cells{Unit: UnitOf(base.Trials, other.Trials)}
	if c.Unit == TrialUnit {
		return c
	}
	positive := base.Low > 0 && other.Low > 0
	partners := c.partners(base.Trials, other.Trials)
	if c.paired = partners != nil; !c.paired {
		c.names = c.Groups(base.Trials)
		c.a, c.b = base.centers(c.Unit, positive), other.centers(c.Unit, positive)
		return c
	}
	for _, name := range slices.Sorted(maps.Keys(partners)) {
		mine, others := base.in(c.Unit, name), other.in(c.Unit, partners[name])
		x, y := pairs(mine, others)
		if len(x) == 0 {
			x, y = mine.Values(), others.Values()
		}
		if len(x) > 0 && len(y) > 0 {
			c.names, c.a, c.b = append(c.names, name), append(c.a, center(x, positive)), append(c.b, center(y, positive))
		}
	}
	return c
}

// centers returns the mean of each unit's values.
func (n *Number) centers(unit Unit, positive bool) (out []float64) {
	for _, name := range unit.Groups(n.Trials) {
		out = append(out, center(n.in(unit, name).Values(), positive))
	}
	return out
}

// in returns the number with the trials of one machine, or of one load.
func (n *Number) in(unit Unit, name string) *Number {
	out := *n
	out.Rows, out.Trials, out.steps = nil, nil, nil
	for i, t := range n.Trials {
		if unit.name(t) == name {
			out.Rows, out.Trials, out.steps = append(out.Rows, n.Rows[i]), append(out.Trials, t), append(out.steps, n.steps[i])
		}
	}
	return &out
}

// deviation returns the relative standard deviation of the values between trials of one machine.
func (n *Number) deviation() float64 {
	machines := MachinesOf(n.Trials)
	if len(machines) < 2 {
		return stat.Deviation(n.Values()) / math.Abs(n.Value)
	}
	var sum, freedom float64
	for _, m := range machines {
		if v := n.in(MachineUnit, m).Values(); len(v) > 1 && stat.Median(v) != 0 {
			d := stat.Deviation(v) / math.Abs(stat.Median(v))
			sum, freedom = sum+d*d*float64(len(v)-1), freedom+float64(len(v)-1)
		}
	}
	return math.Sqrt(sum / max(1, freedom))
}

// Means returns the means of values by machine or by load, each of which had the trial of the same index.
func (u Unit) Means(values []float64, trials []*result.Trial) (out []float64) {
	for _, name := range u.Groups(trials) {
		var mine []float64
		for i, t := range trials {
			if u.name(t) == name {
				mine = append(mine, values[i])
			}
		}
		out = append(out, stat.Mean(mine))
	}
	return out
}

// center returns the mean: the geometric one of positive numbers, whose logarithms are compared.
func center(v []float64, positive bool) float64 {
	if positive {
		return math.Exp(stat.Mean(logarithms(v)))
	}
	return stat.Mean(v)
}

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

// ratioOfGroups returns the ratio of the means of machines or of loads; false unless they count once each, ran trials
// of both, and all numbers are positive.
func ratioOfGroups(base, other *Number) (ratio float64, ok bool) {
	c := grouped(base, other)
	if len(c.a) == 0 || slices.Min(c.a) <= 0 || slices.Min(c.b) <= 0 {
		return 0, false
	}
	return center(c.b, true) / center(c.a, true), true
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
		known := i.Low > math.Log1p(machineFloor) || i.High < -math.Log1p(machineFloor)
		if known && (worst == nil || math.Abs(i.Value) > math.Abs(math.Log(worst.Ratio))) {
			worst = &MachineApart{m, math.Exp(i.Value), math.Exp(i.Low), math.Exp(i.High)}
		}
	}
	return worst
}

// tooFew returns the number of trials, in words, if they prove nothing, else "".
func (e *Effect) tooFew() string {
	if n := e.trials(); n < LeastTrials {
		return fmt.Sprintf("%d of at least %d %ss", n, LeastTrials, e.Unit)
	}
	return ""
}
