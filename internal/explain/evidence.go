package explain

import (
	"math"

	"rumbench/engine"
	"rumbench/internal/metric"
)

// Upper bounds of the cost of one event, in µs of CPU. The actual cost is known to be less:
// if a count could not be a good part of a difference even at this cost, it is no cause of
// it.
const (
	mostPerRead = 100 // to read a page or block, check it and put it into a cache
	mostPerRow  = 20  // to look at a row
	mostPerKB   = 20  // to make, check and write it
	mostPerSync = 500 // to wait for it and to wake up
)

const (
	// goodPart is the share of a difference from which something may be called its cause.
	goodPart = 0.3
	// mostPart is the share that a candidate must be able to reach at most, if only an upper
	// bound of its cost is known.
	mostPart = 1
)

// grows is the condition that a number differs by more than a share, and by more than lowest,
// and is greater if there is more of the item; or less, if lowest is negative.
func grows(n measure, share, lowest float64) condition {
	return func(s *Step, c *Cause) bool {
		a, b := n.sides(s)
		same := (b > a) == (c.New > c.Base)
		return unequal(a, b, share) && math.Abs(b-a) > math.Abs(lowest) && same == (lowest >= 0)
	}
}

// canCost is the condition that a number, at most so many µs or KB each, can be a good part of
// the item's difference.
func canCost(n measure, each float64) condition {
	return func(s *Step, c *Cause) bool { return n.difference(s)*each/(c.New-c.Base) >= mostPart }
}

// allOf is the condition that two conditions hold.
func allOf(a, b condition) condition {
	return func(s *Step, c *Cause) bool { return a(s, c) && b(s, c) }
}

// The conditions of numbers. The lowest differences are a quarter of a page of the log, a
// fifth of the time, a tenth of a table that filters spare.
var (
	moreWholePages = allOf(grows(wholePages, 0, 2), canCost(wholePages, mostPerKB))
	moreStalls     = grows(stalled, 0, 0.2)
	lessSpared     = grows(spared, 0, -0.1)
	moreVersions   = grows(oldVersions, 2, 1000)
	otherFlushes   = grows(deviceFlushes, 0.5, 0.05)
	moreFlushes    = allOf(otherFlushes, canCost(deviceFlushes, mostPerSync))
	heldByFlushes  = allOf(otherFlushes, canCost(deviceFlushes, 10*mostPerSync)) // all others wait
)

// differs returns the condition that a knob that affects any of these differs.
func differs(aspects ...engine.Aspect) condition {
	return func(s *Step, _ *Cause) bool { return knobs(s, aspects...) != "" }
}

var (
	otherProtocol = differs(engine.AspectProtocol)
	otherTiming   = differs(engine.AspectTiming)
	otherPage     = differs(engine.AspectPageSize)
	dataPacked    = differs(engine.AspectCompression)
	packed        = differs(engine.AspectCompression, engine.AspectLogCompression) // data or the log
)

// moreReads reports whether reads, or cache misses, grow with the item, and can be a good
// part of its difference. Times of calls include those of the device.
func moreReads(s *Step, c *Cause) bool {
	waited := 0.0
	if c.Item.is(inside) {
		waited = (orZero(s.New.growth("device.read_ns")) - orZero(s.Base.growth("device.read_ns"))) / 1e3
	}
	return countGrows(s, c, metric.DeviceReads, mostPerRead, waited) ||
		countGrows(s, c, metric.CacheMisses, mostPerRead, waited)
}

func moreRows(s *Step, c *Cause) bool { return countGrows(s, c, metric.RowsExamined, mostPerRow, 0) }

// countGrows reports whether a count moves with the cause and can be a good part of it: each is the
// µs per count, and others the µs for all of them.
func countGrows(s *Step, c *Cause, name string, each, others float64) bool {
	k, ok := s.Of.Own(name)
	if !ok {
		k, ok = s.Of.Own(metric.CPUUS)
	}
	base, other := s.Base.per(name, "", k), s.New.per(name, "", k)
	moves := ok && unequal(base, other, 0.1) && (other > base) == (c.New > c.Base)
	return moves && (perUnit(name).difference(s)*each+others)/(c.New-c.Base) >= mostPart
}

