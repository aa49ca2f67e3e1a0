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

// Evidence is how strongly a rule may speak.
type Evidence string

// The kinds of evidence. Statistics only make a word weaker, never stronger.
const (
	Accounted Evidence = "accounted" // by an identity: “because”
	Law       Evidence = "law"       // of queues: “is limited by”
	Pattern   Evidence = "pattern"   // “goes with”
	Setting   Evidence = "setting"   // “also differs”
)

// Rule is the name of a cause or of a note; docs/why.md has a table of each. Causes that
// only state an item have none.
type Rule string

// The rules of causes.
const (
	RuleOthers      Rule = "other programs"
	RuleClient      Rule = "client"
	RuleStalls      Rule = "write stalls"
	RuleDevice      Rule = "device"
	RuleClients     Rule = "number of clients"
	RuleCommits     Rule = "commits"
	RuleRowLocks    Rule = "row locks"
	RuleLatches     Rule = "latches"
	RuleReads       Rule = "reads"
	RuleLookups     Rule = "look-ups"
	RuleFilters     Rule = "filters"
	RuleCompression Rule = "compression"
	RuleCompaction  Rule = "compaction"
	RulePageSize    Rule = "page size"
	RuleWholePages  Rule = "whole pages in the log"
	RuleDoublewrite Rule = "doublewrite"
	RuleFullLog     Rule = "full log"
	RuleJournal     Rule = "journal"
	RuleProtocol    Rule = "protocol"
	RuleCPU         Rule = "CPU"
	RulePageCache   Rule = "page cache"
)

// The rules that only notes have.
const (
	RuleSerial     Rule = "serialization"
	RuleCollection Rule = "collection pauses"
	RuleStarts     Rule = "different starts"
	RuleDeferral   Rule = "deferred writes"
	RuleRecurring  Rule = "recurring stalls"
)

// view is what rules may look at.
type view struct {
	*Step
	differ []compare.Difference
}

// naming is a rule for some items: when it holds, and what it says.
type naming struct {
	rule     Rule
	evidence Evidence
	items    []Item
	when     func(v *view, s *Sum, c *Cause) bool // nil: always
	say      func(v *view, s *Sum, c *Cause) string
}

var (
	commits = []Item{Item(engine.RoleCommit), Item(engine.RoleLog)}
	latches = []Item{Item(engine.RoleMetadata), Item(engine.RoleSnapshot), Item(engine.RoleIndex), Item(engine.RoleBuffer)}
	inside  = []Item{Item(engine.RoleExecuting), Item(engine.RoleCPU), InCalls}
	served  = []Item{Server, Serving}
	spoken  = append([]Item{Item(engine.RoleExecuting), Item(engine.RoleNetwork)}, served...)
	paged   = []Item{Item(account.PagesPart), Item(account.DoublewritePart)}
	waits   = append(append([]Item{Item(engine.RoleIO)}, commits...), inside...)
)

