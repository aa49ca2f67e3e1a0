package account

import (
	"slices"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/observe/profile"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// Cost is a figure, of the whole window or per second, that is divided by
// units.
type Cost struct {
	Metric   string
	Value    float64
	Source   string
	Warnings []metric.Warning
}

// mark adds the cost's source and warnings to a row.
func (c *Cost) mark(row *metric.Row) {
	row.Source = c.Source
	row.Warnings = append(row.Warnings, c.Warnings...)
	row.Mark()
}

// Denominator is a quantity that costs are divided by.
type Denominator struct {
	Per   string
	Units float64 // of the window, or per second, like the cost
	N     int64   // units of the window; 0: not known
}

// Costs divides costs by units.
func (b *Builder) Costs(costs []Cost, by Denominator, extra ...With) {
	for i := range costs {
		c := &costs[i]
		b.Put(c.Metric, PerUnit(c.Value, by.Units), append([]With{Per(by.Per), Count(by.N), c.mark}, extra...)...)
	}
}

// costing makes the rows of a step's costs.
type costing struct {
	*Step
	costs []Cost
}

// shortWindow is the length in seconds below which CPU ticks are too coarse.
const shortWindow = 1

// figures returns the known costs. CPU, reads and context switches are those of
// the window; writes include the sync after it.
func (s *Step) figures() []Cost {
	f := figures{}
	process, host := processSource(s.Hosted), "host"
	f.addCPU(s.Observed)
	f.addEvents(s.Observed)
	f.counter(metric.ProcessReadKB, process, s.InWindow, "process.read_bytes", kb)
	if v, ok := Counter(s.WithSync, "process.write_bytes"); ok {
		cancelled, _ := Counter(s.WithSync, "process.cancelled_write_bytes")
		if !s.Hosted {
			cancelled += s.Own
		}
		f.add(metric.ProcessWriteKB, process, max(v-cancelled, 0)/kb)
	}
	f.counter(metric.EngineWriteKB, ownAccount, s.WithSync, engine.BytesWritten, kb)
	f.counter(metric.EngineReadKB, ownAccount, s.InWindow, engine.BytesRead, kb)
	f.counter(metric.RowLookups, ownAccount, s.InWindow, engine.RowLookups, 1)
	f.counter(metric.RowsExamined, ownAccount, s.InWindow, engine.RowsExamined, 1)
	if _, misses, ok := s.cache(); ok {
		f.add(metric.CacheMisses, ownAccount, misses)
	}
	f.counter(metric.LogSyncs, ownAccount, s.InWindow, engine.LogSyncs, 1)
	if v, ok := busy(s.InWindow); ok {
		f.add(metric.HostCPUUS, host, v/perMicro)
		if s.Seconds < shortWindow {
			f[len(f)-1].Warnings = []metric.Warning{metric.Warn(remark.CountedByTicks, nil)}
		}
	}
	f.counter(metric.ContextSwitches, host, s.InWindow, "host.context_switches", 1)
	f.counter(metric.DeviceReads, s.Device, s.InWindow, "device.reads", 1)
	f.counter(metric.ReadKB, s.Device, s.InWindow, "device.read_bytes", kb)
	if v, ok := Counter(s.WithSync, "device.write_bytes"); ok {
		if !s.Elsewhere {
			v -= s.Own
		}
		f.add(metric.WriteKB, s.Device, max(v, 0)/kb)
	}
	f.counter(metric.MediaWriteKB, byDrive, s.WithSync, mediaWritten, kb)
	f.counter(metric.DiscardKB, s.Device, s.WithSync, "device.discard_bytes", kb)
	if d := s.Deferred; d != nil {
		f.add(metric.DeferredKB, ownAccount, max(d[1]-d[0], 0)/kb)
	}
	if d := s.Debt; d != nil {
		f.add(metric.DebtGrowthKB, ownAccount, max(d[1]-d[0], 0)/kb)
	}
	f.addJournal(&s.Others)
	for i := range f {
		if f[i].Source == ownAccount {
			f[i].Warnings = s.late()
		}
	}
	return s.possible(f)
}

// figures are the costs gathered so far.
type figures []Cost

func (f *figures) add(metric, source string, value float64) {
	*f = append(*f, Cost{Metric: metric, Value: value, Source: source})
}

func (f *figures) counter(metric, source string, points []observe.Change, name string, unit float64) {
	if v, ok := Counter(points, name); ok {
		f.add(metric, source, v/unit)
	}
}

// addCPU adds the CPU times of the engine and its clients: together, and of
// each if they are separate processes.
func (f *figures) addCPU(o *Observed) {
	server, found := Counter(o.InWindow, "process.cpu_ns")
	if !o.Hosted {
		if found {
			f.add(metric.CPUUS, metric.OfProcess, server/perMicro)
			f.add(metric.ServerCPUUS, metric.OfProcess, server/perMicro)
		}
		return
	}
	client, seen := Counter(o.InWindow, "client.cpu_ns")
	if found && seen {
		f.add(metric.CPUUS, metric.OfAll, (server+client)/perMicro)
	}
	if found {
		f.add(metric.ServerCPUUS, metric.OfServer, server/perMicro)
	}
	if seen {
		f.add(metric.ClientCPUUS, metric.OfClient, client/perMicro)
	}
}

// addJournal estimates the device's writes for the file system's journal and
// the like: those that neither the engine's processes nor other programs
// caused. It is unknown if the processes' figure is greater, as large folios
// make it.
func (f *figures) addJournal(o *Others) {
	device, process := find(*f, metric.WriteKB), find(*f, metric.ProcessWriteKB)
	if device == nil || process == nil || !o.Known || process.Value > device.Value+littleIO {
		return
	}
	f.add(metric.JournalKB, "estimate: "+device.Source+" − "+process.Source+" − "+o.source(),
		max(0, device.Value-process.Value-o.HereWritten/kb))
}

// busy returns the busy time of all processors: vmstat's us and sy, without
// waiting and stolen time.
func busy(points []observe.Change) (ns float64, ok bool) {
	for _, part := range []string{"user", "nice", "system", "irq", "softirq"} {
		v, found := Counter(points, "host.cpu."+part+"_ns")
		ns += v
		ok = ok || found
	}
	return ns, ok
}

// find returns a cost; nil if it is unknown.
func find(costs []Cost, metric string) *Cost {
	for i := range costs {
		if costs[i].Metric == metric {
			return &costs[i]
		}
	}
	return nil
}

// per names a denominator: "insert row", or just "query" if unit and kind are
// the same.
func per(op, unit string) string {
	if op == unit {
		return op
	}
	return op + " " + unit
}

// eachKind calls f with every operation kind of the step and its counts.
func (s *costing) eachKind(f func(group string, kind *workload.OpKind, counts *hist.Counts)) {
	for _, g := range s.Groups {
		for k := range g.Did.Kinds {
			f(g.Name, &g.Ops[k], &g.Did.Kinds[k].Counts)
		}
	}
}

// denominators returns the units of the step's primary operation; those that
// writes are reported per; and, if they differ, all rows written and all
// operations.
func (s *costing) denominators() (out []Denominator) {
	var written, operations int64
	units, rows := map[string]string{}, map[string]int64{}
	s.eachKind(func(_ string, kind *workload.OpKind, counts *hist.Counts) {
		if units[kind.Whole()] == "" {
			units[kind.Whole()] = kind.Unit
		}
		rows[kind.Whole()] += counts.Rows
		if !kind.Upkeep {
			operations += counts.Ops
			if kind.Unit == "row" {
				written += counts.Rows
			}
		}
	})
	add := func(name string, n int64, isKnown func(Denominator) bool) {
		if n > 0 && !slices.ContainsFunc(out, isKnown) {
			out = append(out, Denominator{name, float64(n), n})
		}
	}
	// Queries and inserts may be equally many by chance; each still has its own
	// costs.
	for _, kind := range []string{s.Of.Primary, s.Of.WritesPer} {
		name := per(kind, units[kind])
		add(name, rows[kind], func(o Denominator) bool { return o.Per == name })
	}
	add("written row", written, func(o Denominator) bool { return o.N == written })
	add("operation", operations, func(o Denominator) bool { return o.N == operations })
	return out
}

// addCosts divides the costs by each denominator.
func (s *costing) addCosts() {
	missed := Warned(s.besideMissed()...)
	client, calibrated := s.clientCost()
	for i, d := range s.denominators() {
		s.Costs(s.costs, d, missed)
		s.addParts(d)
		if i == 0 {
			addSubsystems(s, d)
		}
		if calibrated && !s.Hosted {
			s.Costs([]Cost{{Metric: metric.ClientCPUUS, Value: client, Source: nullEngine}}, d)
		}
	}
	s.addAmplification()
	s.addEngine()
	if !s.Duet { // the sync writes what both trials of a duet have written
		s.Put(metric.DrainS, s.Drain.Seconds())
	}
	s.Put(metric.ClientGCPauseMS, float64(s.Observed.Client.GCPause.Microseconds())/1e3, Count(s.Observed.Client.GCCycles))
	s.Put(metric.ClientSchedP99US, float64(s.Observed.Client.SchedP99.Nanoseconds())/perMicro,
		Count(int64(s.Observed.Client.Waits)))
}

// Part is a part of an engine's writes.
type Part string

// The parts. Engines count those that apply to them.
const (
	LogPart         Part = "log"              // without FullPagesPart
	FullPagesPart   Part = "pages in the log" // at most
	PagesPart       Part = "pages"
	DoublewritePart Part = "doublewrite"
	FlushPart       Part = "flush"
	CompactionPart  Part = "compaction"
)

// Parts are all parts.
func Parts() []Part {
	return []Part{LogPart, FullPagesPart, PagesPart, DoublewritePart, FlushPart, CompactionPart}
}

var partCounters = map[Part]string{
	LogPart: engine.LogBytes, FullPagesPart: engine.FullPageBytes, PagesPart: engine.PageBytes,
	DoublewritePart: engine.DoubleBytes, FlushPart: engine.FlushBytes, CompactionPart: engine.CompactedBytes,
}

// addParts adds the parts of the engine's writes.
func (s *costing) addParts(by Denominator) {
	for _, p := range Parts() {
		if v, ok := Counter(s.WithSync, partCounters[p]); ok {
			if p == LogPart {
				full, _ := Counter(s.WithSync, engine.FullPageBytes)
				v = max(0, v-full)
			}
			s.Costs([]Cost{{metric.PartKB, v / kb, ownAccount, s.late()}}, by, Of("", string(p)))
		}
	}
}

// leastSampled is the number of samples from which CPU time is split: fewer could not contradict the kernel's account.
const leastSampled = 50

// addSubsystems splits the CPU time of engine and clients: by the subsystems' shares of the samples, which add up to
// what the kernel accounted. Clients in processes of their own are counted.
func addSubsystems(s *costing, by Denominator) {
	all, sampled, samples := find(s.costs, metric.CPUUS), 0.0, 0
	for _, c := range s.Subsystems {
		sampled, samples = sampled+c.CPU.Seconds(), samples+c.Samples
	}
	if all == nil || samples < leastSampled {
		return
	}
	put := func(name profile.Subsystem, us float64, n int64, source string) {
		s.Put(metric.CPUUS, PerUnit(us, by.Units), Per(by.Per), Count(n), Source(source),
			Labelled(metric.Labels{Subsystem: string(name)}))
	}
	engine := all.Value
	if client := find(s.costs, metric.ClientCPUUS); s.Hosted && client != nil {
		engine -= client.Value
		put(profile.Clients, client.Value, 0, metric.OfClient)
	}
	for _, c := range s.Subsystems {
		put(c.Subsystem, engine*c.CPU.Seconds()/sampled, int64(c.Samples), bySamples)
	}
}

// bySamples is the source of CPU time that is split by samples.
const bySamples = "CPU samples"

const nullEngine = "null engine"

// clientCost returns the CPU time in µs that the clients of the step would have
// needed for the same operations on the null engine.
func (s *costing) clientCost() (us float64, ok bool) {
	for _, row := range s.Calibrated {
		if row.Metric != metric.ClientCPUUS {
			continue
		}
		// An operation costs the client the same on any database, but its units may
		// differ: the null engine builds an index over no rows.
		if there, here := s.operations(row.Group); there > 0 {
			us += row.Value * float64(row.N) / float64(there) * float64(here)
			ok = true
		}
	}
	return us, ok
}

// operations returns how many operations a group completed when the client was
// calibrated, and in this step.
func (s *costing) operations(group string) (there, here int64) {
	s.eachKind(func(name string, kind *workload.OpKind, counts *hist.Counts) {
		if name != group || kind.Upkeep {
			return
		}
		here += counts.Ops
		for _, row := range s.Calibrated {
			if row.Metric == metric.Rows && row.Group == group && row.Op == kind.Name {
				there += row.N
			}
		}
	})
	return there, here
}

// addClientCost adds the CPU time of the clients' threads per unit; only on the
// null engine, where they have no other work.
func (s *costing) addClientCost() {
	for _, g := range s.Groups {
		op, unit := g.Ops[0].Whole(), g.Ops[0].Unit
		for _, k := range g.Ops {
			if k.Whole() == s.Of.Primary { // the group's other operations are incidental
				op, unit = k.Whole(), k.Unit
			}
		}
		var units int64
		s.eachKind(func(group string, kind *workload.OpKind, counts *hist.Counts) {
			if group == g.Name && kind.Whole() == op {
				units += counts.Rows
			}
		})
		if units > 0 {
			s.Put(metric.ClientCPUUS, micros(g.Did.CPU.Nanoseconds())/float64(units), Of(g.Name, op), Count(units),
				Source(nullEngine), Per(per(op, unit)))
		}
	}
}

// addAmplification adds bytes written and read ÷ bytes that the clients wrote
// and received: of the device, and as the engine counts.
func (s *costing) addAmplification() {
	var written, returned int64
	s.eachKind(func(_ string, kind *workload.OpKind, counts *hist.Counts) {
		switch {
		case kind.Returns:
			returned += counts.Bytes
		case kind.Whole() == s.Of.WritesPer && !s.Of.Unsized:
			written += counts.Bytes
		}
	})
	ratio := func(name string, user int64, list ...string) {
		for _, metric := range list {
			if c := find(s.costs, metric); c != nil && user > 0 {
				s.Put(name, c.Value*kb/float64(user), Count(user), c.mark)
				return
			}
		}
	}
	ratio(metric.WriteAmplification, written, metric.WriteKB, metric.ProcessWriteKB)
	ratio(metric.EngineWriteAmplification, written, metric.EngineWriteKB)
	if s.Of.Primary != s.Of.WritesPer {
		ratio(metric.ReadAmplification, returned, metric.ReadKB)
	}
}
