package report

import (
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// statementsTable shows the statements of operations: how long each takes, and
// its share of the time of successful attempts. The rest of that time is the
// client's own; failed attempts are listed separately.
func statementsTable(s *step, n *page.Notes) page.Table {
	t := page.Table{Title: string(metric.StatementTable), Head: "target", Note: "The statements of operations that were done, as the client saw them. " +
		"Share: of the time of the attempts that succeeded; what is left is the client’s own."}
	columns := metric.InSection(metric.StatementTable)
	var parts []subject
	for _, k := range s.Keys(columns...) {
		parts = compare.AppendNew(parts, subject{k.Group, k.Op})
	}
	if len(parts) == 0 {
		return t
	}
	for _, m := range columns {
		t.Columns = append(t.Columns, metricColumn(key{Metric: m}))
	}
	share := metricColumn(key{Metric: "statement_total_s"})
	share.Name = "share"
	t.Columns = append(t.Columns, share)
	for _, part := range parts {
		t.Groups = append(t.Groups, page.Group{Name: part.op, Rows: targetRows(s.c.Targets, len(t.Columns), func(t *target, i int) page.Cell {
			if i < len(columns) {
				return s.cell(t, s.c.Targets[0], key{Group: part.group, Op: part.op, Metric: columns[i]}, n)
			}
			shares := sharesOf(s, t, part, func(t spent) float64 { return t.statement })
			return shareCell(s, t, shares, "statement_total_s of "+part.op+" ÷ attempt_total_s of its operations")
		})})
	}
	t.Groups = append(t.Groups, inVain(s, parts, len(columns))...)
	return t
}

// inVain returns the time beyond successful attempts, per group of clients, if
// any attempts failed.
func inVain(s *step, parts []subject, columns int) (out []page.Group) {
	var groups []string
	for _, part := range parts {
		groups = compare.AppendNew(groups, part.group)
	}
	for _, group := range groups {
		any := false
		g := page.Group{Name: "failed attempts and pauses", Title: "Of operations that were done: they come on top of the time that shares are of."}
		g.Rows = targetRows(s.c.Targets, columns+1, func(t *target, i int) page.Cell {
			if i < columns {
				return page.Absent("they are no statement")
			}
			vain := sharesOf(s, t, subject{group, ""}, func(t spent) float64 { return t.service - t.attempts })
			any = any || slices.ContainsFunc(vain, func(share float64) bool { return share > 0 })
			return shareCell(s, t, vain, "(service_total_s − attempt_total_s) ÷ attempt_total_s")
		})
		if any {
			out = append(out, g)
		}
	}
	return out
}

// spent is how a group's clients spent their time, in seconds.
type spent struct{ service, attempts, statement float64 }

// sharesOf returns a time ÷ that of successful attempts, for each trial that
// has both.
func sharesOf(s *step, t *target, about subject, of func(spent) float64) (out []float64) {
	for _, r := range s.Used(t) {
		if all := spentBy(r.Step, about); all.attempts > 0 {
			out = append(out, max(0, of(all))/all.attempts)
		}
	}
	return out
}

// spentBy sums up the operations of a group, and one statement of theirs. Files
// of builds that did not distinguish attempts have these times only if nothing
// failed.
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

// shareCell returns the median of a share over the trials.
func shareCell(s *step, t *target, shares []float64, formula string) page.Cell {
	if len(shares) == 0 {
		return page.Absent(s.Absence(t, key{Metric: "attempt_total_s"}))
	}
	share := stat.Median(shares)
	return page.Cell{Text: quantity.RoughShare(share), Number: true, Value: share, Title: formula + " = " + quantity.Full(share)}
}

// single reports whether a row is of a single operation kind, not of a whole of
// several.
func single(s *result.Step, row *metric.Row) bool {
	for _, g := range s.Groups {
		if g.Name == row.Group {
			return slices.Contains(g.Ops, row.Op)
		}
	}
	return false
}

// attemptsTables shows failed attempts, if there were any.
func attemptsTables(s *step, n *page.Notes) (out []page.Table) {
	again := perOperation{"attempts", 1}
	for _, t := range keyedTables(s, string(metric.AttemptsTable), "An attempt that failed is tried again, or given up, as the workload says. Only where "+
		"some failed.", metric.InSection(metric.AttemptsTable), n) {
		// Attempts of a whole group, or of several kinds, have no such ratio.
		if slices.ContainsFunc(t.keys, func(k key) bool { return k.Metric == again.metric }) && len(t.Groups) == 1 {
			head := again.column()
			head.Name = "attempts per operation"
			t.Columns = append(t.Columns, head)
			rows := t.Groups[0].Rows
			for i := range rows {
				rows[i].Cells = append(rows[i].Cells, again.cell(s, s.c.Targets[rows[i].Series]))
			}
		}
		out = append(out, t.Table)
	}
	out = append(out, metricTables(s, metric.AttemptTable, "Without the failed ones before it, and the pauses: these are in the service time.", n)...)
	return append(out, metricTables(s, metric.GivenUpTable, "Of operations that were given up, from the start of the first attempt; they are in no "+
		"other latency.", n)...)
}
