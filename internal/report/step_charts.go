package report

import (
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/internal/page"
	"rumbench/internal/text/quantity"
)

// overTime is a quantity over time; ok is false if it is unknown.
type overTime struct {
	title  string
	log    bool
	static bool
	value  valueOf
	// The band around the line; nil: none.
	low, high valueOf
}

type valueOf func(p *point, t *track) (v float64, ok bool)

// views returns the quantities that are drawn. A remainder at the end of less
// than half a point's width is too short for a rate.
func views(s *step) []overTime {
	long := func(p *point, t *track) bool { return p.opsTime >= t.width/2 }
	banded := func(p *point, t *track) bool { return long(p, t) && p.spread > 0 && p.spread == p.rows }
	list := []overTime{{
		title: s.units(s.Primary) + "/s (" + s.Primary + ")", static: true,
		value: func(p *point, t *track) (float64, bool) { return p.rows / p.opsTime, long(p, t) },
		low:   func(p *point, t *track) (float64, bool) { return p.low / p.opsTime, banded(p, t) },
		high:  func(p *point, t *track) (float64, bool) { return p.high / p.opsTime, banded(p, t) },
	}}
	if s.WritesPer != s.Primary && s.WritesPer != "" {
		list = append(list, overTime{title: s.units(s.WritesPer) + "/s (" + s.WritesPer + ")",
			value: func(p *point, t *track) (float64, bool) { return p.writes / p.opsTime, long(p, t) }})
	}
	growth := func(quantity int, unit float64) valueOf {
		return func(p *point, t *track) (float64, bool) {
			return p.growth[quantity] / p.time[quantity] / unit, p.time[quantity] > 0
		}
	}
	const mebibyte, core = 1 << 20, 1e9 // bytes, and ns a second
	return append(list,
		overTime{title: "p99 latency, ms", log: true, static: true,
			value: func(p *point, _ *track) (float64, bool) { return p.p99 / 1e3, p.p99 > 0 }},
		overTime{title: "max latency, ms", log: true,
			value: func(p *point, _ *track) (float64, bool) { return p.highest / 1e3, p.highest > 0 }},
		overTime{title: "device writes, MiB/s", static: true, value: growth(devWritten, mebibyte)},
		overTime{title: "device reads, MiB/s", value: growth(devRead, mebibyte)},
		overTime{title: "CPU of the engine’s processes, cores", static: true, value: growth(engineCPU, core)},
		overTime{title: "CPU of the client, cores", value: func(p *point, t *track) (float64, bool) {
			v, ok := growth(clientCPU, core)(p, t)
			return v, ok && t.apart
		}},
	)
}

// chartsOf draws a step's tracks; nil if there is nothing to draw. The first chart
// is the throughput.
func chartsOf(s *step, tracks []*track) *page.Charts {
	if s.Primary == "" || !moves(tracks) {
		return nil
	}
	out := &page.Charts{Moving: chartFrame(s, tracks)}
	d, drawn := &out.Moving, max(fewPoints, min(staticPoints, allStatic/(len(s.c.steps)*len(s.c.Targets))))
	for _, v := range views(s) {
		ch, ok := newChart(v, tracks, d)
		if !ok {
			continue
		}
		d.Charts = append(d.Charts, ch)
		if ch.Low, ch.High = nil, nil; v.static { // bands are for screens
			out.Static = append(out.Static, d.Drawing(ch, drawn, ch.Title+" over time in "+s.Name, quantity.Tick))
		}
	}
	if len(d.Charts) == 0 {
		return nil
	}
	var courses []string
	out.Legend = page.Legend{Class: "small"}
	for _, t := range d.Series {
		out.Legend.Keys = append(out.Legend.Keys, page.Key{Series: t.Index, Name: t.Name})
		if text := course(tracks[t.Index].rates()); text != "" {
			courses = append(courses, t.Name+": "+text)
		}
	}
	out.About = append(out.About, chartNote(s, tracks, d))
	if len(courses) > 0 {
		out.About = append(out.About, "In the course of the window "+strings.Join(courses, "; ")+".")
	}
	return out
}

// first returns the first chart alone, to put next to bars, which are its legend.
func first(all *page.Charts) page.Charts {
	out := page.Charts{Moving: all.Moving, Static: all.Static[:min(1, len(all.Static))]}
	out.Moving.Charts = []page.MovingChart{out.Moving.Charts[0]}
	out.Moving.Charts[0].Title += " over time"
	return out
}

// rest returns the other charts; without a script only the first of them.
func rest(all *page.Charts) []page.Block {
	if all == nil || len(all.Moving.Charts) < 2 {
		return nil
	}
	out := *all
	out.Moving.Charts, out.Static = out.Moving.Charts[1:], out.Static[min(1, len(out.Static)):min(2, len(out.Static))]
	return []page.Block{out}
}

