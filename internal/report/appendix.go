package report

import (
	"fmt"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/page"
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
	return []page.Section{{ID: "glossary", Title: "Glossary", Nav: "Glossary", Blocks: []page.Block{terms}}}
}

// appendix shows the plan and commands behind the results, and offers the rows
// for download.
func appendix(v *view) []page.Section {
	sec := page.Section{ID: "appendix", Title: "Appendix", Nav: "Appendix"}
	if len(v.in.Commands) > 0 {
		sec.Blocks = append(sec.Blocks, page.Code{Title: "Commands", Text: strings.Join(v.in.Commands, "\n")})
	}
	if v.in.Plan != "" {
		sec.Blocks = append(sec.Blocks, page.Code{Title: "Plan", Language: "yaml", Text: v.in.Plan})
	}
	sec.Blocks = append(sec.Blocks, page.Download{Title: "Rows", Text: fmt.Sprintf("All %d numbers of this page are in it as JSON, in the element with "+
		"the id rows, which says how to read it.", v.count)})
	return []page.Section{sec}
}
