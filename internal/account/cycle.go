package account

import (
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat"
)

// A rate stands for an engine's rate only if the step shows it: on one level, and over some of what
// recurs in the engine, as checkpoints do.

// judgeCourse warns if the rate of a group in a closed loop changed its level in the window, apart
// from a warm-up: its mean then depends on the length of the step.
func (g *Group) judgeCourse(b *Builder) []metric.Warning {
	if g.Paced() {
		return nil // its rate is the plan's
	}
	return b.course(g.Name, Rates(g.within())) // later intervals have none of its operations
}

func (b *Builder) course(group string, perSec []float64) []metric.Warning {
	c := stat.CourseOf(perSec)
	if c.Shape == stat.Unknown || c.Shape == stat.Steady {
		return nil
	}
	phases := c.Phases
	for len(phases) > 1 && phases[0].From < c.WarmUp {
		phases = phases[1:]
	}
	return []metric.Warning{b.Warn(remark.NotSteady, metric.Values{"group": group, "shape": c.Shape.String(),
		"first": phases[0].Level, "last": phases[len(phases)-1].Level})}
}

// leastCycles is how often the window must see what recurs.
const leastCycles = 3

// cycles is what recurs in engines while rows are written. Vacuums recur only if there are old
// versions to remove.
var cycles = []struct {
	counter, one, many string
	always             bool
}{
	{engine.Checkpoints, "checkpoint", "checkpoints", true}, {engine.Flushes, "memtable flush", "memtable flushes", true},
	{engine.Compactions, "compaction", "compactions", true}, {engine.Vacuums, "vacuum", "vacuums", false},
}

// judgeCycles warns if the window of a step that writes saw too few of what recurs in its engine.
func (s *costing) judgeCycles() []metric.Warning {
	if s.Of.Builds > 0 || !s.writes() {
		return nil
	}
	var seen []string
	for _, c := range cycles {
		n, found := Counter(s.InWindow, c.counter)
		switch {
		case !found || n >= leastCycles || n == 0 && !c.always:
		case n == 0:
			seen = append(seen, "no "+c.one)
		case n == 1:
			seen = append(seen, "1 "+c.one)
		default:
			seen = append(seen, fmt.Sprintf("%.0f %s", n, c.many))
		}
	}
	if len(seen) == 0 {
		return nil
	}
	return []metric.Warning{s.Warn(remark.ShortCycle, metric.Values{"seen": strings.Join(seen, ", ")})}
}

// writes reports whether the engine took more than a little in the window: bytes put into it, else its
// log, else all that it wrote.
func (s *costing) writes() bool {
	for _, name := range []string{engine.BytesTaken, engine.LogBytes, engine.BytesWritten} {
		if n, ok := Counter(s.InWindow, name); ok {
			return n > littleIO*kb
		}
	}
	return false
}
