package explain

import (
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Limit is what limits a target in a step, by a law of queues and not by correlation: a
// resource that is used for most of the time, or the place where the sessions spend most of
// their time.
type Limit string

// The limits.
const (
	ByProcessors Limit = "processors"
	ByClient     Limit = "the client"
	ByThread     Limit = "one thread"
	ByFlushes    Limit = "the flushes that the device can do"
	ByRequests   Limit = "the requests that the device can do"
	ByBytes      Limit = "the KB that the device can move"
	ByCommits    Limit = "commits" // sessions wait for the log most of the time
	ByReads      Limit = "reads"   // of files of tables and indexes
	ByRows       Limit = "row locks"
	ByStalls     Limit = "write stalls"
	Unlimited    Limit = "" // nothing that is measured
)

const (
	// saturated is the utilisation from which a resource limits.
	saturated = 0.80
	// alwaysRuns is the share of the time from which a running thread limits.
	alwaysRuns = 0.90
	// majority is the share of the sessions' time from which their activity limits.
	majority = 0.50
)

// limitOf returns the limit of most of the runs.
func limitOf(runs []run) Limit {
	counts := map[Limit]int{}
	for i := range runs {
		counts[runs[i].limit()]++
	}
	for l, n := range counts {
		if 2*n > len(runs) {
			return l
		}
	}
	return Unlimited
}

// wall returns the factor by which a side could do more if nothing but the processors
// limited it; 0 if they limit it, or are shared.
func (s *Side) wall() float64 {
	if s.Limit == ByProcessors || s.Limit == ByClient || s.Limit == Unlimited || s.shared() > mostShared {
		return 0
	}
	if idle := s.idle(); !math.IsNaN(idle) {
		return 1 / (1 - idle)
	}
	return 0
}

var ofDevice = []Limit{ByFlushes, ByRequests, ByBytes}

// noun returns the unit that such a limit counts.
func (l Limit) noun() string {
	return map[Limit]string{ByFlushes: "flushes", ByRequests: "requests", ByBytes: "KB"}[l]
}

// deviceUse returns the share of the device's capacity that a run used: more than 1 if the probe
// found too little, and 0 if the device was not probed, or others used it.
func (r *run) deviceUse(limit Limit) float64 {
	if r.disturbed() {
		return 0
	}
	_, share := r.deviceWork(limit)
	return share
}

// deviceWork returns the device work of a limit's kind that was done per second, other programs'
// included, and its share of the device's capacity by a probe; 0 if it was not probed.
func (r *run) deviceWork(limit Limit) (done, share float64) {
	can := r.trial.Ceilings
	if can == nil {
		return 0, 0
	}
	per := func(name string) float64 { return orZero(r.counter("device."+name)) / r.Seconds }
	switch limit {
	case ByFlushes:
		return per("flushes"), per("flushes") / can.Flushes
	case ByRequests:
		writes := per("writes") + per("discards") // a device, or a limit on it, does them one after the other
		return per("reads") + writes, per("reads")/can.Reads + writes/can.Writes
	case ByBytes:
		read, written := per("read_bytes")/1024, per("write_bytes")/1024
		return read + written, read/can.ReadKB + written/can.WriteKB
	}
	return 0, 0
}

// ceiling splits the rate by the device limit; nil if that is unknown.
func (r *run) ceiling(limit Limit) sheet {
	done, share := r.deviceWork(limit)
	if r.disturbed() {
		return nil
	}
	return sheet{{item: Can, value: done / share}, {item: Used, value: share},
		{item: Needs, value: done * r.Seconds / r.units, divides: true}}
}

// mostUsed returns the device limit that a run is nearest to.
func (r *run) mostUsed() (limit Limit, share float64) {
	for _, l := range ofDevice {
		if s := r.deviceUse(l); s > share {
			limit, share = l, s
		}
	}
	return limit, share
}

// can returns the device's capacity per second for a limit's kind of work, as the mean over
// the runs; 0 if it is unknown.
func (s *Side) can(limit Limit) float64 {
	return orZero(s.mean(func(r *run) float64 {
		done, share := r.deviceWork(limit)
		if !(share > 0) {
			return math.NaN()
		}
		return done / share
	}))
}

// capacity returns what the device can do on both sides, in words.
func (s *Step) capacity(l Limit) string {
	can := instead(quantity.Thousandths, s.Base.can(l), s.New.can(l))
	return "the device can do " + can + " " + l.noun() + " per second"
}

// ceiling returns the device limit of one of the sides, the new one first. If the device
// limits neither, but has much less capacity on one of them, it is the limit that this
// side uses most: it is a bound there that the other side is not near. Otherwise it is
// Unlimited.
func (s *Step) ceiling() (limit Limit) {
	const less, part = 2, 0.5 // probes of one device may differ by a factor of two
	for _, side := range []*Side{&s.New, &s.Base} {
		if slices.Contains(ofDevice, side.Limit) {
			return side.Limit
		}
	}
	greatest := part
	for _, l := range ofDevice {
		base, other := s.Base.can(l), s.New.can(l)
		weaker := &s.New
		if base < other {
			weaker = &s.Base
		}
		if share := weaker.used(l); base > 0 && other > 0 && unequal(base, other, less) && share >= greatest {
			limit, greatest = l, share
		}
	}
	return limit
}

// used returns the share of the device's capacity that was used, as the mean over the runs.
func (s *Side) used(limit Limit) float64 {
	return s.mean(func(r *run) float64 { return r.deviceUse(limit) })
}

// busiest returns the thread of a server that ran most, and its share of the time.
func (r *run) busiest() (name string, share float64) {
	for row := range r.rows(metric.BusiestThread) {
		return row.Op, row.Value
	}
	return "", 0
}

func (r *run) limit() Limit {
	if metric.Has(r.Warnings, metric.ClientBound) {
		return ByClient
	}
	p, s := r.processors(), r.sessions()
	if total := p.total(); total > 0 && 1-p.find(Idle).value/total >= saturated {
		return ByProcessors
	}
	if _, share := r.busiest(); share >= alwaysRuns {
		return ByThread
	}
	if l, used := r.mostUsed(); used >= saturated {
		return l
	}
	subject := func(items ...engine.Role) (sum float64) {
		for _, i := range items {
			sum += s.find(Item(i)).value
		}
		return sum
	}
	switch total := s.total(); {
	case total <= 0:
	case subject(engine.RoleLog, engine.RoleCommit) >= majority*total:
		return ByCommits
	case subject(engine.RoleIO) >= majority*total:
		return ByReads
	case subject(engine.RoleRow) >= majority*total:
		return ByRows
	case s.find(Stalled).value >= majority*total:
		return ByStalls
	}
	return Unlimited
}
