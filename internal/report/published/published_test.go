package published_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/report/published"
	"rumbench/internal/result"
	"rumbench/internal/result/layout"
	"rumbench/internal/text/quantity"
)

// tested returns a trial of sysbench with a rate for each of its tests.
func tested(target string, rates map[string]float64) *result.Trial {
	t := &result.Trial{Target: target, Trial: 1, Workload: "sysbench", Status: result.Complete}
	var names []string
	for name := range rates {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Steps = append(t.Steps, result.Step{Name: name, Status: result.Complete, Primary: "query", WritesPer: "query",
			Rows: []metric.Row{{Target: target, Step: name, Group: "query", Op: "query", Metric: "rows_per_s", Unit: "1/s", Value: rates[name]}}})
	}
	return t
}

// qps shows the cells of sysbench's tables, a line per test.
func qps(r *compare.Relative, show layout.Show) (out []string) {
	tests, decimals := published.QPS(r, nil)
	var b bytes.Buffer
	names := quantity.Texts(r.Targets, func(t *compare.Target) string { return t.Name })
	if err := layout.WriteQPS(&b, names, tests, show, decimals); err != nil {
		panic(err)
	}
	_, body, _ := strings.Cut(b.String(), "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(body), "\n")[1:] {
		cells := strings.Split(line, "\t")
		out = append(out, strings.Join(append(cells[len(cells)-1:], cells[:len(cells)-1]...), ","))
	}
	return out
}

func options(compatible bool) (o compare.RelativeOptions) {
	if compatible {
		o.Round = published.Round
	}
	return o
}

// Of two rates that are printed as 0 there is no ratio, and certainly not 1.
func TestRatioOfNothing(t *testing.T) {
	c := compare.New([]*result.Trial{tested("old", map[string]float64{"scan": 0.4, "range": 5}), tested("new", map[string]float64{"scan": 0.3, "range": 5})})
	for compatible, show := range map[bool]layout.Show{false: layout.Ratios, true: layout.RoundedRatios} {
		r := c.Relative(options(compatible))
		expect.Same(t, []string{"range,1.00", "scan,NA"}, qps(r, show), compatible)
		cell := r.Groups[0].Rows[1].Cells[1]
		expect.True(t, !(compatible && !math.IsNaN(cell.Ratio)), "ratio of numbers that are printed as 0", cell.Ratio)
	}
}

// Published tables of rates have the warm-up of the scan, and no other warm-up.
func TestWarmUpsOfPublishedTables(t *testing.T) {
	rates := map[string]float64{"scan": 1, "scan.warm": 2, "scan.warmpre": 3, "point-query.warm": 4, "point-query.pre": 5, "insert": 6, "points-covered-si.warm": 7, "read-only": 8}
	r := compare.New([]*result.Trial{tested("a", rates)}).Relative(compare.RelativeOptions{})
	var got []string
	for _, line := range qps(r, layout.Numbers) {
		test, _, _ := strings.Cut(line, ",")
		got = append(got, test)
	}
	expect.Equal(t, strings.Join(got, " "), "read-only scan scan.warm insert")
}

// Published tables divide rates that were rounded to whole numbers.
func TestQPSOfRounded(t *testing.T) {
	c := compare.New([]*result.Trial{tested("old", map[string]float64{"scan": 2.4}), tested("new", map[string]float64{"scan": 3.5})})
	for want, show := range map[string]layout.Show{"scan,2.00": layout.RoundedRatios, "scan,2,4": layout.Numbers, "scan,1.46": layout.Ratios} {
		expect.Equal(t, qps(c.Relative(options(false)), show)[0], want)
	}
}

// Where other work was done there is no ratio, and it is said beside the table.
func TestQPSOfOtherWork(t *testing.T) {
	trials := []*result.Trial{tested("a", map[string]float64{"insert": 1, "scan": 1}), tested("b", map[string]float64{"insert": 1, "scan": 1})}
	for i, rate := range []float64{500, 4000} {
		trials[i].Steps[0].Groups = []result.Group{{Name: "query", Rate: rate}}
	}
	c := compare.New(trials)
	r := c.Relative(compare.RelativeOptions{})
	expect.Same(t, []string{"scan,1.00", "insert,NA"}, qps(r, layout.Ratios))
	want := "⚠ b in insert: other work: rate of query: 500/s and 4000/s; not comparable"
	expect.Same(t, []string{want}, published.QPSRemarks(r))
}
