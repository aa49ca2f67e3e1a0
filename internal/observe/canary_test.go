package observe

import "testing"

// Both loads take a time that is possible: a round of the hash some cycles, a read from memory more.
func TestCanary(t *testing.T) {
	c := Sing()
	if c.Compute < 0.1 || c.Compute > 100 || c.Memory < c.Compute || c.Memory > 1e4 {
		t.Errorf("%+v", c)
	}
}
