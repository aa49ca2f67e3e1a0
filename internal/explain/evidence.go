package explain

import (
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// This file holds the conditions of rules, and the counters that they look at.

// apart reports whether two numbers differ by more than a share.
func apart(a, b, share float64) bool { return math.Abs(a-b) > share*min(math.Abs(a), math.Abs(b)) }

// writes returns the key of what the step writes, or of its CPU.
func (s *Sum) writes(v *view) compare.Key {
	if k, ok := v.Of.Own(metric.WriteKB); ok {
		return k
	}
	k, _ := v.Of.Own(metric.CPUUS)
	return k
}

// moves reports whether a metric per unit moves with the cause: a cost that grows where the
// item does.
func (v *view) moves(name string, c *Cause, least float64) bool {
	k, ok := v.Of.Own(metric.CPUUS)
	if own, found := v.Of.Own(name); found {
		k, ok = own, true
	}
	base, new := v.Base.per(name, "", k), v.New.per(name, "", k)
	return ok && apart(base, new, least) && (new > base) == (c.New > c.Base)
}

// Costs of one thing at most, in µs of CPU. What it needs is known to be less: where a count
// could not be a good part of a difference even so, it is no cause of it.
const (
	mostPerRead = 100 // to read a page or block, check it and put it into a cache
	mostPerRow  = 20  // to look at a row
)

const (
	// goodPart is the share of a difference from which something may be called its cause.
	goodPart = 0.3
	// mostPart is the share that something must be able to make at most, where only a bound
	// of what it makes is known.
	mostPart = 1
)

// moreReads reports whether more is read, or missed in the cache, where there is more of the
// item, and this can be a good part of it. Times of calls include those of the device.
func moreReads(v *view, _ *Sum, c *Cause) bool {
	base, _ := v.Base.growth("device.read_ns")
	new, _ := v.New.growth("device.read_ns")
	waited := 0.0
	if slices.Contains(inside, c.Item) {
		waited = (new - base) / 1e3
	}
	return v.more(metric.DeviceReads, mostPerRead, waited, c) || v.more(metric.CacheMisses, mostPerRead, waited, c)
}

func moreRows(v *view, _ *Sum, c *Cause) bool { return v.more(metric.RowsExamined, mostPerRow, 0, c) }

// more reports whether a count moves with the cause and can be a good part of it, each µs for
// one and others for all of them.
func (v *view) more(name string, each, others float64, c *Cause) bool {
	k, _ := v.Of.Own(metric.CPUUS)
	count := v.New.per(name, "", k) - v.Base.per(name, "", k)
	return v.moves(name, c, 0.1) && (count*each+others)/(c.New-c.Base) >= mostPart
}

// morePagesLogged reports whether more pages are logged whole where there is more of the
// item: by a quarter of a page per unit at least.
func morePagesLogged(v *view, s *Sum, c *Cause) bool {
	const matters = 2 // KB
	base, new := v.Base.part(s, v, account.FullPagesPart), v.New.part(s, v, account.FullPagesPart)
	return math.Abs(new-base) > matters && (new > base) == (c.New > c.Base)
}

// moreMerges reports whether compactions write much more where there is more of the item, by
// more than is flushed for the first time.
func moreMerges(v *view, s *Sum, c *Cause) bool {
	base, new := v.Base.part(s, v, account.CompactionPart), v.New.part(s, v, account.CompactionPart)
	matters := max(v.Base.part(s, v, account.FlushPart), v.New.part(s, v, account.FlushPart))
	return apart(base, new, 0.5) && math.Abs(new-base) > matters && (new > base) == (c.New > c.Base)
}

// part returns the KB of a part of what is written per unit.
func (s *Side) part(sum *Sum, v *view, p account.Part) float64 {
	return s.per(metric.PartKB, string(p), sum.writes(v))
}

// moreStalls reports whether the engine held up writes for much more of the time where
// there is more of the item.
func moreStalls(v *view, _ *Sum, c *Cause) bool {
	const matters = 0.2
	base, new := v.Base.stalled(), v.New.stalled()
	return math.Abs(new-base) > matters && (new > base) == (c.New > c.Base)
}

// stalled returns for which share of the time the engine held up writes.
func (s *Side) stalled() float64 { return s.metric(metric.EngineStallS) / s.seconds() }

// filtersLess reports whether filters spared less where there is more of the item.
func filtersLess(v *view, _ *Sum, c *Cause) bool {
	base, known := v.Base.growth(engine.FilterUseful)
	new, ok := v.New.growth(engine.FilterUseful)
	const matters = 0.1 // of a table per unit
	return ok && known && math.Abs(new-base) > matters && (new < base) == (c.New > c.Base)
}

func limitedByFlushes(v *view, _ *Sum, _ *Cause) bool { return v.ceiling() == ByFlushes }

func otherClients(v *view, s *Sum, c *Cause) bool {
	more, of := v.clients()
	return of > 0 && apart(of, 1, 0.1) && more == (c.New > c.Base)
}

// clients returns whether the new side has more clients, and how many times as many.
func (s *Step) clients() (more bool, times float64) {
	base, new := stat.Mean(clientsOf(s.Base.runs)), stat.Mean(clientsOf(s.New.runs))
	return new > base, new / base
}

func otherProtocol(v *view, _ *Sum, _ *Cause) bool { return v.differs(engine.AspectProtocol) }
func compressed(v *view, _ *Sum, c *Cause) bool    { return v.differs(compressions(c)...) }
func otherPage(v *view, _ *Sum, _ *Cause) bool     { return v.differs(engine.AspectPageSize) }

// compressions are what an item may be compressed by: files by all but that of the log.
func compressions(c *Cause) []engine.Aspect {
	of := []engine.Aspect{engine.AspectCompression}
	if !slices.Contains([]Item{Data, MissKB, PerRead, Item(account.PagesPart)}, c.Item) {
		of = append(of, engine.AspectLogCompression)
	}
	return of
}

// fewerFlushes reports whether the device flushed less where less of the item was written.
func fewerFlushes(v *view, _ *Sum, c *Cause) bool {
	base, ok := v.Base.growth("device.flushes")
	new, known := v.New.growth("device.flushes")
	return ok && known && apart(base, new, 0.1) && (new > base) == (c.New > c.Base)
}

// moreRowWaits reports whether sessions wait much longer for row locks where there is more of
// the item, for more than they need of it: who waits for a row also checks, sleeps and wakes.
func moreRowWaits(v *view, _ *Sum, c *Cause) bool {
	base, new := v.Base.rowWaits(v), v.New.rowWaits(v)
	return apart(base, new, 1) && math.Abs(new-base) > max(c.Base, c.New) && (new > base) == (c.New > c.Base)
}

// rowWaits returns how long sessions waited for row locks per unit, in µs; 0 where that was
// not seen.
func (s *Side) rowWaits(v *view) (sum float64) {
	k, _ := v.Of.Own(metric.CPUUS)
	for i := range s.runs {
		if us := s.runs[i].value(metric.WaitUS, string(engine.RoleRow), k); us > 0 {
			sum += us / float64(len(s.runs))
		}
	}
	return sum
}

// moreFlushes reports whether the device flushed much more often where there is more of the
// item.
func moreFlushes(v *view, _ *Sum, c *Cause) bool {
	const matters = 0.05 // per unit
	base, ok := v.Base.growth("device.flushes")
	new, known := v.New.growth("device.flushes")
	return ok && known && apart(base, new, 0.5) && math.Abs(new-base) > matters && (new > base) == (c.New > c.Base)
}

// oneSided reports whether one side has next to nothing of the item.
func oneSided(_ *view, _ *Sum, c *Cause) bool { return min(c.Base, c.New) < 0.05*max(c.Base, c.New) }

// fullLog reports whether the side that has more of the item had its log full, and the
// other had not.
func fullLog(v *view, _ *Sum, c *Cause) bool {
	most, other := v.most(c)
	return most.logFull() && !other.logFull()
}

func (s *Side) logFull() bool {
	const full = 0.8
	age, known := s.gauge(engine.CheckpointAge)
	room := 0.0
	for i := range s.runs {
		if s.runs[i].Structure.LogRoom <= 0 {
			return false
		}
		room += float64(s.runs[i].Structure.LogRoom) / float64(len(s.runs))
	}
	return known && age >= full*room
}

// most returns the side that has more of an item, and the other.
func (v *view) most(c *Cause) (most, other *Side) {
	if c.Base > c.New {
		return &v.Base, &v.New
	}
	return &v.New, &v.Base
}

// lesserDevice reports whether the device limits the side that has more of the item, and
// can do much less than the other side's.
func lesserDevice(v *view, _ *Sum, c *Cause) bool {
	const less = 1.5
	most, other := v.most(c)
	can := most.can(most.Limit)
	return can > 0 && other.can(most.Limit) > less*can
}

// slowDevice reports whether the device's requests took much longer where the item did,
// and that they are a good part of the item's difference.
func slowDevice(v *view, _ *Sum, c *Cause) bool {
	const slower = 2
	base, new := v.Base.request(), v.New.request()
	before, _ := v.Base.growth("device.queue_ns")
	after, _ := v.New.growth("device.queue_ns")
	if (new > base) != (c.New > c.Base) {
		return false
	}
	return max(base, new) > slower*min(base, new) && (after-before)/1e3/(c.New-c.Base) >= goodPart
}

// request returns how long a request took at the device, in µs; 0 if that is not known.
func (s *Side) request() float64 {
	var times, requests float64
	for _, of := range []string{"read", "write"} {
		ns, _ := s.growth("device." + of + "_ns")
		n, _ := s.growth("device." + of + "s")
		times, requests = times+ns, requests+n
	}
	if requests == 0 {
		return 0
	}
	return times / requests / 1e3
}

// gauge returns the mean of a gauge at the end of the step; ok is false unless all runs
// have it.
func (s *Side) gauge(name string) (sum float64, ok bool) {
	return s.gaugeIn(name, func(r *run) *result.Step { return r.Step })
}

// start returns the mean of a gauge before the step: at the end of the one before it in
// each trial.
func (s *Side) start(name string) (sum float64, ok bool) { return s.gaugeIn(name, (*run).before) }

func (s *Side) gaugeIn(name string, of func(*run) *result.Step) (sum float64, ok bool) {
	for i := range s.runs {
		step := of(&s.runs[i])
		if step == nil {
			return 0, false
		}
		v, known := account.Gauge(step.Counters, name)
		if !known {
			return 0, false
		}
		sum += v / float64(len(s.runs))
	}
	return sum, len(s.runs) > 0
}
