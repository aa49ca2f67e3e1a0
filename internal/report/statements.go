package report

import (
	"fmt"
	"slices"

	"rumbench/internal/result"
	"rumbench/internal/stat"
)

var (
	statementMetrics = []string{"statements_per_s", "statement_p50_us", "statement_p95_us", "statement_p99_us", "statement_max_us"}
	attemptMetrics   = []string{"attempts", "retries", "given_up", "wasted_statements",
		"errors_conflict", "errors_deadlock", "errors_lock_timeout", "errors_timeout", "errors_duplicate", "errors_gone", "errors_fatal"}
	attemptTimes   = []string{"attempt_p50_us", "attempt_p95_us", "attempt_p99_us", "attempt_p999_us", "attempt_max_us"}
	arrivalMetrics = []string{"offered_per_s", "shed", "abandoned", "queue_max", "highest_rate"}
	spreadMetrics  = []string{"fairness_ops_mean", "fairness_ops_stddev"}
)

// statementsTable shows the statements that operations are made of: how long
// each takes, and its share of the operations' time. The rest of it is the
// client's own.
func (s *step) statementsTable(targets []*target, n *notes) Table {
	t := Table{Title: "Statements", Head: "target", Note: "The statements of operations that were done, as the client saw them. Share: of the time of their operations; what is left is the client’s own."}
	var parts []subject
	for _, k := range s.Keys(statementMetrics...) {
		parts = appendOnce(parts, subject{k.Group, k.Op})
	}
	if len(parts) == 0 {
		return t
	}
	for _, m := range statementMetrics {
		t.Columns = append(t.Columns, metricColumn(key{Metric: m}))
	}
	share := metricColumn(key{Metric: "statement_total_s"})
	share.Name = "share"
	t.Columns = append(t.Columns, share)
	for _, part := range parts {
		g := RowGroup{Name: part.op}
		for _, tg := range targets {
			row := TableRow{Head: tg.Name, Target: tg.Index}
			for _, m := range statementMetrics {
				row.Cells = append(row.Cells, s.cell(tg, targets[0], key{Group: part.group, Op: part.op, Metric: m}, n))
			}
			row.Cells = append(row.Cells, s.shareCell(tg, part))
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// shareCell is a statement's share of the time of its group's operations, in the
// median over the trials.
func (s *step) shareCell(t *target, part subject) Cell {
	var shares []float64
	for _, r := range s.Used(t) {
		mine, all := 0.0, 0.0
		for i := range r.Step.Rows {
			row := &r.Step.Rows[i]
			switch {
			case row.Group != part.group:
			case row.Metric == "statement_total_s" && row.Op == part.op:
				mine = row.Value
			case row.Metric == "service_total_s" && single(r.Step, row):
				all += row.Value
			}
		}
		if all > 0 && mine > 0 {
			shares = append(shares, mine/all)
		}
	}
	if len(shares) == 0 {
		return absentCell(s.Absence(t, key{Metric: "statement_total_s"}))
	}
	share := stat.Median(shares)
	return Cell{Text: percent2(share), Number: true, Value: full(share), Title: fmt.Sprintf("statement_total_s of %s ÷ service_total_s of its operations = %s", part.op, full(share))}
}

// single tells whether a row is of a kind of operation, and not of a whole of
// several.
func single(s *result.Step, row *result.Row) bool {
	for _, g := range s.Groups {
		if g.Name == row.Group {
			return slices.Contains(g.Ops, row.Op)
		}
	}
	return false
}

// attemptsTables show what was tried in vain, where anything was.
func (s *step) attemptsTables(targets []*target, n *notes) []Table {
	tables := s.metricTables("Attempts and errors", "An attempt that failed is tried again, or given up, as the workload says. Only where some failed.", targets, attemptMetrics, n)
	again := perOperation{"attempts", "attempts per operation", 1}
	for i := range tables {
		t := &tables[i]
		if !slices.ContainsFunc(t.keys, func(k key) bool { return k.Metric == again.metric }) || len(t.Groups) != 1 {
			continue // of a whole group, or of several kinds
		}
		t.Columns = append(t.Columns, again.column())
		for r := range t.Groups[0].Rows {
			row := &t.Groups[0].Rows[r]
			row.Cells = append(row.Cells, again.cell(s, targets[row.Target]))
		}
	}
	return append(tables, s.metricTables("Time of the attempt that succeeded", "Without the failed ones before it, and the pauses: these are in the service time.", targets, attemptTimes, n)...)
}
