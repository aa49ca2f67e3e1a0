package account

import (
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/observe/profile"
	"rumbench/internal/remark"
)

// Observed holds the counts taken around a step. It has many fields: one for
// each independent observation.
type Observed struct {
	// InWindow are the counts of all sources in the window, and WithSync those
	// until everything dirty had been synced after it; Uncounted warns of
	// sources without counts.
	InWindow, WithSync []observe.Change
	Uncounted          []metric.Warning
	// Hosted: the engine runs in a server's processes.
	Hosted bool
	Device string // the source of the device's figures
	// Own are the bytes that rumbench wrote to its own files. The process's
	// figures include them if the engine is embedded, and the device's unless the
	// data is Elsewhere.
	Own       float64
	Elsewhere bool
	Drain     time.Duration // of the sync
	// Duet: another trial ran at the same time; Alone is how long this one
	// continued after it.
	Duet  bool
	Alone time.Duration
	// Remote is set if the clients were on other machines.
	Remote *RemoteClients
	// Servers are the machines of a cluster's servers; none: there is one.
	Servers []ServerMachine
	// Lag is the time by which the engine's counters may lag behind its work.
	Lag time.Duration
	// Deferred are the bytes that the engine has still to write, before and after;
	// nil if it does not report them.
	Deferred *[2]float64
	// Debt are the bytes of work that the engine put off, at both ends of the window, see DebtOf; nil if
	// it does not report them.
	Debt *[2]float64
	// Disks are the bytes that all disks read and wrote until everything dirty had been
	// synced; nil if unknown.
	Disks    *[2]float64
	Others   Others
	Client   observe.ClientDelay
	Sessions *Sessions // nil if the engine does not report them
	// Subsystems is the CPU time of the processes with the engine, by samples; nil: unknown.
	Subsystems []profile.SubsystemCPU
	// Load is the CPU time of the program that made the load, if that was not
	// rumbench; nil if it is unknown.
	Load *time.Duration
}

// RemoteClients is what is known of clients on other machines.
type RemoteClients struct {
	CPU time.Duration // of all their processes
	Lag time.Duration // as Observed.Lag, of what their sessions had to report
	// Warned are warnings about their machines: of throughput and latency.
	Warned   []metric.Warning
	Machines []ClientMachine
}

// judgeAway warns of machines of clients.
func judgeAway(s *costing) []metric.Warning {
	if s.Remote == nil {
		return nil
	}
	s.Warnings = append(s.Warnings, s.Remote.Warned...)
	return s.Remote.Warned
}

// Others are other programs on the machine.
type Others struct {
	Known bool
	Why   error // the reason why they are unknown
	Root  bool  // rumbench runs as root and may read everything
	observe.Traffic
	// HereRead and HereWritten are the bytes that may have been on the device under
	// the data.
	HereRead, HereWritten float64
}

// ownAccount is the source of engine-reported figures.
const ownAccount = "the engine's own counters"

// processSource returns the source of figures of the engine's processes.
func processSource(hosted bool) string {
	if hosted {
		return metric.OfServer
	}
	return metric.OfProcess
}

// worker names the processes whose figures are known.
func (o *Observed) worker() string {
	if o.Hosted {
		return "the server"
	}
	return "this process"
}

// Counter returns a counter's growth, summed over its labels; ok is false if it
// is unknown.
func Counter(points []observe.Change, name string) (sum float64, ok bool) {
	return sumOf(points, engine.Counter, name)
}

// Gauge returns a gauge at the end of a window, summed over its labels; ok is
// false if it is unknown.
func Gauge(points []observe.Change, name string) (sum float64, ok bool) {
	return sumOf(points, engine.Gauge, name)
}

func sumOf(points []observe.Change, kind engine.CounterKind, name string) (sum float64, ok bool) {
	for i := range points {
		if p := &points[i]; p.Name == name && p.Kind == kind {
			sum, ok = sum+p.Value, true
		}
	}
	return sum, ok
}

