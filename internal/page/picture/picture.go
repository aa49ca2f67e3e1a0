// Package picture is drawings made of a few kinds of shapes, written as SVG for
// a page, as a separate SVG file, and as PNG.
//
// It does not know the subject of a drawing. Lengths are in the drawing's own
// units, which are pixels at its natural size; y grows downwards.
package picture

import "math"

// Picture is a drawing.
type Picture struct {
	Width, Height float64
	Label         string // a description for screen readers
	Shapes        []Shape
}

// Shape is a part of a drawing: lines, an area or marks through points, or a
// text at the first of them. NaN is a gap between points.
type Shape struct {
	Style  Style
	Series int // whose colour, dashes and marker it has; -1: none
	Points []Point
	Text   string
	Anchor Anchor
	Size   float64 // of text and marks; 0: the style's
	Closed bool    // the last point is joined to the first
	Link   string  // the target of a click on a page
	Hint   string  // what hovering shows on a page
}

// Point is a place in a drawing.
type Point struct{ X, Y float64 }

// Anchor is the end of a text that is at its position.
type Anchor string

// The ends of texts.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	End    Anchor = "end"
)

func (p Point) gap() bool { return math.IsNaN(p.X) || math.IsNaN(p.Y) }

// New returns an empty drawing.
func New(width, height float64, label string) *Picture {
	return &Picture{Width: width, Height: height, Label: label}
}

// Add adds a shape of no series, and returns it to be completed.
func (p *Picture) Add(style Style, points ...Point) *Shape { return p.Of(-1, style, points...) }

// Of adds a shape of a series, and returns it to be completed before the next
// one is added.
func (p *Picture) Of(series int, style Style, points ...Point) *Shape {
	p.Shapes = append(p.Shapes, Shape{Style: style, Series: series, Points: points})
	return &p.Shapes[len(p.Shapes)-1]
}

// Write adds a text of no series.
func (p *Picture) Write(style Style, x, y float64, anchor Anchor, text string) *Shape {
	s := p.Add(style, Point{x, y})
	s.Text, s.Anchor = text, anchor
	return s
}

// Box returns the corners of a rectangle.
func Box(x, y, width, height float64) []Point {
	return []Point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}
}

// Rect adds a rectangle of a series, -1 for none.
func (p *Picture) Rect(series int, style Style, x, y, width, height float64) {
	p.Of(series, style, Box(x, y, width, height)...).Closed = true
}

// Put adds a drawing at a place, scaled.
func (p *Picture) Put(otherPicture *Picture, x, y, scale float64) {
	for _, s := range otherPicture.Shapes {
		s.Points, s.Size = place(s.Points, x, y, scale), scale*s.size()
		p.Shapes = append(p.Shapes, s)
	}
}

// place returns points scaled, with the origin at a place.
func place(points []Point, x, y, scale float64) []Point {
	out := make([]Point, len(points))
	for i, p := range points {
		out[i] = Point{x + scale*p.X, y + scale*p.Y}
	}
	return out
}

// Circle returns points around a centre.
func Circle(x, y, r float64) []Point { return place(disc, x, y, r) }

func (s *Shape) size() float64 {
	if s.Size > 0 {
		return s.Size
	}
	return s.Style.look().size
}

// Upright returns the lines of a vertical whisker with caps of a half width.
func Upright(x, low, high, tip float64) []Point {
	return whisker(Point{x, low}, Point{x, high}, Point{tip, 0})
}

// Lying returns the lines of a horizontal whisker.
func Lying(y, low, high, tip float64) []Point {
	return whisker(Point{low, y}, Point{high, y}, Point{0, tip})
}

func whisker(a, b, tip Point) []Point {
	gap := Point{math.NaN(), math.NaN()}
	return []Point{{a.X - tip.X, a.Y - tip.Y}, {a.X + tip.X, a.Y + tip.Y}, gap, a, b, gap, {b.X - tip.X, b.Y - tip.Y},
		{b.X + tip.X, b.Y + tip.Y}, gap}
}
