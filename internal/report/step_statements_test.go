package report

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// A statement's share is of the attempts that succeeded: what was tried in vain
// is a line of its own, and not the client's.
func TestStatementShares(t *testing.T) {
	table := func(rows ...metric.Row) page.Table {
		for i := range rows {
			rows[i].Target, rows[i].Group = "a", "clients"
		}
		step := result.Step{Name: "s", Status: result.Complete, Primary: "transaction", Groups: []result.Group{{Name: "clients", Ops: []string{"transaction"}}}, Rows: rows}
		c := newCampaign([]Trial{{Trial: &result.Trial{Target: "a", Status: result.Complete, Steps: []result.Step{step}}}})
		return statementsTable(c.steps[0], &page.Notes{})
	}
	statement := metric.Row{Op: "update", Metric: "statement_total_s", Value: 6}
	often := metric.Row{Op: "update", Metric: "statements_per_s", Value: 1}
	service := metric.Row{Op: "transaction", Metric: "service_total_s", Value: 12}
	attempt := metric.Row{Op: "transaction", Metric: "attempt_total_s", Value: 8}
	failed := metric.Row{Op: "transaction", Metric: "attempts", Value: 20}
	last := func(g page.Group) string { return g.Rows[0].Cells[len(g.Rows[0].Cells)-1].Text }

	some := table(often, statement, service, attempt, failed)
	if len(some.Groups) != 2 || last(some.Groups[0]) != quantity.RoughShare(0.75) || some.Groups[1].Name != "failed attempts and pauses" || last(some.Groups[1]) != quantity.RoughShare(0.5) {
		t.Errorf("%+v", some.Groups)
	}
	attempt.Value = 12
	none := table(often, statement, service, attempt)
	expect.True(t, len(none.Groups) == 1 && last(none.Groups[0]) == quantity.RoughShare(0.5), none.Groups)
	// Older files do not distinguish the two.
	if old := table(often, statement, service); len(old.Groups) != 1 || last(old.Groups[0]) != quantity.RoughShare(0.5) {
		t.Errorf("%+v", old.Groups)
	}
	if old := table(often, statement, service, failed); len(old.Groups) != 1 || strings.Contains(last(old.Groups[0]), "%") {
		t.Errorf("%+v", old.Groups)
	}
}
