package observe

import (
	"math"
	"testing"
)

// Both loads take time. How much is the machine's affair.
func TestCanary(t *testing.T) {
	c := Sing()
	for name, ns := range map[string]float64{"a round of the hash": c.Compute, "a read from memory": c.Memory} {
		if !(ns > 0) || math.IsInf(ns, 0) {
			t.Errorf("%s takes %v ns", name, ns)
		}
	}
}
