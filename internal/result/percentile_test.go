package result_test

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Rows are shown as what they are; the ones that are stored stay as they are.
func TestShown(t *testing.T) {
	s := result.Step{Rows: []metric.Row{
		{Op: "index", Metric: "service_p99_us", Value: 7, N: 1}, {Op: "index", Metric: "service_max_us", Value: 9, N: 1},
		{Op: "query", Metric: "service_p99_us", Value: 5, N: 1000}, {Op: "query", Metric: "service_max_us", Value: 8, N: 1000},
		{Op: "lost", Metric: "service_p99_us", Value: 5, N: 3},
	}}
	got := s.Shown()
	expect.True(t, len(got) == 4 && got[0].Value == 9 && got[0].MaxOf == 1 && got[2].Value == 5 && got[2].MaxOf == 0, got)
	expect.Equal(t, s.Rows[0].Value, 7, s.Rows[0])
	expect.Equal(t, s.Rows[0].MaxOf, 0, s.Rows[0])
}
