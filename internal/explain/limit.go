package explain

import (
	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
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

// The least shares from which something limits.
const (
	saturated  = 0.80 // of a resource's capacity
	alwaysRuns = 0.90 // of the time, for which a thread runs
	majority   = 0.50 // of the sessions' time
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

// mostUsed returns the device limit that a run is nearest to, and the share of the device's capacity, by a probe, that
// it used: more than 1 if the probe found too little, and 0 if the device was not probed, or others used it.
func mostUsed(r *run) (limit Limit, share float64) {
	can := r.trial.Ceilings
	if can == nil || r.disturbed() {
		return "", 0
	}
	per := func(name string) float64 { return orZero(r.counter("device."+name)) / r.Seconds }
	writes := per("writes") + per("discards") // a device, or a limit on it, does them one after the other
	for l, s := range map[Limit]float64{ByFlushes: per("flushes") / can.Flushes,
		ByRequests: per("reads")/can.Reads + writes/can.Writes,
		ByBytes:    per("read_bytes")/1024/can.ReadKB + per("write_bytes")/1024/can.WriteKB} {
		if s > share {
			limit, share = l, s
		}
	}
	return limit, share
}

// busiest returns the thread of a server that ran most, and its share of the time.
func (r *run) busiest() (name string, share float64) {
	for row := range r.rows(metric.BusiestThread) {
		return row.Op, row.Value
	}
	return "", 0
}

func (r *run) limit() Limit {
	if metric.Has(r.Warnings, remark.ClientBound) {
		return ByClient
	}
	p, s := r.processors(), r.time()
	if total := p.total(); total > 0 && 1-p.find(Idle).value/total >= saturated {
		return ByProcessors
	}
	if _, share := r.busiest(); share >= alwaysRuns {
		return ByThread
	}
	if l, used := mostUsed(r); used >= saturated {
		return l
	}
	for item, l := range map[Item]Limit{Item(engine.RoleCommit): ByCommits, Item(engine.RoleIO): ByReads,
		Reads: ByReads, Item(engine.RoleRow): ByRows, Stalled: ByStalls} {
		if total := s.total(); total > 0 && s.find(item).value > majority*total { // at most one has more than half
			return l
		}
	}
	return Unlimited
}
