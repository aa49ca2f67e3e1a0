package export

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// WriteGobench writes the numbers by which complete steps are judged in the format of Go's
// benchmarks, which benchstat reads, and returns their number. A step of a trial is one or more
// lines, BenchmarkWORKLOAD/target=…/step=…/op=…, with the operations counted and a value for
// each metric; cost metrics have their denominator in the unit.
//
// The format is https://go.dev/design/14313-benchmark-format.
func WriteGobench(w io.Writer, trials []Trial) (n int64, err error) {
	var all []Row
	units := map[string]bool{}
	for _, t := range trials {
		err := eachRow(t, func(rows ...Row) error {
			for _, r := range rows {
				done := r.Status == string(result.Complete) && r.StepStatus == string(result.Complete)
				if !r.Headline || !done {
					continue
				}
				if all = append(all, r); !units[r.benchUnit()] {
					units[r.benchUnit()] = true
					writeUnit(w, &r)
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	for i := 0; i < len(all); {
		line := &strings.Builder{}
		first := &all[i]
		fmt.Fprintf(line, "%s %d", first.benchName(), max(first.N, 1))
		for ; i < len(all) && all[i].benchName() == first.benchName() && all[i].Trial == first.Trial &&
			all[i].CampaignDir == first.CampaignDir; i++ {
			fmt.Fprintf(line, " %s %s", strconv.FormatFloat(all[i].Value, 'g', -1, 64), all[i].benchUnit())
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return 0, fmt.Errorf("write benchmarks: %w", err)
		}
	}
	return int64(len(all)), nil
}

// writeUnit tells benchstat in which direction a unit is better.
func writeUnit(w io.Writer, r *Row) {
	if m := metric.ByName(r.Metric); m != nil && m.Better != "" {
		fmt.Fprintf(w, "Unit %s better=%s\n", r.benchUnit(), m.Better)
	}
}

// benchUnit returns a unit that names the metric: a metric has one unit.
func (r *Row) benchUnit() string {
	if r.Per == "" {
		return r.Metric
	}
	return r.Metric + "/" + strings.ReplaceAll(r.Per, " ", "-")
}

// benchName returns the name of a benchmark. Its last part must not look like a number of
// processors, -8.
func (r *Row) benchName() string {
	part := func(s string) string {
		return strings.Map(func(c rune) rune {
			if unicode.IsSpace(c) || c == '/' || !unicode.IsPrint(c) {
				return '_'
			}
			return c
		}, s)
	}
	name := "Benchmark" + part(strings.ToUpper(r.Workload[:min(1, len(r.Workload))])+r.Workload[min(1, len(r.Workload)):])
	name += "/target=" + part(r.Target) + "/step=" + part(r.Step)
	op := "all"
	if r.Op != "" {
		op = part(r.Op)
	}
	return name + "/op=" + strings.ReplaceAll(op, "-", "_")
}
