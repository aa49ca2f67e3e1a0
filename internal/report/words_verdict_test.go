package report

import (
	"strings"
	"testing"
)

// Where what one target wrote is only known as a lower bound, nobody is said to have
// written least.
func TestWritesThatAreALowerBound(t *testing.T) {
	for _, atLeast := range []bool{false, true} {
		in := fixture(3)
		for _, trial := range in.Trials {
			for i := range trial.Steps {
				for k := range trial.Steps[i].Rows {
					if r := &trial.Steps[i].Rows[k]; r.Metric == "write_kb" {
						r.AtLeast = atLeast
					}
				}
			}
		}
		var b strings.Builder
		if err := Markdown(&b, in, true); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "KB written per insert row: "); got == atLeast {
			t.Errorf("lower bounds %v: an order of what was written %v", atLeast, got)
		}
	}
}
