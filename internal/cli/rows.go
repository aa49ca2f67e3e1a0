package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"rumbench/internal/cli/export"
	"rumbench/internal/compare/history"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/redact"
)

// rowFormats are the formats in which a campaign's numbers can be taken away.
var rowFormats = []string{"csv", "json", "parquet"}

// writeRows writes the numbers of a campaign.
func writeRows(w io.Writer, dir, format string, redacted bool) error {
	run := history.Read(dir)
	if redacted {
		run.Dir = filepath.Base(dir)
		run = redact.Copy(run, planText(dir))
	}
	trials, _ := exportTrials([]*history.Run{run})
	switch format {
	case "csv":
		return export.WriteCSV(w, trials)
	case "parquet":
		_, err := export.WriteRows(w, trials)
		return err
	case "json":
		var rows []metric.Row
		for _, t := range trials {
			rows = append(rows, t.Shown()...)
		}
		return metric.WriteLines(w, rows)
	}
	return fmt.Errorf("rows are written as %v, not as %s", rowFormats, format)
}

// planText returns the plan of a campaign; "" without one.
func planText(dir string) string {
	src, err := result.ReadPlan(dir)
	if err != nil {
		return ""
	}
	return string(plan.WithoutSecrets(src))
}
