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

// This file holds the conditions of rules, and the counters that they read.

// apart reports whether two numbers differ by more than a share.
func apart(a, b, share float64) bool { return math.Abs(a-b) > share*min(math.Abs(a), math.Abs(b)) }

// writes returns the key of the step's writes, or of its CPU.
func (s *Sum) writes(v *view) compare.Key {
	if k, ok := v.Of.Own(metric.WriteKB); ok {
		return k
	}
	k, _ := v.Of.Own(metric.CPUUS)
	return k
}

// moves reports whether a metric per unit moves with the cause: a cost that grows if the item
// grows.
func (v *view) moves(name string, c *Cause, lowest float64) bool {
	k, ok := v.Of.Own(metric.CPUUS)
	if own, found := v.Of.Own(name); found {
		k, ok = own, true
	}
	base, other := v.Base.per(name, "", k), v.New.per(name, "", k)
	return ok && apart(base, other, lowest) && (other > base) == (c.New > c.Base)
}

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

// moreReads reports whether reads, or cache misses, grow with the item, and can be a good
// part of its difference. Times of calls include those of the device.
func moreReads(v *view, _ *Sum, c *Cause) bool {
	base, _ := v.Base.growth("device.read_ns")
	other, _ := v.New.growth("device.read_ns")
	waited := 0.0
	if c.Item.is(inside) {
		waited = (other - base) / 1e3
	}
	return v.more(metric.DeviceReads, mostPerRead, waited, c) || v.more(metric.CacheMisses, mostPerRead, waited, c)
}

func moreRows(v *view, _ *Sum, c *Cause) bool { return v.more(metric.RowsExamined, mostPerRow, 0, c) }

// more reports whether a count moves with the cause and can be a good part of it: each is the
// µs per count, and others the µs for all of them.
func (v *view) more(name string, each, others float64, c *Cause) bool {
	k, _ := v.Of.Own(metric.CPUUS)
	count := v.New.per(name, "", k) - v.Base.per(name, "", k)
	return v.moves(name, c, 0.1) && (count*each+others)/(c.New-c.Base) >= mostPart
}

// measure is a number of a side that rules compare; NaN if it is unknown.
type measure func(v *view, s *Sum, side *Side) float64

var (
	wholePages    = partKB(account.FullPagesPart)
	compacted     = partKB(account.CompactionPart)
	deviceFlushes = growth("device.flushes")
	spared        = growth(engine.FilterUseful)
)

// partKB is the KB of one part of the writes per unit.
func partKB(p account.Part) measure {
	return func(v *view, s *Sum, side *Side) float64 { return side.per(metric.PartKB, string(p), s.writes(v)) }
}

// growth is the growth of a counter per unit.
func growth(counter string) measure {
	return func(_ *view, _ *Sum, side *Side) float64 {
		if n, ok := side.growth(counter); ok {
			return n
		}
		return math.NaN()
	}
}

// perCPU is a metric per the unit that CPU is reported per.
func perCPU(name string) measure {
	return func(v *view, _ *Sum, side *Side) float64 {
		k, _ := v.Of.Own(metric.CPUUS)
		return side.per(name, "", k)
	}
}

// oldVersions are the versions of rows that are not removed yet at the end of the step.
func oldVersions(_ *view, _ *Sum, side *Side) float64 {
	if n, ok := side.gauge(engine.DeadRows); ok {
		return n
	}
	return math.NaN()
}

// stalled is the share of the time in which the engine held up writes.
func stalled(_ *view, _ *Sum, side *Side) float64 {
	return side.metric(metric.EngineStallS) / side.seconds()
}

// rowWaits is how long sessions waited for row locks per unit, in µs; 0 if none was seen
// waiting.
func rowWaits(v *view, _ *Sum, side *Side) float64 {
	k, _ := v.Of.Own(metric.CPUUS)
	return side.mean(func(r *run) float64 {
		if !slices.ContainsFunc(r.Rows, func(row metric.Row) bool { return row.Metric == metric.WaitUS }) {
			return math.NaN() // sessions were not sampled
		}
		return counted(r.value(metric.WaitUS, string(engine.RoleRow), k))
	})
}

// condition reports whether a rule holds.
type condition = func(v *view, s *Sum, c *Cause) bool

