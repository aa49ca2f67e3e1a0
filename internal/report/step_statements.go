package report

import (
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// statementsTable shows the statements of operations: how long each takes, and
// its share of the time of successful attempts. The rest of that time is the
// client's own; failed attempts are listed separately.
func statementsTable(s *step, n *page.Notes) page.Table {
	t := page.Table{Title: string(metric.StatementTable), Head: "target",
		Note: "The statements of operations that were done, as the client saw them. " +
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
	share := metricColumn(key{Metric: metric.StatementTotalS})
	share.Name = "share"
	t.Columns = append(t.Columns, share)
	columns = append(columns, share.Name)
	for _, part := range parts {
		t.Groups = append(t.Groups, page.Group{Name: part.op,
			Rows: targetRows(s.c.Targets, columns, func(t *target, name string) page.Cell {
				if name != share.Name {
					return s.cell(t, s.c.Targets[0], key{Group: part.group, Op: part.op, Metric: name}, n)
				}
				statement := func(t account.Spent) float64 { return t.Statement }
				cell, _ := shareCell(s, t, part, statement, "statement_total_s of "+part.op+" ÷ attempt_total_s of its operations")
				return cell
			})})
	}
	t.Groups = append(t.Groups, inVain(s, parts, columns)...)
	return t
}

// inVain returns the time beyond successful attempts, per group of clients, if
// any attempts failed.
func inVain(s *step, parts []subject, columns []string) (out []page.Group) {
	var groups []string
	for _, part := range parts {
		groups = compare.AppendNew(groups, part.group)
	}
	for _, group := range groups {
		failed := false
		g := page.Group{Name: "failed attempts and pauses",
			Title: "Of operations that were done: they come on top of the time that shares are of."}
		g.Rows = targetRows(s.c.Targets, columns, func(t *target, name string) page.Cell {
			if name != columns[len(columns)-1] {
				return page.Absent("they are no statement")
			}
			vain := func(t account.Spent) float64 { return t.Service - t.Attempts }
			cell, limit := shareCell(s, t, subject{group, ""}, vain, "(service_total_s − attempt_total_s) ÷ attempt_total_s")
			failed = failed || limit > 0
			return cell
		})
		if failed {
			out = append(out, g)
		}
	}
	return out
}

// shareCell returns a time ÷ the time of successful attempts: the median over the
// trials that have both, and the greatest.
func shareCell(s *step, t *target, about subject, value func(account.Spent) float64, formula string) (cell page.Cell,
	limit float64) {
	var shares []float64
	for _, r := range s.Used(t) {
		if all := account.SpentBy(r.Step.Rows, about.group, about.op, r.Step.Single); all.Attempts > 0 {
			shares = append(shares, max(0, value(all))/all.Attempts)
		}
	}
	if len(shares) == 0 {
		return page.Absent(s.Absence(t, key{Metric: metric.AttemptTotalS})), 0
	}
	share := stat.Median(shares)
	return page.Cell{Text: quantity.RoughShare(share), Number: true, Value: share,
		Title: formula + " = " + quantity.Full(share)}, slices.Max(shares)
}

// attemptsTables shows failed attempts, if there were any.
func attemptsTables(s *step, n *page.Notes) (out []page.Table) {
	again := measure{name: "attempts per operation", metric: metric.Attempts, each: true, without: 1}
	const note = "An attempt that failed is tried again, or given up, as the workload says. Only where some failed."
	for _, t := range metricTables(s, metric.AttemptsTable, note, n) {
		// Attempts of a whole group, or of several kinds, have no such ratio.
		if slices.Contains(t.Columns, metricColumn(key{Metric: again.metric})) && len(t.Groups) == 1 {
			t.Columns = append(t.Columns, again.column())
			rows := t.Groups[0].Rows
			for i := range rows {
				rows[i].Cells = append(rows[i].Cells, again.perOperation(s, s.c.Targets[rows[i].Series]))
			}
		}
		out = append(out, t)
	}
	out = append(out, metricTables(s, metric.AttemptTable,
		"Without the failed ones before it, and the pauses: these are in the service time.", n)...)
	return append(out, metricTables(s, metric.GivenUpTable,
		"Of operations that were given up, from the start of the first attempt; they are in no other latency.", n)...)
}
