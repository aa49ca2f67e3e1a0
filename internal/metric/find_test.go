package metric_test

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
)

func TestPerOf(t *testing.T) {
	for _, c := range []struct {
		per, op string
		want    bool
	}{
		{"insert row", "insert", true},
		{"query", "query", true},
		{"queries", "query", false},
		{"insert row", "", false},
		{"", "", false},
		{"operation", "insert", false},
	} {
		expect.Equal(t, metric.PerOf(c.per, c.op), c.want, c.per, c.op)
	}
}
