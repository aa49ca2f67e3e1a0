package explain

import (
	"cmp"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Ledger is a way to split a number into items that sum to it.
type Ledger string

// The ledgers. The first four split the time per unit, in µs: processors × window ÷ units,
// clients × window ÷ units (Little's law), window ÷ units, and the second again by the
// kernel's counts for the sessions' threads. The fifth is units per second as a product: the
// device's capacity × its utilisation ÷ the device work per unit.
const (
	Processors Ledger = "processors"
	Sessions   Ledger = "sessions"
	Device     Ledger = "device"
	Threads    Ledger = "threads"
	Ceiling    Ledger = "ceiling"
	Parts      Ledger = "parts"   // of a cost
	Factors    Ledger = "factors" // whose product is a cost
)

// product reports whether a number is the product of its items, and not their sum.
func (l Ledger) product() bool { return l == Factors || l == Ceiling }

// sign is −1 if the items are times, and the rate is explained, which is their inverse.
func (l Ledger) sign() float64 {
	if slices.Contains([]Ledger{Processors, Sessions, Threads, Device}, l) {
		return -1
	}
	return 1
}

// entry is an item of a run.
type entry struct {
	item    Item
	value   float64
	seen    int64 // samples that it was estimated from; 0: it was counted
	divides bool  // of factors: the others are divided by it
}

// log returns the logarithm of the value by which a factor multiplies the others.
func (e entry) log() float64 {
	if e.divides {
		return -math.Log(e.value)
	}
	return math.Log(e.value)
}

// sheet is a number of a run, split.
type sheet []entry

func (s sheet) total() (sum float64) {
	for _, e := range s {
		sum += e.value
	}
	return sum
}

func (s sheet) product() float64 {
	p := 1.0
	for _, e := range s {
		if e.divides {
			p /= e.value
		} else {
			p *= e.value
		}
	}
	return p
}

func (s sheet) find(item Item) entry {
	if i := slices.IndexFunc(s, func(e entry) bool { return e.item == item }); i >= 0 {
		return s[i]
	}
	return entry{item: item}
}

// usable reports whether a number could be split.
func (s sheet) usable(ledger Ledger) bool {
	if len(s) == 0 || !(s.total() > 0) || math.IsInf(s.total(), 0) {
		return false
	}
	return !ledger.product() ||
		!slices.ContainsFunc(s, func(e entry) bool { return !(e.value > 0) || math.IsInf(e.value, 0) })
}

// close adds the part missing from a total as an item. If the items exceed the total, which
// was measured elsewhere, by more than tolerated there is no sheet.
func (s sheet) close(total float64, as Item) sheet {
	const tolerated = 0.05
	remainder := total - s.total()
	if remainder < -tolerated*total {
		return nil
	}
	return append(s, entry{item: as, value: max(0, remainder)})
}

// merge replaces items by their sum.
func (s sheet) merge(as Item, list ...Item) (out sheet) {
	sum := entry{item: as}
	for _, e := range s {
		if e.item == as || slices.Contains(list, e.item) {
			sum.value += e.value
		} else {
			out = append(out, e)
		}
	}
	return append(out, sum)
}

// processors splits the time of the processors; nil if it is unknown, or shared with the
// other trial of a duet.
func (r *run) processors() sheet {
	busy, idle, server := r.micros("host.cpu.busy_ns"), r.micros("host.cpu.idle_ns"), r.micros("process.cpu_ns")
	if math.IsNaN(busy+idle+server) || r.trial.CPUs != "" {
		return nil
	}
	waiting, kernel := orZero(r.micros("host.cpu.iowait_ns")), orZero(r.micros("host.cpu.kernel_threads_ns"))
	client := orZero(r.micros("client.cpu_ns"))
	if r.trial.Placement != nil {
		client = 0 // it was on other machines
	}
	if r.trial.Hosting == result.Embedded {
		client = min(r.clientCost(), server)
		server -= client
	}
	return sheet{
		{item: Server, value: server}, {item: Client, value: client}, {item: Kernel, value: kernel},
		{item: Steal, value: orZero(r.micros("host.cpu.steal_ns"))},
		// busy is without steal
		{item: Others, value: max(0, busy-server-client-kernel)}, {item: Idle, value: idle + waiting},
	}
}

// sessions splits the time of the clients of closed loops: by the activity of the server's
// sessions, or by whether an embedded engine has an operation to do.
func (r *run) sessions() (out sheet) {
	for row := range r.rows(metric.WaitUS) {
		if metric.PerOf(row.Per, r.Primary) {
			out = append(out, entry{item: Item(row.Op), value: row.Value, seen: row.N})
		}
	}
	pause, total, ok := r.pauses()
	if len(out) > 0 {
		return out.splitOff(Item(engine.RoleClient), Between, pause)
	}
	if r.trial.Hosting != result.Embedded || !ok {
		return nil
	}
	busy := total - pause
	stalled := 0.0
	if s := metric.Find(r.Rows, metric.EngineStallS, "", ""); s != nil {
		stalled = min(busy, s.Value*float64(r.clients())*1e6/r.units) // all of them wait
	}
	out = sheet{{item: InCalls, value: busy - stalled}, {item: Stalled, value: stalled}, {item: Between, value: pause}}
	if slices.ContainsFunc(r.Groups, func(g result.Group) bool { return paced(&g) }) {
		return out // other clients wait, too
	}
	return out.splitOff(InCalls, Writers, orZero(r.micros(engine.WriterWait)))
}

// pauses returns how long the clients of closed loops have no operation in progress, and their
// whole time, in µs per unit.
func (r *run) pauses() (pause, total float64, ok bool) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if paced(g) {
			continue
		}
		think := slices.IndexFunc(r.Rows, func(row metric.Row) bool {
			return row.Metric == metric.ThinkShare && row.Group == g.Name
		})
		if think < 0 || r.units <= 0 {
			return 0, 0, false
		}
		all := float64(g.Clients) * r.Seconds * 1e6 / r.units
		pause, total, ok = pause+r.Rows[think].Value*all, total+all, true
	}
	return pause, total, ok
}

