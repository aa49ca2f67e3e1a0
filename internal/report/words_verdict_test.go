package report

import (
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
)

// Where what one target wrote is only known as a lower bound, nobody is said to have
// written least.
func TestWritesThatAreALowerBound(t *testing.T) {
	for _, atLeast := range []bool{false, true} {
		in := fixture(3)
		changeRows(in.Trials, func(r *metric.Row) { r.AtLeast = atLeast && r.Metric == "write_kb" })
		expect.Equal(t, strings.Contains(markdown(t, in), "l.i1 written KB per insert row 0.0") || strings.Contains(markdown(t, in), "written KB per insert row 0.0"), !atLeast, "an order of what was written")
	}
}

// If other programs used the device, the sentence about what was written has the verdict that
// the comparison has on what the processes wrote.
func TestWritesBesideOtherPrograms(t *testing.T) {
	in := fixture(4)
	changeRows(in.Trials, func(r *metric.Row) { r.Disturbed = r.Metric == "write_kb" })
	expect.Contains(t, markdown(t, in), "process written KB per insert row (the process's own, as other programs used the device) 0.050× (0.048 to 0.051) against bbolt")
}

// The summary marks numbers that stand in for those of the column, and a note once.
func TestSummaryMarksSubstitutes(t *testing.T) {
	for reason, change := range map[string]func(*metric.Row){
		"other programs used the device": func(r *metric.Row) {
			if r.Disturbed = r.Metric == metric.WriteKB; r.Disturbed {
				r.Warnings = []metric.Warning{metric.Warn(remark.Disturbed, metric.Values{"did": "wrote", "others": 5.0, "all": 9.0})}
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

// A throughput of which nothing is proven is said to be undecided, without a ratio; then comes what is proven.
func TestUndecided(t *testing.T) {
	in := fixture(4)
	changeRows(in.Trials, func(r *metric.Row) {
		if r.Step == "l.i1" && r.Metric == metric.RowsPerS {
			r.Value = 1000 * []float64{1, 6, 0.4, 3}[(r.Trial+len(r.Target))%4]
		}
	})
	s, _ := newCampaign(in.Trials).story()
	expect.All(t, s.Lead, "Throughput in l.i1 is undecided. Proven: ")
	expect.Lacks(t, strings.SplitAfter(s.Lead, "undecided.")[0], "×")
}

// What other programs used of the processors comes first, and makes the result poor if it is most.
func TestBusyMachine(t *testing.T) {
	for share, want := range map[float64]page.Level{3: page.Good, 20: page.Fair, 80: page.Poor} {
		in := fixture(4)
		in.Trials[1].Steps[2].Warnings = append(in.Trials[1].Steps[2].Warnings, metric.Warn(remark.ProcessorsShared,
			metric.Values{"all": 9.0, "worker": "the server", "server": 1.0, "share": share}))
		badge := trust(in.campaign())
		text := "Other programs used up to"
		if want == page.Good {
			expect.Lacks(t, badge.Line, text)
			continue
		}
		expect.Contains(t, strings.Join(append(badge.More, badge.Line), " "), text, share)
		expect.Equal(t, strings.HasPrefix(badge.Line, text), want == page.Poor, share)
	}
}
