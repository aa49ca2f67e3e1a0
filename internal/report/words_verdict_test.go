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

// If other programs used the device, the sentence about what was written has the verdict that
// the comparison has on what the processes wrote.
func TestWritesBesideOtherPrograms(t *testing.T) {
	in := fixture(4)
	for _, trial := range in.Trials {
		for i := range trial.Steps {
			s := &trial.Steps[i]
			for k := range s.Rows {
				s.Rows[k].Disturbed = s.Rows[k].Metric == "write_kb"
			}
		}
	}
	var b strings.Builder
	if err := Markdown(&b, in, true); err != nil {
		t.Fatal(err)
	}
	if want := "KB written per insert row: pebble, 0.128× sqlite’s, proven"; !strings.Contains(b.String(), want) {
		t.Errorf("the page does not say %q", want)
	}
}
