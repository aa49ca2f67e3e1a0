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

// Rule names a cause. docs/why.md lists the causes, without their numbers.
type Rule struct {
	Number   int
	Evidence Evidence
}

// view is what rules may look at.
type view struct {
	*Step
	differ []compare.Difference
}

// naming is a rule for some items: when it holds, and what it says.
type naming struct {
	rule  Rule
	items []Item
	when  func(v *view, s *Sum, c *Cause) bool // nil: always
	say   func(v *view, s *Sum, c *Cause) string
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
	{Rule{1, Law}, []Item{Others, Steal}, nil, says("other programs used %s of the processors")},
	{Rule{13, Law}, slices.Concat(commits, inside), moreStalls, func(v *view, s *Sum, c *Cause) string {
		held := instead(quantity.RoughShare, v.Base.stalled(), v.New.stalled())
		return fmt.Sprintf("%s: the engine held up writes for %s of the time", lasts(v, s, c), held)
	}},
	{Rule{4, Law}, []Item{Can}, nil, func(v *view, s *Sum, c *Cause) string {
		return "the device can do " + v.change(s, c) + " " + v.ceiling().noun() + " per second"
	}},
	{Rule{11, Accounted}, []Item{Needs}, func(v *view, _ *Sum, _ *Cause) bool { return v.ceiling() == ByFlushes }, func(v *view, s *Sum, c *Cause) string {
		return "it needs " + v.change(s, c) + " device flushes" + v.also("durability", "sync_binlog")
	}},
	{Rule{4, Accounted}, []Item{Needs}, nil, func(v *view, s *Sum, c *Cause) string {
		return "it needs " + v.change(s, c) + " device " + v.ceiling().noun()
	}},
	{Rule{4, Law}, append([]Item{Flushes}, waits...), lesserDevice, func(v *view, s *Sum, c *Cause) string {
		most, _ := v.most(c)
		can := instead(quantity.Thousandths, v.Base.can(most.Limit), v.New.can(most.Limit))
		return fmt.Sprintf("%s; the device can do %s %s per second", lasts(v, s, c), can, most.Limit.noun())
	}},
	{Rule{4, Law}, waits, slowDevice, func(v *view, s *Sum, c *Cause) string {
		base, new := v.Base.request(), v.New.request()
		return fmt.Sprintf("%s; a request to the device took %s", lasts(v, s, c), instead(quantity.Micros, base, new))
	}},
	{Rule{25, Accounted}, []Item{Clients}, nil, says("the number of clients is %s")},
	{Rule{13, Accounted}, []Item{Stalled}, nil, says("the engine held up writes for %s")},
	{Rule{11, Accounted}, commits, nil, func(v *view, s *Sum, c *Cause) string {
		text := "commits wait " + v.change(s, c) + " for the log"
		base, new := v.Base.per(metric.LogSyncs, "", s.writes(v)), v.New.per(metric.LogSyncs, "", s.writes(v))
		if !math.IsNaN(base+new) && apart(base, new, 0.1) {
			text += fmt.Sprintf(", with %s syncs", instead(quantity.Thousandths, base, new))
		}
		return text + v.also("durability", "sync_binlog")
	}},
	{Rule{11, Accounted}, []Item{Flushes}, nil, func(v *view, s *Sum, c *Cause) string {
		return "device flushes take " + v.change(s, c) + v.also("durability")
	}},
	{Rule{17, Accounted}, []Item{Item(engine.RoleRow)}, nil, says("sessions wait %s for row locks")},
	{Rule{18, Pattern}, latches, nil, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("sessions wait %s for the %s", v.change(s, c), c.Item)
	}},
	{Rule{5, Accounted}, []Item{Item(engine.RoleIO)}, nil, says("sessions wait %s for reads and writes of tables and indexes")},
	{Rule{2, Accounted}, []Item{Client, Between}, nil, says("the client takes %s")},
	{Rule{2, Accounted}, []Item{Item(engine.RoleClient)}, nil, says("sessions wait %s for their clients")},
	{Rule{16, Pattern}, slices.Concat(served, inside), filtersLess, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.filters()
	}},
	{Rule{15, Pattern}, append([]Item{InCalls, Behind}, served...), compressed, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also(compressions(c)...)
	}},
	{Rule{14, Pattern}, slices.Concat(served, []Item{Behind}, inside), moreMerges, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + "; compactions write " + instead(kb, v.Base.part(s, v, account.CompactionPart), v.New.part(s, v, account.CompactionPart))
	}},
	{Rule{5, Pattern}, slices.Concat(served, []Item{Item(account.ThreadCPU)}, inside), moreReads, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + "; " + v.reads() + v.also("cache")
	}},
	{Rule{8, Pattern}, append([]Item{InCalls}, served...), otherPage, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also("page", "innodb_page_size")
	}},
	{Rule{5, Accounted}, []Item{Item(account.ThreadIO)}, nil, says("sessions wait %s for devices")},
	{Rule{9, Pattern}, served, morePagesLogged, func(v *view, s *Sum, c *Cause) string {
		pages := instead(kb, v.Base.part(s, v, account.FullPagesPart), v.New.part(s, v, account.FullPagesPart))
		return fmt.Sprintf("%s; whole pages in the log: %s", usesCPU(v, s, c), pages) + v.also("max_wal_size", "checkpoint_timeout")
	}},
	{Rule{17, Pattern}, served, moreRowWaits, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + "; sessions wait " + instead(quantity.Micros, v.Base.rowWaits(v), v.New.rowWaits(v)) + " for row locks"
	}},
	{Rule{11, Pattern}, slices.Concat(served, inside), moreFlushes, func(v *view, s *Sum, c *Cause) string {
		base, _ := v.Base.growth("device.flushes")
		new, _ := v.New.growth("device.flushes")
		return fmt.Sprintf("%s; %s device flushes", usesCPU(v, s, c), instead(quantity.Thousandths, base, new)) + v.also("durability", "sync_binlog")
	}},
	{Rule{25, Pattern}, served, otherClients, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + " with another number of clients: contention for memory is possible, and not counted here"
	}},
	{Rule{6, Pattern}, served, moreRows, func(v *view, s *Sum, c *Cause) string {
		k, _ := v.Of.Own(metric.CPUUS)
		rows := instead(quantity.Thousandths, v.Base.per(metric.RowsExamined, "", k), v.New.per(metric.RowsExamined, "", k))
		return fmt.Sprintf("%s; it examines %s rows", usesCPU(v, s, c), rows)
	}},
	{Rule{20, Pattern}, spoken, otherProtocol, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also("protocol")
	}},
	{Rule{20, Accounted}, []Item{Item(engine.RoleNetwork)}, nil, says("sessions spend %s on sending")},
	{Rule{3, Law}, []Item{Item(account.ThreadQueue)}, nil, says("sessions wait %s for a processor")},
	{Rule{3, Accounted}, slices.Concat(served, []Item{Behind, Kernel, Item(account.ThreadCPU)}, inside), nil, func(v *view, s *Sum, c *Cause) string {
		return usesCPU(v, s, c) + v.also("waits")
	}},
}