// timings are the rules for items of times, the most specific first: an item gets the
// first that holds.
var timings = []naming{
	{RuleOthers, Law, []Item{Others, Steal}, nil, says("other programs used %s of the processors")},
	{RuleStalls, Law, slices.Concat(commits, inside), moreStalls, func(v *view, s *Sum, c *Cause) string {
		held := instead(quantity.RoughShare, v.Base.stalled(), v.New.stalled())
		return fmt.Sprintf("%s: the engine held up writes for %s of the time", lasts(v, s, c), held)
	}},
	{RuleDevice, Law, []Item{Can}, nil, func(v *view, s *Sum, c *Cause) string {
		return "the device can do " + v.change(s, c) + " " + v.ceiling().noun() + " per second"
	}},
	{RuleCommits, Accounted, []Item{Needs}, limitedByFlushes, func(v *view, s *Sum, c *Cause) string {
		return "it needs " + v.change(s, c) + " device flushes" + v.also(engine.AspectLogSync)
	}},
	{RuleDevice, Accounted, []Item{Needs}, nil, func(v *view, s *Sum, c *Cause) string {
		return "it needs " + v.change(s, c) + " device " + v.ceiling().noun()
	}},
	{RuleDevice, Law, append([]Item{Flushes}, waits...), lesserDevice, func(v *view, s *Sum, c *Cause) string {
		most, _ := v.most(c)
		can := instead(quantity.Thousandths, v.Base.can(most.Limit), v.New.can(most.Limit))
		return fmt.Sprintf("%s; the device can do %s %s per second", lasts(v, s, c), can, most.Limit.noun())
	}},
	{RuleDevice, Law, waits, slowDevice, func(v *view, s *Sum, c *Cause) string {
		base, new := v.Base.request(), v.New.request()
		return fmt.Sprintf("%s; a request to the device took %s", lasts(v, s, c), instead(quantity.Micros, base, new))
	}},
	{RuleClients, Accounted, []Item{Clients}, nil, says("the number of clients is %s")},
	{RuleStalls, Accounted, []Item{Stalled}, nil, says("the engine held up writes for %s")},
	{RuleCommits, Accounted, commits, nil, func(v *view, s *Sum, c *Cause) string {
		text := "commits wait " + v.change(s, c) + " for the log"
		base, new := v.Base.per(metric.LogSyncs, "", s.writes(v)), v.New.per(metric.LogSyncs, "", s.writes(v))
		if !math.IsNaN(base+new) && apart(base, new, 0.1) {
			text += fmt.Sprintf(", with %s syncs", instead(quantity.Thousandths, base, new))
		}
		return text + v.also(engine.AspectLogSync)
	}},
	{RuleCommits, Accounted, []Item{Flushes}, nil, func(v *view, s *Sum, c *Cause) string {
		return "device flushes take " + v.change(s, c) + v.also(engine.AspectLogSync)
	}},
	{RuleRowLocks, Accounted, []Item{Item(engine.RoleRow)}, nil, says("sessions wait %s for row locks")},
	{RuleLatches, Pattern, latches, nil, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("sessions wait %s for the %s", v.change(s, c), c.Item)
	}},
	{RuleReads, Accounted, []Item{Item(engine.RoleIO)}, nil, says("sessions wait %s for reads and writes of tables and indexes")},
	{RuleClient, Accounted, []Item{Client, Between}, nil, says("the client takes %s")},
	{RuleClient, Accounted, []Item{Item(engine.RoleClient)}, nil, says("sessions wait %s for their clients")},
	{RuleFilters, Pattern, slices.Concat(served, inside), filtersLess, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.filters()
	}},
	{RuleCompression, Pattern, append([]Item{InCalls, Behind}, served...), compressed, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also(compressions(c)...)
	}},
	{RuleCompaction, Pattern, slices.Concat(served, []Item{Behind}, inside), moreMerges, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + "; compactions write " + instead(kb, v.Base.part(s, v, account.CompactionPart), v.New.part(s, v, account.CompactionPart))
	}},
	{RuleReads, Pattern, slices.Concat(served, []Item{Item(account.ThreadCPU)}, inside), moreReads, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + "; " + v.reads() + v.also(engine.AspectCache)
	}},
	{RulePageSize, Pattern, append([]Item{InCalls}, served...), otherPage, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also(engine.AspectPageSize)
	}},
	{RuleReads, Accounted, []Item{Item(account.ThreadIO)}, nil, says("sessions wait %s for devices")},
	{RuleWholePages, Pattern, served, morePagesLogged, func(v *view, s *Sum, c *Cause) string {
		pages := instead(kb, v.Base.part(s, v, account.FullPagesPart), v.New.part(s, v, account.FullPagesPart))
		return fmt.Sprintf("%s; whole pages in the log: %s", usesCPU(v, s, c), pages) + v.also(engine.AspectCheckpoint)
	}},
	{RuleRowLocks, Pattern, served, moreRowWaits, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + "; sessions wait " + instead(quantity.Micros, v.Base.rowWaits(v), v.New.rowWaits(v)) + " for row locks"
	}},
	{RuleCommits, Pattern, slices.Concat(served, inside), moreFlushes, func(v *view, s *Sum, c *Cause) string {
		base, _ := v.Base.growth("device.flushes")
		new, _ := v.New.growth("device.flushes")
		return fmt.Sprintf("%s; %s device flushes", usesCPU(v, s, c), instead(quantity.Thousandths, base, new)) + v.also(engine.AspectLogSync)
	}},
	{RuleClients, Pattern, served, otherClients, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + " with another number of clients: contention for memory is possible, and not counted here"
	}},
	{RuleLookups, Pattern, served, moreRows, func(v *view, s *Sum, c *Cause) string {
		k, _ := v.Of.Own(metric.CPUUS)
		rows := instead(quantity.Thousandths, v.Base.per(metric.RowsExamined, "", k), v.New.per(metric.RowsExamined, "", k))
		return fmt.Sprintf("%s; it examines %s rows", usesCPU(v, s, c), rows)
	}},
	{RuleProtocol, Pattern, spoken, otherProtocol, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also(engine.AspectProtocol)
	}},
	{RuleProtocol, Accounted, []Item{Item(engine.RoleNetwork)}, nil, says("sessions spend %s on sending")},
	{RuleCPU, Law, []Item{Item(account.ThreadQueue)}, nil, says("sessions wait %s for a processor")},
	{RuleCPU, Accounted, slices.Concat(served, []Item{Behind, Kernel, Item(account.ThreadCPU)}, inside), nil, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also(engine.AspectTiming)
	}},
}

