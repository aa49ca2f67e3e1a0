package divided

import (
	"slices"
	"time"

	"rumbench/internal/observe"
	"rumbench/internal/run/drive"
	"rumbench/internal/stat/hist"
)

// Report is what is known of a machine of clients after a load.
type Report struct {
	Machine string `json:"machine"`
	observe.UseTotal
	Ops int64 `json:"ops"`
	// P50 and P99 are percentiles of the service times of all its operations.
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
	// Late is how long after the common instant its clients could begin.
	Late  time.Duration `json:"late"`
	Clock Offset        `json:"clock"`
	// Saturated says what it was short of in a tenth of the intervals or more; none: of nothing.
	Saturated []string `json:"saturated,omitempty"`
	// Straggler: its p99 is over twice the median of those of the others.
	Straggler bool `json:"straggler,omitempty"`
}

// The shares beyond which a machine has no reserve.
const (
	busyProcessors = 0.85
	busyNet        = 0.80
	longQueue      = 0.05 // of the median service time, for each operation
	usualQueue     = 0.02 // of the interval: threads of an idle program wait for a processor when they wake, too
	manyIntervals  = 0.10 // in which it was short
	fewIntervals   = 3    // from which nothing is concluded
	fullClient     = 0.5  // of what it does without a server
	slowTail       = 2    // times the median p99 of the others
)

// use is what a machine needed in an interval, and its operations then.
type use struct {
	observe.Use
	ops    int64
	length time.Duration
}

// judge completes the reports of a load's parts by their results, and by their use in each interval. ceilings
// are the units a second that each machine does without a server; 0: unknown. head is the bound of the error
// of the clock of the server's machine.
func judge(load *Numbers, results []*drive.Result, out *Outcome, uses [][]use, ceilings []float64,
	head time.Duration) {
	for i := range out.Reports {
		r := &out.Reports[i]
		dist := hist.NewDist()
		var units int64
		for g := range results[i].Groups {
			for k := range results[i].Groups[g].Kinds {
				kind, is := &results[i].Groups[g].Kinds[k], load.Groups[g].Kinds[k]
				if !is.Upkeep {
					dist.Merge(kind.Service)
					r.Ops += kind.Ops
				}
				if is.Primary {
					units += kind.Rows
				}
			}
		}
		r.Late = results[i].Late
		r.P50, r.P99 = time.Duration(dist.Percentile(50)), time.Duration(dist.Percentile(99))
		r.Saturated = saturated(uses[i], r.P50)
		if c := ceilings[i]; c > 0 && float64(units) > fullClient*c*results[i].Window.Seconds() {
			r.Saturated = append(r.Saturated, "it did over half of what it does without a server")
		}
	}
	for i := range out.Reports {
		var durations []time.Duration
		for j, o := range out.Reports {
			if j != i && o.Ops > 0 {
				durations = append(durations, o.P99)
			}
		}
		if len(durations) > 0 {
			slices.Sort(durations)
			out.Reports[i].Straggler = out.Reports[i].P99 > slowTail*durations[len(durations)/2]
		}
	}
	earliest, latest := out.Reports[0].Late, out.Reports[0].Late
	for _, r := range out.Reports {
		earliest, latest = min(earliest, r.Late), max(latest, r.Late)
		out.Bound = max(out.Bound, r.Clock.Bound+head)
	}
	out.Spread = latest - earliest
}

// saturated says what a machine was short of.
func saturated(uses []use, p50 time.Duration) (out []string) {
	if len(uses) < fewIntervals {
		return nil
	}
	short := func(text string, is func(u use) bool) {
		n := 0
		for _, u := range uses {
			if is(u) {
				n++
			}
		}
		if float64(n) >= manyIntervals*float64(len(uses)) && n > 0 {
			out = append(out, text)
		}
	}
	short("its processors were busy", func(u use) bool { return u.Busy > busyProcessors })
	short("its network was busy", func(u use) bool { return u.Net > busyNet })
	short("its threads waited for a processor", func(u use) bool {
		return u.ops > 0 && float64(u.Queue) > longQueue*float64(p50)*float64(u.ops)+usualQueue*float64(u.length)
	})
	return out
}
