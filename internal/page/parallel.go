package page

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/page/picture"
	"rumbench/internal/text/quantity"
)

// Parallel shows several series on a few upright logarithmic axes next to each other, at
// each as a ratio to the best: a line near the bottom is good everywhere.
type Parallel struct {
	Title string
	About string
	Axes  []string
	Lines []Across
}

// Across is a series: at each axis its ratio to the best, NaN if it is unknown, and the
// number behind it.
type Across struct {
	Name   string
	Series int
	At     []float64
	Labels []string
	Thin   bool // a different series is at least as good on all axes
}

const (
	parallelWidth, parallelHeight = 640, 250
	parallelTop, parallelSide     = 34, 90
	labelGap                      = 14
)

// Picture draws the axes, without the title.
func (a *Parallel) Picture() *picture.Picture {
	p := picture.New(parallelWidth, 0, a.Title)
	highest := 1.2
	for _, l := range a.Lines {
		for _, v := range l.At {
			if quantity.Finite(v) {
				highest = max(highest, v)
			}
		}
	}
	x := func(axis int) float64 {
		return parallelSide + float64(axis)*(parallelWidth-2*parallelSide)/float64(max(1, len(a.Axes)-1))
	}
	y := func(v float64) float64 {
		return parallelHeight - 10 - (parallelHeight-parallelTop-20)*math.Log(v)/math.Log(highest)
	}
	for i, name := range a.Axes {
		p.Add(picture.Grid, picture.Point{X: x(i), Y: parallelTop}, picture.Point{X: x(i), Y: parallelHeight - 4})
		const slack = 8 // browsers' fonts are wider than some
		half := picture.Width(picture.Strong, 0, name)/2 + slack
		p.Write(picture.Strong, max(half, min(x(i), parallelWidth-half)), 14, picture.Middle, name)
	}
	for _, l := range a.Lines {
		l.draw(p, x, y)
	}
	for i := range a.Axes {
		a.label(p, i, x(i), y)
	}
	writeAbout(p, a.About, parallelHeight+aboutLine+2, 4)
	return p
}

// draw draws a series' line, with gaps where the ratio is unknown.
func (l *Across) draw(p *picture.Picture, x func(int) float64, y func(float64) float64) {
	points := make([]picture.Point, len(l.At))
	for i, v := range l.At {
		points[i] = picture.Point{X: x(i), Y: math.NaN()}
		if !math.IsNaN(v) {
			points[i].Y = y(v)
			p.Of(l.Series, picture.Mark, points[i])
		}
	}
	style := picture.Line
	if l.Thin {
		style = picture.Whisker
	}
	p.Of(l.Series, style, points...)
}

// label writes the numbers next to an axis, pushed apart.
func (a *Parallel) label(p *picture.Picture, axis int, x float64, y func(float64) float64) {
	type place struct {
		at   float64
		text string
	}
	var places []place
	for _, l := range a.Lines {
		if v := l.At[axis]; !math.IsNaN(v) {
			places = append(places, place{y(v), l.Name + " " + l.Labels[axis]})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(places); i++ {
		places[i].at = max(places[i].at, places[i-1].at+labelGap)
	}
	const bottom = parallelHeight - 2
	for i := len(places) - 1; i >= 0; i-- { // back, if they were pushed out
		limit := bottom - labelGap*float64(len(places)-1-i)
		places[i].at = min(places[i].at, limit)
	}
	anchor, side := picture.Start, 9.0
	if axis == len(a.Axes)-1 {
		anchor, side = picture.End, -9
	}
	const size, pad = 11, 2
	for _, l := range places {
		width := picture.Width(picture.Plain, size, l.text) + 2*pad
		left := x + side - pad
		if anchor == picture.End {
			left = x + side + pad - width
		}
		p.Rect(-1, picture.Paper, left, l.at-labelGap/2, width, labelGap) // lines end next to the text
		p.Write(picture.Plain, x+side, l.at+4, anchor, l.text).Size = size
	}
}