// amounts are the rules for items of bytes, likewise.
var amounts = []naming{
	{RuleDoublewrite, Accounted, []Item{Item(account.DoublewritePart)}, oneSided, func(v *view, s *Sum, c *Cause) string {
		return "the doublewrite buffer takes " + v.change(s, c) + v.also(engine.AspectDoublewrite)
	}},
	{RuleWholePages, Accounted, []Item{Item(account.FullPagesPart)}, nil, func(v *view, s *Sum, c *Cause) string {
		return "whole pages in the log: " + v.change(s, c) + v.also(engine.AspectCheckpoint)
	}},
	{RuleFullLog, Law, paged, fullLog, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s, because the log was full and forced pages out", c.Item, v.change(s, c)) + v.also(engine.AspectCheckpoint)
	}},
	{RulePageSize, Accounted, paged, otherPage, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.also(engine.AspectPageSize)
	}},
	{RuleCompaction, Accounted, []Item{Item(account.CompactionPart), Item(account.FlushPart)}, nil, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s writes %s", c.Item, v.change(s, c))
	}},
	{RuleCommits, Accounted, []Item{Padding}, fewerFlushes, func(v *view, s *Sum, c *Cause) string {
		return "each sync writes whole blocks: " + v.change(s, c) + " beyond what the engine counts" + v.also(engine.AspectLogSync)
	}},
	{RuleCommits, Accounted, []Item{Journal}, fewerFlushes, func(v *view, s *Sum, c *Cause) string {
		return "each sync writes to the file system's journal: " + v.change(s, c) + v.also(engine.AspectLogSync)
	}},
	{RuleJournal, Accounted, []Item{Journal}, nil, says("the file system's journal: %s")},
	{RuleCompression, Pattern, []Item{Item(account.PagesPart), Item(account.LogPart), MissKB, PerRead}, compressed, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.also(compressions(c)...)
	}},
	{RuleCompression, Pattern, []Item{Data}, compressed, func(v *view, s *Sum, c *Cause) string {
		return "tables and indexes take " + v.change(s, c) + " the live data" + v.also(engine.AspectCompression)
	}},
	{RulePageSize, Pattern, []Item{Item(account.LogPart), Uncounted}, otherPage, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.also(engine.AspectPageSize)
	}},
	{"", Accounted, []Item{Uncounted}, nil, says("pages, and what else the engine does not count: %s")},
	{"", Accounted, []Item{Data}, nil, says("tables and indexes take %s the live data")},
	{"", Accounted, []Item{SystemFiles}, nil, says("undo, old row versions and the server's own files take %s the live data")},
	{"", Accounted, []Item{LogFiles}, nil, says("log files take %s the live data")},
	{"", Accounted, []Item{TempFiles}, nil, says("temporary files take %s the live data")},
	{RuleFilters, Accounted, []Item{Lookups, Reads, Misses}, filtersLess, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.filters()
	}},
	{RuleLookups, Accounted, []Item{Lookups}, nil, says("it looks up %s pages or blocks")},
	{RuleReads, Accounted, []Item{Misses}, nil, func(v *view, s *Sum, c *Cause) string {
		return "the cache misses " + instead(quantity.RoughShare, c.Base, c.New) + " of its lookups" + v.also(engine.AspectCache)
	}},
	{RuleReads, Accounted, []Item{Reads}, nil, says("it does %s reads")},
	{RulePageSize, Accounted, []Item{MissKB, PerRead}, otherPage, func(v *view, s *Sum, c *Cause) string {
		return "a read fetches " + v.change(s, c) + v.also(engine.AspectPageSize)
	}},
	{RulePageCache, Pattern, []Item{PerMiss}, nil, func(_ *view, _ *Sum, c *Cause) string {
		text := "the device does " + instead(quantity.Thousandths, c.Base, c.New) + " reads per cache miss"
		if max(c.Base, c.New) < 1.05 {
			text += ", and the page cache serves the rest"
		}
		return text
	}},
	{"", Accounted, []Item{MissKB, PerRead}, nil, says("a read fetches %s")},
}