// amounts are the rules for items of bytes, likewise.
var amounts = []naming{
	{Rule{7, Accounted}, []Item{Item(account.DoublewritePart)}, oneSided, func(v *view, s *Sum, c *Cause) string {
		return "the doublewrite buffer takes " + v.change(s, c) + v.also("innodb_doublewrite")
	}},
	{Rule{9, Accounted}, []Item{Item(account.FullPagesPart)}, nil, func(v *view, s *Sum, c *Cause) string {
		return "whole pages in the log: " + v.change(s, c) + v.also("max_wal_size", "checkpoint_timeout")
	}},
	{Rule{10, Law}, paged, fullLog, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s, because the log was full and forced pages out", c.Item, v.change(s, c)) + v.also("innodb_log_file_size")
	}},
	{Rule{8, Accounted}, paged, otherPage, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.also("page", "innodb_page_size")
	}},
	{Rule{14, Accounted}, []Item{Item(account.CompactionPart), Item(account.FlushPart)}, nil, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s writes %s", c.Item, v.change(s, c))
	}},
	{Rule{11, Accounted}, []Item{Padding}, fewerFlushes, func(v *view, s *Sum, c *Cause) string {
		return "each sync writes whole blocks: " + v.change(s, c) + " beyond what the engine counts" + v.also("durability")
	}},
	{Rule{11, Accounted}, []Item{Journal}, fewerFlushes, func(v *view, s *Sum, c *Cause) string {
		return "each sync writes to the file system's journal: " + v.change(s, c) + v.also("durability")
	}},
	{Rule{12, Accounted}, []Item{Journal}, nil, says("the file system's journal: %s")},
	{Rule{15, Pattern}, []Item{Item(account.PagesPart), Item(account.LogPart), MissKB, PerRead}, compressed, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.also(compressions(c)...)
	}},
	{Rule{15, Pattern}, []Item{Data}, compressed, func(v *view, s *Sum, c *Cause) string {
		return "tables and indexes take " + v.change(s, c) + " the live data" + v.also("compression")
	}},
	{Rule{8, Pattern}, []Item{Item(account.LogPart), Uncounted}, otherPage, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.also("page", "innodb_page_size")
	}},
	{Rule{0, Accounted}, []Item{Uncounted}, nil, says("pages, and what else the engine does not count: %s")},
	{Rule{0, Accounted}, []Item{Data}, nil, says("tables and indexes take %s the live data")},
	{Rule{0, Accounted}, []Item{SystemFiles}, nil, says("undo, old row versions and the server's own files take %s the live data")},
	{Rule{0, Accounted}, []Item{LogFiles}, nil, says("log files take %s the live data")},
	{Rule{0, Accounted}, []Item{TempFiles}, nil, says("temporary files take %s the live data")},
	{Rule{16, Accounted}, []Item{Lookups, Reads, Misses}, filtersLess, func(v *view, s *Sum, c *Cause) string {
		return fmt.Sprintf("%s: %s", c.Item, v.change(s, c)) + v.filters()
	}},
	{Rule{6, Accounted}, []Item{Lookups}, nil, says("it looks up %s pages or blocks")},
	{Rule{5, Accounted}, []Item{Misses}, nil, func(v *view, s *Sum, c *Cause) string {
		return "the cache misses " + instead(quantity.RoughShare, c.Base, c.New) + " of its lookups" + v.also("cache")
	}},
	{Rule{5, Accounted}, []Item{Reads}, nil, says("it does %s reads")},
	{Rule{8, Accounted}, []Item{MissKB, PerRead}, otherPage, func(v *view, s *Sum, c *Cause) string {
		return "a read fetches " + v.change(s, c) + v.also("page", "innodb_page_size")
	}},
	{Rule{21, Pattern}, []Item{PerMiss}, nil, func(_ *view, _ *Sum, c *Cause) string {
		text := "the device does " + instead(quantity.Thousandths, c.Base, c.New) + " reads per cache miss"
		if max(c.Base, c.New) < 1.05 {
			text += ", and the page cache serves the rest"
		}
		return text
	}},
	{Rule{0, Accounted}, []Item{MissKB, PerRead}, nil, says("a read fetches %s")},
}

// rule returns the rule of a cause and its sentence; of items without a rule, what they
// are.
func (v *view) rule(s *Sum, c *Cause) (Rule, string) {
	namings := amounts
	if s.timed() {
		namings = timings
	}
	for i := range namings {
		n := &namings[i]
		for _, item := range n.items {
			if item == c.Item && (n.when == nil || n.when(v, s, c)) {
				return n.rule, n.say(v, s, c)
			}
		}
	}
	return Rule{Evidence: Accounted}, fmt.Sprintf("%s: %s", c.Item, v.change(s, c))
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

// differs reports whether the plan asks for different values of any of these knobs.
func (v *view) differs(names ...string) bool { return v.also(names...) != "" }

// also names the first of these knobs that differs.
func (v *view) also(names ...string) string {
	for _, d := range v.differ {
		for _, n := range names {
			if d.What == n || strings.HasSuffix(d.What, "."+n) {
				return fmt.Sprintf(" (%s %s instead of %s)", n, short(d.New), short(d.Base))
			}
		}
	}
	return ""
}
