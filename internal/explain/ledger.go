package explain

import (
	"cmp"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/observe/profile"
	"rumbench/internal/result"
)

// Ledger is a way to split a number into items that sum to it.
type Ledger string

// The ledgers. The first two split the time per unit, in µs: clients × window ÷ units (Little's law) and, where the
// processors limit both sides, processors × window ÷ units.
const (
	Time       Ledger = "time"
	Processors Ledger = "processors"
	Parts      Ledger = "parts"   // of a cost
	Factors    Ledger = "factors" // whose product is a cost
)

// product reports whether a number is the product of its items, and not their sum.
func (l Ledger) product() bool { return l == Factors }

// sign is −1 if the items are times, and the rate is explained, which is their inverse.
func (l Ledger) sign() float64 {
	if l == Time || l == Processors {
		return -1
	}
	return 1
}

// entry is an item of a run.
type entry struct {
	item  Item
	value float64
	seen  int64 // samples that it was estimated from; 0: it was counted
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
		p *= e.value
	}
	return p
}

func (s sheet) find(item Item) entry {
	if i := slices.IndexFunc(s, func(e entry) bool { return e.item == item }); i >= 0 {
		return s[i]
	}
	return entry{item: item}
}

// add adds an entry to that of its item, if there is one.
func (s sheet) add(e entry) sheet {
	if i := slices.IndexFunc(s, func(o entry) bool { return o.item == e.item }); i >= 0 {
		s[i].value, s[i].seen = s[i].value+e.value, s[i].seen+e.seen
		return s
	}
	return append(s, e)
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
		{item: Running, value: server}, {item: Client, value: client}, {item: Kernel, value: kernel},
		{item: Steal, value: orZero(r.micros("host.cpu.steal_ns"))},
		// busy is without steal
		{item: Others, value: max(0, busy-server-client-kernel)}, {item: Idle, value: idle + waiting},
	}
}

// time splits the time of the clients of closed loops: what they take themselves, the waits of the server's sessions
// that are sampled, and what an engine does during operations.
func (r *run) time() (out sheet) {
	pause, total, ok := r.pauses()
	var in float64
	readsKnown := false // else the server reports only that a session is in a statement
	for row := range r.rows(metric.WaitUS) {
		readsKnown = readsKnown || row.Op == string(engine.RoleCPU)
		switch {
		case !metric.PerOf(row.Per, r.Primary):
		case row.Op == string(engine.RoleCPU) || row.Op == string(engine.RoleExecuting):
			in += row.Value
		default:
			item := Item(row.Op)
			if row.Op == string(engine.RoleLog) {
				item = Item(engine.RoleCommit) // sessions wait for the log when they commit
			}
			out = out.add(entry{item: item, value: row.Value, seen: row.N})
		}
	}
	busy := r.thread(account.ThreadCPU) + r.thread(account.ThreadQueue)
	if !readsKnown {
		busy += orZero(r.readTime(0))
	}
	if busy > in {
		all := in + out.total()
		out.give(busy - in)
		in = all - out.total()
	}
	switch {
	case len(out) > 0 || in > 0:
		out = out.splitOff(Item(engine.RoleClient), Between, pause)
	case ok:
		out, in = sheet{{item: Between, value: pause}}, total-pause
	default:
		return nil
	}
	return append(out, r.inside(in, readsKnown)...)
}

// inside splits the time in operations: what the engine waits for as far as that is counted, CPU, and the rest. Waits
// for reads may be known already.
func (r *run) inside(left float64, readsKnown bool) (out sheet) {
	take := func(item Item, value float64) {
		if value = min(value, left); value >= 0 { // not if it is unknown
			out, left = append(out, entry{item: item, value: value}), left-value
		}
	}
	embedded, waiting := r.trial.Hosting == result.Embedded, float64(max(1, r.clients()))
	if embedded {
		take(Stalled, r.whole(metric.EngineStallS)*waiting*1e6/r.units) // all of them wait
	}
	if writers := r.micros(engine.WriterWait); embedded && writers > 0 && !slices.ContainsFunc(r.Groups,
		func(g result.Group) bool { return paced(&g) }) { // whose clients wait, too
		take(Writers, writers)
		waiting = 1
	}
	take(Running, r.running())
	take(Queue, r.thread(account.ThreadQueue))
	if !readsKnown {
		take(Reads, r.readTime(left))
	}
	if embedded && !r.disturbed() {
		take(Flushes, r.micros("device.flush_ns")*waiting)
	}
	return append(out, entry{item: Uncovered, value: left})
}

