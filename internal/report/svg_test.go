package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/internal/result"
)

// A path read back goes through its points, and has a gap where one is unknown.
func TestPath(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := newCanvas(460, 200, "")
		c.scale(0, 100, 0, 100)
		var points [][2]float64
		for i, y := range rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 100), rapid.Just(math.NaN())), 0, 30).Draw(r, "y") {
			points = append(points, [2]float64{float64(i), y})
		}
		got := readPath(r, c.path(points))
		i := 0
		for k, p := range points {
			if math.IsNaN(p[1]) {
				continue
			}
			want := [2]float64{math.Round(fine * c.x(p[0])), math.Round(fine * c.y(p[1]))}
			begins := k == 0 || math.IsNaN(points[k-1][1])
			if i >= len(got) || got[i].at != want || got[i].begins != begins {
				r.Fatalf("point %d of %q is not at %v", i, c.path(points), want)
			}
			i++
		}
		if i != len(got) {
			r.Fatalf("%d points of %d", len(got), i)
		}
	})
}

type pathPoint struct {
	at     [2]float64
	begins bool
}

var pathParts = regexp.MustCompile(`[Ml]|-?\d+`)

func readPath(t rapid.TB, path string) (out []pathPoint) {
	var at [2]float64
	var numbers []float64
	mode := ""
	for _, part := range pathParts.FindAllString(path, -1) {
		if part == "M" || part == "l" {
			mode = part
			continue
		}
		v, err := strconv.ParseFloat(part, 64)
		if err != nil {
			t.Fatal(err)
		}
		if numbers = append(numbers, v); len(numbers) < 2 {
			continue
		}
		if mode == "M" {
			at = [2]float64{}
		}
		at = [2]float64{at[0] + numbers[0], at[1] + numbers[1]}
		out = append(out, pathPoint{at, mode == "M"})
		numbers = nil
	}
	return out
}

func TestTicks(t *testing.T) {
	text := func(list []float64, format func(float64) string) string {
		var out []string
		for _, v := range list {
			out = append(out, format(v))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{text(ticks(0.4), thousands), "0 0.1 0.2 0.3 0.4"},
		{text(ticks(61200), thousands), "0 20k 40k 60k"},
		{text(ticks(3.1e6), thousands), "0 1M 2M 3M"},
		{text(ticks(8000), thousands), "0 2,000 4,000 6,000 8,000"},
		{text(ticks(5e-324), thousands), "0"},
		{text(ticks(math.Inf(1)), thousands), "0"},
		{text(logTicks(0.9, 40), thousands), "1 2 5 10 20"},
		{text(logTicks(0.02, 900), thousands), "0.1 1 10 100"},
		{text(binaryTicks(55<<20), byteText), "0 B 10 MiB 20 MiB 30 MiB 40 MiB 50 MiB"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func byteText(v float64) string { return sizeIn(v, decimalShort) }

// No two targets of sixteen have the same colour, dashes and marker.
func TestStyles(t *testing.T) {
	seen := map[string]bool{}
	for i := range len(markers) {
		seen[styleOf(i)] = true
		seen[Marker(i)] = true
	}
	if len(seen) != 2*len(markers) || styleOf(3) != "t3" || styleOf(11) != "t3 u" || styleOf(16) != "t0" {
		t.Errorf("%d different styles and markers", len(seen))
	}
}

// courseOf makes the tracks of one target in one step from lines.
func courseOf(t *testing.T, lines ...result.Line) (*campaign, *track) {
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
	}}}, 0)
	tracks, err := readSeries(c)
	if err != nil {
		t.Fatal(err)
	}
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
	v := views(c.steps[0])[0]
	low, high := bandOf(v, tr, 4)
	var got []string
	for i := range low {
		text := "–"
		if low[i] != nil {
			text = fmt.Sprintf("%g…%g", *low[i], *high[i])
		}
		got = append(got, text)
	}
	if d := cmp.Diff([]string{"20…80", "10…10", "–", "–"}, got); d != "" {
		t.Error(d)
	}
	tr.fold()
	if low, high := bandOf(v, tr, 2); *low[0] != 15 || *high[0] != 45 || low[1] != nil {
		t.Errorf("folded: %v…%v", *low[0], *high[0])
	}
}

// A checkpoint is where the log to be recovered falls by a third or more; of an
// engine that does not tell it, where what is to be written does.
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
		{"nothing else is told", []result.Line{age(1, -1, 9*mb), age(2, -1, 0), age(3, -1, 9*mb)}, []float64{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, tr := courseOf(t, c.lines...)
			if d := cmp.Diff(c.want, tr.marks.times); d != "" {
				t.Error(d)
			}
		})
	}
	var many []result.Line
	for i := range 1000 {
		many = append(many, age(float64(i+1), float64(1-i%2)*9*mb, 0))
	}
	if _, tr := courseOf(t, many...); tr.marks.count != 500 || len(tr.marks.times) != mostMarks {
		t.Errorf("%d marks, %d kept", tr.marks.count, len(tr.marks.times))
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
		for _, v := range views(c.steps[0]) {
			if y, ok := v.value(&tr.points[0], tr); ok {
				got[v.title] = fmt.Sprint(y)
			}
		}
		return got
	}
	want := map[string]string{"device writes, MiB/s": "2", "device reads, MiB/s": "0.5", "CPU of the engine’s processes, cores": "1.5"}
	if d := cmp.Diff(want, values()); d != "" {
		t.Error(d)
	}
	tr.apart = true
	want["CPU of the client, cores"] = "0.5"
	if d := cmp.Diff(want, values()); d != "" {
		t.Error(d)
	}
}

// The drawings over the steps show the numbers of their table.
func TestOverSteps(t *testing.T) {
	cell := func(v float64) Cell { return Cell{Text: decimal(v), Value: full(v), Number: true} }
	table := Table{Columns: []Column{{Name: "load"}, {Name: "settle"}, {Name: "query"}}, Groups: []RowGroup{
		{Name: "space amplification", Rows: []TableRow{
			{Head: "a", Target: 0, Cells: []Cell{cell(1), absentCell("not there"), cell(3)}},
			{Head: "b", Target: 1, Cells: []Cell{cell(2), cell(0), cell(3)}}}},
		{Name: "write amplification", Rows: []TableRow{{Head: "a", Target: 0, Cells: []Cell{cell(1), cell(0), cell(400)}}}},
		{Name: "one point", Rows: []TableRow{{Head: "a", Target: 0, Cells: []Cell{cell(1), absentCell(""), absentCell("")}}}},
	}}
	plots := overSteps(table)
	if len(plots) != 2 || plots[0].Title != "space amplification" {
		t.Fatalf("%d plots", len(plots))
	}
	linear, powers := string(plots[0].SVG), string(plots[1].SVG)
	for _, want := range []string{`class="line t0"`, `class="line t1"`, ">●●<", ">■■■<", ">load<", ">settle<", ">query<", ">3<"} {
		if !strings.Contains(linear, want) {
			t.Errorf("no %s in %s", want, linear)
		}
	}
	// On an axis of powers 0 has no place: it is a gap.
	if strings.Contains(powers, "●●●") || !strings.Contains(powers, "●●") || !strings.Contains(powers, ">100<") {
		t.Error(powers)
	}
	if overSteps(Table{Columns: table.Columns[:1], Groups: table.Groups}) != nil {
		t.Error("one step has no course")
	}
}
