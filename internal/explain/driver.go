package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/observe/profile"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// A cause is a chain: what differs, the item that grew, and the count that drives it. A count is said to be the reason
// of an item only if it moved by as much; a setting is named with the items and counts that it acts on.

// measure is a number of a run that drives items, per primary unit unless it says otherwise; NaN if it is unknown.
type measure func(*run) float64

// driver is something that work needs, and that is counted. It drives the CPU time of some subsystems, and items of
// other kinds.
type driver struct {
	rule    Rule
	n       measure
	show    func(float64) string
	says    string // with a gap for the values of both sides
	on      []profile.Subsystem
	items   []Item
	aspects []engine.Aspect // of settings that change the count
}

// The subsystems that several drivers act on.
var (
	search  = []profile.Subsystem{"index search", "row format", "execution", "transactions", "cache", "latches", "merging"}
	onFiles = []profile.Subsystem{"kernel: file system", "kernel: page copy", "kernel: block device", "kernel: entry",
		"kernel: memory", "kernel: scheduling"}
	onPages = append([]profile.Subsystem{"cache", "checksums", "compression", "encryption", "allocation"}, onFiles...)
	onNet   = []profile.Subsystem{"network", "parse and plan", "execution", "kernel: network", "kernel: entry",
		"kernel: scheduling"}

	onlyEncryption, onlyCompression = []profile.Subsystem{"encryption"}, []profile.Subsystem{"compression"}

	commits = []Item{Item(engine.RoleCommit), Flushes}
	reading = []Item{Reads, Item(engine.RoleIO)}
	atHome  = []Item{Item(engine.RoleClient), Between, Uncovered}
)

func and(list []profile.Subsystem, more ...profile.Subsystem) []profile.Subsystem {
	return append(slices.Clone(list), more...)
}

