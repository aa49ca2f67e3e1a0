package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Evidence is how strong a rule's claim may be.
type Evidence string

// The kinds of evidence. Statistics only make a word weaker, never stronger.
const (
	Accounted Evidence = "accounted" // by an identity: “because”
	Law       Evidence = "law"       // of queues: “is limited by”
	Pattern   Evidence = "pattern"   // “goes with”
)

// Rule is the name of a cause or of a note; docs/why.md has a table of each. Causes that
// only state an item have none.
type Rule string

// The rules of causes.
const (
	RuleOthers, RuleClient, RuleClients         Rule = "other programs", "client", "number of clients"
	RuleStalls, RuleDevice, RuleCommits         Rule = "write stalls", "device", "commits"
	RuleRowLocks, RuleLatches, RuleProtocol     Rule = "row locks", "latches", "protocol"
	RuleReads, RuleLookups, RuleFilters         Rule = "reads", "look-ups", "filters"
	RuleCompression, RuleCompaction, RuleCPU    Rule = "compression", "compaction", "CPU"
	RulePageSize, RuleWholePages, RulePageCache Rule = "page size", "whole pages in the log", "page cache"
	RuleDoublewrite, RuleFullLog, RuleJournal   Rule = "doublewrite", "full log", "journal"
	RuleTextLog, RuleBinlog, RuleTempFiles      Rule = "text log", "binary log", "temporary files"
	RuleConnections, RulePrepares, RuleSpills   Rule = "connections", "prepared statements", "spills"
	RuleRetries, RuleStatements, RuleBatch      Rule = "retries", "statements", "rows per commit"
	RulePauses                                  Rule = "pauses"
)

// The rules that only notes have.
const (
	RuleSerial, RuleCollection              Rule = "serialization", "collection pauses"
	RuleStarts, RuleDeferral, RuleRecurring Rule = "different starts", "deferred writes", "recurring stalls"
)

// view is the data that rules may read.
type view struct {
	*Step
	differ []compare.Difference
}

// wording is a text about a cause.
type wording = func(v *view, s *Sum, c *Cause) string

// naming is a rule for some items: when it holds, and its sentence.
type naming struct {
	rule     Rule
	evidence Evidence
	items    []Item
	when     condition // nil: always
	sentence wording
}

var (
	filters   = both("filters skip %s files", quantity.Thousandths, spared)
	engineCPU = kin(served, behind, inside)
	waits     = append(kin(commit, inside), Item(engine.RoleIO))
	answers   = append(kin(served), Item(engine.RoleExecuting), Item(engine.RoleNetwork))
)

// timings are the rules for items of times, the most specific first: an item gets the
// first that holds.
var timings = slices.Concat(waited, wayNamings(), worked)

// waited are the rules for items of time that name themselves, or that a wait explains.
var waited = []naming{
	{RuleOthers, Law, []Item{Others, Steal}, nil, says("other programs used %s of the processors")},
	{RuleStalls, Law, kin(commit, inside), moreStalls, func(v *view, s *Sum, c *Cause) string {
		held := both("the engine held up writes for %s of the time", quantity.RoughShare, stalled)
		return usesCPU(v, s, c) + ": " + held(v, s, c)
	}},
	{RuleDevice, Law, []Item{Can}, nil, func(v *view, s *Sum, c *Cause) string {
		return "the device can do " + v.change(s, c) + " " + v.ceiling().noun() + " per second"
	}},
	{RuleCommits, Accounted, []Item{Needs}, limitedByFlushes, says("it needs %s device flushes", engine.AspectLogSync)},
	{RuleDevice, Accounted, []Item{Needs}, nil, func(v *view, s *Sum, c *Cause) string {
		return "it needs " + v.change(s, c) + " device " + v.ceiling().noun()
	}},
	{RuleDevice, Law, append([]Item{Flushes}, waits...), lesserDevice, uses(capacities)},
	{RuleDevice, Law, waits, slowDevice, uses(both("a request to the device took %s", quantity.Micros, request))},
	{RuleClients, Accounted, []Item{Clients}, nil, says("the number of clients is %s")},
	{RuleRowLocks, Accounted, []Item{Writers}, nil, says("writers wait %s for each other: one writes at a time")},
	{RuleStalls, Accounted, []Item{Stalled}, nil, says("the engine held up writes for %s")},
	{RuleCommits, Accounted, kin(commit), nil, func(v *view, s *Sum, c *Cause) string {
		return "commits wait " + v.change(s, c) + " for the log" + syncs(v, s) + v.also(engine.AspectLogSync)
	}},
	{RuleCommits, Accounted, []Item{Flushes}, nil, says("device flushes take %s", engine.AspectLogSync)},
	{RuleRowLocks, Accounted, []Item{Item(engine.RoleRow)}, nil, says("sessions wait %s for row locks")},
	{RuleLatches, Pattern, kin(latch), nil, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("sessions wait %s for the %s", v.change(s, c), c.Item)
	}},
	{RuleReads, Accounted, []Item{Item(engine.RoleIO)}, nil,
		says("sessions wait %s for reads and writes of tables and indexes")},
	{RulePauses, Accounted, []Item{Between}, morePauses, says("clients are without an operation for %s")},
	{RuleClient, Accounted, []Item{Client, Between}, nil, says("the client takes %s")},
	{RuleClient, Accounted, []Item{Item(engine.RoleClient)}, nil, says("sessions wait %s for their clients")},
}

