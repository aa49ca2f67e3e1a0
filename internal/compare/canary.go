package compare

import (
	"math"

	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// CanaryLoad is one of the two loads that measure the machine itself before a trial.
type CanaryLoad struct {
	Name  string
	Value func(*observe.Canary) float64
	// One is the ratio from which the machine differs between two measurements, Level that between the
	// medians of several: reads from memory vary by what other guests of the host do.
	One, Level float64
}

// CanaryLoads are both loads.
func CanaryLoads() []CanaryLoad {
	return []CanaryLoad{
		{"computing", func(c *observe.Canary) float64 { return c.Compute }, 1.1, 1.03},
		{"reading memory", func(c *observe.Canary) float64 { return c.Memory }, 1.3, 1.1},
	}
}

// Time returns the median time of the load before trials; false if none has it.
func (l CanaryLoad) Time(trials ...*result.Trial) (float64, bool) {
	times := l.times(trials)
	return stat.Median(times), len(times) > 0
}

func (l CanaryLoad) times(trials []*result.Trial) (out []float64) {
	for _, t := range trials {
		if t.Canary != nil && l.Value(t.Canary) > 0 {
			out = append(out, l.Value(t.Canary))
		}
	}
	return out
}

// Pace is how the machine's own speed differed between two groups of trials or of runs.
type Pace struct {
	Load  string  `json:"load"`
	Ratio float64 `json:"ratio"` // of the time that the load took: above 1, the machine was slower
}

func (p *Pace) String() string { return p.Load + " took " + quantity.Times(p.Ratio) + " as long" }

// Slower is the logarithm of how much longer the load took.
func (p *Pace) Slower() float64 { return math.Log(p.Ratio) }

// Beyond reports whether a ratio of two times differs from 1 by more than a limit, up or down.
func Beyond(ratio, limit float64) bool { return ratio > limit || ratio < 1/limit }
