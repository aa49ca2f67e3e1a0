package report

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
)

// The parts of a step's CPU time are a table, those with the most first: means over the trials that were sampled, of
// which one without a sample of a subsystem has none of it, with the error of the samples; what is counted has none.
func TestSubsystemTable(t *testing.T) {
	in := fixture(2)
	c := in.campaign()
	s := c.steps[0]
	expect.True(t, subsystemTable(s.Step, s.c.Targets).Empty(), "nothing was sampled")
	put := func(target, trial int, name string, us float64, samples int64) {
		runs := s.Used(c.Targets[target])
		row := metric.Row{Target: c.Targets[target].Name, Trial: trial + 1, Step: s.Name, Metric: metric.CPUUS, Per: "insert row",
			Value: us, N: samples, Labels: metric.Labels{Subsystem: name}}
		runs[trial].Step.Rows = append(runs[trial].Step.Rows, row)
	}
	put(0, 0, "log", 4, 100)
	put(0, 1, "log", 6, 300)
	put(0, 1, "cache", 30, 25)
	put(0, 0, "clients", 2, 0)
	put(0, 1, "clients", 3, 0)
	c = in.campaign()
	table := subsystemTable(c.steps[0].Step, c.Targets)
	var got [][]string
	for _, r := range table.Groups[0].Rows {
		row := []string{r.Head}
		for _, cell := range r.Cells {
			row = append(row, cell.Text)
		}
		got = append(got, row[:3])
	}
	expect.Same(t, [][]string{{"cache", "15.0 ± 6.00", "–"}, {"log", "5.00 ± 0.500", "–"}, {"clients", "2.50", "–"}}, got)
}
