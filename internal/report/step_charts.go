package report

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/course"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// overTime is a quantity over time.
type overTime struct {
	title  string
	log    bool
	static bool
	value  course.Quantity
	// The band around the line; nil: none.
	low, high course.Quantity
}

// overTimes returns the quantities that are drawn.
func overTimes(s *step) []overTime {
	rate := func(op string) string { return s.units(op) + "/s (" + op + ")" }
	banded := func(bound func(p *course.Point) float64) course.Quantity {
		return func(t *course.Track, p *course.Point) float64 {
			if p.Spread == 0 || p.Spread != p.Rows {
				return math.NaN()
			}
			return t.PerSecond(p, bound(p))
		}
	}
	list := []overTime{{title: rate(s.Primary), static: true, value: course.RowsPerSecond,
		low:  banded(func(p *course.Point) float64 { return p.Low }),
		high: banded(func(p *course.Point) float64 { return p.High })}}
	if s.WritesPer != s.Primary && s.WritesPer != "" {
		list = append(list, overTime{title: rate(s.WritesPer), value: func(t *course.Track, p *course.Point) float64 {
			return t.PerSecond(p, p.Writes)
		}})
	}
	const mebibyte, core = 1 << 20, 1e9 // bytes, and ns a second
	return append(list,
		overTime{title: "p99 latency, ms", log: true, static: true,
			value: course.Positive(func(p *course.Point) float64 { return p.P99 }, 1e3)},
		overTime{title: "max latency, ms", log: true,
			value: course.Positive(func(p *course.Point) float64 { return p.Max }, 1e3)},
		overTime{title: "device writes, MiB/s", static: true, value: course.Growth(course.DeviceWritten, mebibyte)},
		overTime{title: "device reads, MiB/s", value: course.Growth(course.DeviceRead, mebibyte)},
		overTime{title: "CPU of the engine’s processes, cores", static: true, value: course.Growth(course.EngineCPU, core)},
		overTime{title: "CPU of the client, cores", value: func(t *course.Track, p *course.Point) float64 {
			if !t.Apart {
				return math.NaN()
			}
			return p.Rate(course.ClientCPU) / core
		}},
	)
}

