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
	RulePauses, RuleOtherGroups, RuleLogVolume  Rule = "pauses", "other clients", "log volume"
	RuleDeadRows, RuleCommitPages               Rule = "dead rows", "pages of commits"
)

// The rules that only notes have.
const (
	RuleSerial, RuleCollection              Rule = "serialization", "collection pauses"
	RuleStarts, RuleDeferral, RuleRecurring Rule = "different starts", "deferred writes", "recurring stalls"
	RuleServers                             Rule = "servers"
)

// view is the data that rules may read.
type view struct {
	*Step
	differ []compare.Difference
}

type wording = func(v *view, s *Sum, c *Cause) string

// naming is a rule for some items: when it holds, its sentence, and what drives the item.
type naming struct {
	rule     Rule
	evidence Evidence
	items    []Item
	when     condition // nil: always
	sentence wording
	driver   wording // nil: the item is the reason, or its reason is not known
}

var (
	filters   = both("filters skip %s files", quantity.Thousandths, spared)
	flushText = withKnobs(both("there are %s device flushes", quantity.Thousandths, deviceFlushes), engine.AspectLogSync)
	examined  = both("it examines %s rows", quantity.Thousandths, perCPU(metric.RowsExamined))
	engineCPU = kin(served, behind, inside)
	waits     = append(kin(commit, inside), Item(engine.RoleIO))
	answers   = append(kin(served), Item(engine.RoleExecuting), Item(engine.RoleNetwork))
)

// timings are the rules for items of times, the most specific first: an item gets the
// first that holds.
var timings = slices.Concat(waited, wayNamings(ways), worked, wayNamings(work), unexplained)

// waited are the rules for items of time that name themselves, or that a wait explains.
var waited = []naming{
	{RuleOthers, Law, []Item{Others, Steal}, nil, says("other programs used %s of the processors"), nil},
	{RuleStalls, Law, kin(commit, inside), moreStalls, takes,
		both("the engine held up writes for %s of the time", quantity.RoughShare, stalled)},
	{RuleDevice, Law, []Item{Can}, nil, func(v *view, s *Sum, c *Cause) string {
		return "the device can do " + v.change(s, c) + " " + v.ceiling().noun() + " per second"
	}, nil},
	{RuleCommits, Accounted, []Item{Needs}, limitedByFlushes,
		says("it needs %s device flushes", engine.AspectLogSync), nil},
	{RuleDevice, Accounted, []Item{Needs}, nil, func(v *view, s *Sum, c *Cause) string {
		return "it needs " + v.change(s, c) + " device " + v.ceiling().noun()
	}, nil},
	{RuleDevice, Law, append([]Item{Flushes}, waits...), lesserDevice, takes, capacities},
	{RuleDevice, Law, waits, slowDevice, takes, both("a request to the device took %s", quantity.Micros, request)},
	{RuleClients, Accounted, []Item{Clients}, nil, says("the number of clients is %s"), nil},
	{RuleCommits, Pattern, []Item{Writers}, heldByFlushes, takes, flushText},
	{RuleRowLocks, Accounted, []Item{Writers}, otherClients, takes, nil},
	{"", Accounted, []Item{Writers}, nil, takes, nil}, // as many writers wait as long as they write
	{RuleStalls, Accounted, []Item{Stalled}, nil, says("the engine held up writes for %s"), nil},
	{RuleCommits, Accounted, kin(commit), nil, func(v *view, s *Sum, c *Cause) string {
		return takes(v, s, c) + syncs(v, s) + v.also(engine.AspectLogSync)
	}, nil},
	{RuleCommits, Accounted, []Item{Flushes}, nil, says("device flushes take %s", engine.AspectLogSync), nil},
	{RuleRowLocks, Accounted, []Item{Item(engine.RoleRow)}, nil, says("sessions wait %s for row locks"), nil},
	{RuleLatches, Pattern, kin(latch), nil, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("sessions wait %s for the %s", v.change(s, c), c.Item)
	}, nil},
	{RuleReads, Accounted, []Item{Item(engine.RoleIO)}, nil,
		says("sessions wait %s for reads and writes of tables and indexes"), nil},
	{RulePauses, Accounted, []Item{Between}, morePauses,
		says("clients wait for each other or pause for %s between operations"), nil},
	{RuleClient, Accounted, []Item{Client, Between}, nil, says("the client takes %s"), nil},
	{RuleClient, Accounted, []Item{Item(engine.RoleClient)}, nil, says("sessions wait %s for their clients"), nil},
}

