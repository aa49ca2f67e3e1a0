package explain

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Note is a remark that a reader of a step needs in addition to its causes.
type Note struct {
	Rule     Rule
	Evidence Evidence
	Sentence string
}

// First reports whether the note limits the conclusions about causes.
func (n Note) First() bool {
	return slices.Contains([]Rule{RuleOthers, RuleClient, RuleSerial, RuleStarts, RuleServers}, n.Rule)
}

// notes returns the limits of the conclusions about a step, and findings other than
// causes.
func (s *Step) notes() (out []Note) {
	for _, check := range []func(*Step, noting){
		clustered, disturbed, oneThread, oneAtATime, readNothing, twiceCached, paused,
		begunApart, putOff, dips, instructed} {
		check(s, func(rule Rule, e Evidence, format string, args ...any) {
			out = append(out, Note{rule, e, fmt.Sprintf(format, args...)})
		})
	}
	return out
}

type noting = func(rule Rule, e Evidence, format string, args ...any)

func (s *Step) sides() []*Side { return []*Side{&s.Base, &s.New} }

// about returns a text about each side that satisfies so, joined.
func (s *Step) about(so func(*Side) bool, say func(*Side) string) string {
	var said []string
	for _, side := range s.sides() {
		if so(side) {
			said = append(said, say(side))
		}
	}
	return quantity.Joined(said)
}

func name(s *Side) string { return s.Target.Name }

// clustered notes that one of two targets has more servers: what these do for each other is in all of its costs.
func clustered(s *Step, note noting) {
	base, other := servers(&s.Base), servers(&s.New)
	if base != other {
		note(RuleServers, Law, "%s has %s, and %s %d: what servers do for each other is in its time and its costs, and the "+
			"rest below does not tell it apart", name(&s.New), quantity.Count(other, "server"), name(&s.Base), base)
	}
}

// servers returns how many servers clients used.
func servers(s *Side) int {
	n := 0
	for _, row := range s.runs[0].Rows {
		if row.Metric == metric.Sessions {
			n++
		}
	}
	return max(1, n)
}

func disturbed(s *Step, note noting) {
	others := s.about(func(s *Side) bool { return s.shared() > mostShared }, func(s *Side) string {
		return fmt.Sprintf("%s of the processors during %s's trials", quantity.RoughShare(s.shared()), name(s))
	})
	if others != "" {
		note(RuleOthers, Law, "other programs used %s, so CPU time cannot explain the throughput", others)
	}
	if client := s.about(func(s *Side) bool { return s.Limit == ByClient }, name); client != "" {
		note(RuleClient, Law, "the client was the bottleneck on %s: this measures the client", client)
	}
}

// oneThread notes that a thread of a server runs all the time while processors idle.
func oneThread(s *Step, note noting) {
	one := s.about(func(s *Side) bool { return s.Limit == ByThread }, func(s *Side) string {
		thread, share := s.runs[0].busiest()
		return fmt.Sprintf("%s of %s ran for %s of the time", thread, name(s), quantity.RoughShare(share))
	})
	if one != "" {
		note(RuleSerial, Law, "one thread is the limit while processors idle: %s", one)
	}
}

// oneAtATime notes that more clients hardly do more although processors are idle.
func oneAtATime(s *Step, note noting) {
	const gain = 0.25
	rate := s.rate()
	more, times := s.clients()
	side := &s.New
	if !more {
		side = &s.Base
	}
	if rate == nil || !apart(times, 1, 0.5) || !(side.idle() >= much) ||
		!slices.Contains([]Limit{Unlimited, ByRows, ByThread}, side.Limit) {
		return
	}
	gained, limit := rate.Total.Log, rate.Total.High // of more clients: the greatest that trials allow
	if !more {
		gained, limit = -rate.Total.Log, -rate.Total.Low
	}
	if !(limit < gain*math.Abs(math.Log(times))) {
		return
	}
	work := "hardly more work"
	if gained <= 0 {
		work = "no more work"
	}
	note(RuleSerial, Pattern, "%s× as many clients on %s do %s while processors idle: they seem to wait for each other",
		quantity.Digits(max(times, 1/times)), side.Target.Name, work)
}

// much is a share of the processors' time, or of the sessions', that cannot be overlooked.
const much = 0.2

// idle returns the idle share of the processors' time; NaN if it is unknown.
func (s *Side) idle() float64 {
	return s.mean(func(r *run) float64 {
		x := r.processors()
		return x.find(Idle).value / x.total()
	})
}

const (
	worthANote = 0.5  // KB per unit
	few        = 0.05 // misses of a unit that do not matter
	leastBlock = 4    // KB of a page or block, at least
)

// readNothing notes that one side reads and the other does not: such a ratio cannot be
// split. Reads that may be other programs' are not the side's.
func readNothing(s *Step, note noting) {
	k, ok := s.Of.Own(metric.ReadKB)
	if !ok || s.sumOf(metric.ReadKB) != nil || s.foreign(k) {
		return
	}
	base, other := s.Base.per(metric.ReadKB, "", k), s.New.per(metric.ReadKB, "", k)
	for _, side := range []struct {
		reads, not *Side
		kb, lowest float64
	}{{&s.New, &s.Base, other, base}, {&s.Base, &s.New, base, other}} {
		if !(side.kb > worthANote && side.lowest < cached) {
			continue
		}
		if (structures{s}).readsToWrite(k) == "" { // else the line of the cost reports it
			note(RuleReads, Accounted, "%s reads %s per %s from the device, %s next to nothing%s", name(side.reads), kb(side.kb),
				k.Per, name(side.not), s.servedFrom(side.not))
		}
	}
}