// cache returns the lookups in the engine's own cache within the window, 0 if unknown, and
// the misses. If an engine counts pages read together with pages by which its tables grew,
// they are known only for windows in which no row was changed.
func (o *Observed) cache() (lookups, misses float64, ok bool) {
	lookups, _ = Counter(o.InWindow, engine.CacheLookups)
	if misses, ok = Counter(o.InWindow, engine.CacheMisses); ok {
		return lookups, misses, true
	}
	hits, _ := Counter(o.InWindow, engine.CacheHits)
	taken, ok := Counter(o.InWindow, engine.PagesTaken)
	changed, found := Counter(o.InWindow, engine.RowsChanged)
	return hits + taken, taken, ok && found && changed == 0
}

// addEngine adds the figures known to the engine alone: cache hits, write
// stalls, and deferred work.
func (s *costing) addEngine() {
	source := func(row *metric.Row) { (&Cost{Source: ownAccount, Warnings: s.late()}).mark(row) }
	if lookups, misses, ok := s.cache(); ok && lookups > 0 {
		s.Put(metric.CacheHitRatio, 1-misses/lookups, Count(int64(lookups)), source)
	}
	if n, ok := Counter(s.InWindow, engine.Stalls); ok {
		s.Put(metric.EngineStalls, n, source)
	}
	if ns, ok := Counter(s.InWindow, engine.StallTime); ok {
		s.Put(metric.EngineStallS, ns/1e9, source)
	}
	s.addDebts()
}

// lagTolerated is the share of a step by which its engine's counters may lag.
const lagTolerated = 0.05

// late returns a warning for the engine's figures if its counters miss much of the step.
func (s *Step) late() []metric.Warning {
	if s.Lag.Seconds() <= lagTolerated*s.Seconds {
		return nil
	}
	return []metric.Warning{metric.Warn(remark.CountedLate, metric.Values{"lag": s.Lag.Seconds(), "seconds": s.Seconds})}
}

// addDebts adds the engine's deferred work at the end of the step.
func (s *costing) addDebts() {
	for _, g := range []struct{ metric, gauge string }{
		{metric.DirtyBytes, engine.DirtyBytes}, {metric.CompactionDebtBytes, engine.CompactionDebt},
		{metric.CheckpointAgeBytes, engine.CheckpointAge},
	} {
		if v, ok := Gauge(s.WithSync, g.gauge); ok {
			s.Put(g.metric, v, Source(ownAccount))
		}
	}
}

// addCounters adds the changes of all counters in the step, including the sync
// after it.
func (s *costing) addCounters() {
	addDrive(s)
	s.Counters = s.WithSync
	s.Warnings = append(s.Warnings, s.Uncounted...)
	for _, c := range s.Counters {
		if c.Reset {
			s.Warn(remark.CounterReset, metric.Values{"counter": c.Name})
		}
	}
}

// littleAlone is the share of a step that may run alone without a warning.
const littleAlone = 0.1

// noteAlone notes how much of a step ran after the other trial of a duet had
// ended. It returns the warnings for the step's figures.
func (s *costing) noteAlone() []metric.Warning {
	if s.Observed.Alone <= 0 || s.Seconds <= 0 {
		return nil
	}
	s.Sheet.Alone = min(s.Observed.Alone.Seconds(), s.Seconds)
	share := s.Sheet.Alone / s.Seconds
	w := metric.Warn(remark.RanAlone, metric.Values{"seconds": s.Sheet.Alone, "share": 100 * share})
	if share <= littleAlone {
		s.Notes = append(s.Notes, w)
		return nil
	}
	s.Warnings = append(s.Warnings, w)
	return []metric.Warning{w}
}

// After adds to the step before a window the writes between the two: background
// work outside any window. written is the number of bytes that rumbench wrote to
// its files in the meantime, and disks are the counts of all disks.
func (o *Observed) After(b *Builder, between, disks []observe.Change, written float64) {
	limit, limited := Counter(disks, "device.write_bytes")
	for i, counter := range []struct {
		name, source string
		ours         bool
	}{{"device.write_bytes", o.Device, !o.Elsewhere}, {"process.write_bytes", processSource(o.Hosted), !o.Hosted}} {
		if v, ok := Counter(between, counter.name); ok {
			if counter.ours {
				v -= written
			}
			if i == 0 || !limited || !exceeds(v, limit) { // see possible
				b.Put(metric.AfterWriteKB, max(v, 0)/kb, Per("step"), Source(counter.source))
			}
			return
		}
	}
}
