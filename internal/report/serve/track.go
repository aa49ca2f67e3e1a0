package serve

import (
	"math"
	"os"
	"path/filepath"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/page"
	"rumbench/internal/report"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// tail is the series of a trial as far as it has been written.
type tail struct {
	dir    string
	series *result.Series
	tracks map[string]*track       // by step
	step   string                  // the last one
	file   os.FileInfo             // of the series when it was read last
	steps  map[string]*result.Step // by name
	order  []string                // the steps with tracks, in their order
	err    error
}

// mostTracks limits the steps that are kept of a trial, the last ones.
const mostTracks = 64

func newTail(dir string) *tail { return &tail{dir: dir} }

// read reads what has been added; all, if the trial was run anew.
func (t *tail) read(trial *result.Trial) {
	info, err := os.Stat(filepath.Join(t.dir, result.SeriesFile))
	if err != nil {
		t.err = err
		return
	}
	if t.file == nil || !os.SameFile(t.file, info) || info.Size() < t.file.Size() {
		*t = tail{dir: t.dir, series: result.NewSeries(t.dir, report.Sources), tracks: map[string]*track{},
			steps: map[string]*result.Step{}}
	}
	t.file = info
	for i := range trial.Steps {
		t.steps[trial.Steps[i].Name] = &trial.Steps[i]
	}
	t.err = t.series.Read(func(l result.Line) error {
		if t.step = l.Step; t.tracks[l.Step] == nil {
			t.tracks[l.Step] = &track{}
			if s := t.steps[l.Step]; s != nil && s.Primary != "" {
				t.tracks[l.Step].primary = report.KindsOf(s.Primary, s.Groups)
			}
			t.order = append(t.order, l.Step)
		}
		if len(t.order) > mostTracks {
			delete(t.tracks, t.order[0])
			t.order = t.order[1:]
		}
		t.tracks[l.Step].add(&l)
		return nil
	})
}

// mostPoints limits the points of a track: when there would be more, two become one.
const mostPoints = 600

// track is the course of a step, second by second at first.
type track struct {
	width   float64 // seconds of a point; 0 is one
	points  []point
	primary func(group, op string) bool // the operations that count; nil: all
	last    float64                     // the end of the last interval of operations
}

// point is what was done in a stretch of time.
type point struct {
	rows, errors, seconds float64
	p50, p99              float64 // µs, the greatest of the groups
	growth, time          [counters]float64
}

// The counters whose growth is drawn.
const (
	serverCPU = iota // ns
	clientCPU        // ns
	written          // bytes
	counters
)

func (p *point) grow(counter int, l *result.Line, name string) {
	p.time[counter] += l.DT
	for key, v := range l.V { // with labels, of several devices
		if strings.HasPrefix(key, name) {
			p.growth[counter] += v
		}
	}
}

// rate returns the growth of a counter per second, NaN if it is unknown.
func (p *point) rate(counter int) float64 {
	return account.PerSecond(p.growth[counter], p.time[counter])
}

func (t *track) add(l *result.Line) {
	if t.width == 0 {
		t.width = 1
	}
	at := int(math.Max(l.T-l.DT/2, 0) / t.width)
	for at >= mostPoints {
		t.halve()
		at /= 2
	}
	for len(t.points) <= at {
		t.points = append(t.points, point{})
	}
	p := &t.points[at]
	switch l.Source {
	case "ops":
		if l.T != t.last { // several operations share an interval
			p.seconds, t.last = p.seconds+l.DT, l.T
		}
		p.errors += float64(l.Errors)
		if !l.Upkeep && (t.primary == nil || t.primary(l.Group, l.Op)) {
			p.rows += float64(l.Rows)
			p.p50, p.p99 = max(p.p50, l.P50), max(p.p99, l.P99)
		}
	case "process":
		p.grow(serverCPU, l, "process.cpu_ns")
	case "client":
		p.grow(clientCPU, l, "client.cpu_ns")
	case "device":
		p.grow(written, l, "device.write_bytes")
	}
}

func (t *track) halve() {
	t.width *= 2
	var half []point
	for i := 0; i < len(t.points); i += 2 {
		p := t.points[i]
		if i+1 < len(t.points) {
			o := t.points[i+1]
			p.rows, p.errors, p.seconds = p.rows+o.rows, p.errors+o.errors, p.seconds+o.seconds
			p.p50, p.p99 = max(p.p50, o.p50), max(p.p99, o.p99)
			for c := range counters {
				p.growth[c], p.time[c] = p.growth[c]+o.growth[c], p.time[c]+o.time[c]
			}
		}
		half = append(half, p)
	}
	t.points = half
}

// course is a step as it runs, with those of other targets.
type course struct {
	embedded      bool // the engine is in the client's process
	step, current string
	targets       []string
	lines         map[string]*track // by target
}

// drawn are the pictures of a course.
var drawn = []struct {
	title  string
	format func(float64) string
	log    bool
	value  func(p *point) float64
}{
	{"operations or rows per second", quantity.Short, false, func(p *point) float64 {
		return account.PerSecond(p.rows, p.seconds)
	}},
	{"p50 of the service time", quantity.Micros, true, func(p *point) float64 { return known(p.p50) }},
	{"p99 of the service time", quantity.Micros, true, func(p *point) float64 { return known(p.p99) }},
	{"CPU of the server, cores", quantity.Digits, false, func(p *point) float64 { return p.rate(serverCPU) / 1e9 }},
	{"CPU of the client, cores", quantity.Digits, false, func(p *point) float64 { return p.rate(clientCPU) / 1e9 }},
	{"KB written per second", quantity.Short, false, func(p *point) float64 { return p.rate(written) / 1024 }},
}

// clientPicture is the index of the client's CPU, after that of the server.
const clientPicture = 4

func known(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// section returns the pictures of the course.
func (c *course) section() page.Section {
	s := page.Section{ID: "now", Title: "Step " + c.step}
	var keys []page.Key
	for i, name := range c.targets {
		if c.lines[name] == nil {
			continue
		}
		k := page.Key{Series: i, Name: name}
		if name == c.current {
			k.Doc = c.numbers(c.lines[name])
		}
		keys = append(keys, k)
	}
	s.Blocks = append(s.Blocks, page.Legend{ID: "targets", Keys: keys})
	plots := page.Plots{}
	for i, d := range drawn {
		switch {
		case c.embedded && i == clientPicture:
			continue // it is the same process
		case c.embedded && i == clientPicture-1:
			d.title = "CPU of engine and client, cores"
		}
		p := page.Plot{Title: d.title, Label: d.title + " in step " + c.step, Height: 190}
		end := 1.0
		for i, name := range c.targets {
			t := c.lines[name]
			if t == nil {
				continue
			}
			l := page.Line{Series: i, Band: true}
			for k := range t.points {
				if k > 0 && k == len(t.points)-1 && t.points[k].seconds < t.width/2 {
					break // too short for a rate
				}
				x := (float64(k) + 0.5) * t.width
				y := d.value(&t.points[k])
				end = max(end, x)
				l.Points = append(l.Points, page.Point{X: x, Y: y, Low: math.NaN(), High: math.NaN()})
			}
			if name == c.current {
				p.Stalls = t.stalls(i)
			}
			p.Lines = append(p.Lines, l)
		}
		scale := page.Scale{Format: d.format}
		if d.log {
			scale.Spread = 1
		}
		p.X, p.Y = page.Linear(0, end, quantity.Digits), scale.Axis(page.Reach(p.Lines))
		p.X.Caption = "seconds from the start of the step"
		plots.Plots = append(plots.Plots, p)
	}
	s.Blocks = append(s.Blocks, plots)
	return s
}

// numbers returns the last seconds of a track in words.
func (c *course) numbers(t *track) string {
	n := len(t.points)
	if n == 0 {
		return ""
	}
	p := t.points[n-1]
	if p.seconds == 0 && n > 1 { // not written yet
		p = t.points[n-2]
	}
	if p.seconds == 0 {
		return "running now"
	}
	text := "now " + quantity.Short(p.rows/p.seconds) + "/s"
	if p.p99 > 0 {
		text += ", p99 " + quantity.Micros(p.p99)
	}
	if p.errors > 0 {
		text += ", " + quantity.Count(int(p.errors), "error")
	}
	return text
}

func (t *track) stalls(series int) (out []page.Stall) {
	var rates []float64
	for _, p := range t.points {
		if p.seconds > 0 {
			rates = append(rates, p.rows/p.seconds)
		}
	}
	if len(rates) < 3 {
		return nil
	}
	limit := stat.StallShare * stat.Median(rates)
	for i, p := range t.points {
		if p.seconds > 0 && p.rows/p.seconds < limit {
			out = append(out, page.Stall{Index: series, From: float64(i) * t.width, To: float64(i+1) * t.width})
		}
	}
	return out
}