// servedFrom says where a side that reads nothing finds its pages, if it counts what its cache
// misses.
func (s *Step) servedFrom(side *Side) string {
	k, _ := s.Of.Own(metric.CPUUS)
	switch misses := side.per(metric.CacheMisses, "", k); {
	case misses > few:
		return ": the page cache serves what its own misses"
	case misses >= 0:
		return ": its cache holds what it asks for"
	}
	return ""
}

func twiceCached(s *Step, note noting) {
	k, ok := s.Of.Own(metric.CPUUS)
	if reads, _ := s.Of.Own(metric.ReadKB); !ok || s.foreign(reads) {
		return
	}
	twice := s.about(func(s *Side) bool {
		misses, read := s.per(metric.CacheMisses, "", k), s.per(metric.ReadKB, "", k)
		return misses > few && read < alike*misses*leastBlock
	}, name)
	if twice != "" {
		note(RulePageCache, Pattern, "the page cache serves most cache misses of %s: the data is cached twice", twice)
	}
}

func paused(s *Step, note noting) {
	const pauses = 0.01
	share := func(s *Side) float64 { return s.metric(metric.ClientGCPauseMS) / 1e3 / s.seconds() } // NaN: unknown
	long := s.about(func(s *Side) bool { return s.embedded() && share(s) > pauses }, func(s *Side) string {
		return fmt.Sprintf("%s of the time on %s", quantity.RoughShare(share(s)), name(s))
	})
	if long != "" {
		note(RuleCollection, Accounted, "garbage collection paused engine and client for %s", long)
	}
}

func begunApart(s *Step, note noting) {
	for _, entry := range []struct{ gauge, name string }{{engine.CompactionDebt, "compaction debt"},
		{engine.DirtyBytes, "dirty pages"}} {
		base, known := s.Base.start(entry.gauge)
		other, ok := s.New.start(entry.gauge)
		size := max(s.Base.metric(metric.DBBytes), s.New.metric(metric.DBBytes))
		if known && ok && !s.unlike() && max(base, other) > alike*size && apart(base, other, 1) {
			note(RuleStarts, Pattern, "the targets started in different states: %s of %s", instead(bytes, base, other),
				entry.name)
		}
	}
}

func putOff(s *Step, note noting) {
	k, ok := s.Of.Own(metric.WriteKB)
	if !ok {
		return
	}
	if e := s.Writes; e != nil && (e.Base.AtLeast() || e.New.AtLeast()) && e.Verdict == compare.Unclear &&
		apart(e.Base.Value, e.New.Value, goodPart) && (structures{s}).writing() == "" {
		note(RuleDeferral, Accounted, "the KB written are not compared, as more writes follow the step: %s; %s",
			s.Base.written(e.Base.Value, k), s.New.written(e.New.Value, k))
		return
	}
	base, other := s.Base.per(metric.DeferredKB, "", k), s.New.per(metric.DeferredKB, "", k)
	written := max(s.Base.per(metric.WriteKB, "", k), s.New.per(metric.WriteKB, "", k))
	if !(math.Abs(other-base) > max(alike*written, worthANote)) { // also if it is unknown
		return
	}
	more := s.New.Target.Name
	if base > other {
		more = s.Base.Target.Name
	}
	note(RuleDeferral, Accounted, "%s defers %s more of its writes per %s than the other", more, kb(math.Abs(other-base)),
		k.Per)
}

// written reports what a side wrote for a unit, and what it deferred, if that is known.
func (s *Side) written(value float64, k compare.Key) string {
	text := name(s) + " wrote " + kb(value) + " per " + k.Per
	if deferred := s.per(metric.DeferredKB, "", k); deferred > littleKB {
		text += " and deferred " + kb(deferred)
	}
	return text
}

// dips notes stalls that recur, as checkpoints do.
func dips(s *Step, note noting) {
	for _, side := range s.sides() {
		if every, n := side.period(); n > 0 {
			note(RuleRecurring, Pattern, "%s stalls every %s, a period typical of checkpoints or compactions", side.Target.Name,
				quantity.Length(every))
		}
	}
}

// period returns the time between stalls if it is much the same throughout all runs, and
// the number of stalls; 0 if there is no such time.
func (s *Side) period() (every time.Duration, stalls int) {
	const minimum, spread = 4, 0.25
	var gaps []float64
	for i := range s.runs {
		list := s.runs[i].Stalls
		if len(list) < minimum {
			return 0, 0
		}
		for k := range list[1:] {
			if list[k].Group == list[k+1].Group {
				gaps = append(gaps, list[k+1].From-list[k].From)
			}
		}
		stalls += len(list)
	}
	if len(gaps) < minimum-1 || stat.Deviation(gaps) > spread*stat.Mean(gaps) {
		return 0, 0
	}
	return time.Duration(stat.Mean(gaps) * float64(time.Second)), stalls
}

// alike is the greatest difference of two states, as a share, to be called alike.
const alike = 0.10

func bytes(v float64) string { return quantity.BytesAs(v, quantity.Digits) }

// seconds returns the mean length of the step.
func (s *Side) seconds() float64 { return s.mean(func(r *run) float64 { return r.Seconds }) }

func (s *Side) embedded() bool { return len(s.runs) > 0 && s.runs[0].trial.Hosting == result.Embedded }

// before returns the step before the run's; nil if it is the first.
func before(r *run) *result.Step {
	for i := range r.trial.Steps {
		if &r.trial.Steps[i] == r.Step && i > 0 {
			return &r.trial.Steps[i-1]
		}
	}
	return nil
}

// metric returns the mean of a number of the whole step; NaN if a run has none.
func (s *Side) metric(name string) float64 {
	return s.mean(func(r *run) float64 {
		for _, row := range r.Rows {
			if row.Metric == name && row.Group == "" && row.Op == "" && row.Whole() {
				return row.Value
			}
		}
		return math.NaN()
	})
}
