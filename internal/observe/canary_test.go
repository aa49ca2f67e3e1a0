package observe

import (
	"math"
	"testing"

	"rumbench/internal/expect"
)

// Both loads take time. How much is the machine's affair.
func TestCanary(t *testing.T) {
	c := Sing()
	for name, ns := range map[string]float64{"a round of the hash": c.Compute, "a read from memory": c.Memory} {
		expect.True(t, ns > 0 && !math.IsInf(ns, 0), "takes ns", name, ns)
	}
}