// grows is the condition that a number differs by more than a share, and by more than lowest,
// and is greater if there is more of the item; or less, if lowest is negative.
func grows(n measure, share, lowest float64) condition {
	return func(v *view, s *Sum, c *Cause) bool {
		a, b := n(v, s, &v.Base), n(v, s, &v.New)
		same := (b > a) == (c.New > c.Base)
		return apart(a, b, share) && math.Abs(b-a) > math.Abs(lowest) && same == (lowest >= 0)
	}
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

// canCost is the condition that a number, at most so many µs or KB each, can be a good part of
// the item's difference.
func canCost(n measure, each float64) condition {
	return func(v *view, s *Sum, c *Cause) bool {
		return (n(v, s, &v.New)-n(v, s, &v.Base))*each/(c.New-c.Base) >= mostPart
	}
}

// allOf is the condition that two conditions hold.
func allOf(a, b condition) condition {
	return func(v *view, s *Sum, c *Cause) bool { return a(v, s, c) && b(v, s, c) }
}

// mostBlock is the KB that a sync writes at most beyond what it has to: the rest of its blocks,
// and the file system's journal.
const mostBlock = 32

// blocksOfSyncs reports whether syncs differ as the item does, and can be the reason: the
// engine's own count of them, or that of the device if it counts none.
func blocksOfSyncs(v *view, s *Sum, c *Cause) bool {
	syncs := func(_ *view, s *Sum, side *Side) float64 { return side.per(metric.LogSyncs, "", s.writes(v)) }
	if math.IsNaN(syncs(v, s, &v.Base) + syncs(v, s, &v.New)) {
		syncs = deviceFlushes
	}
	return allOf(grows(syncs, 0.1, 0), canCost(syncs, mostBlock))(v, s, c)
}

// morePauses reports whether the time between operations is much more than clients need for
// themselves.
func morePauses(v *view, _ *Sum, c *Cause) bool {
	larger, _ := v.larger(c)
	busy := larger.mean((*run).clientCost)
	return max(c.Base, c.New) > 2*busy
}

// lessThanBlock reports whether one side's reads of the device are less than any block: most
// misses were served by the page cache.
func lessThanBlock(_ *view, _ *Sum, c *Cause) bool { return min(c.Base, c.New) < leastBlock/8. }

// moreMerges reports whether compactions write much more if there is more of the item, by
// more than is flushed for the first time.
func moreMerges(v *view, s *Sum, c *Cause) bool {
	flushed := partKB(account.FlushPart)
	return grows(compacted, 0.5, max(flushed(v, s, &v.Base), flushed(v, s, &v.New)))(v, s, c)
}

// moreRowWaits reports whether sessions wait much longer for row locks if there is more of
// the item, for more than the item's difference needs: a session that waits for a row also
// checks, sleeps and wakes.
func moreRowWaits(v *view, s *Sum, c *Cause) bool {
	return grows(rowWaits, 1, max(c.Base, c.New))(v, s, c)
}

func limitedByFlushes(v *view, _ *Sum, _ *Cause) bool { return v.ceiling() == ByFlushes }

func otherClients(v *view, s *Sum, c *Cause) bool {
	more, whole := v.clients()
	return whole > 0 && apart(whole, 1, 0.1) && more == (c.New > c.Base)
}

// clients reports whether the new side has more clients, and by which factor.
func (s *Step) clients() (more bool, times float64) {
	base, other := stat.Mean(clientsOf(s.Base.runs)), stat.Mean(clientsOf(s.New.runs))
	return other > base, other / base
}

// paced returns the groups of clients beside those of the primary operation that do what they do at
// a rate, however fast the engine is.
func paced(r *run) (out []string) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if _, does := g.Units[r.Primary]; !does && (g.Open || g.Rate > 0) {
			out = append(out, g.Name)
		}
	}
	return out
}

// inProgress is the number of operations of other clients that are in progress, as a mean; NaN if
// there are no such clients.
func inProgress(_ *view, _ *Sum, side *Side) float64 {
	return side.mean(func(r *run) (sum float64) {
		groups := paced(r)
		if len(groups) == 0 {
			return math.NaN()
		}
		for i := range r.Rows {
			if row := &r.Rows[i]; row.Metric == metric.ServiceTotalS && slices.Contains(groups, row.Group) {
				sum += row.Value / r.Seconds
			}
		}
		return sum
	})
}

