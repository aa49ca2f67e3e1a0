package explain

import (
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
)

// Sum is a number of a step on two targets, and the items of its difference.
type Sum struct {
	*compare.Effect
	Metric string // of the headline
	Of     Ledger
	Total  Contribution // Item is ""; Log is that of the ratio
	Causes []Cause      // the greatest first; the unexplained part is not among them
	Rest   Contribution // the part that no proven item with a name accounts for

	data sample
}

// Evidence is how strong a rule's claim may be.
type Evidence string

// The kinds of evidence. Statistics only make a word weaker, never stronger.
const (
	Accounted Evidence = "accounted" // by an identity: “because”
	Law       Evidence = "law"       // of queues: “is limited by”
	Pattern   Evidence = "pattern"   // “goes with”
)

// Rule is the name of a cause or of a note; docs/why.md lists them. Causes that
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

// Cause is an item of a sum, and the rule that names it.
type Cause struct {
	Contribution
	// Share is the part of the sum's difference that the cause accounts for, with an
	// interval; NaN if that difference is not proven.
	Share, ShareLow, ShareHigh float64
	Rule                       Rule
	Evidence                   Evidence
	Sentence                   string // about the item
	detail                     string // of it, that follows the share
	places                     string // the subsystems among the details
	// Driver is what makes the item differ, a clause that follows “because”, or “probably because”
	// if it is a pattern. It is "" if that is not known, or if the item is the reason itself.
	Driver string

	format func(float64) string // of its values
}

// Reason reports whether the item by itself says why. Others only say where time or bytes go:
// that is to be explained.
func (c *Cause) Reason() bool { return c.Driver == "" && c.Evidence != Pattern && !c.Rule.place() }

// place reports whether a cause without a driver says where the time goes, and not why.
func (r Rule) place() bool { return slices.Contains([]Rule{"", RuleCPU, RuleClient, RulePauses}, r) }

// Text is the sentence with its driver.
func (c *Cause) Text() string { return c.withShare("") }

// withShare is the sentence with the share of the difference, and its driver.
func (c *Cause) withShare(share string) string {
	text := c.Sentence + share + c.detail
	switch {
	case c.Driver == "":
		return text
	case c.Evidence == Pattern:
		return text + ", probably because " + c.Driver
	}
	return text + ", because " + c.Driver
}

// change returns the item's values per unit, the new one first: “410 µs instead of 336 µs”.
func (c *Cause) change() string { return instead(c.format, c.Base, c.New) }

func (s *Sum) throughput() bool { return metric.FamilyOf(s.Metric) == metric.Throughput }

// timed reports whether the items are times.
func (s *Sum) timed() bool { return s.Metric == metric.CPUUS || s.throughput() }

// share returns the share of an item, NaN if it is missing.
func (s *Sum) share(item Item) float64 {
	if s != nil {
		if i := slices.IndexFunc(s.Causes, func(c Cause) bool { return c.Item == item }); i >= 0 {
			return s.Causes[i].Share
		}
	}
	return math.NaN()
}

// causes returns the causes with a property, the greatest first.
func (s *Sum) causes(has func(*Cause) bool) (out []Cause) {
	for i := range s.Causes {
		if has(&s.Causes[i]) {
			out = append(out, s.Causes[i])
		}
	}
	return out
}

// Named returns the causes that are proven.
func (s *Sum) Named() []Cause { return s.causes(func(c *Cause) bool { return c.Proven() }) }

// supporting returns the proven causes that work in the direction of the difference.
func (s *Sum) supporting() []Cause {
	return s.causes(func(c *Cause) bool { return c.Proven() && c.Log*s.Total.Log > 0 })
}

// candidates returns the greatest items if none is proven: those that are a good part of the
// difference.
func (s *Sum) candidates() []Cause {
	const minimum, part = 0.05, 0.3
	return s.causes(func(c *Cause) bool {
		return !c.Item.is(slack) && c.Log*s.Total.Log > 0 && math.Abs(c.Log) >= max(minimum, part*math.Abs(s.Total.Log))
	})
}

// leastShare is the part of a difference that is reported as a cause, at least.
const leastShare = 0.1

// Unexplained returns the part of the sum's difference that no proven item accounts for:
// negative if that part works against the difference, NaN if the difference is not proven.
func (s *Sum) Unexplained() float64 {
	if !s.Total.Proven() {
		return math.NaN()
	}
	return s.Rest.Log / s.Total.Log
}

// repeats reports whether the causes only repeat the number itself: that more CPU is needed
// because more CPU is needed.
func (s *Sum) repeats() bool { return len(s.Causes) == 1 && s.Causes[0].Rule.place() }

// weight is the sort key of a step's sums: throughput counts twice, unproven sums count
// little.
func (s *Sum) weight() float64 {
	w := math.Abs(s.Total.Log)
	if s.throughput() {
		w *= 2
	}
	if !s.Total.Proven() && len(s.Named()) == 0 {
		w /= 100
	}
	return w
}
