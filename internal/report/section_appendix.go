package report

import (
	"fmt"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
)

// glossary returns the meanings of all metrics.
func glossary(*view) []page.Section {
	var terms page.Terms
	for _, m := range metric.All() {
		aside := m.Unit
		if m.Better != "" {
			aside += ", " + string(m.Better) + " is better"
		}
		terms = append(terms, page.Term{ID: "m-" + m.Name, Name: m.Name, Aside: aside, Text: m.Meaning()})
	}
	return []page.Section{{ID: "glossary", Title: "Glossary", Nav: "Glossary", Folded: true, Blocks: []page.Block{terms}}}
}

// appendix shows the plan and commands behind the results, and offers the rows
// for download.
func appendix(v *view) []page.Section {
	sec := page.Section{ID: "appendix", Title: "Appendix", Nav: "Appendix", Folded: true}
	if len(v.in.Commands) > 0 {
		sec.Blocks = append(sec.Blocks, page.Code{Title: "Commands", Text: strings.Join(v.in.Commands, "\n")})
	}
	if t := parameters(v.campaign); !t.Empty() {
		sec.Blocks = append(sec.Blocks, t)
	}
	if v.in.Plan != "" {
		sec.Blocks = append(sec.Blocks, page.Code{Title: "Plan", Language: "yaml", Text: v.in.Plan})
	}
	sec.Blocks = append(sec.Blocks,
		page.Download{Title: "Rows", Text: fmt.Sprintf("All %d numbers of this page are in it as JSON, in the element with "+
			"the id rows, which says how to read it.", v.count)})
	return []page.Section{sec}
}

// parameters lists all parameters of the workload.
func parameters(c *campaign) page.Table {
	t := page.Table{Title: "Parameters", Head: "parameter",
		Columns: []page.Column{{Name: "value", Title: "As in the trials; ≠ where these differ"}}}
	names := map[string]bool{}
	for _, tg := range c.Targets {
		for _, trial := range tg.Trials {
			for name := range trial.Params {
				names[name] = true
			}
		}
	}
	for _, name := range sortedKeys(names) {
		text, differ := c.Shared(func(t *target) []string {
			return t.Distinct(func(trial *result.Trial) string { return plainValue(trial.Params[name]) })
		})
		t.Add(plainRow(name, page.Cell{Text: text, Differs: differ}))
	}
	return t
}
