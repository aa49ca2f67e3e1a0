// Package export writes the numbers of trials as Parquet files, for programs that
// query many campaigns at once. It reads results and judges nothing.
package export

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Trial is a trial with data that its own file does not hold.
type Trial struct {
	*result.Trial
	Path          string    // its directory
	CampaignDir   string    // distinguishes campaigns with the same plan
	Started       time.Time // of the campaign
	EngineVersion string    // "" if unknown
	// Headline reports whether a row is one by which its step is judged.
	Headline func(*result.Step, *metric.Row) bool
}

// Row is a line of the file of rows: a metric.Row with the fields needed to
// select, group and compare it. Text that is "" in a result is null. It has many
// fields because they are the columns of the Parquet file.
type Row struct {
	Campaign      string    `parquet:"campaign,dict"`
	CampaignDir   string    `parquet:"campaign_dir,dict"`
	Started       time.Time `parquet:"started,timestamp(microsecond:local)"` // of the campaign, in UTC
	Workload      string    `parquet:"workload,dict"`
	Preset        string    `parquet:"preset,dict,optional"`
	Params        string    `parquet:"params,dict"` // JSON with sorted names
	Target        string    `parquet:"target,dict"`
	Engine        string    `parquet:"engine,dict"`
	EngineVersion string    `parquet:"engine_version,dict,optional"`
	Durability    string    `parquet:"durability,dict"`
	Hostname      string    `parquet:"hostname,dict,optional"`
	Machine       string    `parquet:"machine,dict,optional"` // of a fleet
	Trial         int32     `parquet:"trial"`
	TrialStarted  time.Time `parquet:"trial_started,optional,timestamp(microsecond:local)"` // null if unknown
	Status        string    `parquet:"status,dict"`                                         // of the trial
	Step          string    `parquet:"step,dict"`
	StepStatus    string    `parquet:"step_status,dict"`
	Group         string    `parquet:"group,dict,optional"`
	Op            string    `parquet:"op,dict,optional"`
	Metric        string    `parquet:"metric,dict"`
	Value         float64   `parquet:"value"`
	Unit          string    `parquet:"unit,dict"`
	Per           string    `parquet:"per,dict,optional"`
	N             int64     `parquet:"n,optional"` // null: unknown, or counts nothing
	Source        string    `parquet:"source,dict,optional"`
	Warnings      []string  `parquet:"warnings,list"`
	WarningCodes  []string  `parquet:"warning_codes,list"` // in the warnings' order; "" without a code
	Headline      bool      `parquet:"headline"`
	Labels        string    `parquet:"labels,dict,optional"` // machine="s2": of a part of the step
	Compares      bool      `parquet:"-"`                    // no warning refuses that
}

// WriteRows writes all rows of the trials, in their order, and returns their
// number.
func WriteRows(w io.Writer, trials []Trial) (int64, error) { return write(w, "rows", trials, eachRow) }

func eachRow(t Trial, yield func(...Row) error) error {
	params, err := json.Marshal(t.Params)
	if err != nil {
		return fmt.Errorf("write the parameters of %s: %w", t.Path, err)
	}
	common := Row{
		Campaign: t.Campaign, CampaignDir: t.CampaignDir, Started: t.Started, Workload: t.Workload, Preset: t.Preset,
		Params: string(params),
		Target: t.Target, Engine: t.Engine, EngineVersion: t.EngineVersion, Durability: t.Durability,
		Hostname: t.Host.Value("hostname"), Machine: t.Machine,
		Trial: int32(t.Trial.Trial), TrialStarted: t.Trial.Started, Status: string(t.Status),
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		for k := range s.Rows {
			row := &s.Rows[k]
			r := common
			r.Step, r.StepStatus = s.Name, string(s.Status)
			r.Group, r.Op, r.Metric, r.Value, r.Unit, r.Per = row.Group, row.Op, row.Metric, row.Value, row.Unit,
				row.Per
			warnings := row.Warnings
			if row.Few() {
				warnings = append(slices.Clone(warnings), metric.Untyped(metric.Needs(row.Metric)))
			}
			r.N, r.Source, r.Warnings = row.N, row.Source, metric.Texts(warnings)
			r.Labels, r.WarningCodes = row.Labels.String(), metric.Codes(warnings)
			r.Headline = t.Headline(s, row)
			r.Compares = !row.Disturbed && !metric.HasEffect(slices.Concat(s.Warnings, row.Warnings), metric.Refuses)
			if err := yield(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// columns are those of the CSV, of the same names as in the Parquet file. What every number
// of a trial shares is only that by which rows are told apart.
var columns = []string{"campaign", "started", "workload", "target", "engine", "engine_version", "durability", "trial",
	"step", "step_status", "group", "op", "metric", "value", "unit", "per", "n", "source", "headline", "warnings",
	"labels"}

// WriteCSV writes all rows of the trials as CSV with a line of names.
func WriteCSV(w io.Writer, trials []Trial) error {
	out := csv.NewWriter(w)
	err := out.Write(columns)
	for _, t := range trials {
		err = cmp.Or(err, eachRow(t, func(rows ...Row) error { return out.Write(rows[0].fields()) }))
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}

func (r *Row) fields() []string {
	n := ""
	if r.N != 0 {
		n = strconv.FormatInt(r.N, 10)
	}
	return []string{r.Campaign, r.Started.UTC().Format(time.RFC3339), r.Workload, r.Target, r.Engine, r.EngineVersion,
		r.Durability, strconv.Itoa(int(r.Trial)), r.Step, r.StepStatus, r.Group, r.Op, r.Metric,
		strconv.FormatFloat(r.Value, 'g', -1, 64), r.Unit, r.Per, n, r.Source, strconv.FormatBool(r.Headline),
		strings.Join(r.Warnings, "; "), r.Labels}
}
