package explain

import (
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// Limit is what limits a target in a step, by a law of queues and not by correlation: a
// resource that is used for most of the time, or where the sessions spend most of theirs.
type Limit string

// The limits.
const (
	ByProcessors Limit = "processors"
	ByClient     Limit = "the client"
	ByFlushes    Limit = "the flushes that the device can do"
	ByRequests   Limit = "the requests that the device can do"
	ByBytes      Limit = "the KB that the device can move"
	ByCommits    Limit = "commits" // sessions wait for the log most of the time
	ByReads      Limit = "reads"   // likewise, for files of tables and indexes
	ByRows       Limit = "row locks"
	ByStalls     Limit = "write stalls"
	Unlimited    Limit = "" // nothing that is measured
)

const (
	// saturated is the utilisation from which a resource limits.
	saturated = 0.80
	// most is the share of the sessions' time from which what they do limits.
	most = 0.50
)

// limitOf returns what limits most of the runs.
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

// wall returns how many times as much a side could do if nothing limited it but the
// processors; 0 where they limit it, or are shared.
func (s *Side) wall() float64 {
	if s.Limit == ByProcessors || s.Limit == ByClient || s.Limit == Unlimited || s.shared() > mostShared {
		return 0
	}
	var used float64
	for i := range s.runs {
		x := s.runs[i].processors()
		if x == nil {
			return 0
		}
		used += (1 - x.find(Idle).value/x.total()) / float64(len(s.runs))
	}
	return 1 / used
}

// deviceUse returns what a run uses most of the device, as a share of what a probe found
// that it can do; more than 1 where the probe found too little.
func (r *run) deviceUse() (of Limit, share float64) {
	can := r.trial.Ceilings
	if can == nil {
		return Unlimited, 0
	}
	did := func(name string) float64 {
		v, _ := account.Counter(r.Counters, "device."+name)
		return v / r.Seconds
	}
	for _, x := range []struct {
		of    Limit
		share float64
	}{
		{ByFlushes, did("flushes") / can.Flushes}, {ByRequests, did("reads")/can.Reads + did("writes")/can.Writes},
		{ByBytes, (did("read_bytes")/can.ReadKB + did("write_bytes")/can.WriteKB) / 1024},
	} {
		if x.share > share {
			of, share = x.of, x.share
		}
	}
	return of, share
}

// can returns how much of something the device can do per second, reads and writes
// together, as the mean of the probes; 0 where it was not probed, or of other limits.
func (s *Side) can(of Limit) (sum float64) {
	for i := range s.runs {
		c := s.runs[i].trial.Ceilings
		if c == nil {
			return 0
		}
		sum += map[Limit]float64{ByFlushes: c.Flushes, ByRequests: c.Reads + c.Writes, ByBytes: c.ReadKB + c.WriteKB}[of] / float64(len(s.runs))
	}
	return sum
}

func (r *run) limit() Limit {
	if slices.ContainsFunc(r.Warnings, func(w metric.Warning) bool { return w.Code == metric.ClientBound }) {
		return ByClient
	}
	p, s := r.processors(), r.sessions()
	if total := p.total(); total > 0 && 1-p.find(Idle).value/total >= saturated {
		return ByProcessors
	}
	if l, used := r.deviceUse(); used >= saturated {
		return l
	}
	of := func(items ...engine.Role) (sum float64) {
		for _, i := range items {
			sum += s.find(roleItem(i)).value
		}
		return sum
	}
	switch total := s.total(); {
	case total <= 0:
	case of(engine.RoleLog, engine.RoleCommit) >= most*total:
		return ByCommits
	case of(engine.RoleIO) >= most*total:
		return ByReads
	case of(engine.RoleRow) >= most*total:
		return ByRows
	case s.find(Stalled).value >= most*total:
		return ByStalls
	}
	return Unlimited
}
