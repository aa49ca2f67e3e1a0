package report

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/page"
	"rumbench/internal/report/course"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// courseOf makes the tracks of one target in one step from lines.
func courseOf(t *testing.T, lines ...result.Line) (*campaign, *course.Track) {
	t.Helper()
	trial := &result.Trial{Target: "a", Trial: 1, Interval: 1, Status: result.Complete, Steps: []result.Step{{
		Name: "q", Status: result.Complete, Primary: "query", WritesPer: "insert", Seconds: float64(len(lines)),
		Groups: []result.Group{{Name: "query", Clients: 2, Ops: []string{"point", "range"}}},
	}}}
	c := newCampaign([]Trial{{Trial: trial, Series: func(yield func(result.Line) error) error {
		for _, l := range lines {
			l.Step, l.DT = "q", 1
			if err := yield(l); err != nil {
				return err
			}
		}
		return nil
	}}})
	tracks := readSeries(c)
	return c, tracks[c.steps[0]][0]
}

// The band says what the rate had been if all clients were as slow, or as fast,
// as one of them; it holds for all kinds of operations of the group.
func TestBand(t *testing.T) {
	c, tr := courseOf(t,
		result.Line{Source: "ops", T: 1, Group: "query", Op: "point", Ops: 30, Rows: 30, Max: 1, Clients: []int64{10, 40}},
		result.Line{Source: "ops", T: 1, Group: "query", Op: "range", Ops: 20, Rows: 20, Max: 1},
		result.Line{Source: "ops", T: 2, Group: "query", Op: "point", Ops: 10, Rows: 10, Max: 1, Clients: []int64{5, 5}},
		result.Line{Source: "ops", T: 3, Group: "query", Op: "point", Clients: []int64{0, 0}},
		result.Line{Source: "ops", T: 4, Group: "query", Op: "point", Ops: 10, Rows: 10, Max: 1})
	v := overTimes(c.steps[0])[0]
	band := func(points int) (low, high page.Values) {
		low, _ = chartLine(tr, v.low, points)
		high, _ = chartLine(tr, v.high, points)
		return low, high
	}
	low, high := band(4)
	var got []string
	for i := range low {
		text := "–"
		if quantity.Finite(low[i]) {
			text = fmt.Sprintf("%g…%g", low[i], high[i])
		}
		got = append(got, text)
	}
	expect.Same(t, []string{"20…80", "10…10", "–", "–"}, got)
	tr.Fold()
	if low, high := band(2); low[0] != 15 || high[0] != 45 || quantity.Finite(low[1]) {
		t.Errorf("folded: %v…%v", low[0], high[0])
	}
}

// A checkpoint is where the log to be recovered falls by a third or more; of an
// engine that does not report it, if its deferred writes do.
func TestMarks(t *testing.T) {
	age := func(at, checkpoint, dirty float64) result.Line {
		l := result.Line{Source: "engine", T: at, V: map[string]float64{engine.DirtyBytes + `{x="1"}`: dirty}}
		if checkpoint >= 0 {
			l.V[engine.CheckpointAge] = checkpoint
		}
		return l
	}
	const mb = 1 << 20
	for _, c := range []struct {
		name  string
		lines []result.Line
		want  []float64
	}{
		{"a fall", []result.Line{age(1, 9*mb, 0), age(2, 10*mb, 0), age(3, 6*mb, 0), age(4, 5*mb, 0)}, []float64{3}},
		{"too little", []result.Line{age(1, mb/2, 0), age(2, 0, 0)}, nil},
		{"dirty pages are not looked at", []result.Line{age(1, 5*mb, 9*mb), age(2, 5*mb, 0)}, nil},
		{"nothing else is known", []result.Line{age(1, -1, 9*mb), age(2, -1, 0), age(3, -1, 9*mb)}, []float64{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, tr := courseOf(t, c.lines...)
			expect.Same(t, c.want, tr.Marks.Times)
		})
	}
	var many []result.Line
	for i := range 1000 {
		many = append(many, age(float64(i+1), float64(1-i%2)*9*mb, 0))
	}
	if _, tr := courseOf(t, many...); tr.Marks.Count != 500 || len(tr.Marks.Times) != course.MostMarks {
		t.Errorf("%d marks, %d kept", tr.Marks.Count, len(tr.Marks.Times))
	}
}

