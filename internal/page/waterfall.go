package page

import (
	"math"

	"rumbench/internal/page/picture"
)

// Waterfall shows factors whose product is a ratio, a bar each on one logarithmic axis
// that begins at 1: each bar begins at the end of the one before it.
type Waterfall struct {
	Title string
	About string // how to read it
	Rows  []Fall
}

// Fall is a factor, or with Whole the product of all before it.
type Fall struct {
	Name      string
	Text      string  // the factor
	Class     string  // the verdict as a style, see Cell
	Factor    float64 // above 0
	Low, High float64 // of its whisker; 0 without one
	Open      bool    // an unknown cause: drawn as an outline
	Whole     bool
	Hint      string // what hovering over its name or bar shows
}

const fallHeight = 34

// Picture draws the waterfall, without its title.
func (w *Waterfall) Picture() *picture.Picture {
	p := picture.New(rankingWidth, 0, w.Title)
	place := w.scale()
	at := 1.0
	for i, f := range w.Rows {
		start, end := at, at*f.Factor
		if f.Whole {
			start, end = 1, f.Factor
		}
		f.draw(p, fallHeight*float64(i), place, start, end)
		at = end
	}
	writeAbout(p, w.About, fallHeight*float64(len(w.Rows))+aboutLine-2, 5)
	return p
}

func (w *Waterfall) scale() func(float64) float64 {
	low, high, at := 1.0, 1.0, 1.0
	for _, f := range w.Rows {
		start := at
		if f.Whole {
			start = 1
		}
		for _, v := range []float64{start * f.Factor, start * f.Low, start * f.High} {
			if v > 0 && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
		at = start * f.Factor
	}
	const side = 4
	if low == high {
		return func(float64) float64 { return rankingWidth / 2 }
	}
	return logScale(low, high, side)
}

func (f *Fall) draw(p *picture.Picture, y float64, place func(float64) float64, begin, end float64) {
	const size, text, bar, thick = 12.5, 12, 18, 10
	p.Write(verdictStyle(f.Class), rankingWidth, y+text, picture.End, f.Text)
	room := rankingWidth - picture.Width(picture.Strong, 0, f.Text) - 12
	name := picture.Plain
	if f.Whole {
		name = picture.Strong
	}
	label := p.Write(name, 0, y+text, picture.Start, picture.Fit(name, size, room, f.Name))
	label.Size, label.Hint = size, f.Hint
	p.Add(picture.Level, picture.Point{X: place(1), Y: y + bar - 3}, picture.Point{X: place(1), Y: y + bar + thick + 3})
	a, b := place(min(begin, end)), place(max(begin, end))
	box := p.Add(f.style(), picture.Box(a, y+bar, max(1, b-a), thick)...)
	box.Closed, box.Hint = true, f.Hint
	if f.Low > 0 && f.High > 0 && !math.IsInf(f.High, 0) {
		p.Add(picture.Range, picture.Lying(y+bar+thick/2., place(begin*f.Low), place(begin*f.High), 4)...)
	}
}

func (f *Fall) style() picture.Style {
	switch better := f.Class == "better"; {
	case f.Open && better:
		return picture.MaybeBetter
	case f.Open:
		return picture.MaybeWorse
	case better:
		return picture.Better2
	}
	return picture.Worse2
}
