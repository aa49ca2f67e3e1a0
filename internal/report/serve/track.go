package serve

import (
	"math"
	"os"
	"path/filepath"

	"rumbench/internal/page"
	"rumbench/internal/report/course"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// tail is the series of a trial as far as it has been written.
type tail struct {
	dir    string
	series *result.Series
	tracks map[string]*course.Track // by step
	step   string                   // the last one
	file   os.FileInfo              // of the series when it was read last
	steps  map[string]*result.Step  // by name
	order  []string                 // the steps with tracks, in their order
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
		*t = tail{dir: t.dir, series: result.NewSeries(t.dir, course.Sources), tracks: map[string]*course.Track{},
			steps: map[string]*result.Step{}}
	}
	t.file = info
	for i := range trial.Steps {
		t.steps[trial.Steps[i].Name] = &trial.Steps[i]
	}
	t.err = t.series.Read(func(l result.Line) error {
		if t.step = l.Step; t.tracks[l.Step] == nil {
			t.tracks[l.Step] = newTrack(t.steps[l.Step])
			t.order = append(t.order, l.Step)
		}
		if len(t.order) > mostTracks {
			delete(t.tracks, t.order[0])
			t.order = t.order[1:]
		}
		t.tracks[l.Step].Add(&l)
		return nil
	})
}

// newTrack returns the track of a step, of whose operations all count if none is known to be the
// primary one.
func newTrack(s *result.Step) *course.Track {
	primary := func(string, string) bool { return true }
	if s != nil && s.Primary != "" {
		primary = course.KindsOf(s.Primary, s.Groups)
	}
	return course.New(1, mostPoints, primary, func(string, string) bool { return false })
}

// mostPoints limits the points of a track.
const mostPoints = 600

// liveStep is a step as it runs, with those of other targets.
type liveStep struct {
	embedded      bool // the engine is in the client's process
	step, current string
	targets       []string
	lines         map[string]*course.Track // by target
}

// drawn are the pictures of a step.
var drawn = []struct {
	title  string
	format func(float64) string
	log    bool
	value  course.Quantity
}{
	{"operations or rows per second", quantity.Short, false, course.RowsPerSecond},
	{"p50 of the service time", quantity.Micros, true,
		course.Positive(func(p *course.Point) float64 { return p.ServiceP50 }, 1)},
	{"p99 of the service time", quantity.Micros, true,
		course.Positive(func(p *course.Point) float64 { return p.ServiceP99 }, 1)},
	{"CPU of the server, cores", quantity.Digits, false, course.Growth(course.EngineCPU, 1e9)},
	{"CPU of the client, cores", quantity.Digits, false, course.Growth(course.ClientCPU, 1e9)},
	{"KB written per second", quantity.Short, false, course.Growth(course.DeviceWritten, 1024)},
}

// clientPicture is the index of the client's CPU, after that of the server.
const clientPicture = 4

// section returns the pictures of the step.
func (c *liveStep) section() page.Section {
	legend, plots := page.Legend{ID: "targets"}, page.Plots{}
	for i, name := range c.targets {
		if t := c.lines[name]; t != nil && name == c.current {
			legend.Keys = append(legend.Keys, page.Key{Series: i, Name: name, Doc: c.numbers(t)})
		} else if t != nil {
			legend.Keys = append(legend.Keys, page.Key{Series: i, Name: name})
		}
	}
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
			for k := range t.Points {
				if k > 0 && k == len(t.Points)-1 && t.Points[k].OpsTime < t.Width/2 {
					break // too short for a rate
				}
				x := (float64(k) + 0.5) * t.Width
				y := d.value(t, &t.Points[k])
				end = max(end, x)
				l.Points = append(l.Points, page.Point{X: x, Y: y, Low: math.NaN(), High: math.NaN()})
			}
			if name == c.current {
				p.Stalls = stallsOf(t, i)
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
	return page.Section{ID: "now", Title: "Step " + c.step, Blocks: []page.Block{legend, plots}}
}

// numbers returns the last seconds of a track in words.
func (c *liveStep) numbers(t *course.Track) string {
	n := len(t.Points)
	if n == 0 {
		return ""
	}
	p := t.Points[n-1]
	if p.OpsTime == 0 && n > 1 { // not written yet
		p = t.Points[n-2]
	}
	if p.OpsTime == 0 {
		return "running now"
	}
	text := "now " + quantity.Short(p.Rows/p.OpsTime) + "/s"
	if p.ServiceP99 > 0 {
		text += ", p99 " + quantity.Micros(p.ServiceP99)
	}
	if p.Errors > 0 {
		text += ", " + quantity.Count(int(p.Errors), "error")
	}
	return text
}

func stallsOf(t *course.Track, series int) (out []page.Stall) {
	rates := t.Along(course.RowsPerSecond)
	known := view.Filter(rates, quantity.Finite)
	if len(known) < 3 {
		return nil
	}
	limit := stat.StallShare * stat.Median(known)
	for i, rate := range rates {
		if rate < limit { // not NaN
			out = append(out, page.Stall{Index: series, From: float64(i) * t.Width, To: float64(i+1) * t.Width})
		}
	}
	return out
}
