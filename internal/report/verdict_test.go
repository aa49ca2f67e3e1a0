package report

import (
	"strings"
	"testing"
)

// What is only known as a lower bound is said as one, and is no share of what
// others wrote.
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
		if got := strings.Contains(b.String(), "; it wrote at least "); got != atLeast {
			t.Errorf("lower bounds %v: said so %v", atLeast, got)
		}
		if got := strings.Contains(b.String(), "KB per insert row: "); got == atLeast {
			t.Errorf("lower bounds %v: shares of what others wrote %v", atLeast, got)
		}
	}
}
