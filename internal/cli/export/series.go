package export

import (
	"io"
	"maps"
	"slices"
	"strings"

	"rumbench/internal/result"
)

// Sample is a line of the file of series: the operations of one kind in an
// interval (source "ops"), or one value of a source at the interval's end.
// Columns that do not apply to a line are null. It belongs to the rows of the
// same campaign_dir, target, trial and step. It has many fields because they are
// the columns of the Parquet file.
type Sample struct {
	Campaign    string  `parquet:"campaign,dict"`
	CampaignDir string  `parquet:"campaign_dir,dict"`
	Target      string  `parquet:"target,dict"`
	Trial       int32   `parquet:"trial"`
	Step        string  `parquet:"step,dict"`
	Source      string  `parquet:"source,dict"`
	T           float64 `parquet:"t"`  // end of the interval, seconds from the start of the step's window
	DT          float64 `parquet:"dt"` // its length in seconds

	// Operations.
	Group       string  `parquet:"group,dict,optional"`
	Op          string  `parquet:"op,dict,optional"`
	Upkeep      *bool   `parquet:"upkeep,optional"` // timed, but not in the workload's schedule
	Ops         *int64  `parquet:"ops,optional"`
	Rows        *int64  `parquet:"rows,optional"`
	Errors      *int64  `parquet:"errors,optional"`
	P50         float64 `parquet:"p50_us,optional"` // service time; null if nothing was done
	P99         float64 `parquet:"p99_us,optional"`
	Max         float64 `parquet:"max_us,optional"`
	ResponseP99 float64 `parquet:"response_p99_us,optional"` // only for groups with a rate
	ResponseMax float64 `parquet:"response_max_us,optional"`
	Clients     []int64 `parquet:"clients,list"` // operations of each client

	// Other sources.
	Name   string   `parquet:"name,dict,optional"`
	Labels string   `parquet:"labels,dict,optional"` // such as `dev="vda"`
	Value  *float64 `parquet:"value,optional"`       // growth of a counter, or value of a gauge
	Late   float64  `parquet:"late,optional"`        // seconds from the interval's end to the answer
}

// WriteSeries writes the interval series of the trials, in their order, and
// returns the number of lines. It reads and writes them as a stream.
func WriteSeries(w io.Writer, trials []Trial) (int64, error) {
	return write(w, "samples", trials, func(t Trial, yield func(...Sample) error) error {
		return result.ReadSeries(t.Path, nil, func(l result.Line) error { return yield(samples(t, &l)...) })
	})
}

// samples returns the samples that a line holds: one per value, by name, or one
// of operations.
func samples(t Trial, l *result.Line) (out []Sample) {
	common := Sample{Campaign: t.Campaign, CampaignDir: t.CampaignDir, Target: t.Target, Trial: int32(t.Trial.Trial),
		Step: l.Step, Source: l.Source, T: l.T, DT: l.DT, Late: l.Late}
	for _, name := range slices.Sorted(maps.Keys(l.V)) {
		s, value := common, l.V[name]
		s.Name, s.Labels = splitName(name)
		s.Value = &value
		out = append(out, s)
	}
	if l.Source != "ops" {
		return out
	}
	s := common
	s.Group, s.Op, s.Upkeep, s.Ops, s.Rows, s.Errors = l.Group, l.Op, &l.Upkeep, &l.Ops, &l.Rows, &l.Errors
	s.P50, s.P99, s.Max, s.ResponseP99, s.ResponseMax, s.Clients = l.P50, l.P99, l.Max, l.ResponseP99, l.ResponseMax,
		l.Clients
	return append(out, s)
}

// splitName separates a series' labels from its name: name{labels}.
func splitName(series string) (name, labels string) {
	name, labels, _ = strings.Cut(series, "{")
	return name, strings.TrimSuffix(labels, "}")
}