// busierBeside reports whether the operations of other clients take more of the engine's time if
// there is more of the item, as they may: the time of a session, at least a twentieth.
func busierBeside(v *view, s *Sum, c *Cause) bool {
	each := (v.Base.mean(window) + v.New.mean(window)) / 2
	more := inProgress(v, s, &v.New) - inProgress(v, s, &v.Base)
	return grows(inProgress, 0.3, 0.05)(v, s, c) && more*each/(c.New-c.Base) >= goodPart
}

// window is the time of the step, in µs per unit.
func window(r *run) float64 { return r.Seconds * 1e6 / r.units }

// differs returns the condition that a knob that affects any of these differs.
func differs(aspects ...engine.Aspect) condition {
	return func(v *view, _ *Sum, _ *Cause) bool { return v.also(aspects...) != "" }
}

var (
	otherProtocol = differs(engine.AspectProtocol)
	otherTiming   = differs(engine.AspectTiming)
	otherPage     = differs(engine.AspectPageSize)
	dataPacked    = differs(engine.AspectCompression)
	packed        = differs(engine.AspectCompression, engine.AspectLogCompression) // data or the log
)

// oneSided reports whether one side has next to nothing of the item.
func oneSided(_ *view, _ *Sum, c *Cause) bool { return min(c.Base, c.New) < 0.05*max(c.Base, c.New) }

// fullLog reports whether the side that has more of the item had its log full, and the
// other had not.
func fullLog(v *view, _ *Sum, c *Cause) bool {
	larger, other := v.larger(c)
	return larger.logFull() && !other.logFull()
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

// larger returns the side that has more of an item, and the other.
func (v *view) larger(c *Cause) (larger, other *Side) {
	if c.Base > c.New {
		return &v.Base, &v.New
	}
	return &v.New, &v.Base
}

// lesserDevice reports whether the device limits the side that has more of the item, and has
// much less capacity than the other side's.
func lesserDevice(v *view, _ *Sum, c *Cause) bool {
	const less = 1.5
	larger, other := v.larger(c)
	can := larger.can(larger.Limit)
	return can > 0 && other.can(larger.Limit) > less*can
}

// slowDevice reports whether the device's requests took much longer on the side where the
// item did, and account for a good part of the item's difference.
func slowDevice(v *view, s *Sum, c *Cause) bool {
	const slower = 2
	base, other := request(v, s, &v.Base), request(v, s, &v.New)
	queue := growth("device.queue_ns")
	before, after := queue(v, s, &v.Base), queue(v, s, &v.New)
	if (other > base) != (c.New > c.Base) || apart(requestKB(v, s, &v.Base), requestKB(v, s, &v.New), 0.5) {
		return false // larger requests take longer
	}
	return max(base, other) > slower*min(base, other) && (after-before)/1e3/(c.New-c.Base) >= goodPart
}

// request is the duration of a request to the device, in µs; NaN if it is unknown.
func request(v *view, s *Sum, side *Side) float64 { return perRequest(v, s, side, "_ns") / 1e3 }

// requestKB is the size of a request to the device; NaN if it is unknown.
func requestKB(v *view, s *Sum, side *Side) float64 { return perRequest(v, s, side, "_bytes") / 1024 }

func perRequest(v *view, s *Sum, side *Side, number string) float64 {
	n := func(name string) float64 { return growth("device."+name)(v, s, side) }
	return (n("read"+number) + n("write"+number)) / (n("reads") + n("writes"))
}

// gauge returns the mean of a gauge at the end of the step; ok is false unless all runs
// have it.
func (s *Side) gauge(name string) (sum float64, ok bool) {
	return s.gaugeIn(name, func(r *run) *result.Step { return r.Step })
}

// start returns the mean of a gauge before the step: at the end of the one before it in
// each trial.
func (s *Side) start(name string) (sum float64, ok bool) { return s.gaugeIn(name, before) }

func (s *Side) gaugeIn(name string, value func(*run) *result.Step) (sum float64, ok bool) {
	for i := range s.runs {
		step := value(&s.runs[i])
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
