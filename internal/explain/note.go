package explain

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// remarks are the limits of the conclusions about a step, and findings other than causes; each
// has a text if it applies.
var remarks = []struct {
	rule     Rule
	evidence Evidence
	text     func(*Step) string
}{
	{RuleServers, Law, moreServers},
	{RuleOthers, Law, usedByOthers},
	{RuleClient, Law, clientBound},
	{RuleSerial, Law, oneThread},
	{RuleSerial, Pattern, oneAtATime},
	{RuleReads, Accounted, readNothing},
	{RulePageCache, Pattern, cachedTwice},
	{RuleCollection, Accounted, collectionPauses},
	{RuleStarts, Pattern, startsApart(engine.CompactionDebt, "compaction debt")},
	{RuleStarts, Pattern, startsApart(engine.DirtyBytes, "dirty pages")},
	{RuleDeferral, Accounted, deferredWrites},
	{RuleRecurring, Pattern, func(s *Step) string { return recurringStalls(&s.Base) }},
	{RuleRecurring, Pattern, func(s *Step) string { return recurringStalls(&s.New) }},
	{RuleCPU, Law, instructionsAndCycles},
}

// notes returns the remarks on a step.
func (s *Step) notes() (out []Note) {
	for _, r := range remarks {
		if text := r.text(s); text != "" {
			out = append(out, Note{r.rule, r.evidence, text})
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

// oneAtATime notes that more clients hardly do more although processors are idle.
func oneAtATime(s *Step) string {
	const gain = 0.25
	rate := s.rate()
	more, times := s.clients()
	side := &s.New
	if !more {
		side = &s.Base
	}
	if rate == nil || !unequal(times, 1, 0.5) || !(side.idle() >= largeShare) ||
		!slices.Contains([]Limit{Unlimited, ByRows, ByThread}, side.Limit) {
		return ""
	}
	gained, limit := rate.Total.Log, rate.Total.High // of more clients: the greatest that trials allow
	if !more {
		gained, limit = -rate.Total.Log, -rate.Total.Low
	}
	if !(limit < gain*math.Abs(math.Log(times))) {
		return ""
	}
	work := "hardly more work"
	if gained <= 0 {
		work = "no more work"
	}
	return fmt.Sprintf("%s× as many clients on %s do %s while processors idle: they seem to wait for each other",
		quantity.Digits(max(times, 1/times)), name(side), work)
}

const (
	worthANote = 0.5  // KB per unit
	fewMisses  = 0.05 // misses of a unit that do not matter
)

// readNothing notes that one side reads and the other does not: such a ratio cannot be
// split. Reads that may be other programs' are not the side's.
func readNothing(s *Step) string {
	k, ok := s.Of.Own(metric.ReadKB)
	if !ok || s.sumOf(metric.ReadKB) != nil || s.foreign(k) {
		return ""
	}
	reader, otherSide := &s.New, &s.Base
	if s.Base.per(metric.ReadKB, "", k) > worthANote {
		reader, otherSide = otherSide, reader
	}
	amount := reader.per(metric.ReadKB, "", k)
	if !(amount > worthANote && otherSide.per(metric.ReadKB, "", k) < cached) ||
		readsToWrite(s, k) != "" { // the line of the cost reports it
		return ""
	}
	return fmt.Sprintf("%s reads %s per %s from the device, %s next to nothing%s", name(reader), kb(amount), k.Per,
		name(otherSide), servedFrom(otherSide))
}

// servedFrom returns where a side that reads nothing finds its pages, if it counts what its cache
// misses.
func servedFrom(s *Side) string {
	switch misses := s.perUnit(metric.CacheMisses); {
	case misses > fewMisses:
		return ": the page cache serves what its own misses"
	case misses >= 0:
		return ": its cache holds what it asks for"
	}
	return ""
}

func cachedTwice(s *Step) string {
	_, ok := s.Of.Own(metric.CPUUS)
	if reads, _ := s.Of.Own(metric.ReadKB); !ok || s.foreign(reads) {
		return ""
	}
	return filled("the page cache serves most cache misses of %s: the data is cached twice",
		s.describe(func(s *Side) bool {
			misses := s.perUnit(metric.CacheMisses)
			return misses > fewMisses && s.perUnit(metric.ReadKB) < tolerance*misses*leastBlock
		}, name))
}

func collectionPauses(s *Step) string {
	const pauses = 0.01
	share := func(s *Side) float64 { return s.metric(metric.ClientGCPauseMS) / 1e3 / s.seconds() } // NaN: unknown
	return filled("garbage collection paused engine and client for %s",
		s.describe(func(s *Side) bool { return s.embedded() && share(s) > pauses }, func(s *Side) string {
			return fmt.Sprintf("%s of the time on %s", quantity.RoughShare(share(s)), name(s))
		}))
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

func deferredWrites(s *Step) string {
	k, ok := s.Of.Own(metric.WriteKB)
	if !ok {
		return ""
	}
	if e := s.Writes; e != nil && (e.Base.AtLeast() || e.New.AtLeast()) && e.Verdict == compare.Unclear &&
		unequal(e.Base.Value, e.New.Value, 0.3) && writing(s) == "" {
		return fmt.Sprintf("the KB written are not compared, as more writes follow the step: %s; %s",
			written(&s.Base, e.Base.Value, k), written(&s.New, e.New.Value, k))
	}
	base, other := s.Base.per(metric.DeferredKB, "", k), s.New.per(metric.DeferredKB, "", k)
	written := max(s.Base.per(metric.WriteKB, "", k), s.New.per(metric.WriteKB, "", k))
	if !(math.Abs(other-base) > max(tolerance*written, worthANote)) { // also if it is unknown
		return ""
	}
	extra := &s.New
	if base > other {
		extra = &s.Base
	}
	return fmt.Sprintf("%s defers %s more of its writes per %s than the other", name(extra), kb(math.Abs(other-base)),
		k.Per)
}

// written reports what a side wrote for a unit, and what it deferred, if that is known.
func written(s *Side, value float64, k compare.Key) string {
	text := name(s) + " wrote " + kb(value) + " per " + k.Per
	if deferred := s.per(metric.DeferredKB, "", k); deferred > littleKB {
		text += " and deferred " + kb(deferred)
	}
	return text
}

// recurringStalls notes stalls that recur, as checkpoints do: the time between them is much the same throughout
// all runs.
func recurringStalls(s *Side) string {
	const minimum, spread = 4, 0.25
	var gaps []float64
	for _, r := range s.runs {
		if len(r.Stalls) < minimum {
			return ""
		}
		for k := range r.Stalls[1:] {
			if r.Stalls[k].Group == r.Stalls[k+1].Group {
				gaps = append(gaps, r.Stalls[k+1].From-r.Stalls[k].From)
			}
		}
	}
	if len(gaps) < minimum-1 || stat.Deviation(gaps) > spread*stat.Mean(gaps) {
		return ""
	}
	return fmt.Sprintf("%s stalls every %s, a period typical of checkpoints or compactions", name(s),
		quantity.Length(time.Duration(stat.Mean(gaps)*float64(time.Second))))
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