// worked are the rules for the time in which the engine works.
var worked = []naming{
	{RuleFilters, Pattern, kin(served, inside), lessSpared, takes, filters},
	{RuleCompression, Pattern, append(kin(served, behind), InCalls), packed, takes,
		knob(engine.AspectCompression, engine.AspectLogCompression)},
	{RuleCompaction, Pattern, engineCPU, moreMerges, takes, both("compactions write %s", kb, compacted)},
	{RuleReads, Pattern, append(kin(served, inside), Item(account.ThreadCPU)), moreReads, takes,
		withKnobs(missed, engine.AspectCache)},
	{RulePageSize, Pattern, append(kin(served), InCalls), otherPage, takes, knob(engine.AspectPageSize)},
	{RuleReads, Accounted, []Item{Item(account.ThreadIO)}, nil, says("sessions wait %s for devices"), nil},
	{RuleWholePages, Pattern, kin(served), moreWholePages, takes,
		withKnobs(both("whole pages take %s of the log", kb, wholePages), engine.AspectCheckpoint)},
	{RuleRowLocks, Pattern, kin(served), moreRowWaits, takes,
		both("sessions wait %s for row locks", quantity.Micros, rowWaits)},
	{RuleCommits, Pattern, kin(served, inside), moreFlushes, takes, flushText},
	{RuleClients, Pattern, kin(served), otherClients, takes, func(*view, *Sum, *Cause) string {
		return "another number of clients contends for memory, which is not counted"
	}},
	{RuleDeadRows, Pattern, kin(served), allOf(moreRows, moreVersions), takes, withVersions(examined)},
	{RuleLookups, Pattern, kin(served), moreRows, takes, examined},
	{RuleOtherGroups, Pattern, kin(served, inside), busierBeside, takes, besideText},
	{RuleDeadRows, Pattern, kin(served), allOf(lookups.holds, moreVersions), takes, withVersions(lookups.text)},
	{RuleProtocol, Pattern, answers, otherProtocol, takes, knob(engine.AspectProtocol)},
	{RuleProtocol, Accounted, []Item{Item(engine.RoleNetwork)}, nil, says("sessions spend %s on sending"), nil},
}

// unexplained are the rules for times that say where they go, and not why.
var unexplained = []naming{
	{RuleCPU, Law, []Item{Item(account.ThreadQueue)}, nil, says("sessions wait %s for a processor"), nil},
	{RuleCPU, Accounted, append([]Item{Kernel, Item(account.ThreadCPU)}, engineCPU...), otherTiming, takes,
		knob(engine.AspectTiming)},
	{RuleCPU, Accounted, append([]Item{Kernel, Item(account.ThreadCPU)}, engineCPU...), nil, takes, nil},
}

