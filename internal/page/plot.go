package page

import (
	"math"
	"slices"

	"rumbench/internal/page/picture"
	"rumbench/internal/text/quantity"
)

// Plot is a drawing of lines over two axes, which needs no script.
type Plot struct {
	Title  string
	Label  string  // a description for screen readers
	Height float64 // of a width of 460
	X, Y   Axis
	Level  float64 // a value marked by a separate line; 0: none
	Lines  []Line
	Stalls []Stall  // behind the lines
	Marks  []Moment // above them
}

// Axis is the range that a drawing shows, with its labels. Positions on a
// logarithmic axis are the logarithms of values.
type Axis struct {
	From, To float64 // places
	Log      bool
	Ticks    []Tick
	Caption  string
	Deep     bool // ticks may be in two rows
	Thin     bool // labels that would overlap are left out
}

// Tick is a labelled value on an axis.
type Tick struct {
	At   float64 // a value
	Text string
	Low  bool // in the second row
}

// Line is the course of a series.
type Line struct {
	Series int
	Points []Point
	Band   bool // the area between Low and High is shaded, instead of whiskers
	Each   bool // every point has a marker; otherwise some have
	Bare   bool // none has
}

// Point is a point of a line, in values; NaN is unknown.
type Point struct {
	X, Y      float64
	Low, High float64
	Ring      bool // something is wrong with it
}

// Gap returns a point without a value.
func Gap(x float64) Point { return Point{X: x, Y: math.NaN(), Low: math.NaN(), High: math.NaN()} }

func (a *Axis) place(v float64) float64 {
	switch {
	case !a.Log:
		return v
	case v <= 0:
		return math.NaN() // a gap
	}
	return math.Log10(v)
}

// Reach returns the values and ranges of lines, of several plots if they share an
// axis.
func Reach(plots ...[]Line) (values []float64) {
	for _, l := range slices.Concat(plots...) {
		for _, p := range l.Points {
			values = append(values, p.Y, p.Low, p.High)
		}
	}
	return slices.DeleteFunc(values, func(v float64) bool { return !quantity.Finite(v) })
}

// Scale is the layout of values on an axis: linear starting at 0, unless set
// otherwise.
type Scale struct {
	Format func(float64) string
	// Spread is the ratio of the greatest to the least value above which the axis
	// is logarithmic; 0: never. A value of 0 has no place there.
	Spread float64
	// Near is a value that the axis includes, and near which it begins; it is
	// logarithmic only if all values have a place there.
	Near   float64
	Binary bool // bytes
}

// room is the space next to the values, as a share of their range or in decades.
const room = 0.08

// Axis returns the axis for values.
func (s Scale) Axis(values []float64) Axis {
	if s.Near > 0 || len(values) == 0 {
		values = append(values, s.Near)
	}
	low, high, positive := slices.Min(values), slices.Max(values), math.Inf(1)
	for _, v := range values {
		if v > 0 {
			positive = min(positive, v)
		}
	}
	switch {
	case s.Spread > 0 && (s.Near == 0 || low > 0) && high >= s.Spread*positive:
		t := logTicks(positive, high)
		start, end := min(math.Log10(positive)-room, math.Log10(t[0])), max(math.Log10(high)+room, math.Log10(t[len(t)-1]))
		return Axis{Log: true, From: start, To: end}.labelled(t, 1, s.Format)
	case s.Near > 0:
		margin := max(0.02, room*(high-low))
		return Linear(max(0, low-margin), high+margin, s.Format)
	case !(high > 0):
		high = 1
	}
	end, unit := high*(1+room), 1.0
	for s.Binary && end/unit >= 999.5 {
		unit *= 1024
	}
	return Axis{To: end}.labelled(ticks(0, end/unit), unit, s.Format)
}

// Linear returns an axis whose ticks, at round values, are labelled by format.
func Linear(start, end float64, format func(float64) string) Axis {
	return Axis{From: start, To: end}.labelled(ticks(start, end), 1, format)
}

// labelled returns the axis with ticks at values in a unit.
func (a Axis) labelled(values []float64, unit float64, format func(float64) string) Axis {
	for _, v := range values {
		a.Ticks = append(a.Ticks, Tick{At: v * unit, Text: format(v * unit)})
	}
	return a
}