// chartsOf draws a step's tracks; nil if there is nothing to draw. The first chart
// is the throughput.
func chartsOf(s *step, tracks []*course.Track) *page.Charts {
	if s.Primary == "" || !moves(tracks) {
		return nil
	}
	out := &page.Charts{Moving: chartFrame(s, tracks)}
	d, drawn := &out.Moving, max(fewPoints, min(staticPoints, allStatic/(len(s.c.steps)*len(s.c.Targets))))
	for _, v := range overTimes(s) {
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
		rates := slices.DeleteFunc(tracks[t.Index].Along(course.RowsPerSecond), math.IsNaN)
		if text := courseInWords(rates); text != "" {
			courses = append(courses, t.Name+": "+text)
		}
	}
	out.About = []string{chartNote(s, tracks, d)}
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
func chartFrame(s *step, tracks []*course.Track) page.Moving {
	d := page.Moving{}
	for i, t := range tracks {
		if t == nil || len(t.Points) == 0 {
			continue
		}
		d.Width, d.Points = t.Width, max(d.Points, len(t.Points))
		d.Series = append(d.Series, page.MovingLine{Name: s.c.Targets[i].Name, Index: i})
		for _, st := range s.Leader(s.c.Targets[i]).Step.Stalls {
			d.Stalls = append(d.Stalls, page.Stall{Index: i, From: st.From, To: st.To})
		}
		if t.Marks.Count <= course.MostMarks {
			for _, at := range t.Marks.Times {
				d.Marks = append(d.Marks, page.Moment{Index: i, At: at})
			}
		}
		for _, e := range t.Events {
			d.Marks = append(d.Marks, page.Moment{Index: i, At: e.At})
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
func eventNote(s *step, tracks []*course.Track, d *page.Moving) string {
	text := ""
	for _, l := range d.Series {
		last := ""
		for _, e := range tracks[l.Index].Events {
			if e.Op != last {
				last, text = e.Op, text+"; "+s.c.Targets[l.Index].Name+": "+e.Op+" at about"
			}
			text += " " + quantity.Amount(e.At) + " s"
		}
	}
	return text
}

// chartNote returns a sentence that describes the lines.
func chartNote(s *step, tracks []*course.Track, d *page.Moving) string {
	parts := []string{fmt.Sprintf("A point is %s s: the mean of rates, the highest p99 and max of its intervals, p99 "+
		"only of those with 1,000 operations or more. Latency is of %s: the highest of its kinds; the response time where "+
		"a rate was promised.", quantity.Amount(d.Width), s.Primary)}
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
	many := quantity.Texts(d.Series, func(l page.MovingLine) string {
		if n := tracks[l.Index].Marks.Count; n > course.MostMarks {
			return fmt.Sprintf("%s (%d)", l.Name, n)
		}
		return ""
	})
	parts = append(parts, listing("Too many checkpoints to show: ", many, "."), labelText("Lines are", oneTrial(s)))
	return strings.Join(nonEmpty(parts...), " ")
}

// fewest is the number of points with completions below which there is nothing
// to see over time: an index build is one operation.
const fewest = 4

func moves(tracks []*course.Track) bool {
	return slices.ContainsFunc(tracks, func(t *course.Track) bool {
		busy := 0
		for i := 0; t != nil && i < len(t.Points); i++ {
			if t.Points[i].Rows > 0 {
				busy++
			}
		}
		return busy >= fewest
	})
}

func newChart(v overTime, tracks []*course.Track, d *page.Moving) (ch page.MovingChart, found bool) {
	ch = page.MovingChart{Title: v.title, Log: v.log}
	bands := 0
	for _, l := range d.Series {
		line, some := chartLine(tracks[l.Index], v.value, d.Points)
		low, banded := chartLine(tracks[l.Index], v.low, d.Points)
		high, _ := chartLine(tracks[l.Index], v.high, d.Points)
		if found = found || some; banded {
			bands++
		} else {
			low, high = nil, nil
		}
		ch.Lines, ch.Low, ch.High = append(ch.Lines, line), append(ch.Low, low), append(ch.High, high)
	}
	if bands == 0 || bands > mostBands {
		ch.Low, ch.High = nil, nil
	}
	return ch, found
}

// chartLine returns a quantity at all points of the chart, and whether it is known
// anywhere.
func chartLine(t *course.Track, q course.Quantity, points int) (line page.Values, found bool) {
	line = page.Gaps(points)
	if q == nil {
		return line, false
	}
	copy(line, t.Along(q))
	return line, slices.ContainsFunc(line, quantity.Finite)
}

// courseInWords describes a rate over time: whether it was steady, and how well the
// run determines its mean, which implies nothing about the next run. It is ""
// if the run is too short.
func courseInWords(rates []float64) string {
	c := stat.CourseOf(rates)
	if c.Shape == stat.Unknown || len(c.Phases) == 0 {
		return ""
	}
	text := c.Shape.String()
	switch first, last := c.Phases[0], c.Phases[len(c.Phases)-1]; c.Shape {
	case stat.Steady:
		if i := stat.MeanInterval(rates[c.WarmUp:], 0.95); i.Value > 0 && quantity.Finite(i.High) {
			text += fmt.Sprintf(" (mean known to ±%s)", quantity.RoughShare((i.High-i.Value)/i.Value))
		}
	case stat.Degrading, stat.Improving:
		text += fmt.Sprintf(" from %s/s to %s/s", quantity.Digits(first.Level), quantity.Digits(last.Level))
	}
	if c.WarmUp > 0 {
		text += fmt.Sprintf(" after %d intervals of warm-up", c.WarmUp)
	}
	return text
}

// A line over time has at most maxPoints points: more than a screen can show,
// but few enough to keep a day's report small. Many lines share allPoints, but
// none gets fewer than minPoints.
const (
	maxPoints = 600
	minPoints = 64
	allPoints = 5_000
)

// readSeries streams the series of the runs that represent their targets. A trial whose series cannot be read has a
// warning, and no charts.
func readSeries(c *campaign) map[*step][]*course.Track {
	limit := max(minPoints, min(maxPoints, allPoints/(len(c.steps)*len(c.Targets)+1)))
	all := map[*step][]*course.Track{}
	for _, s := range c.steps {
		all[s] = make([]*course.Track, len(c.Targets))
	}
	byTrial := map[*result.Trial]map[string]*course.Track{} // by step
	for t, trial := range trialsOf(c) {
		byTrial[trial] = map[string]*course.Track{}
		for _, s := range c.steps {
			if r := s.Leader(t); r != nil && r.Trial == trial && c.inputs[trial].Series != nil {
				byTrial[trial][s.Name] = newTrack(s, r, limit)
				all[s][t.Index] = byTrial[trial][s.Name]
			}
		}
	}
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for t, trial := range trialsOf(c) {
		tracks := byTrial[trial]
		if len(tracks) == 0 {
			continue
		}
		readers.Go(func() error { // it writes what is its own: its tracks, and its trial's warnings
			err := c.inputs[trial].Series(func(l result.Line) error { tracks[l.Step].Add(&l); return nil })
			if err == nil {
				return nil
			}
			_, reason, _ := strings.Cut(err.Error(), ": ") // without the path
			trial.Warnings = metric.AppendNew(trial.Warnings, metric.Untyped("its intervals are not shown: "+reason))
			for _, s := range c.steps {
				if tracks[s.Name] != nil {
					all[s][t.Index] = nil
				}
			}
			return nil
		})
	}
	_ = readers.Wait() // none fails
	for _, tracks := range all {
		course.SameWidth(tracks)
	}
	return all
}

func newTrack(s *step, r *run, limit int) *course.Track {
	width := r.Trial.Interval
	if width <= 0 {
		width = 1
	}
	t := course.New(width, limit, course.KindsOf(s.Primary, r.Step.Groups), course.KindsOf(s.WritesPer, r.Step.Groups))
	t.Apart = r.Trial.Hosting == result.Server
	return t
}

// oneTrial names the trials shown by a drawing that shows one of several.
func oneTrial(s *step) string {
	var trials []string
	for t, r := range s.leaders() {
		if len(s.Used(t)) > 1 {
			trials = append(trials, fmt.Sprintf("%d of %s", r.Trial.Trial, t.Name))
		}
	}
	return listing("of one trial each, that with the median throughput: ", trials, ".")
}

// onScreen returns a remark on drawings, which only a page has.
func onScreen(text string) page.Paragraph {
	return page.Paragraph{Class: "about", Spans: []page.Span{{Text: text, Screen: true}}}
}
