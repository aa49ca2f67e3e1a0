package account

import (
	"slices"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/stat"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// Restarted adds all numbers of a step in which the engine was stopped and started again. Counters of
// the engine begin again with it, and those of a server's processes end unseen.
func Restarted(s *Step, stopped, started time.Duration) {
	s.Put(metric.DurationS, s.Seconds)
	s.Put(metric.StopS, stopped.Seconds())
	s.Put(metric.StartS, started.Seconds())
	lasting := func(changes []observe.Change) []observe.Change {
		return slices.DeleteFunc(slices.Clone(changes), func(c observe.Change) bool {
			source, _, _ := strings.Cut(c.Name, ".")
			return source != "device" && source != "host" && (source != "process" || s.Hosted)
		})
	}
	o := *s.Observed
	o.InWindow, o.WithSync, o.Deferred, o.Debt = lasting(o.InWindow), lasting(o.WithSync), nil, nil
	s.Observed = &o
	c := &costing{s, s.figures()}
	c.judgeSources()
	c.noteAlone()
	for i := range c.costs {
		s.Put(c.costs[i].Metric, c.costs[i].Value, Per("step"), Count(1), c.costs[i].mark)
	}
	c.addCounters()
}

// Start is how a step began before which the engine had restarted.
type Start struct {
	Caches workload.Caches
	// Read returns the bytes read from storage in the first seconds, by this source; nil if unknown.
	Read   func(seconds float64) (bytes float64, ok bool)
	Source string
	// FirstMinute holds the times of primary operations, by group; nil if the step was shorter.
	FirstMinute map[string]*hist.Dist
}

// level is the share of its last level from which a rate has warmed up.
const level = 0.95

// addWarmUp adds how a step warmed up before which the engine had restarted.
func (s *costing) addWarmUp() {
	if s.Start == nil {
		return
	}
	if s.Start.Caches == workload.CachesDropped {
		s.note("begun cold: the engine had just been opened, and none of its files were in the page cache")
	} else {
		s.note("begun after a restart, caches kept: the engine's own were empty, the page cache was not")
	}
	for _, g := range s.Groups {
		if !g.Does(s.Of.Primary) {
			continue
		}
		subject := Of(g.Name, s.Of.Primary)
		if d := s.Start.FirstMinute[g.Name]; d != nil && d.Count() >= metric.LeastSamples(99) {
			s.Put(metric.FirstMinuteP99US, micros(d.Percentile(99)), subject, Count(d.Count()))
		} else {
			s.note("group %s: the p99 of the first minute is unknown: the step was shorter, or did too little in it", g.Name)
		}
		seconds, reason := g.warmUp()
		if reason != "" {
			s.note("group %s: the time to warm up is unknown: %s", g.Name, reason)
			continue
		}
		s.Put(metric.WarmS, seconds, subject, Count(int64(len(g.Intervals))))
		if s.Start.Read == nil {
			continue
		}
		if bytes, found := s.Start.Read(seconds); found {
			cost := Cost{Source: s.Start.Source}
			for _, name := range []string{metric.ReadKB, metric.ProcessReadKB} {
				if c := find(s.costs, name); c != nil && c.Source == cost.Source {
					cost = *c // with its warnings
				}
			}
			s.Put(metric.WarmReadKB, bytes/kb, subject, cost.mark)
		}
	}
}

// warmUp returns after how many seconds the group's rate had reached its last level, or why that is
// unknown. A single interval on the level may be chance: of three, two must be.
func (g *Group) warmUp() (seconds float64, reason string) {
	const thirds, fewest = 3, 9
	if g.Paced() {
		return 0, "its operations have a rate"
	}
	intervals := g.within()
	rates := Rates(intervals)
	if len(rates) < fewest {
		return 0, "the step has too few intervals with enough operations"
	}
	last := rates[len(rates)-len(rates)/thirds:]
	early, late := stat.Median(last[:len(last)/2]), stat.Median(last[len(last)/2:])
	if min(early, late) < level*max(early, late) {
		return 0, "its rate was not level in the last third of the step"
	}
	target := level * stat.Median(last)
	for i := 0; i+thirds <= len(rates); i++ {
		if stat.Median(rates[i:i+thirds]) >= target && rates[i] >= target {
			return intervals[i].From, ""
		}
	}
	return 0, "its rate was not level in the last third of the step"
}