// readTime returns how much of a time without CPU passed in reads of the device, in µs per unit: as misses and the
// device's times say or, as a limit may hold requests up before the device gets them, as processors waited for it; NaN
// if it is unknown.
func (r *run) readTime(left float64) float64 {
	reads := r.counter("device.reads")
	if math.IsNaN(reads) || r.disturbed() {
		return math.NaN()
	}
	n := func(name string) float64 { return orZero(r.counter(name)) }
	counted := min(r.micros("device.read_ns"), perUnit(metric.CacheMisses)(r)*n("device.read_ns")/reads/1e3)
	waited := n("host.cpu.iowait_ns") / (n("host.cpu.iowait_ns") + n("host.cpu.idle_ns"))
	return max(orZero(counted), orZero(left*waited*reads/(reads+n("device.writes")+n("device.flushes"))))
}

// running returns the CPU time of operations, without that of background threads as far as it is known, in µs per unit.
func (r *run) running() float64 {
	if own := r.thread(account.ThreadCPU); own > 0 {
		return own
	}
	cpu := r.micros("process.cpu_ns")
	if r.trial.Hosting == result.Embedded {
		cpu -= min(cpu, r.clientCost())
	}
	all, own := r.subsystems(false).total(), r.subsystems(true).total()
	if all > 0 {
		cpu *= own / all
	}
	return cpu
}

// thread returns the time that the kernel counted for the threads of sessions in a state, in µs per unit; NaN if it is
// unknown.
func (r *run) thread(state string) float64 {
	for row := range r.rows(metric.ThreadUS) {
		if row.Op == state && metric.PerOf(row.Per, r.Primary) {
			return row.Value
		}
	}
	return math.NaN()
}

// beside are the subsystems that work mostly beside operations.
var beside = []profile.Subsystem{"compaction", "flush", "purge", "garbage collection"}

// subsystems returns the CPU time of the engine by subsystem, or only that of operations, in µs per a unit; nothing if
// it was not sampled.
func (r *run) subsystems(operations bool) (out sheet) {
	per := ""
	for row := range r.rows(metric.CPUUS) {
		name := profile.Subsystem(row.Labels.Subsystem)
		if name == "" || name == profile.Clients || per != "" && row.Per != per ||
			operations && slices.Contains(beside, name) {
			continue
		}
		per, out = row.Per, append(out, entry{item: in(name), value: row.Value, seen: row.N})
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.item, b.item) })
	return out
}

// split splits the CPU time in a sheet by subsystem.
func (r *run) split(s sheet, operations bool) sheet {
	out, cpu := r.subsystems(operations), s.find(Running).value
	all := out.total()
	for i := range out {
		out[i].value *= cpu / all
	}
	return out
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

// give takes time from waits that were sampled, first from those for clients: a session whose thread is ready to
// run, and cannot, looks as if it waited for its client, and a sampler that cannot run sees none that run.
func (s sheet) give(time float64) {
	for i := range s {
		if s[i].item == Item(engine.RoleClient) {
			taken := min(time, s[i].value)
			s[i].value, time = s[i].value-taken, time-taken
		}
	}
	if all := s.total(); all > 0 {
		for i := range s {
			s[i].value *= max(0, 1-time/all)
		}
	}
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
	return sheet{{item: Running, value: server}}.close(all, Client)
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
	if v := commitKB(r) * r.units / unitsOf(r, k); v < all { // else the page cache combined them
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
	if v := textLog(r) * r.units; !math.IsNaN(v) {
		out = append(out, entry{item: TextLog, value: v / unitsOf(r, k)})
	}
	for _, e := range []struct {
		item    Item
		counter string
	}{{BinaryLog, account.GrownBytes(engine.BinlogFile)},
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
		return sheet{{item: ReadCount, value: reads}, {item: PerRead, value: kb / reads}}
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
