package report

import (
	"slices"
	"testing"

	"rumbench/internal/metric"
)

// Every number that a step is judged by is in its main table, or in that of space.
func TestMainTablesHaveHeadlines(t *testing.T) {
	for _, h := range metric.Headlines(metric.Judged) {
		if !slices.ContainsFunc(slices.Concat(mainMeasures, spaceMeasures()), func(m measure) bool { return m.metric == h.Name }) {
			t.Errorf("%s is in none", h.Name)
		}
	}
}
