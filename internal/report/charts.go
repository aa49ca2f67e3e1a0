package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
)

// Charts are a step's lines over time, all targets on one axis: data for the
// page's script, and a drawing of the throughput for readers without it.
type Charts struct {
	Title  string // of the drawing
	Data   template.JS
	Static template.HTML
	Note   string
}

// chartData is what the page's script draws.
type chartData struct {
	Width   float64     `json:"width"`  // seconds per point
	Points  int         `json:"points"` // of every line
	Targets []chartLine `json:"targets"`
	Charts  []chart     `json:"charts"`
	Stalls  []stall     `json:"stalls,omitempty"`
}

type chartLine struct {
	Name  string `json:"name"`
	Index int    `json:"index"`
}

type chart struct {
	Title string  `json:"title"`
	Log   bool    `json:"log,omitempty"`
	Lines []lines `json:"lines"` // one per target
}

// lines are the values of a line; a gap where nothing is known.
type lines []*float64

// MarshalJSON keeps four digits: no screen shows more.
func (l lines) MarshalJSON() ([]byte, error) {
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
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return r
}

type stall struct {
	Index int     `json:"index"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// view is a quantity over time; ok is false where it is unknown.
type view struct {
	title string
	log   bool
	value func(p point, width float64) (v float64, ok bool)
}

// views are the quantities that are drawn. A rest at the end of less than half
// a point's width is too short for a rate.
func views(s *step) []view {
	list := []view{{s.units(s.Primary) + "/s (" + s.Primary + ")", false, func(p point, width float64) (float64, bool) { return p.rows / p.opsTime, p.opsTime >= width/2 }}}
	if s.WritesPer != s.Primary && s.WritesPer != "" {
		list = append(list, view{s.units(s.WritesPer) + "/s (" + s.WritesPer + ")", false, func(p point, width float64) (float64, bool) { return p.writes / p.opsTime, p.opsTime >= width/2 }})
	}
	return append(list,
		view{"p99 latency, ms", true, func(p point, _ float64) (float64, bool) { return p.p99 / 1e3, p.p99 > 0 }},
		view{"max latency, ms", true, func(p point, _ float64) (float64, bool) { return p.max / 1e3, p.max > 0 }},
		view{"device writes, MiB/s", false, func(p point, _ float64) (float64, bool) { return p.devBytes / p.devTime / (1 << 20), p.devTime > 0 }},
		view{"CPU of the engine's processes, cores", false, func(p point, _ float64) (float64, bool) { return p.cpuNS / 1e9 / p.cpuTime, p.cpuTime > 0 }},
	)
}

// charts draws a step's tracks; nil if there is nothing to draw.
func (c *campaign) charts(s *step, tracks []*track) *Charts {
	d := chartData{}
	note := ""
	for i, t := range tracks {
		if t == nil || len(t.points) == 0 {
			continue
		}
		d.Width, d.Points = t.width, max(d.Points, len(t.points))
		d.Targets = append(d.Targets, chartLine{c.Targets[i].Name, i})
		leader := s.Leader(c.Targets[i])
		for _, st := range leader.Step.Stalls {
			d.Stalls = append(d.Stalls, stall{i, st.From, st.To})
		}
		if len(s.Used(c.Targets[i])) > 1 {
			note += fmt.Sprintf(" %s: trial %d, the median one.", c.Targets[i].Name, leader.Trial.Trial)
		}
	}
	if s.Primary == "" || !moves(tracks) {
		return nil
	}
	for _, v := range views(s) {
		if ch, ok := newChart(v, tracks, d.Points); ok {
			d.Charts = append(d.Charts, ch)
		}
	}
	data, err := json.Marshal(d)
	if err != nil || len(d.Charts) == 0 {
		return nil
	}
	note = fmt.Sprintf("A point is %s: the mean of rates, the highest p99 and max of its intervals. Latency is of %s: the highest of its kinds; the response time where a rate was promised. Stalls are shaded.%s", seconds(d.Width), s.Primary, note)
	return &Charts{d.Charts[0].Title, template.JS(data), timePlot(s.Name, d), note}
}

// fewest is the number of points with something done below which there is no
// course over time to see: an index build is one operation.
const fewest = 2

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

func newChart(v view, tracks []*track, points int) (chart, bool) {
	ch := chart{Title: v.title, Log: v.log}
	known := false
	for _, t := range tracks {
		if t == nil || len(t.points) == 0 {
			continue
		}
		line := make(lines, points)
		for i, p := range t.points {
			if y, ok := v.value(p, t.width); ok {
				line[i], known = &y, true
			}
		}
		ch.Lines = append(ch.Lines, line)
	}
	return ch, known
}

// Bars compare the targets' rate of an operation kind in a step.
type Bars struct {
	Title string
	Rows  []Bar
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
				promised = g.Rate
			}
		}
	}
	most := promised
	for _, t := range c.Targets {
		most = max(most, s.number(t, k).High)
	}
	for _, t := range c.Targets {
		n := s.number(t, k)
		bar := Bar{Head: t.Name, Target: t.Index, Cell: s.cell(t, c.Targets[0], k, &notes{})}
		if most > 0 && n.Missing == "" {
			bar.Length, bar.Low, bar.Range = 100*n.Value/most, 100*n.Low/most, 100*(n.High-n.Low)/most
			bar.Repeated = len(n.Rows) > 1
			bar.Promised = 100 * promised / most
		}
		if promised > 0 {
			bar.PromisedPerUnit = decimal(promised) + "/s promised"
		}
		b.Rows = append(b.Rows, bar)
	}
	return b
}