// explain sets the rule of a cause and its sentence; items without a rule are only stated.
func (v *view) explain(s *Sum, c *Cause) {
	namings := amounts
	if s.timed() {
		namings = timings
	}
	for i := range namings {
		n := &namings[i]
		for _, item := range n.items {
			if item == c.Item && (n.when == nil || n.when(v, s, c)) {
				c.Rule, c.Evidence, c.Sentence = n.rule, n.evidence, n.say(v, s, c)
				return
			}
		}
	}
	c.Evidence, c.Sentence = Accounted, fmt.Sprintf("%s: %s", c.Item, v.change(s, c))
}

// timed reports whether the items are times.
func (s *Sum) timed() bool {
	return s.Metric == metric.CPUUS || s.throughput()
}

// says is a sentence whose gap is the change.
func says(format string) func(*view, *Sum, *Cause) string {
	return func(v *view, s *Sum, c *Cause) string { return fmt.Sprintf(format, v.change(s, c)) }
}

func usesCPU(v *view, s *Sum, c *Cause) string {
	switch c.Item {
	case Server:
		return "it needs " + v.change(s, c) + " of " + ifServer(v, "server ") + "CPU" + v.inKernel(c)
	case Serving:
		return "its sessions need " + v.change(s, c) + " of CPU"
	case Behind:
		return "its background threads need " + v.change(s, c) + " of CPU"
	case Kernel:
		return "kernel threads need " + v.change(s, c) + " of CPU"
	}
	return lasts(v, s, c)
}

// inKernel says how much of the engine's CPU is used in the kernel, where that is a good
// part of the difference.
func (v *view) inKernel(c *Cause) string {
	base, ok := v.Base.growth("process.system_ns")
	new, known := v.New.growth("process.system_ns")
	if !ok || !known || !((new-base)/1e3/(c.New-c.Base) >= goodPart) {
		return ""
	}
	return ", in the kernel " + instead(quantity.Micros, base/1e3, new/1e3)
}

// lasts says how long operations take, or sessions wait for what a role is about.
func lasts(v *view, s *Sum, c *Cause) string {
	switch c.Item {
	case InCalls:
		return "operations take " + v.change(s, c)
	case Item(account.ThreadCPU):
		return "sessions run for " + v.change(s, c)
	case Item(engine.RoleExecuting), Item(engine.RoleCPU):
		return "statements take " + v.change(s, c)
	}
	return fmt.Sprintf("sessions wait %s for %s", v.change(s, c), c.Item)
}

func ifServer(v *view, text string) string {
	if v.New.embedded() {
		return ""
	}
	return text
}

// change returns an item's values per unit, the new one first: “410 µs instead of 336 µs”.
func (v *view) change(s *Sum, c *Cause) string {
	format := quantity.Thousandths
	switch {
	case c.Item == Clients || c.Item == Can || c.Item == Needs:
	case c.Item == Used:
		format = quantity.RoughShare
	case s.timed():
		format = quantity.Micros
	case s.Of == Parts && s.Metric == metric.SpaceAmplification:
		format = quantity.Times
	case s.Of == Parts || c.Item == MissKB || c.Item == PerRead:
		format = kb
	}
	return instead(format, c.Base, c.New)
}

func kb(v float64) string { return quantity.Thousandths(v) + " KB" }

func instead(format func(float64) string, base, new float64) string {
	return format(new) + " instead of " + format(base)
}

// reads says how much more is read: what the cache misses or, where it is not counted,
// what the device reads.
func (v *view) reads() string {
	k, _ := v.Of.Own(metric.CPUUS)
	if base, new := v.Base.per(metric.CacheMisses, "", k), v.New.per(metric.CacheMisses, "", k); apart(base, new, 0.1) {
		return "its cache misses " + instead(quantity.Thousandths, base, new) + " pages or blocks"
	}
	return "it reads " + instead(kb, v.Base.per(metric.ReadKB, "", k), v.New.per(metric.ReadKB, "", k))
}

func (v *view) filters() string {
	base, _ := v.Base.growth(engine.FilterUseful)
	new, _ := v.New.growth(engine.FilterUseful)
	return fmt.Sprintf("; filters skip %s files", instead(quantity.Thousandths, base, new))
}

// short returns a value without what it means.
func short(value string) string {
	value, _, _ = strings.Cut(value, " (")
	return value
}

// differs reports whether the plan asks for different values of a knob that affects any of
// these.
func (v *view) differs(aspects ...engine.Aspect) bool { return v.also(aspects...) != "" }

// also names the first knob that differs and affects any of these.
func (v *view) also(aspects ...engine.Aspect) string {
	for _, d := range v.differ {
		if slices.Contains(aspects, d.Affects) {
			return fmt.Sprintf(" (%s %s instead of %s)", engine.KnobName(d.What), short(d.New), short(d.Base))
		}
	}
	return ""
}
