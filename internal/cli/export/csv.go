package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// columns are those of the CSV, of the same names as in the Parquet file. What every number
// of a trial shares is only that by which rows are told apart.
var columns = []string{"campaign", "started", "workload", "target", "engine", "engine_version", "durability", "trial",
	"step", "step_status", "group", "op", "metric", "value", "unit", "per", "n", "source", "headline", "warnings",
	"labels"}

// WriteCSV writes all rows of the trials as CSV with a line of names.
func WriteCSV(w io.Writer, trials []Trial) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	for _, t := range trials {
		err := eachRow(t, func(rows ...Row) error {
			for i := range rows {
				if err := out.Write(rows[i].fields()); err != nil {
					return fmt.Errorf("write rows: %w", err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
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
