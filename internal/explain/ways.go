package explain

import (
	"fmt"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// way is something that a unit of work needs, and by which a setting may act on its time: it
// is counted, and not timed.
type way struct {
	rule Rule
	n    measure
	show func(float64) string
	says string  // with a gap for the values of both sides
	each float64 // µs of CPU or waiting that one may cost at most
	// within is a rule whose sentence is about the greater part of it; "" if there is none
	within Rule
}

// ways are those that are known, the most specific first. They go before what else may drive an
// item, and work after it.
var ways = []way{
	{RuleTextLog, inKB(account.GrownBytes(engine.MessageFile)), kb, "the server’s text log grows by %s", 200, ""},
	{RuleBinlog, inKB(account.GrownBytes(engine.BinlogFile)), kb, "the binary log grows by %s", 200, ""},
	{RuleConnections, growth(engine.Connects), quantity.Digits, "it opens %s connections", 10_000, ""},
	{RulePrepares, growth(engine.Prepares), quantity.Digits, "it prepares %s statements", 1000, ""},
	{RuleSpills, growth(engine.Spills), quantity.Digits, "%s sorts or temporary tables go to files", 1e6, ""},
	{RuleRowLocks, growth(engine.LockWaits), quantity.Digits, "%s waits for rows that others hold", 1e6, ""},
	{RuleDeadRows, growth(engine.DeadEntries), quantity.Digits, "it passes over %s entries of deleted or replaced rows",
		mostPerRow, ""},
	{RuleCommitPages, pagesOfCommits, kb, "besides what changed, commits write %s, such as the list of free pages",
		mostPerKB, ""},
	{RuleRetries, ofRuns(retries), quantity.Digits, "%s attempts are repeated", 1e5, ""},
	{RuleStatements, ofRuns(func(r *run) float64 { return r.perUnitOf(metric.QueriesPerS) }), quantity.Digits,
		"it executes %s statements", 500, ""},
	{RuleBatch, commits, quantity.Digits, "it commits %s times", 5000, ""},
}

var work = []way{
	{RuleCommits, growth(engine.LogSyncs), quantity.Digits, "it syncs its log %s times", 5000, ""},
	lookups,
	{RuleLookups, growth(engine.PageWrites), quantity.Digits, "its commits write %s pages", 50, ""},
	{RuleLogVolume, inKB(engine.LogBytes), kb, "it logs %s", mostPerKB, RuleWholePages},
}

var lookups = way{RuleLookups, growth(engine.CacheLookups), quantity.Digits, "it looks up %s pages or blocks", 5, ""}

// wayRatio is by how much a way must differ.
const wayRatio = 0.3

func (w *way) text(s *Step, _ *Cause) string {
	base, other := w.n.sides(s)
	return fmt.Sprintf(w.says, instead(w.show, base, other))
}

// holds reports whether the way differs in the direction of the cause, and can be a good part of it.
func (w *way) holds(s *Step, c *Cause) bool {
	return allOf(grows(w.n, wayRatio, 0), canCost(w.n, w.each))(s, c)
}

// wayNamings returns the rules of the ways, for times in which the engine works.
func wayNamings(ways []way) (out []naming) {
	items := append(kin(served, inside, commit), Item(account.ThreadCPU), Kernel)
	for i := range ways {
		w := &ways[i]
		out = append(out, naming{w.rule, Pattern, items, w.holds, takes, w.text})
	}
	return out
}

// leastWay is the least of µs that a way must be able to cost.
const leastWay = 1

// otherWays are the ways that differ, of those that no sentence of the step has named, and that
// may be a good part of the time's difference.
func (s *Step) otherWays() (along, against []string) {
	sessionTime := ofRuns(func(r *run) float64 { return r.window() * float64(max(1, r.clients())) }) // in µs per unit
	longer := sessionTime.difference(s)
	relevant := max(leastWay, goodPart*math.Abs(longer))
	for _, w := range slices.Concat(ways, work) {
		base, other := w.n.sides(s)
		if !unequal(base, other, wayRatio) || w.each*math.Abs(other-base) < relevant ||
			s.find(func(sum *Sum) bool { return sum.names(w.rule) || sum.names(w.within) }) != nil {
			continue
		}
		if (other > base) == (longer > 0) {
			along = append(along, w.text(s, nil))
		} else {
			against = append(against, w.text(s, nil))
		}
	}
	return along, against
}

// names reports whether a proven cause of the sum has the rule.
func (s *Sum) names(rule Rule) bool {
	return rule != "" && slices.ContainsFunc(s.Named(), func(c Cause) bool { return c.Rule == rule })
}

// commits counts the commits per primary unit: as both engines do, or else of operations, each
// of which is one at least.
func commits(s *Side) float64 {
	byEngine := ofRuns(engineCommits)
	if base, other := byEngine.sides(s.step); !math.IsNaN(base + other) {
		return byEngine(s)
	}
	return s.mean(func(r *run) float64 { return r.perUnitOf(metric.OpsPerS) })
}

// pagesOfCommits are the KB that commits of a tree that copies pages write besides pages of data, per primary unit.
func pagesOfCommits(s *Side) float64 {
	return s.mean(func(r *run) float64 { return commitKB(r) / r.units })
}

// guess names what may be in the part of a throughput's difference that is not explained: items
// that are not proven, and reads of which only the KB are known.
func guess(s *Step, sum *Sum) string {
	base, other := measure(pagesOfCommits).sides(s)
	switch {
	case sum.throughput():
	case sum.Metric == metric.WriteKB && unequal(base, other, wayRatio) && (other > base) == (sum.Total.Log > 0):
		return fmt.Sprintf(" Perhaps: commits write %s besides what changed, of which the page cache combines much.",
			instead(kb, base, other))
	default:
		return ""
	}
	for _, c := range sum.candidates() {
		if !c.Proven() {
			return " Perhaps: " + c.Text() + "."
		}
	}
	base, other = growth("device.read_ns").sides(s)
	share := (other - base) / 1e3 / (sum.Total.New - sum.Total.Base)
	if sum.Of.product() || !(share > leastShare) {
		return ""
	}
	return fmt.Sprintf(" Perhaps the reads: the device takes %s for them, at most %s of the difference.",
		instead(quantity.Micros, base/1e3, other/1e3), quantity.RoughShare(min(1, share)))
}
