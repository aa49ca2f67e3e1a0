package report

import (
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
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
		expect.NoError(t, Markdown(&b, in, true))
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
	expect.NoError(t, Markdown(&b, in, true))
	if want := "KB written per insert row: pebble 0.739, proven 0.128× sqlite’s 5.77, "; !strings.Contains(b.String(), want) {
		t.Errorf("the page does not say %q", want)
	}
}

// The summary marks numbers that stand in for those of the column, and a note once.
func TestSummaryMarksSubstitutes(t *testing.T) {
	for reason, change := range map[string]func(*metric.Row){
		"other programs used the device": func(r *metric.Row) {
			if r.Disturbed = r.Metric == metric.WriteKB; r.Disturbed {
				r.Warnings = []metric.Warning{metric.Warn(metric.Disturbed, metric.Values{"did": "wrote", "others": 5.0, "all": 9.0})}
			}
		},
		"the write KB is unknown here": func(r *metric.Row) {
			if r.Metric == metric.WriteKB {
				r.Metric = metric.EngineStalls // as in a duet
			}
		},
	} {
		in := fixture(4)
		for _, trial := range in.Trials {
			for i := range trial.Steps {
				s := &trial.Steps[i]
				for k := range s.Rows {
					change(&s.Rows[k])
				}
			}
		}
		var b strings.Builder
		expect.NoError(t, Text(&b, in, 0))
		number := ""
		for line := range strings.Lines(b.String()) {
			if mark, text, ok := strings.Cut(line, " process written KB, as "+reason); ok && strings.HasPrefix(mark, "⚠") && text == "\n" {
				number = mark
			}
		}
		if number == "" || strings.Count(b.String(), number) < 4 {
			t.Errorf("%s: %q is not at the numbers:\n%s", reason, number, b.String())
		}
	}
}

func TestNotedOnce(t *testing.T) {
	c := &step{Step: &compare.Step{}}
	w := []metric.Warning{metric.Untyped("slow in trial"), metric.Untyped("slow in trial"), metric.Untyped("fast")}
	expect.Equal(t, noted(&page.Notes{}, &target{Name: "a"}, c, w), " ⚠1,2")
}
