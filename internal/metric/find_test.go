package metric_test

import (
	"testing"

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
		if got := metric.PerOf(c.per, c.op); got != c.want {
			t.Errorf("%q of %q: %v", c.per, c.op, got)
		}
	}
}