// worked are the rules for the time in which the engine works.
var worked = []naming{
	{RuleFilters, Pattern, kin(served, inside), lessSpared, uses(filters)},
	{RuleCompression, Pattern, append(kin(served, behind), InCalls), packed,
		uses(nil, engine.AspectCompression, engine.AspectLogCompression)},
	{RuleCompaction, Pattern, engineCPU, moreMerges, uses(both("compactions write %s", kb, compacted))},
	{RuleReads, Pattern, append(kin(served, inside), Item(account.ThreadCPU)), moreReads,
		uses(missed, engine.AspectCache)},
	{RulePageSize, Pattern, append(kin(served), InCalls), otherPage, uses(nil, engine.AspectPageSize)},
	{RuleReads, Accounted, []Item{Item(account.ThreadIO)}, nil, says("sessions wait %s for devices")},
	{RuleWholePages, Pattern, kin(served), moreWholePages,
		uses(both("whole pages in the log: %s", kb, wholePages), engine.AspectCheckpoint)},
	{RuleRowLocks, Pattern, kin(served), moreRowWaits,
		uses(both("sessions wait %s for row locks", quantity.Micros, rowWaits))},
	{RuleCommits, Pattern, kin(served, inside), moreFlushes,
		uses(both("%s device flushes", quantity.Thousandths, deviceFlushes), engine.AspectLogSync)},
	{RuleClients, Pattern, kin(served), otherClients, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + " with another number of clients: contention for memory is possible, and not counted here"
	}},
	{RuleLookups, Pattern, kin(served), moreRows,
		uses(both("it examines %s rows", quantity.Thousandths, perCPU(metric.RowsExamined)))},
	{RuleProtocol, Pattern, answers, otherProtocol, uses(nil, engine.AspectProtocol)},
	{RuleProtocol, Accounted, []Item{Item(engine.RoleNetwork)}, nil, says("sessions spend %s on sending")},
	{RuleCPU, Law, []Item{Item(account.ThreadQueue)}, nil, says("sessions wait %s for a processor")},
	{RuleCPU, Accounted, append([]Item{Kernel, Item(account.ThreadCPU)}, engineCPU...), nil,
		uses(nil, engine.AspectTiming)},
}

