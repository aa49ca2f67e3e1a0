package report

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/plan"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
)

// publishedFixture returns a made-up campaign of two steps with figures from elsewhere.
func publishedFixture() Input {
	in := fixture(2)
	for _, t := range in.Trials {
		t.Steps = slices.DeleteFunc(t.Steps, func(s result.Step) bool { return s.Name != "l.i1" && s.Name != "qp500" })
	}
	in.Published = []plan.Published{
		{
			Source:   `A. Author, "An LSM tree and two B-trees", Some Blog, 8 June 2016, https://example.org/2016/06/trees.html`,
			Hardware: "a small computer with 2 cores, 8 GB of memory and one SATA SSD",
			Note:     "The source counts 1 GB as 2^30 bytes; its KB written are corrected for trim.",
			Rows: []plan.PublishedRow{
				{Name: "lsm.snap", Like: "pebble", Step: "l.i1", Per: "insert row", Figures: map[string]float64{"rows_per_s": 17705, "device_reads": 0.02, "read_kb": 0.25, "write_kb": 1.75, "db_bytes": 18 << 30}},
				{Name: "lsm.none", Step: "l.i1", Per: "insert row", Figures: map[string]float64{"write_kb": 2.01, "db_bytes": 27 << 30}},
				{Name: "lsm.snap.skip", Step: "l.i1", Figures: map[string]float64{"rows_per_s": 23129}},
				{Name: "btree.none", Like: "sqlite", Step: "l.i1", Per: "insert row", Figures: map[string]float64{"rows_per_s": 3811, "device_reads": 0.06, "read_kb": 1.76, "write_kb": 30.69, "db_bytes": 42 << 30}},
				{Name: "btree.cow", Like: "bbolt", Step: "l.i1", Per: "insert row", Figures: map[string]float64{"rows_per_s": 2121, "write_kb": 51.34}},
				{Name: "lsm.snap", Like: "pebble", Step: "qp500", Per: "query", Figures: map[string]float64{"rows_per_s": 2104, "service_p99_us": 1000}},
				{Name: "btree.none", Like: "sqlite", Step: "qp500", Per: "query", Figures: map[string]float64{"rows_per_s": 989, "service_p99_us": 4000}},
				{Name: "btree.cow", Like: "bbolt", Step: "qp500", Per: "query", Figures: map[string]float64{"rows_per_s": 1021}},
			},
		},
		{
			Source:   "A. Author, a table of another <b>benchmark</b>",
			Hardware: "a server with 50 GB of memory and fast SSDs",
			Rows: []plan.PublishedRow{
				{Name: "16 KB", Like: "sqlite", Step: "l.i1", Per: "transaction", Figures: map[string]float64{"rows_per_s": 21414, "write_kb": 19.70, "write_amplification": 15}},
				{Name: "16 KB again", Like: "sqlite", Step: "l.i1", Per: "commit", Figures: map[string]float64{"write_kb": 10}},
				{Name: "LSM", Like: "pebble", Step: "l.i1", Per: "transaction", Figures: map[string]float64{"rows_per_s": 28965, "write_kb": 1.25}},
				{Name: "not begun", Like: "hash", Step: "l.i1", Figures: map[string]float64{"rows_per_s": 1}},
				{Name: "of no step", Like: "pebble", Figures: map[string]float64{"rows_per_s": 0}},
				{Name: "of a step not reached", Like: "pebble", Step: "l.x", Figures: map[string]float64{"rows_per_s": 7}},
			},
		},
	}
	return in
}

// between cuts out what stands from one mark up to another.
func between(t *testing.T, text, source, target string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, source)
	part, _, found := strings.Cut(rest, target)
	expect.Must(t, ok && found, "there is nothing between", source, "and", target)
	return source + part
}

func TestPublishedGolden(t *testing.T) {
	in := publishedFixture()
	golden(t, "published.md", between(t, markdown(t, in), "## Published", "## Promised rates"))
	golden(t, "published.html", between(t, render(t, in), `<section id="published">`, `<section id="sla"`))
}

