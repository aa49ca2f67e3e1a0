package report_test

import (
	"bytes"
	"cmp"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/report"
	"rumbench/internal/result"
)

// TestPlaced: every metric of the catalogue has a place in the report, besides
// the glossary and the rows that the page embeds.
func TestPlaced(t *testing.T) {
	page := pageOf(t, everyMetric())
	for _, m := range metric.All() {
		if words := cmp.Or(inWords[m.Name], m.Name); !strings.Contains(page, words) {
			t.Errorf("%s stands nowhere in the report; its section is %q", m.Name, m.Section)
		}
	}
}

// inWords are metrics that are shown by other words than their names.
var inWords = map[string]string{
	"wait_us":      "time of the sessions per query", // above the bars
	"client_share": "the server waited for its client for 200 %",
}

// pageOf returns a page without its glossary and the rows in it.
func pageOf(t *testing.T, trial *result.Trial) string {
	t.Helper()
	var b bytes.Buffer
	expect.NoError(t, report.HTML(&b, report.Input{Title: "all", Trials: []report.Trial{{Trial: trial}}}))
	page := b.String()
	for _, part := range [][2]string{{`<section id="glossary">`, "</section>"}, {"<script", "</script>"}} {
		for {
			before, rest, ok := strings.Cut(page, part[0])
			if !ok {
				break
			}
			_, after, _ := strings.Cut(rest, part[1])
			page = before + after
		}
	}
	return page
}

// everyMetric returns a trial with a step that has a row of every metric.
func everyMetric() *result.Trial {
	step := result.Step{Name: "mixed", Status: result.Complete, Seconds: 60, Primary: "query", WritesPer: "insert", Groups: []result.Group{
		{Name: "readers", Clients: 1, Ops: []string{"query"}}, {Name: "writers", Clients: 1, Rate: 100, Ops: []string{"insert"}},
	}}
	for _, m := range metric.All() {
		row := metric.Row{Target: "t", Trial: 1, Step: step.Name, Metric: m.Name, Unit: m.Unit, Value: 2, N: 60_000}
		switch {
		case m.Family == metric.Promise:
			row.Group = "writers"
		case m.Section == metric.WaitsTables && m.Name != "client_share":
			row.Op = "client"
		case !metric.IsCost(m.Name) && m.Section != metric.CostTable && m.Section != metric.EngineTable && m.Section != metric.SpaceTable:
			row.Group, row.Op = "readers", "query"
		}
		if metric.IsCost(m.Name) {
			row.Per = "query"
		}
		if m.Name == "service_total_s" {
			row.Value = 3 // more than attempt_total_s
		}
		step.Rows = append(step.Rows, row)
	}
	return &result.Trial{Format: result.Format, Campaign: "all", Target: "t", Trial: 1, Engine: "e", Structure: "tree", Workload: "w",
		Status: result.Complete, Started: time.Unix(0, 0).UTC(), Steps: []result.Step{step}}
}
