package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/page"
	"rumbench/internal/result"
)

// mostPlans is the number of operations in the table of plans.
const mostPlans = 30

// plans shows the plan that each target uses to find the rows of each
// operation.
func plans(v *view) []page.Section {
	trials, t := v.in.Trials, page.Table{Head: "operation"}
	var ops []string
	for _, trial := range trials {
		for _, p := range trial.Plans {
			ops = compare.AppendNew(ops, planHead(p))
		}
	}
	if len(ops) == 0 {
		return nil
	}
	t.Note = "How the database finds the rows of each operation, before and after each step of the first trial. " +
		"rumbench show DIR --plans prints the plans."
	if len(ops) > mostPlans {
		t.Note += fmt.Sprintf(" Here are %d of %d operations.", mostPlans, len(ops))
		ops = ops[:mostPlans]
	}
	rows := make([]page.Row, len(ops))
	for i, op := range ops {
		rows[i] = plainRow(op)
	}
	for _, tg := range v.Targets {
		first := slices.IndexFunc(trials, func(trial Trial) bool { return trial.Trial == tg.Trials[0] })
		if first < 0 || len(trials[first].Plans) == 0 {
			continue
		}
		t.Columns = append(t.Columns, targetColumns([]*target{tg})...)
		for i, op := range ops {
			rows[i].Cells = append(rows[i].Cells, planCell(trials[first].Plans, op))
		}
	}
	t.Groups = []page.Group{{Rows: rows}}
	return folded(page.Section{ID: "plans", Title: "Plans"}, t)
}

// planHead names an operation: scans that demand an index are listed
// separately.
func planHead(p result.StatementPlan) string {
	if p.Wanted == "" {
		return p.Op
	}
	return p.Op + ", wants " + p.Wanted
}

// planCell returns a target's plans of an operation, in all its steps.
func planCell(plans []result.StatementPlan, op string) page.Cell {
	var ways, texts []string
	for _, p := range plans {
		if planHead(p) == op && !slices.Contains(ways, p.Plan.Ways()) {
			ways = append(ways, p.Plan.Ways())
			texts = append(texts, p.Plan.Statement+"\n"+p.Plan.Text)
		}
	}
	return page.Cell{Text: strings.Join(ways, ", or "), Title: strings.Join(texts, "\n\n")}
}
