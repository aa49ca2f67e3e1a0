package report

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// subsystemTable splits the CPU time per unit of each target by subsystem, as sampled in the measured trials.
func subsystemTable(s *step) page.Table {
	keys := view.Filter(compare.Parts(s.Step, metric.CPUUS), func(k key) bool { return k.Labels.Subsystem != "" })
	if len(keys) == 0 {
		return page.Table{}
	}
	greatest := map[key]float64{}
	for _, k := range keys {
		for _, t := range s.c.Targets {
			if v, _ := sampledCPU(s, t, k); v > greatest[k] {
				greatest[k] = v
			}
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(greatest[b], greatest[a]) })
	t := page.Table{Title: "CPU time by subsystem", Head: "µs per " + keys[0].Per,
		Note: "Of engine and clients, by samples: means over trials, with two standard errors of the samples. Each stack " +
			"counts for its innermost known function; unknown: no function of it is in the catalog, or it has no names. " +
			"The column adds up to the CPU time of the step."}
	for _, target := range s.c.Targets {
		t.Columns = append(t.Columns, page.Column{Name: target.Name})
	}
	head := func(k key) page.Row { return plainRow(k.Labels.Subsystem) }
	t.Groups = []page.Group{{Rows: view.Rows(keys, head, s.c.Targets,
		func(k key, t *target) page.Cell { return sampledCell(sampledCPU(s, t, k)) })}}
	return t
}

func sampledCell(us, samples float64) page.Cell {
	if math.IsNaN(us) {
		return page.Words(quantity.Unknown)
	}
	text := quantity.Digits(us)
	if samples > 0 {
		text += " ± " + quantity.Digits(2*us/math.Sqrt(samples))
	}
	return page.Exact(text, quantity.Full(us))
}

// sampledCPU returns the mean CPU time of a subsystem over the trials of a target that were sampled, and the number of
// samples, 0 if it was counted: a subsystem that a trial has no sample of took none. It is NaN if none was sampled.
func sampledCPU(s *step, t *target, k key) (mean, samples float64) {
	trials := 0
	for _, r := range s.Used(t) {
		split := false
		for _, row := range r.Step.Rows {
			if row.Metric != metric.CPUUS || row.Labels.Subsystem == "" {
				continue
			}
			if split = true; row.Labels.Subsystem == k.Labels.Subsystem {
				mean, samples = mean+row.Value, samples+float64(row.N)
			}
		}
		if split {
			trials++
		}
	}
	if trials == 0 {
		return math.NaN(), 0
	}
	return mean / float64(trials), samples
}