// drivers are those that are known, the most specific first: an item gets the first that moved as much.
var drivers = []driver{
	{RuleTextLog, textLog, kb, "the server’s text log grows by %s",
		and(onFiles, "text log"), nil, []engine.Aspect{engine.AspectTextLog}},
	{RuleBinlog, inKB(account.GrownBytes(engine.BinlogFile)), kb, "the binary log grows by %s", and(onFiles, "log"),
		commits, []engine.Aspect{engine.AspectBinlog}},
	{RuleConnections, growth(engine.Connects), quantity.Digits, "it opens %s connections",
		and(onNet, "allocation", "kernel: memory"), atHome, nil},
	{RulePrepares, growth(engine.Prepares), quantity.Digits, "it prepares %s statements", and(onNet, "allocation"),
		atHome, []engine.Aspect{engine.AspectProtocol}},
	{RuleSpills, growth(engine.Spills), quantity.Digits, "%s sorts or temporary tables go to files",
		and(onFiles, "execution"), reading, []engine.Aspect{engine.AspectSort}},
	{RuleSpills, inKB(engine.TempBytes), kb, "temporary files take %s", and(onFiles, "execution"), reading,
		[]engine.Aspect{engine.AspectSort}},
	{Rule(engine.AspectEncryption), where(engine.AspectEncryption, perUnit(metric.CacheMisses)), quantity.Thousandths,
		"it decrypts %s pages", onlyEncryption, nil, nil},
	{Rule(engine.AspectEncryption), where(engine.AspectEncryption, inKB(engine.PageBytes)), kb,
		"it encrypts pages of %s", onlyEncryption, nil, nil},
	{Rule(engine.AspectCompression), where(engine.AspectCompression, perUnit(metric.CacheMisses)), quantity.Thousandths,
		"it decompresses %s pages or blocks", onlyCompression, nil, nil},
	{Rule(engine.AspectCompression), where(engine.AspectCompression, inKB(engine.FlushBytes)), kb,
		"it flushes %s compressed", onlyCompression, nil, nil},
	{RuleRowLocks, growth(engine.LockWaits), quantity.Digits, "%s waits for rows that others hold",
		[]profile.Subsystem{"row locks", "latches", "transactions", "kernel: scheduling"},
		[]Item{Item(engine.RoleRow)}, nil},
	{RuleRetries, retries, quantity.Digits, "%s attempts are repeated", and(search, "row locks"), nil, nil},
	{RuleStalls, stalled, quantity.RoughShare, "the engine held up writes for %s of the time", nil,
		[]Item{Item(engine.RoleCommit)}, nil},
	{RuleDeadRows, growth(engine.DeadEntries), quantity.Digits, "it passes over %s entries of deleted or replaced rows",
		search, nil, nil},
	{RuleLookups, perUnit(metric.RowsExamined), quantity.Thousandths, "it examines %s rows", search, reading,
		[]engine.Aspect{engine.AspectPlan}},
	{RuleCompaction, func(r *run) float64 { return gauge(r.Step, engine.SortedRuns) }, quantity.Digits,
		"a read may look into %s sorted runs", search, reading, nil},
	{RuleReads, perUnit(metric.CacheMisses), quantity.Thousandths, "its cache misses %s pages or blocks", onPages,
		reading, blocks},
	{RuleReads, perUnit(metric.ReadKB), kb, "it reads %s", onPages, reading, blocks},
	{RuleReads, inKB(engine.BytesRead), kb, "it reads %s into its cache", onPages, reading, blocks},
	{RuleLookups, growth(engine.CacheLookups), quantity.Digits, "it looks up %s pages or blocks", search, nil,
		[]engine.Aspect{engine.AspectPlan, engine.AspectFilters}},
	{RuleCompaction, inKB(engine.CompactedBytes), kb, "compactions write %s", and(onPages, "compaction", "merging",
		"garbage collection"), []Item{Stalled}, []engine.Aspect{engine.AspectMemtable}},
	{RuleCompaction, inKB(engine.FlushBytes), kb, "flushes write %s", and(onPages, "flush", "garbage collection"),
		[]Item{Stalled}, []engine.Aspect{engine.AspectMemtable}},
	{RulePageWrites, growth(engine.PageWrites), quantity.Digits, "its commits write %s pages",
		and(onPages, "page allocation", "flush", "execution"), commits, nil},
	{RuleCommitPages, commitKB, kb, "besides what changed, commits write %s, such as the list of free pages",
		and(onPages, "page allocation", "flush"), commits, nil},
	{RulePageWrites, inKB(engine.PageBytes), kb, "it writes %s of pages", and(onPages, "page allocation", "flush"), nil,
		append([]engine.Aspect{engine.AspectCheckpoint}, blocks...)},
	{RuleWholePages, inKB(engine.FullPageBytes), kb, "whole pages take %s of the log",
		and(onFiles, "log", "checksums", "compression"), commits, pageLogs},
	{RuleLogVolume, inKB(engine.LogBytes), kb, "it logs %s", and(onFiles, "log", "checksums", "compression"), commits,
		logPack},
	{RuleCommits, growth(engine.LogSyncs), quantity.Digits, "it syncs its log %s times",
		and(onFiles, "log", "latches"), append(commits, Journal), logSync},
	{RuleCommits, growth("device.flushes"), quantity.Thousandths, "there are %s device flushes",
		and(onFiles, "log", "latches", "flush"), append(commits, Journal), logSync},
	{RuleBatch, engineCommits, quantity.Digits, "it commits %s times", and(onNet, "transactions", "log"), commits, nil},
	{RuleStatements, statements, quantity.Digits, "it executes %s statements", onNet, atHome, nil},
	{RuleRoundTrip, func(r *run) float64 { return cmp.Or(r.trial.RoundTrip, math.NaN()) * statements(r) }, quantity.Micros,
		"round trips take %s, without load", onNet, atHome, []engine.Aspect{engine.AspectConnection}},
	{RuleDevice, perRequest, quantity.Micros, "a request to the device takes %s", nil, slices.Concat(commits, reading),
		[]engine.Aspect{engine.AspectDevice}},
	{RuleThrottled, throttled, quantity.Micros, "a quota keeps sessions off the processors for %s", nil,
		[]Item{Queue, Uncovered}, []engine.Aspect{engine.AspectProcessors}},
	{RuleOthers, othersNoticed, quantity.RoughShare,
		"other programs used %s of the processors", nil, []Item{Queue, Uncovered}, nil},
	{RuleClients, func(r *run) float64 { return float64(r.clients()) }, quantity.Digits, "there are %s clients",
		[]profile.Subsystem{"latches", "row locks", "kernel: scheduling"},
		[]Item{Queue, Writers, Item(engine.RoleRow), Item(engine.RoleIndex), Item(engine.RoleBuffer)}, nil},
	{RuleDeadRows, func(r *run) float64 { return gauge(r.Step, engine.DeadRows) }, quantity.Thousandths,
		"%s old row versions are not removed yet", search, nil, nil},
	{RuleDeadRows, func(r *run) float64 { return gauge(r.Step, engine.OldestSnapshot) }, seconds,
		"the oldest snapshot is %s old", search, nil, nil},
	{RuleOtherGroups, inProgress, quantity.RoughShare, "operations of other clients are in progress for %s of the time",
		search, []Item{Queue, Uncovered}, nil},
}

