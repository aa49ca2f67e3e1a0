package compare

import (
	"math"

	"rumbench/internal/metric"
)

// Sampled is CPU time of a subsystem in µs per unit: the mean over trials, and the number of samples that it is known
// by, 0 if it was counted.
type Sampled struct {
	Mean    float64
	Samples int64
}

// Err returns the standard error of the samples.
func (s Sampled) Err() float64 { return s.Mean / math.Sqrt(float64(max(1, s.Samples))) }

// Subsystems returns the CPU time by subsystem, and in how many of the runs it was sampled: one that a run has no
// sample of took none there.
func Subsystems(runs []Run) (cpu map[string]Sampled, sampled int) {
	cpu = map[string]Sampled{}
	for _, r := range runs {
		split := false
		for i := range r.Step.Rows {
			row := &r.Step.Rows[i]
			if name := row.Labels.Subsystem; row.Metric == metric.CPUUS && name != "" {
				split = true
				cpu[name] = Sampled{cpu[name].Mean + row.Value, cpu[name].Samples + row.N}
			}
		}
		if split {
			sampled++
		}
	}
	for name, c := range cpu {
		cpu[name] = Sampled{c.Mean / float64(sampled), c.Samples}
	}
	return cpu, sampled
}
