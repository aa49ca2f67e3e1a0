package explain

import (
	"fmt"
	"math"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// remarks are the limits of the conclusions about a step, and findings other than causes; each
// has a text if it applies.
var remarks = []struct {
	rule Rule
	text func(*Step) string
}{
	{RuleServers, moreServers},
	{RuleOthers, usedByOthers},
	{RuleClient, clientBound},
	{RuleSerial, oneThread},
	{RuleReads, readNothing},
	{RuleStarts, startsApart(engine.CompactionDebt, "compaction debt")},
	{RuleStarts, startsApart(engine.DirtyBytes, "dirty pages")},
	{RuleStarts, oldSnapshot},
	{RuleDeferral, deferredWrites},
	{RuleCPU, instructionsAndCycles},
}

// notes returns the remarks on a step.
func (s *Step) notes() (out []Note) {
	for _, r := range remarks {
		if text := r.text(s); text != "" {
			out = append(out, Note{r.rule, text})
		}
	}
	return out
}

// moreServers notes that one of two targets has more servers: what these do for each other is in all of its costs.
func moreServers(s *Step) string {
	base, other := servers(&s.Base), servers(&s.New)
	if base == other {
		return ""
	}
	return fmt.Sprintf("%s has %s, and %s %d: what servers do for each other is in its time and its costs, and the "+
		"rest below does not tell it apart", name(&s.New), quantity.Count(other, "server"), name(&s.Base), base)
}

// servers returns how many servers clients used.
func servers(s *Side) int {
	n := 0
	for range s.runs[0].rows(metric.Sessions) {
		n++
	}
	return max(1, n)
}

func usedByOthers(s *Step) string {
	return filled("other programs used %s, so CPU time cannot explain the throughput",
		s.describe(func(s *Side) bool { return s.shared() > mostShared }, func(s *Side) string {
			return fmt.Sprintf("%s of the processors during %s's trials", quantity.RoughShare(s.shared()), name(s))
		}))
}

func clientBound(s *Step) string {
	return filled("the client was the bottleneck on %s: this measures the client",
		s.describe(func(s *Side) bool { return s.Limit == ByClient }, name))
}

// oneThread notes that a thread of a server runs all the time while processors idle.
func oneThread(s *Step) string {
	return filled("one thread is the limit while processors idle: %s",
		s.describe(func(s *Side) bool { return s.Limit == ByThread }, func(s *Side) string {
			thread, share := s.runs[0].busiest()
			return fmt.Sprintf("%s of %s ran for %s of the time", thread, name(s), quantity.RoughShare(share))
		}))
}

const worthANote = 0.5 // KB per unit

// readNothing notes that one side reads and the other does not: such a ratio cannot be
// split. Reads that may be other programs' are not the side's.
func readNothing(s *Step) string {
	k, ok := s.Of.Own(metric.ReadKB)
	if !ok || s.sumOf(metric.ReadKB) != nil ||
		s.Of.Number(s.Base.Target, k).Disturbed() || s.Of.Number(s.New.Target, k).Disturbed() {
		return ""
	}
	reads := func(side *Side) float64 { return side.per(metric.ReadKB, "", k) }
	reader, idle := &s.New, &s.Base
	if reads(&s.Base) > reads(&s.New) {
		reader, idle = idle, reader
	}
	if !(reads(reader) > worthANote && reads(idle) < cached) {
		return ""
	}
	return fmt.Sprintf("%s reads %s per %s from the device, %s next to nothing", name(reader), kb(reads(reader)), k.Per,
		name(idle))
}

// startsApart notes that a gauge of bytes differed much before the step.
func startsApart(gauge, subject string) func(*Step) string {
	return func(s *Step) string {
		base, other := s.Base.start(gauge), s.New.start(gauge)
		size := max(s.Base.metric(metric.DBBytes), s.New.metric(metric.DBBytes))
		if s.shapesDiffer() || !(max(base, other) > tolerance*size && unequal(base, other, 1)) {
			return ""
		}
		return fmt.Sprintf("the targets started in different states: %s of %s", instead(bytes, base, other), subject)
	}
}

func oldSnapshot(s *Step) string {
	const old = 10 // seconds
	base, other := s.Base.start(engine.OldestSnapshot), s.New.start(engine.OldestSnapshot)
	if !(max(base, other) > old && unequal(base, other, 1)) {
		return ""
	}
	return "old versions of rows are kept for the oldest snapshot: " + instead(seconds, base, other) + " old"
}

// deferredWrites notes that KB written are lower bounds, which cannot be compared.
func deferredWrites(s *Step) string {
	e := s.Writes
	if e == nil || !e.Base.AtLeast() && !e.New.AtLeast() || e.Verdict != compare.Unclear ||
		!unequal(e.Base.Value, e.New.Value, 0.3) || s.shapesDiffer() {
		return ""
	}
	return fmt.Sprintf("the KB written are not compared, as more writes follow the step: %s; %s",
		written(&s.Base, e.Base.Value, e.Base.Key), written(&s.New, e.New.Value, e.New.Key))
}

// written reports what a side wrote for a unit, and what it deferred, if that is known.
func written(s *Side, value float64, k compare.Key) string {
	text := name(s) + " wrote " + kb(value) + " per " + k.Per
	if deferred := s.per(metric.DeferredKB, "", k); deferred > littleKB {
		text += " and deferred " + kb(deferred)
	}
	return text
}

// instructionsAndCycles splits a proven difference of CPU time into instructions × cycles of each, if the
// processors counted both. What is left is the clock rate.
func instructionsAndCycles(s *Step) string {
	const leastApart = 1.05
	if e := s.effect(metric.CPUUS); e == nil || !e.Sure() {
		return ""
	}
	ratio := func(name string) float64 { return s.New.perUnit(name) / s.Base.perUnit(name) }
	instructions, cycles, clock := ratio(metric.Instructions), ratio(metric.Cycles), ""
	each := cycles / instructions
	if !(each > 0) || math.IsInf(each, 0) {
		return "" // not counted on both sides
	}
	if rate := cycles / ratio(metric.ServerCPUUS); math.Abs(math.Log(rate)) > math.Log(leastApart) {
		clock = ", at " + quantity.Times(rate) + " the clock rate"
	}
	k, _ := s.Of.Own(metric.CPUUS)
	return fmt.Sprintf("%s executes %s the instructions per %s at %s the cycles each%s", name(&s.New),
		quantity.Times(instructions), k.Per, quantity.Times(each), clock)
}
