package report

import (
	"fmt"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/page"
	"rumbench/internal/result"
)

// Targets that have plans are shown beside each other, by operation, with the
// ways of all steps; a target without is left out.
func TestPlansTable(t *testing.T) {
	in := fixture(2)
	seek := engine.Plan{Statement: "SELECT 1", Text: "range", Access: []engine.Access{{Index: "i", How: engine.Seek}}}
	whole := engine.Plan{Statement: "SELECT 1", Text: "all", Access: []engine.Access{{How: engine.WholeTable}}}
	line := func(step, op, wanted string, when result.When, p engine.Plan) result.StatementPlan {
		return result.StatementPlan{Step: step, Op: op, Wanted: wanted, When: when, Plan: p}
	}
	in.Trials[0].Plans = []result.StatementPlan{line("a", "scan t by i", "i", result.AtBegin, seek), line("a", "scan t by i", "i", result.AtEnd, whole), line("b", "scan t by i", "", result.AtBegin, whole)}
	in.Trials[1].Plans = []result.StatementPlan{line("a", "get t", "", result.AtBegin, seek)}
	table := plans(in.campaign())[0].Blocks[0].(page.Table)
	var got []string
	for _, r := range table.Groups[0].Rows {
		for i, c := range r.Cells {
			got = append(got, fmt.Sprintf("%s | %s: %s", r.Head, table.Columns[i].Name, c.Text))
		}
	}
	want := []string{
		"scan t by i, wants i | pebble: seek in i, or whole table", "scan t by i, wants i | sqlite: ",
		"scan t by i | pebble: whole table", "scan t by i | sqlite: ", "get t | pebble: ", "get t | sqlite: seek in i",
	}
	expect.Equal(t, fmt.Sprint(got), fmt.Sprint(want), got, want)
	none := fixture(1)
	sections := plans(none.campaign())
	expect.True(t, len(sections) == 0, "sections without plans", sections)
}
