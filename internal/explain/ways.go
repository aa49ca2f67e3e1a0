package explain

import (
	"fmt"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
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
	{RuleRetries, retries, quantity.Digits, "%s attempts are repeated", 1e5, ""},
	{RuleStatements, statements, quantity.Digits, "it executes %s statements", 500, ""},
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

func (w *way) text(v *view, s *Sum, _ *Cause) string {
	return fmt.Sprintf(w.says, instead(w.show, w.n(v, s, &v.Base), w.n(v, s, &v.New)))
}

// holds reports whether the way differs in the direction of the cause, and can be a good part of it.
func (w *way) holds(v *view, s *Sum, c *Cause) bool {
	return allOf(grows(w.n, wayRatio, 0), canCost(w.n, w.each))(v, s, c)
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

// otherWays are the ways that differ, of those that no sentence of the step has named, and that
// may be a good part of the time's difference.
func otherWays(v *view) (along, against []string) {
	longer := v.New.mean(sessionTime) - v.Base.mean(sessionTime)
	relevant := goodPart * math.Abs(longer)
	for _, w := range slices.Concat(ways, work) {
		base, other := w.n(v, nil, &v.Base), w.n(v, nil, &v.New)
		if !apart(base, other, wayRatio) || w.each*math.Abs(other-base) < max(leastWay, relevant) ||
			slices.ContainsFunc(v.Sums, func(sum *Sum) bool { return sum.names(w.rule) || sum.names(w.within) }) {
			continue
		}
		if (other > base) == (longer > 0) {
			along = append(along, w.text(v, nil, nil))
		} else {
			against = append(against, w.text(v, nil, nil))
		}
	}
	return along, against
}

// sessionTime is the time of all clients, in µs per unit.
func sessionTime(r *run) float64 { return window(r) * float64(max(1, r.clients())) }

// leastWay is the least of µs that a way must be able to cost.
const leastWay = 1

// names reports whether a proven cause of the sum has the rule.
func (s *Sum) names(rule Rule) bool {
	return rule != "" && slices.ContainsFunc(s.Causes, func(c Cause) bool { return c.Rule == rule && c.Proven() })
}

// inKB is the growth of a counter of bytes, in KB per primary unit.
func inKB(counter string) measure {
	n := growth(counter)
	return func(v *view, s *Sum, side *Side) float64 { return n(v, s, side) / 1024 }
}

// perUnitOf is a metric of the primary operation in the whole step, per its units.
func (r *run) perUnitOf(name string) float64 {
	rate := r.units / r.Seconds
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Metric == name && row.Op == r.Primary && row.Per == "" {
			return row.Value / rate
		}
	}
	return math.NaN()
}

// commits counts the commits per primary unit: as both engines do, or else of operations, each
// of which is one at least.
func commits(v *view, _ *Sum, side *Side) float64 {
	byEngine := !slices.ContainsFunc(v.sides(), func(s *Side) bool { return math.IsNaN(s.mean((*run).commits)) })
	if byEngine {
		return side.mean((*run).commits)
	}
	return side.mean(func(r *run) float64 { return r.perUnitOf(metric.OpsPerS) })
}

// commits returns the engine's commits per unit; NaN if it does not count all of them.
func (r *run) commits() float64 {
	n, ok := account.Counter(r.Counters, engine.Commits)
	if explicit := func(c observe.Change) bool {
		return c.Name == engine.Commits && observe.ParseLabels(c.Labels).Get(engine.ExplicitOnly) != ""
	}; !ok || slices.ContainsFunc(r.Counters, explicit) {
		return math.NaN()
	}
	return n / r.units
}

// ofCommits is what commits of a tree that copies pages write besides pages of data, in KB.
func ofCommits(r *run) float64 {
	n, ok := account.Counter(r.Counters, engine.WriteCommits)
	if !ok || r.Structure.Commit <= 0 {
		return math.NaN()
	}
	return n * float64(r.Structure.Commit) / 1024
}

func pagesOfCommits(_ *view, _ *Sum, side *Side) float64 {
	return side.mean(func(r *run) float64 { return ofCommits(r) / r.units })
}

func statements(_ *view, _ *Sum, side *Side) float64 {
	return side.mean(func(r *run) float64 { return r.perUnitOf(metric.QueriesPerS) })
}

// retries counts the attempts that are repeated; none is recorded where nothing failed.
func retries(_ *view, _ *Sum, side *Side) float64 {
	return side.mean(func(r *run) (n float64) {
		for i := range r.Rows {
			if row := &r.Rows[i]; row.Metric == metric.Retries && row.Op == r.Primary {
				n += row.Value
			}
		}
		return n / r.units
	})
}

// guess names what may be in the part of a throughput's difference that is not explained: items
// that are not proven, and reads of which only the KB are known.
func (s sentences) guess(sum *Sum) string {
	base, other := pagesOfCommits(nil, nil, &s.Base), pagesOfCommits(nil, nil, &s.New)
	switch {
	case sum.throughput():
	case sum.Metric == metric.WriteKB && apart(base, other, wayRatio) && (other > base) == (sum.Total.Log > 0):
		return fmt.Sprintf(" Perhaps: commits write %s besides what changed, of which the page cache combines much.",
			instead(kb, base, other))
	default:
		return ""
	}
	for _, c := range sum.likely() {
		if !c.Proven() {
			return " Perhaps: " + c.Text() + "."
		}
	}
	base, ok := s.Base.growth("device.read_ns")
	other, known := s.New.growth("device.read_ns")
	share := (other - base) / 1e3 / (sum.Total.New - sum.Total.Base)
	if !ok || !known || sum.data.factors || !(share > leastShare) {
		return ""
	}
	return fmt.Sprintf(" Perhaps the reads: the device takes %s for them, at most %s of the difference.",
		instead(quantity.Micros, base/1e3, other/1e3), quantity.RoughShare(min(1, share)))
}
