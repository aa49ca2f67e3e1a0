package report

import (
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

var (
	statementMetrics = metric.InSection(metric.StatementTable)
	attemptMetrics   = metric.InSection(metric.AttemptsTable)
	attemptTimes     = metric.InSection(metric.AttemptTable)
	failedTimes      = metric.InSection(metric.GivenUpTable)
	arrivalMetrics   = metric.InSection(metric.ArrivalsTable)
	spreadMetrics    = metric.InSection(metric.SpreadTable)
)

// statementsTable shows the statements that operations are made of: how long
// each takes, and its share of the time of the attempts that succeeded. The rest
// of it is the client's own; what was tried in vain is told beside it.
func (s *step) statementsTable(targets []*target, n *notes) Table {
	t := Table{Title: "Statements", Head: "target", Note: "The statements of operations that were done, as the client saw them. Share: of the time of the attempts that succeeded; what is left is the client’s own."}
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
			shares := s.shares(tg, part, func(t spent) float64 { return t.statement })
			row.Cells = append(row.Cells, s.shareCell(tg, shares, "statement_total_s of "+part.op+" ÷ attempt_total_s of its operations"))
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	t.Groups = append(t.Groups, s.inVain(targets, parts)...)
	return t
}

// inVain are the lines of what took time beside the attempts that succeeded, a
// group of clients each, where anything was tried in vain.
func (s *step) inVain(targets []*target, parts []subject) (out []RowGroup) {
	var groups []string
	for _, part := range parts {
		groups = appendOnce(groups, part.group)
	}
	for _, group := range groups {
		g := RowGroup{Name: "failed attempts and pauses", Title: "Of operations that were done: they come on top of the time that shares are of."}
		any := false
		for _, tg := range targets {
			row := TableRow{Head: tg.Name, Target: tg.Index}
			for range statementMetrics {
				row.Cells = append(row.Cells, absentCell("they are no statement"))
			}
			vain := s.shares(tg, subject{group, ""}, func(t spent) float64 { return t.service - t.attempts })
			any = any || slices.ContainsFunc(vain, func(share float64) bool { return share > 0 })
			row.Cells = append(row.Cells, s.shareCell(tg, vain, "(service_total_s − attempt_total_s) ÷ attempt_total_s"))
			g.Rows = append(g.Rows, row)
		}
		if any {
			out = append(out, g)
		}
	}
	return out
}

// spent is what a group's clients spent their time with, in seconds.
type spent struct{ service, attempts, statement float64 }

// shares are a time ÷ that of the attempts that succeeded, of each trial that
// knows both.
func (s *step) shares(t *target, about subject, of func(spent) float64) (out []float64) {
	for _, r := range s.Used(t) {
		if all := spentBy(r.Step, about); all.attempts > 0 {
			out = append(out, max(0, of(all))/all.attempts)
		}
	}
	return out
}

// spentBy sums up the operations of a group, and one statement of theirs. Files
// from before attempts were told apart have them only where nothing failed.
func spentBy(s *result.Step, about subject) (t spent) {
	failed := false
	for i := range s.Rows {
		row := &s.Rows[i]
		switch {
		case row.Group != about.group:
		case row.Metric == "statement_total_s" && row.Op == about.op:
			t.statement = row.Value
		case row.Metric == "attempts":
			failed = true
		case row.Metric == "service_total_s" && single(s, row):
			t.service += row.Value
		case row.Metric == "attempt_total_s" && single(s, row):
			t.attempts += row.Value
		}
	}
	if t.attempts == 0 && !failed {
		t.attempts = t.service
	}
	return t
}

// shareCell is a share in the median over the trials.
func (s *step) shareCell(t *target, shares []float64, formula string) Cell {
	if len(shares) == 0 {
		return absentCell(s.Absence(t, key{Metric: "attempt_total_s"}))
	}
	share := stat.Median(shares)
	return Cell{Text: percent2(share), Number: true, Value: full(share), Title: formula + " = " + full(share)}
}

// single tells whether a row is of a kind of operation, and not of a whole of
// several.
func single(s *result.Step, row *metric.Row) bool {
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
	again := perOperation{"attempts", 1}
	for i := range tables {
		t := &tables[i]
		if !slices.ContainsFunc(t.keys, func(k key) bool { return k.Metric == again.metric }) || len(t.Groups) != 1 {
			continue // of a whole group, or of several kinds
		}
		head := again.column()
		head.Name = "attempts per operation"
		t.Columns = append(t.Columns, head)
		for r := range t.Groups[0].Rows {
			row := &t.Groups[0].Rows[r]
			row.Cells = append(row.Cells, again.cell(s, targets[row.Target]))
		}
	}
	tables = append(tables, s.metricTables("Time of the attempt that succeeded", "Without the failed ones before it, and the pauses: these are in the service time.", targets, attemptTimes, n)...)
	return append(tables, s.metricTables("Time to giving up", "Of operations that were given up, from the start of the first attempt; they are in no other latency.", targets, failedTimes, n)...)
}
