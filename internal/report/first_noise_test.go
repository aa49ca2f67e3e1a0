package report

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
)

// A trial before which the machine was slow is named; if it is the slowest of its target as well, the
// reason has both. Equal machines are not mentioned.
func TestUnequalMachine(t *testing.T) {
	for name, c := range map[string]struct {
		compute, rate float64 // of pebble.2, relative to the other trials
		want, never   string
	}{
		"equal":            {1.02, 0.7, "", "not equally fast"},
		"the machine only": {1.5, 1, "computing took 1.50× as long just before pebble.2", "lowest rate"},
		"and the rate":     {1.5, 0.7, "pebble.2 as before pebble.1. It also has the lowest rate of its target in l.i1: 0.690×", "no trial"},
		"a faster trial":   {1.5, 1.4, "just before pebble.2", "lowest rate"},
	} {
		in := fixture(4)
		for i := range in.Trials {
			tr := in.Trials[i].Trial
			tr.Asked.Steps = []string{"l.i1"}
			tr.Canary = &observe.Canary{Compute: 1, Memory: 90}
			if tr.Target != "pebble" || tr.Trial != 2 {
				continue
			}
			tr.Canary.Compute = c.compute
			changeRows(in.Trials[i:i+1], func(r *metric.Row) {
				if r.Metric == metric.RowsPerS {
					r.Value *= c.rate
				}
			})
		}
		got := strings.Join(metric.Texts(unevenMachine(in.campaign())), " ")
		expect.Contains(t, got, c.want, name)
		expect.Lacks(t, got, c.never, name)
	}
}