// ofSubsystem are the aspects of settings that act on a subsystem by themselves: no count is between.
var ofSubsystem = map[profile.Subsystem][]engine.Aspect{
	"compression": {engine.AspectCompression, engine.AspectLogCompression},
	"encryption":  {engine.AspectEncryption, engine.AspectConnection},
	"text log":    {engine.AspectTextLog}, "parse and plan": {engine.AspectProtocol, engine.AspectPlan},
	"network":         {engine.AspectProtocol, engine.AspectConnection},
	"kernel: network": {engine.AspectProtocol, engine.AspectConnection},
	"execution":       {engine.AspectPlan, engine.AspectProtocol, engine.AspectTiming},
	"index search":    {engine.AspectPlan, engine.AspectPageSize, engine.AspectFilters},
	"checksums":       {engine.AspectPageSize},
	"log":             {engine.AspectLogSync, engine.AspectBinlog},
}

// aspects returns the aspects of settings that act on the item.
func (i Item) aspects() []engine.Aspect {
	if sub, ok := i.Subsystem(); ok {
		return ofSubsystem[sub]
	}
	return items[i].aspects
}

// drives reports whether the driver acts on an item.
func (d *driver) drives(i Item) bool {
	sub, ok := i.Subsystem()
	return ok && slices.Contains(d.on, sub) || slices.Contains(d.items, i)
}

// text puts a change of the driver into words.
func (d *driver) text(base, other float64) string {
	return fmt.Sprintf(d.says, instead(d.show, base, other))
}

// move is how a driver differs in a step.
type move struct {
	*driver
	base, other float64
	log         float64
}

// leastMove is the ratio by which a count must differ to be said to have moved.
const leastMove = 1.1

// moved returns the drivers whose counts are proven to differ.
func (s *Step) moved() (out []move) {
	for i := range drivers {
		d := &drivers[i]
		x, y := stat.Values(s.Base.runs, d.value), stat.Values(s.New.runs, d.value)
		base, other := stat.Mean(x), stat.Mean(y)
		if math.IsNaN(base + other) {
			continue
		}
		log := logRatio(base, other)
		e := stat.Decide(x, y, s.design, 1-compare.Alpha)
		if math.Abs(log) > math.Log(leastMove) && e.P < compare.Alpha && e.Agreed && d.show(base) != d.show(other) {
			out = append(out, move{d, base, other, log})
		}
	}
	return out
}

func (d *driver) value(r run) float64 { return d.n(&r) }

// logRatio is the logarithm of a ratio, which is at most greatest: next to nothing is not nothing.
func logRatio(base, other float64) float64 {
	const greatest = 100
	floor := max(base, other) / greatest
	if floor <= 0 {
		return 0
	}
	return math.Log(max(other, floor) / max(base, floor))
}

// asMuch reports whether a count moved by as much as an item: their ratios are a factor of two apart at most, and
// neither moved much more than the other; or, of counts that are a part of an item's time, their differences are. What
// happens once in a hundred units is not the reason of much CPU.
func (m *move) asMuch(c *Cause) bool {
	const apart, more, each = 2, 3, 500 // µs of CPU that one of any count may need
	rare := math.Abs(c.New-c.Base) > each*math.Abs(m.other-m.base)
	if _, cpu := c.Item.Subsystem(); cpu && rare && m.rule != RuleSpills && m.rule != RuleConnections {
		return false
	} else if m.rule == RuleRoundTrip || m.rule == RuleThrottled {
		ratio := (m.other - m.base) / (c.New - c.Base)
		return ratio >= 1./apart && ratio <= apart
	}
	item := logRatio(c.Base, c.New)
	return item*m.log > 0 && math.Abs(item-m.log) <= math.Log(apart) &&
		max(math.Abs(item), math.Abs(m.log)) <= more*min(math.Abs(item), math.Abs(m.log))
}