// ticks returns about five round values between two.
func ticks(start, end float64) []float64 {
	if length := end - start; !(length > 1e-300 && length < 1e300) {
		return []float64{0} // no plot has such an axis
	}
	unit := math.Pow(10, math.Floor(math.Log10((end-start)/5)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (end-start)/(unit*m) <= 6 {
			unit *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(start / unit); i*unit <= end; i++ {
		out = append(out, i*unit)
	}
	return out
}

// logTicks returns decades and, if these are few, values between them. There are
// at least two.
func logTicks(low, high float64) []float64 {
	steps := []float64{1}
	switch {
	case high/low < 300:
		steps = []float64{1, 2, 5}
	case high/low < 30_000:
		steps = []float64{1, 3}
	}
	var out []float64
	for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
		for _, m := range steps {
			if v := m * math.Pow(10, e); v >= low*0.9 && v <= high*1.1 {
				out = append(out, v)
			}
		}
	}
	if len(out) < 2 {
		return logTicks(low/1.5, high*1.5)
	}
	return out
}

// Picture draws the plot, without its title.
func (p *Plot) Picture() *picture.Picture {
	f := newFrame(p)
	for _, t := range p.Y.Ticks {
		f.tickY(p.Y.place(t.At), t.Text)
	}
	free := math.Inf(-1) // the end of the last label
	for _, t := range p.X.Ticks {
		at := p.X.place(t.At)
		if half := picture.Width(picture.Label, 0, t.Text) / 2; p.X.Thin && f.x(at)-half < free+4 {
			t.Text = ""
		} else {
			free = f.x(at) + half
		}
		f.tickX(at, t)
	}
	f.Add(picture.Grid, f.grid...)
	if p.Level > 0 {
		f.level(p.Y.place(p.Level))
	}
	f.text((f.left+f.Width-f.right)/2, f.Height-5, picture.Middle, p.X.Caption)
	f.events(p)
	for i := range p.Lines {
		if l := &p.Lines[i]; l.Band {
			f.band(l.Series, p.along(l, func(t *Point) float64 { return t.Low }),
				p.along(l, func(t *Point) float64 { return t.High }))
		}
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		points := p.along(l, func(t *Point) float64 { return t.Y })
		if !l.Band {
			f.whiskers(p, l, points)
		}
		f.Of(l.Series, picture.Line, f.places(points)...)
		switch {
		case l.Each:
			f.marks(l.Series, points)
		case !l.Bare:
			f.someMarks(l.Series, points)
		}
	}
	return f.Picture
}

// along returns the positions of a line's points, by one of their values.
func (p *Plot) along(l *Line, value func(*Point) float64) [][2]float64 {
	out := make([][2]float64, len(l.Points))
	for i := range l.Points {
		out[i] = [2]float64{p.X.place(l.Points[i].X), p.Y.place(value(&l.Points[i]))}
	}
	return out
}

// events draws the spans, and the marks in a lane for each series.
func (f *frame) events(p *Plot) {
	const lane = 6
	bottom := f.Height - f.bottom
	for _, s := range p.Stalls {
		start, end := f.x(s.From), f.x(s.To)
		f.Rect(s.Index, picture.Stall, start, f.top, max(end-start, 1), bottom-f.top)
		if !s.Bare {
			f.Of(s.Index, picture.Mark, picture.Point{X: (start + end) / 2, Y: bottom - 8})
		}
	}
	lanes := map[int]float64{}
	for _, m := range p.Marks {
		if _, ok := lanes[m.Index]; !ok {
			lanes[m.Index] = f.top - 4 + lane*float64(len(lanes))
		}
		x, y := f.x(m.At), lanes[m.Index]
		f.Of(m.Index, picture.Tick, picture.Point{X: x, Y: y}, picture.Point{X: x, Y: y + lane - 1})
	}
}

// whiskers draws the ranges of points, and a ring around points with a problem.
func (f *frame) whiskers(p *Plot, l *Line, at [][2]float64) {
	var ranges []picture.Point
	for i, t := range l.Points {
		if !quantity.Finite(t.Y) {
			continue
		}
		x, low, high := math.Round(f.x(at[i][0])), math.Round(f.y(p.Y.place(t.Low))), math.Round(f.y(p.Y.place(t.High)))
		if quantity.Finite(t.Low) && quantity.Finite(t.High) && low != high {
			ranges = append(ranges, picture.Upright(x, low, high, 3)...)
		}
		if t.Ring {
			f.Of(l.Series, picture.Ring, picture.Circle(x, f.y(at[i][1]), 7)...).Closed = true
		}
	}
	if len(ranges) > 0 {
		f.Of(l.Series, picture.Whisker, ranges...)
	}
}

// someMarks draws a few markers on a line. Each series starts them at a different
// point, so that overlapping lines remain visible.
func (f *frame) someMarks(series int, points [][2]float64) {
	known := slices.DeleteFunc(slices.Clone(points), func(p [2]float64) bool { return math.IsNaN(p[1]) })
	if len(known) == 0 {
		return
	}
	every := max(1, len(known)/4)
	var marked [][2]float64
	for i := (series * every / 3) % every; i < len(known); i += every {
		marked = append(marked, known[i])
	}
	f.marks(series, marked)
}