// amounts are the rules for items of bytes, in the same order.
var amounts = []naming{
	{RuleDoublewrite, Accounted, []Item{Item(account.DoublewritePart)}, oneSided,
		says("the doublewrite buffer takes %s", engine.AspectDoublewrite), nil},
	{RuleWholePages, Accounted, []Item{Item(account.FullPagesPart)}, nil,
		says("whole pages in the log take %s", engine.AspectCheckpoint), nil},
	{RuleFullLog, Law, kin(pages), fullLog, states, withKnobs(func(*view, *Sum, *Cause) string {
		return "the log was full and forced pages out"
	}, engine.AspectCheckpoint)},
	{RulePageSize, Accounted, kin(pages), otherPage, states, knob(engine.AspectPageSize)},
	{RuleCompaction, Accounted, []Item{Item(account.CompactionPart), Item(account.FlushPart)}, nil,
		func(v *view, s *Sum, c *Cause) string { return fmt.Sprintf("%s writes %s", c.Item, v.change(s, c)) }, nil},
	{RuleTextLog, Accounted, []Item{TextLog}, nil, says("the server’s text log takes %s"), nil},
	{RuleBinlog, Accounted, []Item{BinaryLog}, nil, says("the binary log takes %s"), nil},
	{RuleTempFiles, Accounted, []Item{TempWrites}, nil, says("temporary files of sorts and hash tables take %s"), nil},
	{RuleCommits, Accounted, []Item{Padding}, blocksOfSyncs,
		says("each sync writes whole blocks, %s beyond what the engine counts", engine.AspectLogSync), nil},
	{RuleCommits, Accounted, []Item{Journal}, blocksOfSyncs,
		says("each sync writes to the file system’s journal, %s", engine.AspectLogSync), nil},
	{RuleJournal, Accounted, []Item{Journal}, nil, says("the file system's journal takes %s"), nil},
	{RuleCompression, Pattern, []Item{Item(account.PagesPart), MissKB, PerRead}, dataPacked, states,
		knob(engine.AspectCompression)},
	{RuleCompression, Pattern, []Item{Item(account.LogPart)}, packed, states,
		knob(engine.AspectCompression, engine.AspectLogCompression)},
	{RuleCompression, Pattern, []Item{Data}, dataPacked, says("tables and indexes take %s the live data"),
		knob(engine.AspectCompression)},
	{RulePageSize, Pattern, []Item{Item(account.LogPart), Uncounted}, otherPage, states, knob(engine.AspectPageSize)},
	{RuleCommitPages, Accounted, []Item{CommitPages}, nil,
		says("each commit’s own pages, such as the list of free pages, take %s"), nil},
	{"", Accounted, []Item{Padding}, nil, says("writes that the engine’s counters do not cover: %s"), nil},
	{"", Accounted, []Item{Uncounted}, nil, says("pages, and what else the engine’s counters do not cover: %s"), nil},
	{"", Accounted, []Item{Data}, nil, says("tables and indexes take %s the live data"), nil},
	{"", Accounted, []Item{SystemFiles}, nil,
		says("undo, old row versions and the server's own files take %s the live data"), nil},
	{"", Accounted, []Item{LogFiles}, nil, says("log files take %s the live data"), nil},
	{"", Accounted, []Item{TempFiles}, nil, says("temporary files take %s the live data"), nil},
	{RuleFilters, Accounted, []Item{Lookups, Reads, Misses}, lessSpared, states, filters},
	{RuleLookups, Accounted, []Item{Lookups}, nil, says("it looks up %s pages or blocks"), nil},
	{RuleReads, Accounted, []Item{Misses}, nil, func(v *view, _ *Sum, c *Cause) string {
		share := instead(quantity.RoughShare, c.Base, c.New)
		return "the cache misses " + share + " of its lookups" + v.also(engine.AspectCache)
	}, nil},
	{RuleReads, Accounted, []Item{Reads}, nil, says("it does %s reads"), nil},
	{RulePageCache, Pattern, []Item{MissKB, PerRead}, lessThanBlock,
		says("of what its cache misses, the device delivers %s: the page cache serves the rest"), nil},
	{RulePageSize, Accounted, []Item{MissKB, PerRead}, otherPage, says("a read fetches %s", engine.AspectPageSize), nil},
	{RulePageCache, Pattern, []Item{PerMiss}, nil, func(_ *view, _ *Sum, c *Cause) string {
		text := "the device does " + instead(quantity.Thousandths, c.Base, c.New) + " reads per cache miss"
		if max(c.Base, c.New) < 1.05 {
			text += ", and the page cache serves the rest"
		}
		return text
	}, nil},
	{"", Accounted, []Item{MissKB, PerRead}, nil, says("a read fetches %s"), nil},
}