// explain names the item of a cause, what drives it, and the settings that act on both.
func (s *Step) explain(c *Cause) {
	f := items[c.Item]
	c.Rule, c.Sentence = f.rule, s.says(c)
	if _, ok := c.Item.Subsystem(); ok {
		c.Rule = RuleCPU
	}
	aspects := slices.Clone(c.Item.aspects())
	for i := range s.moves {
		if m := &s.moves[i]; m.drives(c.Item) && m.asMuch(c) {
			c.Rule, c.Driver = m.rule, m.text(m.base, m.other)
			aspects = append(aspects, m.aspects...)
			break
		}
	}
	var acts engine.Aspect
	if c.Setting, acts = knobs(s, aspects); acts != "" && c.Driver == "" {
		c.Rule = Rule(acts)
	}
}

// along returns what else moved in the direction of some items, of that which drives them: the first few that a text
// does not name.
func (s *Step) along(causes []Cause, listed int, text string) (out []string) {
	moves := slices.Clone(s.moves)
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(math.Abs(b.log), math.Abs(a.log)) })
	for _, m := range moves {
		moved := m.text(m.base, m.other)
		found := slices.ContainsFunc(causes, func(c Cause) bool {
			return c.Driver == "" && m.drives(c.Item) && logRatio(c.Base, c.New)*m.log > 0
		})
		if found && !strings.Contains(text, moved) && len(out) < listed {
			out = append(out, moved)
		}
	}
	return out
}

// where is a count of work that settings of an aspect switch on: 0 in runs without.
func where(a engine.Aspect, n measure) measure {
	return func(r *run) float64 {
		for _, s := range r.trial.Settings {
			off := slices.Contains([]string{"", "none", "off", "0", "no"}, strings.ToLower(short(s.Value)))
			if !off && cmp.Or(r.trial.Affects[s.Name], engine.KnobAspect(s.Name)) == a {
				return n(r)
			}
		}
		return 0
	}
}

// growth is the growth of a counter per primary unit; NaN if it is unknown, or of a device that other programs used.
func growth(counter string) measure {
	return func(r *run) float64 {
		if strings.HasPrefix(counter, "device.") && r.disturbed() {
			return math.NaN()
		}
		return r.growth(counter)
	}
}

// inKB is the growth of a counter of bytes, in KB per primary unit.
func inKB(counter string) measure { return func(r *run) float64 { return r.growth(counter) / 1024 } }

// perUnit is a metric per the primary unit, unless other programs disturbed it.
func perUnit(name string) measure {
	return func(r *run) float64 {
		for row := range r.rows(name) {
			if row.Whole() && metric.PerOf(row.Per, r.Primary) && row.Op == "" && !row.Disturbed {
				return row.Value
			}
		}
		return math.NaN()
	}
}

// statements are those of the primary operation, per its units.
func statements(r *run) float64 {
	for row := range r.rows(metric.QueriesPerS) {
		if row.Op == r.Primary && row.Per == "" {
			return row.Value * r.Seconds / r.units
		}
	}
	return math.NaN()
}

// stalled is the share of the time in which the engine held up writes.
func stalled(r *run) float64 { return r.whole(metric.EngineStallS) / r.Seconds }

// othersNoticed is the share of the processors that other programs used, if it is worth a word.
func othersNoticed(r *run) float64 {
	if share := othersShare(r); !(share < mostShared) {
		return share
	}
	return 0
}

// textLog is by how many KB logs for people grow, per primary unit.
func textLog(r *run) float64 {
	if kb := inKB(engine.TextLogBytes)(r); !math.IsNaN(kb) {
		return kb
	}
	return inKB(account.GrownBytes(engine.MessageFile))(r)
}

// throttled is how long a quota kept the sessions off the processors, per primary unit.
func throttled(r *run) float64 {
	processors := r.processors().total() * r.units / (r.Seconds * 1e6)
	if processors == 0 {
		return math.NaN()
	}
	return r.micros("process.throttled_ns") * float64(r.clients()) / processors
}

// perRequest is the duration of a request to the device, in µs; NaN if it is unknown.
func perRequest(r *run) float64 {
	if r.disturbed() {
		return math.NaN()
	}
	n := func(name string) float64 { return r.counter("device." + name) }
	return (n("read_ns") + n("write_ns")) / (n("reads") + n("writes")) / 1e3
}

// inProgress is the number of operations of other clients that are in progress, as a mean; NaN if
// there are no such clients.
func inProgress(r *run) (sum float64) {
	groups := pacedBeside(r)
	if len(groups) == 0 {
		return math.NaN()
	}
	for row := range r.rows(metric.ServiceTotalS) {
		if slices.Contains(groups, row.Group) {
			sum += row.Value / r.Seconds
		}
	}
	return sum
}

func seconds(v float64) string { return quantity.Digits(v) + " s" }