// Rates of counters need no operations; what the client takes is drawn where it
// is not in the engine's process.
func TestCounterViews(t *testing.T) {
	c, tr := courseOf(t,
		result.Line{Source: "device", T: 1, V: map[string]float64{`device.write_bytes{dev="a"}`: 1 << 20, `device.write_bytes{dev="b"}`: 1 << 20, `device.read_bytes{dev="a"}`: 1 << 19}},
		result.Line{Source: "process", T: 1, V: map[string]float64{"process.cpu_ns": 1.5e9}},
		result.Line{Source: "client", T: 1, V: map[string]float64{"client.cpu_ns": 5e8}})
	values := func() map[string]string {
		got := map[string]string{}
		for _, v := range overTimes(c.steps[0]) {
			if y := v.value(tr, &tr.Points[0]); quantity.Finite(y) {
				got[v.title] = fmt.Sprint(y)
			}
		}
		return got
	}
	want := map[string]string{"device writes, MiB/s": "2", "device reads, MiB/s": "0.5", "CPU of the engine’s processes, cores": "1.5"}
	expect.Same(t, want, values())
	tr.Apart = true
	want["CPU of the client, cores"] = "0.5"
	expect.Same(t, want, values())
}

// The drawings over the steps show the numbers of their table.
func TestOverSteps(t *testing.T) {
	cell := func(v float64) page.Cell {
		return page.Cell{Text: quantity.Digits(v), Value: v, Number: true}
	}
	table := page.Table{Columns: []page.Column{{Name: "load"}, {Name: "settle"}, {Name: "query"}}, Groups: []page.Group{
		{Name: "space amplification", Rows: []page.Row{
			{Head: "a", Series: 0, Cells: []page.Cell{cell(1), page.Absent("not there"), cell(3)}},
			{Head: "b", Series: 1, Cells: []page.Cell{cell(2), cell(0), cell(3)}}}},
		{Name: "write amplification", Rows: []page.Row{{Head: "a", Series: 0, Cells: []page.Cell{cell(1), cell(0), cell(400)}}}},
		{Name: "one point", Rows: []page.Row{{Head: "a", Series: 0, Cells: []page.Cell{cell(1), page.Absent(""), page.Absent("")}}}},
	}}
	metrics := []string{"space_amplification", "write_amplification", "read_amplification"}
	plots := stepPlots(table, metrics)
	expect.Must(t, len(plots) == 2 && plots[0].Title == "space amplification", len(plots), "plots")
	drawing := func(p page.Plot) string {
		var b strings.Builder
		expect.NoError(t, page.HTML(&b, &page.Document{Lead: []page.Block{page.Plots{Plots: []page.Plot{p}}}}))
		_, svg, _ := strings.Cut(b.String(), "<svg")
		svg, _, _ = strings.Cut(svg, "</svg>")
		return svg
	}
	linear, powers := drawing(plots[0]), drawing(plots[1])
	expect.All(t, linear, `class="line t0"`, `class="line t1"`, ">●●<", ">■■■<", ">load<", ">settle<", ">query<", ">3<")
	// On an axis of powers 0 has no place: it is a gap.
	expect.True(t, !strings.Contains(powers, "●●●") && strings.Contains(powers, "●●") &&
		strings.Contains(powers, ">100<"), powers)
	expect.True(t, stepPlots(page.Table{Columns: table.Columns[:1], Groups: table.Groups}, metrics) == nil,
		"one step has no course")
}

// A series that cannot be read costs the charts of its trial, and says so; the report is written.
func TestUnreadableSeries(t *testing.T) {
	in := fixture(1)
	in.Trials[1].Series = func(yield func(result.Line) error) error {
		_ = yield(result.Line{Step: "qr100", Source: "ops", T: 1, DT: 1, Group: "query"})
		return errors.New("read series of /x/sqlite.1: line 2: no times of an interval")
	}
	page := expect.Written(t, func(w io.Writer) error { return HTML(w, in) })
	expect.Contains(t, page, "its intervals are not shown: line 2")
	c := in.campaign()
	for s, tracks := range readSeries(c) {
		expect.True(t, tracks[1] == nil && (tracks[0] != nil || s.Name == "settle"), s.Name)
	}
}