// splitOff takes a part from an item and makes it one of its own.
func (s sheet) splitOff(whole, part Item, value float64) sheet {
	i := slices.IndexFunc(s, func(e entry) bool { return e.item == whole })
	if i < 0 || value <= 0 {
		return s
	}
	value = min(value, s[i].value)
	s[i].value -= value
	return append(s, entry{item: part, value: value})
}

// threads splits the time of the sessions by the state of their threads.
func (r *run) threads() (out sheet) {
	for row := range r.rows(metric.ThreadUS) {
		if metric.PerOf(row.Per, r.Primary) {
			out = append(out, entry{item: Item(row.Op), value: row.Value})
		}
	}
	return out
}

// serial reports whether the operations of a run wait for flushes one after the other, so
// that their time is a law: those of an embedded engine with too many flushes for its
// number of clients to have shared them. Elsewhere flushes may be in the background.
func serial(r *run) bool {
	const each = 0.5
	return r.trial.Hosting == result.Embedded && r.counter("device.flushes")*float64(r.clients()) >= each*r.units
}

// device splits the time of the window by whether the device flushes.
func (r *run) device() sheet {
	flushes, all := r.micros("device.flush_ns"), r.window()
	if math.IsNaN(flushes) || r.trial.Hosting != result.Embedded {
		return nil
	}
	flushes = min(flushes, all)
	return sheet{{item: Flushes, value: flushes}, {item: NoFlush, value: all - flushes}}
}

// splits are how costs are split.
var splits = map[string]struct {
	by    Ledger
	split func(*run, compare.Key) sheet
}{
	metric.CPUUS:   {Parts, splitCPU},
	metric.WriteKB: {Parts, splitWrites}, metric.ProcessWriteKB: {Parts, splitWrites},
	metric.ReadKB: {Factors, splitReads}, metric.ProcessReadKB: {Factors, splitReads},
	metric.SpaceAmplification: {Parts, splitSpace},
}

func splitCPU(r *run, k compare.Key) sheet {
	all, server, client := r.value(metric.CPUUS, "", k), r.value(metric.ServerCPUUS, "", k),
		r.value(metric.ClientCPUUS, "", k)
	if r.trial.Hosting == result.Embedded {
		server = all
		if client > 0 { // it was calibrated
			server -= min(client, all)
		}
	}
	if math.IsNaN(server) {
		return nil
	}
	subject := sheet{{item: Server, value: server}}
	if serving := r.value(metric.ThreadUS, account.ThreadCPU, k); serving > 0 && serving <= server {
		subject = sheet{{item: Serving, value: serving}, {item: Behind, value: server - serving}}
	}
	return subject.close(all, Client)
}

