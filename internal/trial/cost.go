package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/workload"
)

// changes lists what all sources counted between two snapshots. doubts are the
// sources of which that is not known.
func changes(a, b observe.Snapshot) (out []result.CounterChange, doubts []metric.Warning) {
	for _, iv := range observe.Diff(a, b) {
		if iv.Err != nil {
			doubts = append(doubts, metric.Untyped(fmt.Sprintf("no figures of source %s: %v", iv.Source, iv.Err)))
		}
		for _, c := range iv.Changes {
			out = append(out, result.CounterChange{Name: c.Name, Labels: c.Labels, Kind: c.Kind, Unit: c.Unit, Value: c.Value, Reset: c.Reset})
		}
	}
	return out, doubts
}

// cost is a figure of the whole window that is divided by units.
type cost struct {
	metric string
	value  float64
	source string
	doubts []metric.Warning
	// disturbed: it may hold what other programs did, as one of doubts says.
	disturbed bool
	// atLeast: it is a lower bound, as one of doubts says.
	atLeast bool
}

// mark adds to a row what is known of the cost behind it.
func (c *cost) mark(row *metric.Row) {
	row.Source, row.Disturbed, row.AtLeast = c.source, c.disturbed, c.atLeast
	row.Warnings = append(row.Warnings, c.doubts...)
}

// shortWindow is the length of a window below which ticks say little.
const shortWindow = time.Second

const (
	nsPerMicro = 1e3
	kb         = 1024
)

func (t *trial) deviceSource() string { return "device " + t.under.Name }

// processSource is the source of what the engine's processes did.
func (t *trial) processSource() string {
	if t.hosted != nil {
		return metric.OfServer
	}
	return metric.OfProcess
}

// costs are the figures that are known. CPU, reads and context switches are of
// the window; writes also of the sync after it, which belongs to them.
func (r *rows) costs() (out []cost) {
	run := r.inWindow()
	whole := r.withSync()
	add := func(metric, from string, points []result.CounterChange, name string, unit float64) {
		if v, ok := counterOf(points, name); ok {
			out = append(out, cost{metric: metric, value: v / unit, source: from})
		}
	}
	const host = "host"
	process, device := r.processSource(), r.deviceSource()
	out = r.cpuCosts()
	add("process_read_kb", process, run, "process.read_bytes", kb)
	if v, ok := counterOf(whole, "process.write_bytes"); ok {
		cancelled, _ := counterOf(whole, "process.cancelled_write_bytes")
		if r.hosted == nil {
			cancelled += r.window.own
		}
		out = append(out, cost{metric: "process_write_kb", value: max(v-cancelled, 0) / kb, source: process})
	}
	out = append(out, account(run, whole)...)
	if v, ok := busy(run); ok {
		c := cost{metric: "host_cpu_us", value: v / nsPerMicro, source: host}
		if r.window.length < shortWindow {
			c.doubts = []metric.Warning{metric.Untyped("the kernel counts by ticks, and the window is shorter than a second")}
		}
		out = append(out, c)
	}
	add("context_switches", host, run, "host.context_switches", 1)
	add("device_reads", device, run, "device.reads", 1)
	add("read_kb", device, run, "device.read_bytes", kb)
	if v, ok := counterOf(whole, "device.write_bytes"); ok {
		if !r.elsewhere {
			v -= r.window.own
		}
		out = append(out, cost{metric: "write_kb", value: max(v, 0) / kb, source: device})
	}
	add("discard_kb", device, whole, "device.discard_bytes", kb)
	if c, ok := r.deferred(); ok {
		out = append(out, c)
	}
	if c, ok := r.journal(out); ok {
		out = append(out, c)
	}
	return out
}

// cpuCosts are the CPU times of the engine and its clients: together, and where
// they are processes apart, of each.
func (r *rows) cpuCosts() (out []cost) {
	add := func(metric, from string, ns float64) {
		out = append(out, cost{metric: metric, value: ns / nsPerMicro, source: from})
	}
	engine, known := counterOf(r.inWindow(), "process.cpu_ns")
	if r.hosted == nil {
		if known {
			add("cpu_us", metric.OfProcess, engine)
			add("server_cpu_us", metric.OfProcess, engine)
		}
		return out
	}
	client, seen := counterOf(r.inWindow(), "client.cpu_ns")
	if known && seen {
		add("cpu_us", metric.OfAll, engine+client)
	}
	if known {
		add("server_cpu_us", metric.OfServer, engine)
	}
	if seen {
		add("client_cpu_us", metric.OfClient, client)
	}
	return out
}

// busy is the time that all processors of the machine worked: what vmstat
// shows as us and sy. Waiting and stolen time are not in it.
func busy(points []result.CounterChange) (ns float64, ok bool) {
	for _, part := range []string{"user", "nice", "system", "irq", "softirq"} {
		v, known := counterOf(points, "host.cpu."+part+"_ns")
		ns += v
		ok = ok || known
	}
	return ns, ok
}

