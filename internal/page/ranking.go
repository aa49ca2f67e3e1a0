package page

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/page/picture"
)

// Ranking compares a number of several series, a bar each, in the order given.
type Ranking struct {
	Title string // the number compared, with its unit
	About string // how to read it
	Rows  []Ranked
	// Dots: values are dots on a logarithmic axis, each with other values of its
	// row to both sides, instead of bars from 0.
	Dots bool
}

// Ranked is a row of a ranking. NaN is unknown.
type Ranked struct {
	Name      string
	Series    int
	Value     string  // as text; with Absent, the reason why it is missing
	Beside    string  // the meaning of the value, such as a ratio
	Class     string  // of Beside: the verdict as a style, see Cell
	At        float64 // the value
	Low, High float64 // of a whisker
	Less, Far float64 // other values of the row, to its sides; of dots only
	Absent    bool
	Hollow    bool // it must not be compared
}

const (
	rankingWidth = 400
	rankHeight   = 36
	aboutSize    = 11 // of the text that explains how to read a picture
	aboutLine    = 15
)

// Picture draws the ranking, without its title.
func (r *Ranking) Picture() *picture.Picture {
	p := picture.New(rankingWidth, 0, r.Title)
	place := r.scale()
	for i := range r.Rows {
		r.Rows[i].draw(p, rankHeight*float64(i), place, r.Dots)
	}
	writeAbout(p, r.About, rankHeight*float64(len(r.Rows))+aboutLine-2, 5)
	return p
}

// writeAbout writes how to read a picture in lines, the first at a height, and ends the picture below the last.
func writeAbout(p *picture.Picture, text string, y, below float64) {
	for _, line := range picture.Wrap(picture.Label, aboutSize, p.Width, text) {
		p.Write(picture.Label, 0, y, picture.Start, line).Size = aboutSize
		p.Height = y + below
		y += aboutLine
	}
}

// logScale returns the mapping from values to positions across on a logarithmic axis, with room at its sides.
func logScale(low, high, side float64) func(float64) float64 {
	unit := (rankingWidth - 2*side) / math.Log(high/low)
	return func(v float64) float64 { return side + unit*math.Log(max(v, low)/low) }
}

func (r *Ranking) scale() func(float64) float64 {
	low, high := math.Inf(1), 0.0
	for _, row := range r.Rows {
		for _, v := range []float64{row.At, row.Low, row.High, row.Less, row.Far} {
			if v > 0 && !math.IsInf(v, 0) && !row.Absent {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	const side = 6 // room for a dot
	if r.Dots && low < high {
		return logScale(low, high, side)
	}
	high = cmp.Or(high, 1)
	return func(v float64) float64 { return rankingWidth * v / high }
}

// draw draws a row: its name and value above its bar.
func (r *Ranked) draw(p *picture.Picture, y float64, place func(float64) float64, dots bool) {
	const size, text, bar, thick = 13, 13, 19, 11
	valueStyle := picture.Strong
	if r.Absent {
		valueStyle = picture.Label
	}
	right := float64(rankingWidth)
	if r.Beside != "" {
		p.Write(verdictStyle(r.Class), right, y+text, picture.End, r.Beside)
		right -= max(64, picture.Width(picture.Strong, 0, r.Beside)+12)
	}
	p.Write(valueStyle, right, y+text, picture.End, r.Value).Size = size
	p.Of(r.Series, picture.Mark, picture.Point{X: 5, Y: y + text - 4})
	room := max(40, right-picture.Width(valueStyle, size, r.Value)-26)
	p.Write(picture.Plain, 16, y+text, picture.Start, picture.Fit(picture.Plain, size, room, r.Name)).Size = size
	middle := y + bar + thick/2.
	if dots {
		p.Add(picture.Grid, picture.Point{X: 0, Y: middle}, picture.Point{X: rankingWidth, Y: middle})
	} else {
		p.Rect(-1, picture.Track, 0, y+bar, rankingWidth, thick)
	}
	if r.Absent || math.IsNaN(r.At) {
		return
	}
	at := place(r.At)
	switch {
	case dots:
		r.spread(p, middle, place)
		p.Of(r.Series, picture.Fill, picture.Circle(at, middle, 5)...).Closed = true
	case r.Hollow:
		p.Rect(r.Series, picture.Pale, 0, y+bar, at, thick)
	default:
		p.Rect(r.Series, picture.Fill, 0, y+bar, at, thick)
	}
	if low, high := place(r.Low), place(r.High); high-low >= 1 {
		p.Add(picture.Range, picture.Lying(middle, low, high, 4)...)
	}
}

func (r *Ranked) spread(p *picture.Picture, middle float64, place func(float64) float64) {
	ends := slices.DeleteFunc([]float64{r.Less, r.At, r.Far}, math.IsNaN)
	start, end := place(ends[0]), place(ends[len(ends)-1])
	p.Rect(r.Series, picture.Pale, start, middle-2, max(end-start, 0), 4)
	for _, v := range []float64{r.Less, r.Far} {
		if !math.IsNaN(v) {
			p.Of(r.Series, picture.Ring, picture.Circle(place(v), middle, 3)...).Closed = true
		}
	}
}

func verdictStyle(class string) picture.Style {
	switch class {
	case "better", "better unsure":
		return picture.BetterText
	case "worse", "worse unsure":
		return picture.WorseText
	}
	return picture.Label
}