// mostBlock is the KB that a sync writes at most beyond what it has to: the rest of its blocks,
// and the file system's journal.
const mostBlock = 32

// blocksOfSyncs reports whether syncs differ as the item does, and can be the reason: the
// engine's own count of them, or that of the device if it counts none.
func blocksOfSyncs(s *Step, c *Cause) bool {
	syncs := measure(logSyncs)
	if math.IsNaN(syncs.difference(s)) {
		syncs = deviceFlushes
	}
	return allOf(grows(syncs, 0.1, 0), canCost(syncs, mostBlock))(s, c)
}

// morePauses reports whether the time between operations is much more than clients need for
// themselves.
func morePauses(s *Step, c *Cause) bool {
	side, _ := larger(s, c)
	return max(c.Base, c.New) > 2*side.mean((*run).clientCost)
}

// lessThanBlock reports whether one side's reads of the device are less than any block: most
// misses were served by the page cache.
func lessThanBlock(_ *Step, c *Cause) bool { return min(c.Base, c.New) < leastBlock/8. }

// moreMerges reports whether compactions write much more if there is more of the item, by
// more than is flushed for the first time.
func moreMerges(s *Step, c *Cause) bool {
	return grows(compacted, 0.5, max(flushed(&s.Base), flushed(&s.New)))(s, c)
}

// moreRowWaits reports whether sessions wait much longer for row locks if there is more of
// the item, for more than the item's difference needs: a session that waits for a row also
// checks, sleeps and wakes.
func moreRowWaits(s *Step, c *Cause) bool { return grows(rowWaits, 1, max(c.Base, c.New))(s, c) }

func limitedByFlushes(s *Step, _ *Cause) bool { return s.ceiling() == ByFlushes }

func otherClients(s *Step, c *Cause) bool {
	more, times := s.clients()
	return times > 0 && unequal(times, 1, 0.1) && more == (c.New > c.Base)
}

// busierBeside reports whether the operations of other clients take more of the engine's time if
// there is more of the item, as they may: the time of a session, at least a twentieth.
func busierBeside(s *Step, c *Cause) bool {
	each := (s.Base.mean((*run).window) + s.New.mean((*run).window)) / 2
	return grows(inProgress, 0.3, 0.05)(s, c) && measure(inProgress).difference(s)*each/(c.New-c.Base) >= goodPart
}

// oneSided reports whether one side has next to nothing of the item.
func oneSided(_ *Step, c *Cause) bool { return min(c.Base, c.New) < 0.05*max(c.Base, c.New) }

// fullLog reports whether the side that has more of the item had its log full, and the
// other had not.
func fullLog(s *Step, c *Cause) bool {
	side, otherSide := larger(s, c)
	return logFull(side) && !logFull(otherSide)
}

func logFull(s *Side) bool {
	const full = 0.8
	if !s.everyRun(func(r *run) bool { return r.Structure.LogRoom > 0 }) {
		return false
	}
	room := s.mean(func(r *run) float64 { return float64(r.Structure.LogRoom) })
	return s.gauge(engine.CheckpointAge) >= full*room
}

// larger returns the side that has more of an item, and the other.
func larger(s *Step, c *Cause) (side, otherSide *Side) {
	if c.Base > c.New {
		return &s.Base, &s.New
	}
	return &s.New, &s.Base
}

// lesserDevice reports whether the device limits the side that has more of the item, and has
// much less capacity than the other side's.
func lesserDevice(s *Step, c *Cause) bool {
	const less = 1.5
	side, otherSide := larger(s, c)
	can := side.can(side.Limit)
	return can > 0 && otherSide.can(side.Limit) > less*can
}

// slowDevice reports whether the device's requests took much longer on the side where the
// item did, and account for a good part of the item's difference.
func slowDevice(s *Step, c *Cause) bool {
	const slower = 2
	base, other := measure(request).sides(s)
	if (other > base) != (c.New > c.Base) || unequal(requestKB(&s.Base), requestKB(&s.New), 0.5) {
		return false // larger requests take longer
	}
	return max(base, other) > slower*min(base, other) && queued.difference(s)/1e3/(c.New-c.Base) >= goodPart
}