// denominator is what a cost is divided by.
type denominator struct {
	per   string
	units int64
}

// denominators are the units of the step's primary operation; those that
// writes are reported per; and, where they are others, all rows written and
// all operations.
func (r *rows) denominators(totals workload.Totals) (out []denominator) {
	var written, operations int64
	for g := range totals {
		for k, kind := range r.step.Groups[g].Ops {
			if kind.Upkeep {
				continue
			}
			operations += totals[g][k].Ops
			if kind.Unit == "row" {
				written += totals[g][k].Rows
			}
		}
	}
	add := func(d denominator, known func(denominator) bool) {
		if d.units > 0 && !slices.ContainsFunc(out, known) {
			out = append(out, d)
		}
	}
	// Queries and inserts may be as many by chance; each has its own costs still.
	for _, kind := range []string{r.step.Primary, r.step.WritesPer} {
		d := denominator{per(kind, r.unit(kind)), totals.Rows(r.step, kind)}
		add(d, func(o denominator) bool { return o.per == d.per })
	}
	for _, d := range []denominator{{"written row", written}, {"operation", operations}} {
		add(d, func(o denominator) bool { return o.units == d.units })
	}
	return out
}

// addCosts divides the costs by each denominator.
func (r *rows) addCosts(all []cost) {
	totals := r.res.Totals()
	missed := r.doubts()
	for _, d := range r.denominators(totals) {
		units := d.units
		by := func(row *metric.Row) { row.Per, row.N = d.per, units }
		for _, c := range all {
			r.put(c.metric, c.value/float64(units), by, c.mark, warnings(missed))
		}
		if us, ok := r.clientCost(totals); ok && r.hosted == nil {
			r.put("client_cpu_us", us/float64(units), by, source("null engine"))
		}
	}
	r.addAmplification(all, totals)
	r.addEngine()
	if r.Partner == nil { // it syncs what both of a duet have written
		r.put("drain_s", r.window.drain.Seconds())
	}
	r.put("client_gc_pause_ms", float64(r.window.client.GCPause.Microseconds())/1e3, count(int64(r.window.client.GCCycles)))
	r.put("client_sched_p99_us", float64(r.window.client.SchedP99.Nanoseconds())/nsPerMicro, count(int64(r.window.client.Waits)))
}

// unit is the unit of an operation kind of the step.
func (r *rows) unit(kind string) string {
	for _, g := range r.step.Groups {
		for _, k := range g.Ops {
			if k.Whole() == kind {
				return k.Unit
			}
		}
	}
	return ""
}

// clientCost is the CPU time in µs that the clients of the step would have
// needed on the null engine for what they did.
func (r *rows) clientCost(totals workload.Totals) (us float64, ok bool) {
	calibration := r.calibration()
	if calibration == nil {
		return 0, false
	}
	for _, row := range calibration.Rows {
		if row.Metric != "client_cpu_us" {
			continue
		}
		// An operation costs the client the same on any database. Its units
		// need not be as many: an index is built over no rows there.
		if ops, here := r.operations(calibration, row.Group, totals); ops > 0 {
			us += row.Value * float64(row.N) / float64(ops) * float64(here)
			ok = true
		}
	}
	return us, ok
}

// calibration is the step in which the clients were calibrated, nil if they
// were not. Steps that differ in their rate only were calibrated as one.
func (r *rows) calibration() *result.Step {
	if r.Client == nil {
		return nil
	}
	for _, name := range []string{r.step.Name, r.step.Name[:max(0, strings.LastIndex(r.step.Name, "@"))]} {
		for i := range r.Client.Steps {
			if r.Client.Steps[i].Name == name {
				return &r.Client.Steps[i]
			}
		}
	}
	return nil
}

// operations counts what a group did when the client was calibrated, and here.
func (r *rows) operations(calibration *result.Step, group string, totals workload.Totals) (there, here int64) {
	for g := range r.step.Groups {
		if r.step.Groups[g].Name != group {
			continue
		}
		for k, kind := range r.step.Groups[g].Ops {
			if kind.Upkeep {
				continue
			}
			here += totals[g][k].Ops
			for _, row := range calibration.Rows {
				if row.Metric == "rows" && row.Group == group && row.Op == kind.Name {
					there += row.N
				}
			}
		}
	}
	return there, here
}

// units sums the units of an operation kind in one group.
func (r *rows) units(totals workload.Totals, group, kind string) (n int64) {
	for g := range totals {
		if r.step.Groups[g].Name != group {
			continue
		}
		for k := range totals[g] {
			if r.step.Groups[g].Ops[k].Whole() == kind {
				n += totals[g][k].Rows
			}
		}
	}
	return n
}

