package page

import (
	"math"
	"slices"
	"strconv"

	"rumbench/internal/text/quantity"
)

// Charts are lines over time, all series on one axis: data that the page's
// script draws, and drawings of some of them for readers without scripts.
type Charts struct {
	About  []string
	Legend Legend
	Moving Moving
	Static []Plot
}

// Moving is the data that the page's script draws.
type Moving struct {
	Width  float64       `json:"width"`  // seconds per point
	Points int           `json:"points"` // of every line
	Series []MovingLine  `json:"targets"`
	Charts []MovingChart `json:"charts"`
	Stalls []Stall       `json:"stalls,omitempty"`
	Marks  []Moment      `json:"marks,omitempty"`
}

// MovingLine names a series.
type MovingLine struct {
	Name  string `json:"name"`
	Index int    `json:"index"`
}

// MovingChart is a quantity over time.
type MovingChart struct {
	Title string   `json:"title"`
	Log   bool     `json:"log,omitempty"` // on a logarithmic axis; its values are peaks, others are means
	Lines []Values `json:"lines"`         // one per series
	// Low and High are the bands around the lines, if any; null is a series
	// without a band.
	Low  []Values `json:"low,omitempty"`
	High []Values `json:"high,omitempty"`
}

// Stall is a period in which a series did nothing.
type Stall struct {
	Index int     `json:"index"`
	Bare  bool    `json:"-"` // without the series' marker
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// Moment is the time of an event in a series.
type Moment struct {
	Index int     `json:"index"`
	At    float64 `json:"at"`
}

// Values are the values of a line; NaN is a gap. No screen shows more than three
// digits of them.
type Values []float64

// MarshalJSON writes three digits.
func (l Values) MarshalJSON() ([]byte, error) {
	return appendList(l, func(v float64) float64 { return rounded(v, 3) }), nil
}

// Numbers are numbers to calculate with; NaN is unknown.
type Numbers []float64

// MarshalJSON writes nine digits, more than any measurement has: all 17 digits
// would be a fifth of the rows. Values that nine digits would round to integers
// are written in full, as counts are shown in full.
func (l Numbers) MarshalJSON() ([]byte, error) {
	return appendList(l, func(v float64) float64 {
		if r := rounded(v, 9); r != math.Trunc(r) {
			return r
		}
		return v
	}), nil
}

func rounded(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return r
}

func appendList(list []float64, round func(float64) float64) []byte {
	if list == nil {
		return []byte("null")
	}
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if !quantity.Finite(v) {
			out = append(out, "null"...)
			continue
		}
		out = strconv.AppendFloat(out, round(v), 'g', -1, 64)
	}
	return append(out, ']')
}

// Gaps returns n unknown values.
func Gaps(n int) Values { return slices.Repeat(Values{math.NaN()}, n) }

// thinned replaces each group of points values by one: their mean, or the
// greatest for peaks.
func (l Values) thinned(points int, peaks bool) Values {
	var out Values
	for part := range slices.Chunk(l, points) {
		known := slices.DeleteFunc(slices.Clone(part), math.IsNaN)
		v := math.NaN()
		if len(known) > 0 && peaks {
			v = slices.Max(known)
		} else if len(known) > 0 {
			v = 0
			for _, x := range known {
				v += x / float64(len(known))
			}
		}
		out = append(out, v)
	}
	return out
}

// Drawing returns one of the charts as a plot of at most limit points.
func (m *Moving) Drawing(ch MovingChart, limit int, label string, format func(float64) string) Plot {
	points := max(1, (m.Points+limit-1)/limit) // of the chart for each of the drawing
	p := Plot{Title: ch.Title, Label: label, Height: 190, X: Linear(0, m.Width*float64(m.Points), format),
		Stalls: m.Stalls, Marks: m.Marks}
	p.X.Caption = "seconds from the start of the window"
	for i, values := range ch.Lines {
		values = values.thinned(points, ch.Log)
		low, high := Gaps(len(values)), Gaps(len(values))
		if len(ch.Low) > 0 && ch.Low[i] != nil {
			low, high = ch.Low[i].thinned(points, false), ch.High[i].thinned(points, false)
		}
		l := Line{Series: m.Series[i].Index, Band: true}
		for k, v := range values {
			middle := (float64(k) + 0.5) * float64(points)
			l.Points = append(l.Points, Point{X: middle * m.Width, Y: v, Low: low[k], High: high[k]})
		}
		p.Lines = append(p.Lines, l)
	}
	scale := Scale{Format: format}
	if ch.Log {
		scale.Spread = 1
	}
	p.Y = scale.Axis(Reach(p.Lines))
	return p
}

// Bars compare a number of all series. Lengths are in percent of the longest.
type Bars struct {
	Title string
	Rows  []Bar
	Key   string // the legend of its lines
}

// Bar is one series' bar.
type Bar struct {
	Head       string
	Series     int
	Cell       Cell
	Length     float64
	Low, Range float64 // of a whisker
	Spread     bool    // it has one
	Goal       float64 // position of a line; 0 without one
	GoalTitle  string
}

// Stacks are bars that consist of parts.
type Stacks struct {
	Title  string
	Legend []Part
	Rows   []Stack
}

// Stack is one series' bar.
type Stack struct {
	Head   string
	Series int
	Parts  []Part
	Value  string // of the whole bar
	Absent string // the reason if there is no value
}

// Part is a part of a bar. Style is its index among the kinds of parts, each
// with its colour and pattern.
type Part struct {
	Style  int
	Length float64 // percent of the longest bar
	Label  string  // within the part, if it has room
	Title  string
	Data   []int // as in Cell
}
