package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
)

// Charts are a step's lines over time, all targets on one axis: data for the
// page's script, and drawings of the most telling quantities for readers
// without it.
type Charts struct {
	Data    template.JS
	Static  []Plot
	Targets []Legend // whose lines there are
	Note    string
	Courses []string // how the targets' rates went, in words
}

// chartData is what the page's script draws.
type chartData struct {
	Width   float64     `json:"width"`  // seconds per point
	Points  int         `json:"points"` // of every line
	Targets []chartLine `json:"targets"`
	Charts  []chart     `json:"charts"`
	Stalls  []stall     `json:"stalls,omitempty"`
	Marks   []moment    `json:"marks,omitempty"` // checkpoints
}

type chartLine struct {
	Name  string `json:"name"`
	Index int    `json:"index"`
}

type chart struct {
	Title string  `json:"title"`
	Log   bool    `json:"log,omitempty"`
	Lines []lines `json:"lines"` // one per target
	// The bands around the lines, from the slowest to the fastest client; there
	// are none where there is one client, and null for targets without one.
	Low  []lines `json:"low,omitempty"`
	High []lines `json:"high,omitempty"`
}

// lines are the values of a line; a gap where nothing is known.
type lines []*float64

// MarshalJSON keeps three digits: no screen shows more.
func (l lines) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("null"), nil
	}
	out := []byte{'['}
	for i, v := range l {
		if i > 0 {
			out = append(out, ',')
		}
		if v == nil {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, rounded(*v), 'g', -1, 64)
		}
	}
	return append(out, ']'), nil
}

func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}