// addAmplification adds what was written and read for what the clients wrote
// and got: by the device, and by the engine's own account.
func (r *rows) addAmplification(all []cost, totals workload.Totals) {
	var written, returned int64
	for g := range r.step.Groups {
		for k := range r.step.Groups[g].Ops {
			kind := &r.step.Groups[g].Ops[k]
			switch {
			case kind.Returns:
				returned += totals[g][k].Bytes
			case kind.Whole() == r.step.WritesPer:
				written += totals[g][k].Bytes
			}
		}
	}
	ratio := func(metric string, user int64, of ...string) {
		for _, name := range of {
			for _, c := range all {
				if c.metric == name && user > 0 {
					r.put(metric, c.value*kb/float64(user), count(user), c.mark)
					return
				}
			}
		}
	}
	ratio("write_amplification", written, "write_kb", "process_write_kb")
	ratio("engine_write_amplification", written, "engine_write_kb")
	if r.step.Primary != r.step.WritesPer {
		ratio("read_amplification", returned, "read_kb")
	}
}

// What the host computed may exceed what the process did by the kernel's share,
// and is measured by ticks.
const (
	tickError  = 1.25
	littleWork = 0.1 // processors
)

// doubtSources marks what other programs did to the figures of the device, and
// warns when they took part of the processors.
//
// It returns what rates and latencies are to be doubted for.
func (r *rows) doubtSources(all []cost) (neighbours []metric.Warning) {
	r.judgeDevice(all)
	if w := r.strangers(costOf(all, "server_cpu_us"), costOf(all, "client_cpu_us")); w != "" {
		r.out.Warnings = append(r.out.Warnings, metric.Untyped(w))
		neighbours = append(neighbours, metric.Untyped(w))
	}
	return neighbours
}

// costOf finds a cost; nil if it is not known.
func costOf(all []cost, metric string) *cost {
	for i := range all {
		if all[i].metric == metric {
			return &all[i]
		}
	}
	return nil
}

// worker names the processes whose figures are known.
func (t *trial) worker() string {
	if t.hosted != nil {
		return "the server"
	}
	return "this process"
}

// strangers tells of CPU time that neither the engine nor the client nor the
// kernel's threads used. How much of the machine's is theirs is a figure of its own.
func (r *rows) strangers(server, client *cost) string {
	run := r.inWindow()
	host, ok := counterOf(run, "host.cpu.busy_ns")
	if !ok || host <= 0 || server == nil || r.window.length < shortWindow {
		return ""
	}
	host /= nsPerMicro
	ours, who := server.value, r.worker()+fmt.Sprintf(" for %.2f s", server.value/1e6)
	if client != nil {
		ours += client.value
		who += fmt.Sprintf(", rumbench for %.2f s", client.value/1e6)
	}
	if kernel, ok := counterOf(run, "host.cpu.kernel_threads_ns"); ok {
		ours += kernel / nsPerMicro
		who += fmt.Sprintf(", the kernel's threads for %.2f s", kernel/1e9)
	}
	r.put("cpu_accounted", ours/host, source("processes ÷ host"))
	spare := littleWork * r.window.length.Seconds() * 1e6 // µs
	if host <= tickError*ours+spare {
		return ""
	}
	return fmt.Sprintf("the machine computed for %.2f s, of which %s: other programs took part of the processors", host/1e6, who)
}

// addCounters adds what all counters did in the step, the sync after it included.
func (r *rows) addCounters() {
	r.out.Counters = r.withSync()
	r.out.Warnings = append(r.out.Warnings, r.unknown...)
	for _, c := range r.out.Counters {
		if c.Reset {
			r.out.Warnings = append(r.out.Warnings, metric.Untyped(fmt.Sprintf("counter %s was reset during the step: its figure begins there", c.Name)))
		}
	}
}

// addGap adds to the step before what was written between its end and the
// beginning of the next: background work that is in no window.
func (t *trial) addGap(next *window) {
	last := t.lastWindow
	t.lastWindow = next
	if last == nil || len(t.res.Steps) == 0 || t.Partner != nil { // waiting for the other of a duet is in between
		return
	}
	step := &t.res.Steps[len(t.res.Steps)-1]
	between, _ := changes(last.drained, next.before)
	for _, from := range []struct{ name, source string }{{"device.write_bytes", t.deviceSource()}, {"process.write_bytes", t.processSource()}} {
		if v, ok := counterOf(between, from.name); ok {
			if from.name == "device.write_bytes" && !t.elsewhere || from.name == "process.write_bytes" && t.hosted == nil {
				v -= next.began - last.ended
			}
			step.Rows = append(step.Rows, metric.Row{Target: t.Target.Name, Trial: t.Trial, Step: step.Name,
				Metric: "after_write_kb", Value: max(v, 0) / kb, Unit: "KB", Per: "step", Source: from.source})
			return
		}
	}
}
