package export

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// WriteGobench writes the numbers by which complete steps are judged in the format of Go's
// benchmarks, which benchstat reads, and returns their number. A step of a trial is one or more
// lines, BenchmarkWORKLOAD/target=…/step=…/op=…, with the operations counted and a value for
// each metric; cost metrics have their denominator in the unit. Numbers that rumbench would not
// compare are left out, and counted in a comment.
//
// The format is https://go.dev/design/14313-benchmark-format.
func WriteGobench(w io.Writer, trials []Trial) (n int64, err error) {
	var all []Row
	units := map[string]bool{}
	left := 0
	for _, t := range trials {
		err := eachRow(t, func(rows ...Row) error {
			r := rows[0]
			switch complete := string(result.Complete); {
			case r.Status != complete || r.StepStatus != complete || !r.Headline:
			case !r.Compares:
				left++
			default:
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
	if left > 0 {
		fmt.Fprintf(w, "# left out: %d numbers that cannot be compared, see rumbench show\n", left)
	}
	several := slices.ContainsFunc(all, func(r Row) bool { return r.CampaignDir != all[0].CampaignDir })
	for i := 0; i < len(all); {
		line := &strings.Builder{}
		first := &all[i]
		if several && (i == 0 || all[i-1].CampaignDir != first.CampaignDir) {
			fmt.Fprintf(line, "campaign: %s\n", escape.Line(first.CampaignDir))
		}
		fmt.Fprintf(line, "%s %d", first.benchName(), max(first.N, 1))
		for ; i < len(all) && all[i].sameBenchmark(first); i++ {
			fmt.Fprintf(line, " %s %s", strconv.FormatFloat(all[i].Value, 'g', -1, 64), all[i].benchUnit())
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return 0, fmt.Errorf("write benchmarks: %w", err)
		}
	}
	return int64(len(all)), nil
}

func (r *Row) sameBenchmark(o *Row) bool {
	return r.CampaignDir == o.CampaignDir && r.Target == o.Target && r.Trial == o.Trial && r.Step == o.Step &&
		r.Group == o.Group && r.Op == o.Op
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

// benchName returns the name of a benchmark: different ones have different names. Its last part must
// not look like a number of processors, -8.
func (r *Row) benchName() string {
	name := "Benchmark" + url.PathEscape(quantity.Capital(r.Workload)) + "/target=" + url.PathEscape(r.Target) +
		"/step=" + url.PathEscape(r.Step)
	if r.Group != "" && r.Group != r.Op {
		name += "/group=" + url.PathEscape(r.Group)
	}
	op := "all"
	if r.Op != "" {
		op = url.PathEscape(r.Op)
	}
	return name + "/op=" + strings.ReplaceAll(op, "-", "%2D")
}