// amounts are the rules for items of bytes, in the same order.
var amounts = []naming{
	{RuleDoublewrite, Accounted, []Item{Item(account.DoublewritePart)}, oneSided,
		says("the doublewrite buffer takes %s", engine.AspectDoublewrite)},
	{RuleWholePages, Accounted, []Item{Item(account.FullPagesPart)}, nil,
		says("whole pages in the log: %s", engine.AspectCheckpoint)},
	{RuleFullLog, Law, kin(pages), fullLog,
		states(", because the log was full and forced pages out", engine.AspectCheckpoint)},
	{RulePageSize, Accounted, kin(pages), otherPage, states("", engine.AspectPageSize)},
	{RuleCompaction, Accounted, []Item{Item(account.CompactionPart), Item(account.FlushPart)}, nil,
		func(v *view, s *Sum, c *Cause) string { return fmt.Sprintf("%s writes %s", c.Item, v.change(s, c)) }},
	{RuleTextLog, Accounted, []Item{TextLog}, nil, says("the server’s text log takes %s")},
	{RuleBinlog, Accounted, []Item{BinaryLog}, nil, says("the binary log takes %s")},
	{RuleTempFiles, Accounted, []Item{TempWrites}, nil, says("temporary files of sorts and hash tables take %s")},
	{RuleCommits, Accounted, []Item{Padding}, blocksOfSyncs,
		says("each sync writes whole blocks: %s beyond what the engine counts", engine.AspectLogSync)},
	{RuleCommits, Accounted, []Item{Journal}, blocksOfSyncs,
		says("each sync writes to the file system’s journal: %s", engine.AspectLogSync)},
	{RuleJournal, Accounted, []Item{Journal}, nil, says("the file system's journal: %s")},
	{RuleCompression, Pattern, []Item{Item(account.PagesPart), MissKB, PerRead}, dataPacked,
		states("", engine.AspectCompression)},
	{RuleCompression, Pattern, []Item{Item(account.LogPart)}, packed,
		states("", engine.AspectCompression, engine.AspectLogCompression)},
	{RuleCompression, Pattern, []Item{Data}, dataPacked,
		says("tables and indexes take %s the live data", engine.AspectCompression)},
	{RulePageSize, Pattern, []Item{Item(account.LogPart), Uncounted}, otherPage, states("", engine.AspectPageSize)},
	{"", Accounted, []Item{Padding}, nil, says("what the engine does not count: %s")},
	{"", Accounted, []Item{Uncounted}, nil, says("pages, and what else the engine does not count: %s")},
	{"", Accounted, []Item{Data}, nil, says("tables and indexes take %s the live data")},
	{"", Accounted, []Item{SystemFiles}, nil,
		says("undo, old row versions and the server's own files take %s the live data")},
	{"", Accounted, []Item{LogFiles}, nil, says("log files take %s the live data")},
	{"", Accounted, []Item{TempFiles}, nil, says("temporary files take %s the live data")},
	{RuleFilters, Accounted, []Item{Lookups, Reads, Misses}, lessSpared, func(v *view, s *Sum, c *Cause) string {
		return states("")(v, s, c) + "; " + filters(v, s, c)
	}},
	{RuleLookups, Accounted, []Item{Lookups}, nil, says("it looks up %s pages or blocks")},
	{RuleReads, Accounted, []Item{Misses}, nil, func(v *view, _ *Sum, c *Cause) string {
		share := instead(quantity.RoughShare, c.Base, c.New)
		return "the cache misses " + share + " of its lookups" + v.also(engine.AspectCache)
	}},
	{RuleReads, Accounted, []Item{Reads}, nil, says("it does %s reads")},
	{RulePageCache, Pattern, []Item{MissKB, PerRead}, lessThanBlock,
		says("of what its cache misses, the device delivers %s: the page cache serves the rest")},
	{RulePageSize, Accounted, []Item{MissKB, PerRead}, otherPage, says("a read fetches %s", engine.AspectPageSize)},
	{RulePageCache, Pattern, []Item{PerMiss}, nil, func(_ *view, _ *Sum, c *Cause) string {
		text := "the device does " + instead(quantity.Thousandths, c.Base, c.New) + " reads per cache miss"
		if max(c.Base, c.New) < 1.05 {
			text += ", and the page cache serves the rest"
		}
		return text
	}},
	{"", Accounted, []Item{MissKB, PerRead}, nil, says("a read fetches %s")},
}

// explain sets the rule and the sentence of a cause; items without a rule are only stated.
func (v *view) explain(s *Sum, c *Cause) {
	namings := amounts
	if s.timed() {
		namings = timings
	}
	c.Evidence, c.Sentence = Accounted, states("")(v, s, c)
	for i := range namings {
		if n := &namings[i]; slices.Contains(n.items, c.Item) && (n.when == nil || n.when(v, s, c)) {
			c.Rule, c.Evidence, c.Sentence = n.rule, n.evidence, n.sentence(v, s, c)
			return
		}
	}
}

func capacities(v *view, s *Sum, c *Cause) string {
	larger, _ := v.larger(c)
	can := both("%s", quantity.Thousandths, func(_ *view, _ *Sum, side *Side) float64 { return side.can(larger.Limit) })
	return fmt.Sprintf("the device can do %s %s per second", can(v, s, c), larger.Limit.noun())
}

