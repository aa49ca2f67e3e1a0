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
		if name := u.name(t); name != "" {
			out = AppendNew(out, name)
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

// LeastTrials is the number of trials of each side below which nothing is
// proven.
const LeastTrials = 3

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
func grouped(base, otherNumber *Number) cells {
	c := cells{Unit: UnitOf(base.Trials, otherNumber.Trials)}
	if c.Unit == TrialUnit {
		return c
	}
	positive := base.Low > 0 && otherNumber.Low > 0
	partners := c.partners(base.Trials, otherNumber.Trials)
	if c.paired = partners != nil; !c.paired {
		c.names = c.Groups(base.Trials)
		c.a = c.centers(base.Values(), base.Trials, positive)
		c.b = c.centers(otherNumber.Values(), otherNumber.Trials, positive)
		return c
	}
	for _, name := range slices.Sorted(maps.Keys(partners)) {
		mine, others := base.in(c.Unit, name), otherNumber.in(c.Unit, partners[name])
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
func (u Unit) Means(values []float64, trials []*result.Trial) []float64 {
	return u.centers(values, trials, false)
}

func (u Unit) centers(values []float64, trials []*result.Trial, positive bool) (out []float64) {
	for _, name := range u.Groups(trials) {
		var mine []float64
		for i, t := range trials {
			if u.name(t) == name {
				mine = append(mine, values[i])
			}
		}
		out = append(out, center(mine, positive))
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

// ratioOfGroups returns the ratio of the means of machines or of loads; false unless they count once each, ran trials
// of both, and all numbers are positive.
func ratioOfGroups(base, otherNumber *Number) (ratio float64, ok bool) {
	c := grouped(base, otherNumber)
	if len(c.a) == 0 || slices.Min(c.a) <= 0 || slices.Min(c.b) <= 0 {
		return 0, false
	}
	return center(c.b, true) / center(c.a, true), true
}

// pairs returns the values of trials that ran side by side.
func pairs(base, otherNumber *Number) (a, b []float64) {
	beside(base.Trials, otherNumber.Trials, func(i, j int) bool {
		together := ranTogether(base.steps[i]) && ranTogether(otherNumber.steps[j])
		if together {
			a, b = append(a, base.Rows[i].Value), append(b, otherNumber.Rows[j].Value)
		}
		return together
	})
	return a, b
}

// Paired returns the runs of two targets whose numbers count, and how they were measured:
// the runs that ran side by side, one to one, if there are enough of them or machines or loads count once each,
// else all.
func (s *stepRuns) Paired(base, otherTarget *Target) (a, b []Run, design stat.Design) {
	x, y := s.Used(base), s.Used(otherTarget)
	beside(trialsOf(x), trialsOf(y), func(i, j int) bool {
		together := ranTogether(x[i].Step) && ranTogether(y[j].Step)
		if together {
			a, b = append(a, x[i]), append(b, y[j])
		}
		return together
	})
	unit := UnitOf(trialsOf(x), trialsOf(y))
	if len(a) > 0 && unit != TrialUnit && unit.partners(trialsOf(x), trialsOf(y)) != nil {
		return a, b, stat.Grouped
	}
	if len(a) < LeastTrials || unit != TrialUnit {
		return x, y, stat.Apart
	}
	return a, b, designOf(trialsOf(a), len(a))
}

func trialsOf(runs []Run) (out []*result.Trial) {
	for _, r := range runs {
		out = append(out, r.Trial)
	}
	return out
}

// beside calls pair with the indexes of trials that ran side by side, until it accepts
// one for each of a.
func beside(a, b []*result.Trial, pair func(i, j int) bool) {
	for i, t := range a {
		for j, u := range b {
			if sideBySide(t, u) && pair(i, j) {
				break
			}
		}
	}
}

// sideBySide reports whether two trials belong to one block of one campaign.
func sideBySide(t, u *result.Trial) bool {
	return t.Trial == u.Trial && t.Order == u.Order && t.Machine == u.Machine &&
		(t.Order == "interleaved" || t.Order == "duet") &&
		t.Resumed == u.Resumed && filepath.Dir(t.Dir) == filepath.Dir(u.Dir)
}

// Beside reports whether any trials of two targets ran side by side.
func Beside(a, b *Target) (found bool) {
	beside(a.Trials, b.Trials, func(int, int) bool {
		found = true
		return true
	})
	return found
}

// mostAlone is the share of its time that a step of a duet may run alone and
// still form a pair: one of the two always ends first.
const mostAlone = 0.5

// ranTogether reports whether a step of a duet ran concurrently with that of the other
// trial for most of its time.
func ranTogether(s *result.Step) bool { return s.Alone <= mostAlone*s.Seconds }

// designOf returns how two sides were measured if this many trials are pairs.
func designOf(base []*result.Trial, pairs int) stat.Design {
	switch {
	case pairs == 0:
		return stat.Apart
	case base[0].Order == "duet":
		return stat.Duet
	}
	return stat.Blocks
}

func logarithms(v []float64) []float64 {
	return stat.Values(v, math.Log)
}
