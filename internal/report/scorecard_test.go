package report_test

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// TestScorecardHasHeadlines: every headline has a place on the scorecard, in the layer
// of its family, whatever else a step has.
func TestScorecardHasHeadlines(t *testing.T) {
	titles := map[metric.Layer]string{metric.ThroughputLayer: "Throughput", metric.ServiceLayer: "Quality of service", metric.CostLayer: "Cost"}
	for _, m := range metric.Headlines(metric.Judged, metric.Followed) {
		t.Run(m.Name, func(t *testing.T) {
			_, card, _ := strings.Cut(pageOf(t, withOnly(m.Name)), `<section id="scorecard"`)
			card, _, _ = strings.Cut(card, "</section>")
			var in []string
			for _, title := range titles {
				_, table, _ := strings.Cut(card, ">"+title+"<")
				if table, _, _ = strings.Cut(table, "</table>"); strings.Contains(table, `href="#m-`+m.Name+`"`) {
					in = append(in, title)
				}
			}
			if want := titles[m.Family.Layer()]; !slices.Equal(in, []string{want}) {
				t.Errorf("it stands in %q, not in %q", in, want)
			}
		})
	}
}

// withOnly returns a trial with a step that has a row of one metric.
func withOnly(name string) *result.Trial {
	trial := everyMetric()
	step := &trial.Steps[0]
	step.Rows = slices.DeleteFunc(step.Rows, func(r metric.Row) bool { return r.Metric != name })
	return trial
}
