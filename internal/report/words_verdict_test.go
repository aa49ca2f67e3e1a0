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
		changeRows(in.Trials, func(r *metric.Row) { r.AtLeast = atLeast && r.Metric == "write_kb" })
		expect.Equal(t, strings.Contains(markdown(t, in), "KB written per insert row: "), !atLeast, "an order of what was written")
	}
}

// If other programs used the device, the sentence about what was written has the verdict that
// the comparison has on what the processes wrote.
func TestWritesBesideOtherPrograms(t *testing.T) {
	in := fixture(4)
	changeRows(in.Trials, func(r *metric.Row) { r.Disturbed = r.Metric == "write_kb" })
	expect.Contains(t, markdown(t, in), "KB written per insert row: pebble 0.739, proven 0.128× sqlite’s 5.77, ")
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
		changeRows(in.Trials, change)
		b := plainText(t, in, 0)
		number := ""
		for line := range strings.Lines(b) {
			if mark, text, ok := strings.Cut(line, " process written KB, as "+reason); ok && strings.HasPrefix(mark, "⚠") && text == "\n" {
				number = mark
			}
		}
		expect.True(t, number != "" && strings.Count(b, number) >= 4, "is not at the numbers", reason, number, b)
	}
}

func TestNotedOnce(t *testing.T) {
	c := &step{Step: &compare.Step{}}
	w := []metric.Warning{metric.Untyped("slow in trial"), metric.Untyped("slow in trial"), metric.Untyped("fast")}
	expect.Equal(t, noted(&page.Notes{}, &target{Name: "a"}, c, w), " ⚠1,2")
}