// timed reports whether the items are times.
func (s *Sum) timed() bool { return s.Metric == metric.CPUUS || s.throughput() }

// says is a sentence whose gap is the change, and the knob that differs and affects it.
func says(format string, aspects ...engine.Aspect) wording {
	return func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf(format, v.change(s, c)) + v.also(aspects...)
	}
}

// states is the item's name with its change, and more.
func states(more string, aspects ...engine.Aspect) wording {
	return func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s%s", c.Item, v.change(s, c), more) + v.also(aspects...)
	}
}

// uses reports how much CPU or time is used, followed by more and the knobs of the aspects.
func uses(more wording, aspects ...engine.Aspect) wording {
	return func(v *view, s *Sum, c *Cause) string {
		text := usesCPU(v, s, c)
		if more != nil {
			text += "; " + more(v, s, c)
		}
		return text + v.also(aspects...)
	}
}

// usesCPU reports how much CPU is used, how long operations take, or how long sessions wait.
func usesCPU(v *view, s *Sum, c *Cause) string {
	change := v.change(s, c)
	switch format := items[c.Item].says; {
	case format == "":
		return fmt.Sprintf("sessions wait %s for %s", change, c.Item)
	case c.Item == Server && !v.New.embedded():
		return "it needs " + change + " of server CPU" + v.inKernel(c)
	case c.Item == Server:
		return fmt.Sprintf(format, change) + v.inKernel(c)
	default:
		return fmt.Sprintf(format, change)
	}
}

// inKernel reports how much of the engine's CPU is used in the kernel, if that is a good
// part of the difference.
func (v *view) inKernel(c *Cause) string {
	base, ok := v.Base.growth("process.system_ns")
	other, known := v.New.growth("process.system_ns")
	if !ok || !known || !((other-base)/1e3/(c.New-c.Base) >= goodPart) {
		return ""
	}
	return ", in the kernel " + instead(quantity.Micros, base/1e3, other/1e3)
}

// change returns an item's values per unit, the new one first: “410 µs instead of 336 µs”.
func (v *view) change(s *Sum, c *Cause) string {
	format := items[c.Item].format
	switch {
	case format != nil:
	case s.timed():
		format = quantity.Micros
	case s.Of == Parts && s.Metric == metric.SpaceAmplification:
		format = quantity.Times
	case s.Of == Parts:
		format = kb
	default:
		format = quantity.Thousandths
	}
	return instead(format, c.Base, c.New)
}

func kb(v float64) string { return quantity.Thousandths(v) + " KB" }

func instead(format func(float64) string, base, other float64) string {
	return format(other) + " instead of " + format(base)
}

// both is a text whose gap is a number of both sides.
func both(format string, show func(float64) string, n measure) wording {
	return func(v *view, s *Sum, _ *Cause) string {
		return fmt.Sprintf(format, instead(show, n(v, s, &v.Base), n(v, s, &v.New)))
	}
}

// syncs reports how many syncs of the log there are, if that differs.
func syncs(v *view, s *Sum) string {
	a, b := v.Base.per(metric.LogSyncs, "", s.writes(v)), v.New.per(metric.LogSyncs, "", s.writes(v))
	if math.IsNaN(a+b) || !apart(a, b, 0.1) {
		return ""
	}
	return ", with " + instead(quantity.Thousandths, a, b) + " syncs"
}

// missed reports how much more is read: the misses of the cache or, if they are not counted,
// the reads of the device.
func missed(v *view, s *Sum, c *Cause) string {
	n := perCPU(metric.CacheMisses)
	if apart(n(v, s, &v.Base), n(v, s, &v.New), 0.1) {
		return both("its cache misses %s pages or blocks", quantity.Thousandths, n)(v, s, c)
	}
	return both("it reads %s", kb, perCPU(metric.ReadKB))(v, s, c)
}

// short returns a value without its explanation.
func short(value string) string {
	value, _, _ = strings.Cut(value, " (")
	return value
}

// also names the first knob that differs and affects any of these.
func (v *view) also(aspects ...engine.Aspect) string {
	for _, d := range v.differ {
		if slices.Contains(aspects, d.Affects) {
			return fmt.Sprintf(" (%s %s instead of %s)", engine.KnobName(d.What), short(d.New), short(d.Base))
		}
	}
	return ""
}
