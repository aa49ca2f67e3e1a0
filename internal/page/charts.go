package page

import (
	"math"
	"strconv"

	"rumbench/internal/quantity"
)

// Charts are lines over time, all series on one axis: data that the page's
// script draws, and drawings of some of them for readers without scripts.
type Charts struct {
	ID, Title string
	About     []string
	Legend    Legend
	Moving    Moving
	Static    []Plot
}

// Moving is what the page's script draws.
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
	Log   bool     `json:"log,omitempty"`
	Lines []Values `json:"lines"` // one per series
	// Low and High are the bands around the lines, if any; null is a series
	// without one.
	Low  []Values `json:"low,omitempty"`
	High []Values `json:"high,omitempty"`
}

// Stall is when a series did nothing.
type Stall struct {
	Index int     `json:"index"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// Moment is when something happened to a series.
type Moment struct {
	Index int     `json:"index"`
	At    float64 `json:"at"`
}

// Values are the values of a line; NaN is a gap.
type Values []float64

// MarshalJSON keeps three digits: no screen shows more.
func (l Values) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("null"), nil
	}
	out := []byte{'['}
	for i, v := range l {
		if i > 0 {
			out = append(out, ',')
		}
		if !quantity.Finite(v) {
			out = append(out, "null"...)
		} else {
			out = strconv.AppendFloat(out, rounded(v), 'g', -1, 64)
		}
	}
	return append(out, ']'), nil
}

func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return r
}

// Drawing returns one of the charts as a plot.
func (m *Moving) Drawing(ch MovingChart, label string, format func(float64) string) Plot {
	end := m.Width * float64(m.Points)
	p := Plot{Title: ch.Title, Label: label, Height: 190, X: Linear(0, end, format), Stalls: m.Stalls, Marks: m.Marks}
	p.X.Caption = "seconds from the start of the window"
	low, high := ch.reach()
	if ch.Log && high > 0 {
		p.Y = Powers(low, high, 0.05, format)
	} else {
		if high == 0 {
			high = 1
		}
		p.Y = Linear(0, high*1.05, format)
	}
	for i, values := range ch.Lines {
		l := Line{Series: m.Series[i].Index, Points: make([]Point, len(values)), Band: true}
		for k, v := range values {
			l.Points[k] = Point{X: (float64(k) + 0.5) * m.Width, Y: v, Low: math.NaN(), High: math.NaN()}
			if len(ch.Low) > 0 && ch.Low[i] != nil {
				l.Points[k].Low, l.Points[k].High = ch.Low[i][k], ch.High[i][k]
			}
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

// reach returns the range of the chart's values.
func (ch *MovingChart) reach() (low, high float64) {
	low = math.Inf(1)
	for _, list := range [][]Values{ch.Lines, ch.High} {
		for _, line := range list {
			for _, v := range line {
				if quantity.Finite(v) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	return low, high
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

// Stacks are bars that are made of parts.
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
	Absent string // why there is none
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
