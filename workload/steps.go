package workload

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"rumbench/internal/metric"
)

// SettleStep returns a step in which the engine comes to rest for at least floor; a negative floor means
// 60 s plus a second per million rows loaded, at most 1200 s. Next ends the sentence about deferred work.
func SettleStep(name string, floor time.Duration, rows int64, next string) Step {
	if floor < 0 {
		floor = time.Duration(math.Round(min(60+float64(rows)/1e6, 1200))) * time.Second
	}
	return Step{Name: name, Settle: &Settle{floor}, Doc: "The engine comes to rest: deferred work is done" + next + "."}
}

// IndexStep returns the step of one client that builds indexes, one in each operation.
func IndexStep(doc string, builds int, open func(context.Context, Env) (Stage, error)) Step {
	const name = "index"
	return Step{
		Name: name, Primary: name, WritesPer: name, Whole: true, Builds: builds, Divides: true, Doc: doc,
		Groups: []Group{{Name: name, Clients: 1, Work: int64(builds), Ops: []OpKind{{Name: name, Unit: "row"}}}},
		Open:   open,
	}
}

// Warmup is the name of the step that prepares the first of ClientSteps.
const Warmup = "warmup"

// ClientSteps returns a step for each number in parameter clients; the last one is judged. A step precedes
// them if parameter warmup_seconds is not 0.
func ClientSteps(p Params, base, letter string, step func(name string, clients int64, last bool) Step) (out []Step) {
	levels := p.Ints("clients")
	if seconds := p.Float("warmup_seconds"); seconds > 0 {
		s := step(Warmup, levels[0], false)
		s.Seconds, s.Groups[0].Work, s.Warmup, s.Doc = seconds, 0, true, "Caches are warmed up for the next step."
		out = append(out, s)
	}
	varies := slices.Min(levels) < slices.Max(levels)
	for i, clients := range levels {
		last := i == len(levels)-1
		s := step(fmt.Sprintf("%s%d.P%d", letter, i+1, clients), clients, last)
		if varies && !slices.Contains(levels[:i], clients) {
			s.Base, s.Axes = base, []Axis{{Name: "clients", Value: float64(clients)}}
		}
		if last {
			s.Judged = []string{metric.RowsPerS, metric.ServiceP99US, metric.CPUUS, metric.WriteKB, metric.SpaceAmplification}
		}
		out = append(out, s)
	}
	return out
}

// Does reports whether operations of a kind, or variants of it, are among the group's.
func (g *Group) Does(kind string) bool {
	return slices.ContainsFunc(g.Ops, func(k OpKind) bool { return k.Name == kind || k.Whole() == kind })
}
