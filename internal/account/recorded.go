package account

import (
	"slices"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
)

// Served is a kind of work that servers count, whoever asks for it.
type Served struct {
	Group, Op string
	Counter   string
}

// AllServed are the kinds of work that servers count, the most telling first.
var AllServed = []Served{{"queries", "query", engine.Queries}, {"transactions", "transaction", engine.Commits}}

// byLoad is the source of figures about the resource use of the program that
// made the load.
const byLoad = "the program that made the load"

// Recorded adds all numbers of a step whose load another program made: the server's
// counts are its work. intervals are those of each kind of work, by its operation.
func (s *Step) Recorded(intervals map[string][]Interval) {
	c := &costing{s, s.figures()}
	c.addLoad()
	c.markDeferred()
	disturbed := Warned(slices.Concat(c.judgeSources(), lost(s.InWindow))...)
	for _, w := range AllServed {
		n, ok := Counter(s.InWindow, w.Counter)
		if !ok || n <= 0 {
			continue
		}
		extra := []With{Of(w.Group, w.Op), Source(w.source(s.InWindow)), disturbed}
		s.Put(metric.Rows, n, append(extra, Count(int64(n)))...)
		s.Rate(metric.OpsPerS, n, s.Seconds, extra...)
		s.Rate(metric.RowsPerS, n, s.Seconds, extra...)
		s.Logged(w.Group, intervals[w.Op], false)
		if w.source(s.InWindow) == ownAccount { // else too few are counted to divide by
			s.Costs(c.costs, Denominator{w.Op, n, int64(n)})
		}
	}
	s.Put(metric.DurationS, s.Seconds)
	c.addEngine()
	c.addCounters()
}

// source returns the source of the work's counts.
func (w Served) source(counted []observe.Change) string {
	for _, c := range counted {
		if c.Name == w.Counter && observe.ParseLabels(c.Labels).Get(engine.ExplicitOnly) != "" {
			return ownAccount + ": COMMIT statements only"
		}
	}
	return ownAccount
}

// addLoad adds the CPU time of the program that made the load.
func (s *costing) addLoad() {
	if s.Load == nil {
		return
	}
	load := micros(s.Load.Nanoseconds())
	if server := find(s.costs, metric.ServerCPUUS); server != nil {
		s.costs = append(s.costs, Cost{Metric: metric.CPUUS, Value: server.Value + load,
			Source: server.Source + " and " + byLoad})
	}
	s.costs = append(s.costs, Cost{Metric: metric.ClientCPUUS, Value: load, Source: byLoad})
}

// lost warns of work that was counted in part only, as the server was restarted.
func lost(counted []observe.Change) (out []metric.Warning) {
	for _, c := range counted {
		if c.Reset && slices.ContainsFunc(AllServed, func(w Served) bool { return w.Counter == c.Name }) {
			out = append(out, metric.Warn(remark.CounterReset, metric.Values{"counter": c.Name}))
		}
	}
	return out
}
