package trial

import (
	"slices"

	"rumbench/workload"
)

// ordered returns the steps in the order of a block of trials, from 1. In every second block steps
// in a row that only read run in the reverse order if they include levels of a sweep: what drifts
// meanwhile, as the machine or the cache, bends no curve over levels. Steps that write keep their
// order, as later ones depend on their rows, and steps that prepare others stay before these.
func ordered(steps []workload.Step, block int) []workload.Step {
	if block%2 == 1 {
		return steps
	}
	var out []workload.Step
	for len(steps) > 0 {
		units, n := readUnits(steps)
		if n == 0 {
			out, steps = append(out, steps[0]), steps[1:]
			continue
		}
		if hasLevels(steps[:n]) {
			slices.Reverse(units)
		}
		out, steps = append(out, slices.Concat(units...)...), steps[n:]
	}
	return out
}

// readUnits returns the leading steps that only read, each after those that prepare it, and their
// number.
func readUnits(steps []workload.Step) (units [][]workload.Step, n int) {
	start := 0
	for i := range steps {
		if !onlyReads(&steps[i]) {
			break
		}
		if !steps[i].Warmup && steps[i].Restart == nil {
			units, start = append(units, steps[start:i+1]), i+1
		}
	}
	return units, start
}

func onlyReads(s *workload.Step) bool {
	if s.Restart != nil {
		return true
	}
	if len(s.Groups) == 0 || s.Creates || s.Builds > 0 {
		return false
	}
	for _, g := range s.Groups {
		if slices.ContainsFunc(g.Ops, func(k workload.OpKind) bool { return !k.Returns }) {
			return false
		}
	}
	return true
}

// hasLevels reports whether two of the steps are levels of one sweep.
func hasLevels(steps []workload.Step) bool {
	seen := map[string]bool{}
	for i := range steps {
		if base := steps[i].Base; base != "" {
			if seen[base] {
				return true
			}
			seen[base] = true
		}
	}
	return false
}