type stall struct {
	Index int     `json:"index"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// moment is when an engine made a checkpoint.
type moment struct {
	Index int     `json:"index"`
	At    float64 `json:"at"`
}

// view is a quantity over time; ok is false where it is unknown.
type view struct {
	title  string
	log    bool
	static bool
	value  func(p *point, t *track) (v float64, ok bool)
	band   func(p *point, t *track) (low, high float64, ok bool) // nil: none
}

// views are the quantities that are drawn. A rest at the end of less than half
// a point's width is too short for a rate.
func views(s *step) []view {
	long := func(p *point, t *track) bool { return p.opsTime >= t.width/2 }
	list := []view{{
		title: s.units(s.Primary) + "/s (" + s.Primary + ")", static: true,
		value: func(p *point, t *track) (float64, bool) { return p.rows / p.opsTime, long(p, t) },
		band: func(p *point, t *track) (float64, float64, bool) {
			return p.low / p.opsTime, p.high / p.opsTime, long(p, t) && p.spread > 0 && p.spread == p.rows
		},
	}}
	if s.WritesPer != s.Primary && s.WritesPer != "" {
		list = append(list, view{title: s.units(s.WritesPer) + "/s (" + s.WritesPer + ")", value: func(p *point, t *track) (float64, bool) { return p.writes / p.opsTime, long(p, t) }})
	}
	growth := func(quantity int, unit float64) func(*point, *track) (float64, bool) {
		return func(p *point, t *track) (float64, bool) {
			return p.growth[quantity] / p.time[quantity] / unit, p.time[quantity] > 0
		}
	}
	const mebibyte, core = 1 << 20, 1e9 // bytes, and ns a second
	return append(list,
		view{title: "p99 latency, ms", log: true, static: true, value: func(p *point, _ *track) (float64, bool) { return p.p99 / 1e3, p.p99 > 0 }},
		view{title: "max latency, ms", log: true, value: func(p *point, _ *track) (float64, bool) { return p.max / 1e3, p.max > 0 }},
		view{title: "device writes, MiB/s", static: true, value: growth(devWritten, mebibyte)},
		view{title: "device reads, MiB/s", value: growth(devRead, mebibyte)},
		view{title: "CPU of the engine’s processes, cores", static: true, value: growth(engineCPU, core)},
		view{title: "CPU of the client, cores", value: func(p *point, t *track) (float64, bool) {
			v, ok := growth(clientCPU, core)(p, t)
			return v, ok && t.apart
		}},
	)
}

// charts draws a step's tracks; nil if there is nothing to draw.
func (c *campaign) charts(s *step, tracks []*track) *Charts {
	if s.Primary == "" || !moves(tracks) {
		return nil
	}
	d := c.chartFrame(s, tracks)
	coarse := coarser(tracks, max(fewPoints, min(staticPoints, allStatic/(len(c.steps)*len(c.Targets)))))
	small := c.chartFrame(s, coarse)
	out := &Charts{}
	for _, v := range views(s) {
		ch, ok := newChart(v, tracks, d.Points)
		if !ok {
			continue
		}
		d.Charts = append(d.Charts, ch)
		if ch, ok := newChart(v, coarse, small.Points); ok && v.static {
			out.Static = append(out.Static, Plot{ch.Title, timePlot(s.Name, small, ch)})
		}
	}
	data, err := json.Marshal(d)
	if err != nil || len(d.Charts) == 0 {
		return nil
	}
	for _, t := range d.Targets {
		out.Targets = append(out.Targets, Legend{Name: t.Name, Index: t.Index})
		if text := course(tracks[t.Index].rates()); text != "" {
			out.Courses = append(out.Courses, t.Name+": "+text)
		}
	}
	out.Data, out.Note = template.JS(data), c.chartNote(s, tracks, d)
	return out
}

// chartFrame is what the charts of a step have in common.
func (c *campaign) chartFrame(s *step, tracks []*track) *chartData {
	d := &chartData{}
	for i, t := range tracks {
		if t == nil || len(t.points) == 0 {
			continue
		}
		d.Width, d.Points = t.width, max(d.Points, len(t.points))
		d.Targets = append(d.Targets, chartLine{c.Targets[i].Name, i})
		for _, st := range s.Leader(c.Targets[i]).Step.Stalls {
			d.Stalls = append(d.Stalls, stall{i, st.From, st.To})
		}
		if t.marks.count <= mostMarks {
			for _, at := range t.marks.times {
				d.Marks = append(d.Marks, moment{i, at})
			}
		}
	}
	return d
}

// A line of a drawing has at most staticPoints points; those of very many steps
// share allStatic, but none gets fewer than fewPoints.
const (
	staticPoints = 100
	fewPoints    = 25
	allStatic    = 3_000
)

// coarser are copies of tracks, of at most so many points.
func coarser(tracks []*track, most int) []*track {
	out := make([]*track, len(tracks))
	points := 0
	for i, t := range tracks {
		if t != nil {
			copied := *t
			copied.points = slices.Clone(t.points)
			out[i], points = &copied, max(points, len(t.points))
		}
	}
	for ; points > most; points = (points + 1) / 2 {
		for _, t := range out {
			if t != nil {
				t.fold()
			}
		}
	}
	return out
}

// mostBands is the number of bands that can be told apart in a chart.
const mostBands = 4

// chartNote says what the lines are made of.
func (c *campaign) chartNote(s *step, tracks []*track, d *chartData) string {
	parts := []string{fmt.Sprintf("A point is %s: the mean of rates, the highest p99 and max of its intervals, p99 only of those with 1,000 operations or more. Latency is of %s: the highest of its kinds; the response time where a rate was promised.", seconds(d.Width), s.Primary)}
	if len(d.Stalls) > 0 {
		parts = append(parts, "Stalls are shaded.")
	}
	if d.Charts[0].Low != nil {
		parts = append(parts, "The band goes from what it would be if all clients had been as slow as the slowest to as fast as the fastest, in each interval.")
	}
	if len(d.Marks) > 0 {
		parts = append(parts, "Ticks at the top are checkpoints: there "+engine.CheckpointAge+" or, where it is not told, "+engine.DirtyBytes+" fell by a third or more.")
	}
	var many, trials []string
	for i, t := range tracks {
		if t == nil || len(t.points) == 0 {
			continue
		}
		tg := c.Targets[i]
		if t.marks.count > mostMarks {
			many = append(many, fmt.Sprintf("%s (%d)", tg.Name, t.marks.count))
		}
		if len(s.Used(tg)) > 1 {
			trials = append(trials, fmt.Sprintf("%d of %s", s.Leader(tg).Trial.Trial, tg.Name))
		}
	}
	if len(many) > 0 {
		parts = append(parts, "Too many checkpoints to show: "+joined(many)+".")
	}
	if len(trials) > 0 {
		parts = append(parts, "Shown are the trials with the median throughput: "+joined(trials)+".")
	}
	return strings.Join(parts, " ")
}

// rates are the primary operation's rates over time, in points long enough to
// have one.
func (t *track) rates() []float64 {
	var out []float64
	for i := range t.points {
		if p := &t.points[i]; p.opsTime >= t.width/2 {
			out = append(out, p.rows/p.opsTime)
		}
	}
	return out
}

// fewest is the number of points with something done below which there is no
// course over time to see: an index build is one operation.
const fewest = 4

func moves(tracks []*track) bool {
	for _, t := range tracks {
		busy := 0
		for i := 0; t != nil && i < len(t.points); i++ {
			if t.points[i].p99 > 0 {
				busy++
			}
		}
		if busy >= fewest {
			return true
		}
	}
	return false
}

func newChart(v view, tracks []*track, points int) (ch chart, known bool) {
	ch = chart{Title: v.title, Log: v.log}
	banded := 0
	for _, t := range tracks {
		if t == nil || len(t.points) == 0 {
			continue
		}
		line := make(lines, points)
		for i := range t.points {
			if y, ok := v.value(&t.points[i], t); ok && finite(y) {
				line[i], known = &y, true
			}
		}
		ch.Lines = append(ch.Lines, line)
		low, high := bandOf(v, t, points)
		ch.Low, ch.High = append(ch.Low, low), append(ch.High, high)
		if low != nil {
			banded++
		}
	}
	if banded == 0 || banded > mostBands {
		ch.Low, ch.High = nil, nil
	}
	return ch, known
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// bandOf is the band around a target's line, nil if there is none.
func bandOf(v view, t *track, points int) (low, high lines) {
	if v.band == nil {
		return nil, nil
	}
	known := false
	low, high = make(lines, points), make(lines, points)
	for i := range t.points {
		if a, b, ok := v.band(&t.points[i], t); ok && finite(a) && finite(b) {
			low[i], high[i], known = &a, &b, true
		}
	}
	if !known {
		return nil, nil
	}
	return low, high
}

// Bars compare the targets' rate of an operation kind in a step.
type Bars struct {
	Title string
	Rows  []Bar
	Key   string // what its lines mean
}

// Bar is one target's bar. Lengths are in percent of the longest.
type Bar struct {
	Head            string
	Target          int
	Cell            Cell
	Length          float64
	Low, Range      float64 // from the least to the greatest trial
	Repeated        bool
	Promised        float64 // where the promised rate is; 0 without one
	PromisedPerUnit string
}

// bars are for the primary operation, and for the writes beside it.
func (c *campaign) bars(s *step) []Bars {
	var out []Bars
	kinds := []string{s.Primary}
	if s.WritesPer != s.Primary {
		kinds = append(kinds, s.WritesPer)
	}
	for _, op := range kinds {
		if k, ok := s.Rate(op); ok {
			out = append(out, c.barsOf(s, k))
		}
	}
	return out
}

func (c *campaign) barsOf(s *step, k key) Bars {
	b := Bars{Title: s.units(k.Op) + "/s (" + k.Op + ")"}
	promised := 0.0
	for _, g := range s.Groups() {
		for _, op := range append(g.Ops, g.Name) {
			if op == k.Op {
				promised = g.Promised(k.Op)
			}
		}
	}
	most := promised
	for _, t := range c.Targets {
		most = max(most, s.number(t, k).High)
	}
	repeated := false
	for _, t := range c.Targets {
		n := s.number(t, k)
		bar := Bar{Head: t.Name, Target: t.Index, Cell: s.cell(t, c.Targets[0], k, &notes{})}
		if most > 0 && n.Missing == "" {
			bar.Length, bar.Low, bar.Range = 100*n.Value/most, 100*n.Low/most, 100*(n.High-n.Low)/most
			bar.Repeated = len(n.Rows) > 1
			repeated = repeated || bar.Repeated
			bar.Promised = 100 * promised / most
		}
		if promised > 0 {
			bar.PromisedPerUnit = decimal(promised) + "/s promised"
		}
		b.Rows = append(b.Rows, bar)
	}
	if repeated {
		b.Key = "A bar is the median of the trials; the whisker goes from the least to the greatest of them."
	}
	if promised > 0 {
		b.Key = strings.TrimSpace(b.Key + " The dashed line is at " + decimal(promised) + "/s promised.")
	}
	return b
}