func splitWrites(r *run, k compare.Key) (out sheet) {
	for _, p := range account.Parts() {
		if v := r.part(p, k); v >= 0 {
			out = append(out, entry{item: Item(p), value: v})
		}
	}
	all := r.value(k.Metric, "", k)
	if len(out) > 0 {
		out = append(out, otherWrites(r, k)...)
	}
	if v := commitKB(r) / unitsOf(r, k); v < all { // else the page cache combined them
		out = append(out, entry{item: CommitPages, value: v})
	}
	process := r.value(metric.ProcessWriteKB, "", k)
	if math.IsNaN(process) { // its kernel counts too much; then the journal is in it
		process = all
	}
	if v := min(all, process) - out.total(); v > 0 && len(out) > 0 {
		beyond := Padding
		if !slices.ContainsFunc(out, func(e entry) bool {
			return e.item != Item(account.LogPart) && slices.Contains(account.Parts(), account.Part(e.item))
		}) {
			beyond = Uncounted
		}
		out = append(out, entry{item: beyond, value: v})
	}
	if v := r.value(metric.JournalKB, "", k); v >= 0 && k.Metric == metric.WriteKB {
		out = append(out, entry{item: Journal, value: v})
	}
	return out.close(all, Rest)
}

// otherWrites are what a server writes besides its tables and their log, per unit of a key: growing
// files, and temporary ones.
func otherWrites(r *run, k compare.Key) (out sheet) {
	for _, e := range []struct {
		item    Item
		counter string
	}{{TextLog, account.GrownBytes(engine.MessageFile)}, {BinaryLog, account.GrownBytes(engine.BinlogFile)},
		{TempWrites, engine.TempBytes}} {
		if v := r.counter(e.counter); !math.IsNaN(v) {
			out = append(out, entry{item: e.item, value: v / 1024 / unitsOf(r, k)})
		}
	}
	return out
}

// unitsOf returns the number of units that a cost is per; NaN if it is unknown.
func unitsOf(r *run, k compare.Key) float64 {
	if row := metric.Find(r.Rows, k.Metric, "", k.Per); row != nil && row.N > 0 {
		return float64(row.N)
	}
	return math.NaN()
}

// mostPerMiss is the number of reads per miss above which the misses are not what is read: merges
// and bulk loads read past the cache.
const mostPerMiss = 2

// splitReads returns factors: pages or blocks asked for, the share of them that is
// missed, the share of these that the device reads, as the page cache has the others, and
// the size of a read; or just reads, if the engine does not count.
func splitReads(r *run, k compare.Key) sheet {
	kb, misses, reads := r.value(k.Metric, "", k), r.value(metric.CacheMisses, "", k), r.value(metric.DeviceReads, "", k)
	own := k.Metric == metric.ReadKB // else others disturbed the device
	var looked sheet
	hit := metric.Find(r.Rows, metric.CacheHitRatio, "", "")
	if hit != nil && misses > 0 && hit.Value < 1 && !(own && reads > mostPerMiss*misses) {
		share := 1 - hit.Value
		looked = sheet{{item: Lookups, value: misses / share}, {item: Misses, value: share}}
	}
	switch {
	case looked != nil && own:
		return append(looked, entry{item: PerMiss, value: reads / misses}, entry{item: PerRead, value: kb / reads})
	case looked != nil:
		return append(looked, entry{item: MissKB, value: kb / misses})
	case own && reads > 0:
		return sheet{{item: Reads, value: reads}, {item: PerRead, value: kb / reads}}
	}
	return nil
}

// splitSpace splits the bytes on disk per byte of live data by classes of files, except redo
// logs, which the amplification leaves out.
func splitSpace(r *run, _ compare.Key) (out sheet) {
	for row := range r.rows(metric.SpacePart) {
		out = append(out, entry{item: cmp.Or(space(engine.FileClass(row.Op)), Item(row.Op)), value: row.Value})
	}
	if all := metric.Find(r.Rows, metric.SpaceAmplification, "", ""); all != nil && len(out) > 0 {
		return out.close(all.Value, Rest)
	}
	return nil
}
