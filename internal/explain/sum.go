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
	Causes []Cause      // the greatest first, CPU time by subsystem if that is known; not the unexplained part
	Rest   Contribution // the part that no proven item with a name accounts for

	data *sample
}

// Rule is the name of a cause or of a note: that of a driver, of the aspect that a setting acts on, or of the
// kind of an item. docs/why.md lists them.
type Rule string

// The rules.
const (
	RuleCPU, RuleClient, RuleOthers, RuleQueue    Rule = "CPU", "client", "other programs", "run queue"
	RuleStalls, RuleDevice, RuleCommits           Rule = "write stalls", "device", "commits"
	RuleRowLocks, RuleLatches, RuleWriters        Rule = "row locks", "latches", "one writer"
	RuleReads, RuleLookups                        Rule = "reads", "look-ups"
	RuleCompaction, RuleDeadRows, RuleThrottled   Rule = "compaction", "dead rows", "quota"
	RulePageSize, RuleWholePages, RulePageCache   Rule = "page size", "whole pages in the log", "page cache"
	RuleDoublewrite, RuleJournal, RuleLogVolume   Rule = "doublewrite", "journal", "log volume"
	RuleTextLog, RuleBinlog, RuleData             Rule = "text log", "binary log", "files"
	RuleConnections, RulePrepares, RuleSpills     Rule = "connections", "prepared statements", "spills"
	RuleRetries, RuleStatements, RuleBatch        Rule = "retries", "statements", "rows per commit"
	RulePauses, RuleOtherGroups, RuleClients      Rule = "pauses", "other clients", "number of clients"
	RuleCommitPages, RulePageWrites, RuleProtocol Rule = "pages of commits", "page writes", "protocol"
	RuleRoundTrip, RuleSerial                     Rule = "round trip", "serialization"
	RuleStarts, RuleDeferral, RuleServers         Rule = "different starts", "deferred writes", "servers"
)

// Cause is an item of a sum, and what is known of why it differs.
type Cause struct {
	Contribution
	// Share is the part of the sum's difference that the cause accounts for, with an
	// interval; NaN if that difference is not proven.
	Share, ShareLow, ShareHigh float64
	Rule                       Rule
	Sentence                   string // about the item
	// Driver is a clause about the count that drives the item and moved as much; "" if there is none.
	Driver string
	// Setting names the settings that differ and act on the item, or on its driver; "" if there are none.
	Setting string

	format func(float64) string // of its values
}

// Reason reports whether it is known why the item differs: it is an amount that is part of the sum, or its driver is
// known. Others only say where time or bytes go.
func (c *Cause) Reason() bool { return items[c.Item].counted || c.Driver != "" }

// Text is the sentence with its driver and settings.
func (c *Cause) Text() string {
	text := c.Sentence
	if c.Driver != "" {
		text += ", because " + c.Driver
	}
	return text + filled(" (%s)", c.Setting)
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
		return !c.Item.slack() && c.Log*s.Total.Log > 0 && math.Abs(c.Log) >= max(minimum, part*math.Abs(s.Total.Log))
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
func (s *Sum) repeats() bool { return len(s.Causes) == 1 && s.Causes[0].Item == Running }

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