// chartFrame returns the common properties of the charts of a step.
func chartFrame(s *step, tracks []*track) page.Moving {
	d := page.Moving{}
	for i, t := range tracks {
		if t == nil || len(t.points) == 0 {
			continue
		}
		d.Width, d.Points = t.width, max(d.Points, len(t.points))
		d.Series = append(d.Series, page.MovingLine{Name: s.c.Targets[i].Name, Index: i})
		for _, st := range s.Leader(s.c.Targets[i]).Step.Stalls {
			d.Stalls = append(d.Stalls, page.Stall{Index: i, From: st.From, To: st.To})
		}
		if t.marks.count <= mostMarks {
			for _, at := range t.marks.times {
				d.Marks = append(d.Marks, page.Moment{Index: i, At: at})
			}
		}
		for _, e := range t.events {
			d.Marks = append(d.Marks, page.Moment{Index: i, At: e.at})
		}
	}
	return d
}

// A line of a drawing has at most staticPoints points; if there are many, they
// share allStatic, but none gets fewer than fewPoints.
const (
	staticPoints = 100
	fewPoints    = 25
	allStatic    = 1_500
)

// mostBands is the number of bands that can be distinguished in a chart.
const mostBands = 4

// eventNote names the other ticks at the top, with their times.
func eventNote(s *step, tracks []*track, d *page.Moving) string {
	var all []string
	for _, l := range d.Series {
		last, text := "", ""
		for _, e := range tracks[l.Index].events {
			if e.op != last {
				last, text = e.op, text+"; "+s.c.Targets[l.Index].Name+": "+e.op+" at about"
			}
			text += " " + quantity.Amount(e.at) + " s"
		}
		all = append(all, text)
	}
	return strings.Join(all, "")
}

// chartNote returns a sentence that describes the lines.
func chartNote(s *step, tracks []*track, d *page.Moving) string {
	parts := []string{fmt.Sprintf("A point is %s: the mean of rates, the highest p99 and max of its intervals, p99 "+
		"only of those with 1,000 operations "+
		"or more. Latency is of %s: the highest of its kinds; the response time where a rate was promised.",
		quantity.Amount(d.Width)+" s", s.Primary)}
	if len(d.Stalls) > 0 {
		parts = append(parts, "Stalls are shaded.")
	}
	if d.Charts[0].Low != nil {
		parts = append(parts, "The band goes from what it would be if all clients had been as slow as the slowest to as "+
			"fast as the fastest, in each interval.")
	}
	if len(d.Marks) > 0 {
		parts = append(parts, "Ticks at the top are checkpoints, where "+engine.CheckpointAge+" or, if it is unknown, "+
			engine.DirtyBytes+" fell by a third or more, and operations that change what others do"+eventNote(s, tracks, d)+".")
	}
	var many []string
	for _, l := range d.Series {
		tg := s.c.Targets[l.Index]
		if n := tracks[l.Index].marks.count; n > mostMarks {
			many = append(many, fmt.Sprintf("%s (%d)", tg.Name, n))
		}
	}
	if len(many) > 0 {
		parts = append(parts, "Too many checkpoints to show: "+quantity.Joined(many)+".")
	}
	if name := oneTrial(s); name != "" {
		parts = append(parts, "Lines are "+name)
	}
	return strings.Join(parts, " ")
}

// rates returns the primary operation's rates over time, in points long enough to
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

// fewest is the number of points with completions below which there is nothing
// to see over time: an index build is one operation.
const fewest = 4

func moves(tracks []*track) bool {
	for _, t := range tracks {
		busy := 0
		for i := 0; t != nil && i < len(t.points); i++ {
			if t.points[i].rows > 0 {
				busy++
			}
		}
		if busy >= fewest {
			return true
		}
	}
	return false
}

func newChart(v overTime, tracks []*track, d *page.Moving) (ch page.MovingChart, known bool) {
	ch = page.MovingChart{Title: v.title, Log: v.log}
	bands := 0
	for _, l := range d.Series {
		t := tracks[l.Index]
		line, some := t.along(v.value, d.Points)
		low, banded := t.along(v.low, d.Points)
		high, _ := t.along(v.high, d.Points)
		if known = known || some; banded {
			bands++
		} else {
			low, high = nil, nil
		}
		ch.Lines, ch.Low, ch.High = append(ch.Lines, line), append(ch.Low, low), append(ch.High, high)
	}
	if bands == 0 || bands > mostBands {
		ch.Low, ch.High = nil, nil
	}
	return ch, known
}

// along returns a quantity at all points of the chart, and whether it is known
// anywhere.
func (t *track) along(value valueOf, points int) (line page.Values, known bool) {
	line = page.Gaps(points)
	for i := range t.points {
		if value == nil {
			break
		}
		if y, ok := value(&t.points[i], t); ok && quantity.Finite(y) {
			line[i], known = y, true
		}
	}
	return line, known
}