// explain sets the rule and the sentence of a cause; items without a rule are only stated.
func (v *view) explain(s *Sum, c *Cause) {
	namings := amounts
	if s.timed() {
		namings = timings
	}
	c.Evidence, c.Sentence = Accounted, states(v, s, c)
	for i := range namings {
		n := &namings[i]
		if !slices.Contains(n.items, c.Item) || n.when != nil && !n.when(v, s, c) {
			continue
		}
		c.Rule, c.Evidence, c.Sentence = n.rule, n.evidence, n.sentence(v, s, c)
		if c.Item == Server {
			c.detail = v.inKernel(c)
		}
		if n.driver != nil {
			c.Driver = n.driver(v, s, c)
		}
		return
	}
}

func capacities(v *view, _ *Sum, c *Cause) string {
	larger, _ := v.larger(c)
	return v.capacity(larger.Limit)
}

func (s *Sum) timed() bool { return s.Metric == metric.CPUUS || s.throughput() }

// says is a sentence whose gap is the change, and the knob that differs and affects it.
func says(format string, aspects ...engine.Aspect) wording {
	return func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf(format, v.change(s, c)) + v.also(aspects...)
	}
}

// states is the item's name with its change.
func states(v *view, s *Sum, c *Cause) string { return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) }

// withKnobs is a text followed by the knobs that affect it.
func withKnobs(text wording, aspects ...engine.Aspect) wording {
	return func(v *view, s *Sum, c *Cause) string { return text(v, s, c) + v.also(aspects...) }
}

// knob is a clause about the knobs that affect any of these.
func knob(aspects ...engine.Aspect) wording {
	return func(v *view, _ *Sum, _ *Cause) string { return "of " + v.knobs(aspects...) }
}

// takes reports how much CPU is used, how long operations take, or how long sessions wait.
func takes(v *view, s *Sum, c *Cause) string {
	change := v.change(s, c)
	switch format := items[c.Item].says; {
	case c.Item == Server && v.New.embedded():
		return name(&v.New) + " needs " + change + " of CPU"
	case c.Item == Server:
		return name(&v.New) + " needs " + change + " of server CPU"
	case format == "":
		return fmt.Sprintf("sessions wait %s for %s", change, c.Item)
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

// withVersions is a text followed by the number of old row versions.
func withVersions(text wording) wording {
	versions := both(", with %s old row versions not removed yet", quantity.Thousandths, oldVersions)
	return func(v *view, s *Sum, c *Cause) string { return text(v, s, c) + versions(v, s, c) }
}

func besideText(v *view, s *Sum, c *Cause) string {
	return "operations of " + quantity.Joined(paced(&v.New.runs[0])) + " are in progress for " +
		both("%s of the time", quantity.RoughShare, inProgress)(v, s, c)
}

// short returns a value without its explanation.
func short(value string) string {
	value, _, _ = strings.Cut(value, " (")
	return value
}

// also names the knobs that differ and affect any of these, in brackets; "" if none does.
func (v *view) also(aspects ...engine.Aspect) string {
	if text := v.knobs(aspects...); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// blocks are aspects of what a cache holds and a read fetches. Knobs of these affect the same
// numbers.
var blocks = []engine.Aspect{engine.AspectCompression, engine.AspectPageSize, engine.AspectCache}

// knobs names the knobs that differ and affect any of these, with those that affect the same
// numbers; "" if none of the first does.
func (v *view) knobs(aspects ...engine.Aspect) string {
	affected := func(by []engine.Aspect) (out []string) {
		for _, d := range v.differ {
			if slices.Contains(by, d.Affects) {
				out = append(out, differenceText(d))
			}
		}
		return out
	}
	list := affected(aspects)
	if len(list) > 0 && slices.ContainsFunc(aspects, func(a engine.Aspect) bool { return slices.Contains(blocks, a) }) {
		list = affected(append(slices.Clone(aspects), blocks...))
	}
	return strings.Join(list, " or ")
}