// Published figures are not among the rows, and change no other number.
func TestPublishedIsNoResult(t *testing.T) {
	in := publishedFixture()
	page := render(t, in)
	expect.Equal(t, len(embeddedRows(t, page)), rowsOf(in), "rows embedded")
	checkNumbers(t, page)
	section := between(t, page, `<section id="published">`, "</section>")
	in.Published = nil
	without := render(t, in)
	link := `<a href="#published">Published</a>`
	expect.Equal(t, strings.Replace(strings.Replace(page, link, "", 1), section+"</section>\n", "", 1), without,
		"published figures change the rest of the page")
	expect.Contains(t, page, link, "the contents do not lead to the section, or lead to one that is not there")
	expect.Lacks(t, without, link, "the contents do not lead to the section, or lead to one that is not there")
	for _, m := range cellPattern.FindAllString(section, -1) {
		expect.Lacks(t, m, "17705", "a published figure names rows")
	}
}

func TestPublishedText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{digits(17705), "17,705"}, {digits(0.02), "0.02"}, {digits(30.69), "30.69"}, {digits(0), "0"}, {digits(1234567.5), "1,234,567.5"},
		{publishedRatio(0.06/0.02, 1), "3×"}, {publishedRatio(30.69/1.75, 3), "17.5×"}, {publishedRatio(1.76/0.25, 2), "7×"}, {publishedRatio(3811./17705, 3), "0.215×"},
		{publishedRatio(1./3, 1), "0.3×"}, {publishedRatio(500, 1), "500×"}, {publishedRatio(0, 1), "0×"}, {publishedRatio(30, 2), "30×"},
		{asPublished(verdict.Of("", 18<<30, "B")), "18 GiB"}, {asPublished(verdict.Of("", 18.3e9, "B")), "17.0 GiB"},
		{asPublished(verdict.Of("service_p99_us", 12345, "")), "12.3 ms"},
	} {
		expect.Equal(t, c.got, c.want)
	}
}

// measuredQueries returns a trial of the insert benchmark's query step.
func measuredQueries(target string) *result.Trial {
	s := result.Step{Name: "qr100", Status: result.Complete, Seconds: 100, Primary: "query", WritesPer: "insert", Rows: []metric.Row{
		{Group: "insert", Op: "insert", Metric: "rows_per_s", Value: 20}, {Group: "query", Op: "query", Metric: "rows_per_s", Value: 200},
		{Metric: "write_kb", Per: "query", Value: 5.12, N: 20000}, {Metric: "write_kb", Per: "insert row", Value: 51.2, N: 2000},
	}}
	return &result.Trial{Target: target, Trial: 1, Status: result.Complete, Workload: "ibench", Steps: []result.Step{s}}
}

// A published figure stands beside the number that comes nearest to it.
func TestPublishedCounterparts(t *testing.T) {
	c := newCampaign([]Trial{{Trial: measuredQueries("one")}, {Trial: measuredQueries("four")}})
	table := publishedTable(c, []plan.PublishedRow{
		{Name: "lsm", Like: "one", Step: "qr100", Per: "insert row", Figures: map[string]float64{"write_kb": 1.75, "rows_per_s": 0.02}},
		{Name: "btree", Like: "four", Step: "qr100", Per: "index row", Figures: map[string]float64{"write_kb": 30.69, "rows_per_s": 0.06}},
	}, page.NewNotes(""))
	g := table.Groups[0]
	expect.Same(t, []string{"m-rows_per_s", "m-write_kb"}, []string{table.Columns[0].Link, table.Columns[1].Link})
	expect.Same(t, []string{"rows/s", "per insert row"}, g.Subs)
	first, here, second, there := g.Rows[0], g.Rows[1], g.Rows[2], g.Rows[3]
	expect.True(t, here.Series == 0 && there.Series == 1, here, there)
	expect.True(t, here.Cells[1].Value == 51.2 && first.Cells[1].Ratio == "" && strings.Contains(there.Cells[1].Title, " one"), here, there)
	// Rates of rows are of one unit, whatever was done to them; costs are not.
	expect.Equal(t, second.Cells[0].Ratio, "3×")
	expect.Equal(t, second.Cells[1].Ratio, "")
	lost := publishedTable(c, []plan.PublishedRow{{Name: "other", Like: "none", Step: "l.x", Figures: map[string]float64{"db_bytes": 1}}}, page.NewNotes(""))
	rows := lost.Groups[0].Rows
	expect.True(t, !rows[0].Cells[0].Absent && rows[1].Cells[0].Title == "no trial of none has been begun", rows)
}
