package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

var (
	filters   = values("filters skip %s files", quantity.Thousandths, spared)
	flushText = withKnobs(values("there are %s device flushes", quantity.Thousandths, deviceFlushes), engine.AspectLogSync)
	examined  = values("it examines %s rows", quantity.Thousandths, perUnit(metric.RowsExamined))
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
		values("the engine held up writes for %s of the time", quantity.RoughShare, stalled)},
	{RuleDevice, Law, []Item{Can}, nil, func(s *Step, c *Cause) string {
		return "the device can do " + c.change() + " " + s.ceiling().noun() + " per second"
	}, nil},
	{RuleCommits, Accounted, []Item{Needs}, limitedByFlushes,
		says("it needs %s device flushes", engine.AspectLogSync), nil},
	{RuleDevice, Accounted, []Item{Needs}, nil, func(s *Step, c *Cause) string {
		return "it needs " + c.change() + " device " + s.ceiling().noun()
	}, nil},
	{RuleDevice, Law, append([]Item{Flushes}, waits...), lesserDevice, takes, lesserCapacity},
	{RuleDevice, Law, waits, slowDevice, takes, values("a request to the device took %s", quantity.Micros, request)},
	{RuleClients, Accounted, []Item{Clients}, nil, says("the number of clients is %s"), nil},
	{RuleCommits, Pattern, []Item{Writers}, heldByFlushes, takes, flushText},
	{RuleRowLocks, Accounted, []Item{Writers}, otherClients, takes, nil},
	{"", Accounted, []Item{Writers}, nil, takes, nil}, // as many writers wait as long as they write
	{RuleStalls, Accounted, []Item{Stalled}, nil, says("the engine held up writes for %s"), nil},
	{RuleCommits, Accounted, kin(commit), nil, func(s *Step, c *Cause) string {
		return takes(s, c) + moreSyncs(s) + knobsInBrackets(s, engine.AspectLogSync)
	}, nil},
	{RuleCommits, Accounted, []Item{Flushes}, nil, says("device flushes take %s", engine.AspectLogSync), nil},
	{RuleRowLocks, Accounted, []Item{Item(engine.RoleRow)}, nil, says("sessions wait %s for row locks"), nil},
	{RuleLatches, Pattern, kin(latch), nil, func(s *Step, c *Cause) string {
		return fmt.Sprintf("sessions wait %s for the %s", c.change(), c.Item)
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
	{RuleCompaction, Pattern, engineCPU, moreMerges, takes, values("compactions write %s", kb, compacted)},
	{RuleReads, Pattern, append(kin(served, inside), Item(account.ThreadCPU)), moreReads, takes,
		withKnobs(missed, engine.AspectCache)},
	{RulePageSize, Pattern, append(kin(served), InCalls), otherPage, takes, knob(engine.AspectPageSize)},
	{RuleReads, Accounted, []Item{Item(account.ThreadIO)}, nil, says("sessions wait %s for devices"), nil},
	{RuleWholePages, Pattern, kin(served), moreWholePages, takes,
		withKnobs(values("whole pages take %s of the log", kb, wholePages), engine.AspectCheckpoint)},
	{RuleRowLocks, Pattern, kin(served), moreRowWaits, takes,
		values("sessions wait %s for row locks", quantity.Micros, rowWaits)},
	{RuleCommits, Pattern, kin(served, inside), moreFlushes, takes, flushText},
	{RuleClients, Pattern, kin(served), otherClients, takes, func(*Step, *Cause) string {
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
	{RuleFullLog, Law, kin(pages), fullLog, states, withKnobs(func(*Step, *Cause) string {
		return "the log was full and forced pages out"
	}, engine.AspectCheckpoint)},
	{RulePageSize, Accounted, kin(pages), otherPage, states, knob(engine.AspectPageSize)},
	{RuleCompaction, Accounted, []Item{Item(account.CompactionPart), Item(account.FlushPart)}, nil,
		func(s *Step, c *Cause) string { return fmt.Sprintf("%s writes %s", c.Item, c.change()) }, nil},
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
	{RuleReads, Accounted, []Item{Misses}, nil, func(s *Step, c *Cause) string {
		share := instead(quantity.RoughShare, c.Base, c.New)
		return "the cache misses " + share + " of its lookups" + knobsInBrackets(s, engine.AspectCache)
	}, nil},
	{RuleReads, Accounted, []Item{Reads}, nil, says("it does %s reads"), nil},
	{RulePageCache, Pattern, []Item{MissKB, PerRead}, lessThanBlock,
		says("of what its cache misses, the device delivers %s: the page cache serves the rest"), nil},
	{RulePageSize, Accounted, []Item{MissKB, PerRead}, otherPage, says("a read fetches %s", engine.AspectPageSize), nil},
	{RulePageCache, Pattern, []Item{PerMiss}, nil, func(_ *Step, c *Cause) string {
		text := "the device does " + instead(quantity.Thousandths, c.Base, c.New) + " reads per cache miss"
		if max(c.Base, c.New) < 1.05 {
			text += ", and the page cache serves the rest"
		}
		return text
	}, nil},
	{"", Accounted, []Item{MissKB, PerRead}, nil, says("a read fetches %s"), nil},
}

// explain sets the rule and the sentence of a cause; items without a rule are only stated.
func (s *Sum) explain(step *Step, c *Cause) {
	namings := amounts
	if s.timed() {
		namings = timings
	}
	c.Evidence, c.Sentence = Accounted, states(step, c)
	for i := range namings {
		n := &namings[i]
		if !slices.Contains(n.items, c.Item) || n.when != nil && !n.when(step, c) || !reaches(step, c, n.rule) {
			continue
		}
		c.Rule, c.Evidence, c.Sentence = n.rule, n.evidence, n.sentence(step, c)
		switch {
		case c.Item == Server:
			c.places = where(step, c)
			c.detail = cmp.Or(filled(": in %s", c.places), inKernel(step, c))
		case c.Item == Serving && s.inSessions(c): // subsystems are of all threads
			c.places = where(step, c)
			c.detail = filled(": in %s", c.places)
		case c.Item == InCalls:
			c.places = where(step, c)
			c.detail = filled(": CPU in %s", c.places)
		}
		if n.driver != nil {
			c.Driver = n.driver(step, c)
		}
		return
	}
}

// inSessions reports whether nearly all of a difference of CPU time is in threads that serve sessions.
func (s *Sum) inSessions(c *Cause) bool {
	return !slices.ContainsFunc(s.Causes, func(o Cause) bool {
		return o.Item == Behind && math.Abs(o.New-o.Base) > leastShare*math.Abs(c.New-c.Base)
	})
}

// inKernel reports how much of the engine's CPU is used in the kernel, if that is a good
// part of the difference.
func inKernel(s *Step, c *Cause) string {
	base, other := growth("process.system_ns").sides(s)
	if !((other-base)/1e3/(c.New-c.Base) >= goodPart) {
		return ""
	}
	return ", in the kernel " + instead(quantity.Micros, base/1e3, other/1e3)
}

func lesserCapacity(s *Step, c *Cause) string {
	side, _ := larger(s, c)
	return s.capacity(side.Limit)
}

// moreSyncs reports how many syncs of the log there are, if that differs.
func moreSyncs(s *Step) string {
	a, b := measure(logSyncs).sides(s)
	if math.IsNaN(a+b) || !unequal(a, b, 0.1) {
		return ""
	}
	return ", with " + instead(quantity.Thousandths, a, b) + " syncs"
}

// missed reports how much more is read: the misses of the cache or, if they are not counted,
// the reads of the device.
func missed(s *Step, c *Cause) string {
	misses := perUnit(metric.CacheMisses)
	if base, other := misses.sides(s); unequal(base, other, 0.1) {
		return values("its cache misses %s pages or blocks", quantity.Thousandths, misses)(s, c)
	}
	return values("it reads %s", kb, perUnit(metric.ReadKB))(s, c)
}

// withVersions is a text followed by the number of old row versions.
func withVersions(text wording) wording {
	versions := values(", with %s old row versions not removed yet", quantity.Thousandths, oldVersions)
	return func(s *Step, c *Cause) string { return text(s, c) + versions(s, c) }
}

func besideText(s *Step, c *Cause) string {
	return "operations of " + quantity.Joined(pacedBeside(&s.New.runs[0])) + " are in progress for " +
		values("%s of the time", quantity.RoughShare, inProgress)(s, c)
}
