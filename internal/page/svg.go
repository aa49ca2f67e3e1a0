package page

import (
	"math"

	"rumbench/internal/page/picture"
)

// frame is a plot being drawn: it maps positions onto the drawing.
type frame struct {
	*picture.Picture
	left, right, top, bottom float64 // margins
	x, y                     func(float64) float64
	grid                     []picture.Point // its lines, with gaps between them
}

func newFrame(p *Plot) *frame {
	f := &frame{Picture: picture.New(460, p.Height, p.Label), left: 54, right: 20, top: 10, bottom: 36}
	if p.X.Deep {
		f.bottom = 48
	}
	w, h := f.Width-f.left-f.right, f.Height-f.top-f.bottom
	f.x = func(v float64) float64 { return f.left + w*(v-p.X.From)/(p.X.To-p.X.From) }
	f.y = func(v float64) float64 { return f.top + h - h*(v-p.Y.From)/(p.Y.To-p.Y.From) }
	return f
}

func (f *frame) text(x, y float64, anchor picture.Anchor, text string) {
	if text != "" {
		f.Write(picture.Label, math.Round(x), math.Round(y), anchor, text)
	}
}

func (f *frame) tickX(at float64, t Tick) {
	x, y := math.Round(f.x(at)), f.Height-f.bottom
	f.grid = append(f.grid, picture.Point{X: x, Y: f.top}, picture.Point{X: x, Y: y}, picture.Point{X: math.NaN()})
	if t.Low {
		y += 14
	}
	f.text(x, y+15, picture.Middle, t.Text)
}

func (f *frame) tickY(at float64, text string) {
	y := math.Round(f.y(at))
	f.grid = append(f.grid, picture.Point{X: f.left, Y: y}, picture.Point{X: f.Width - f.right, Y: y},
		picture.Point{X: math.NaN()})
	f.text(f.left-6, f.y(at)+4, picture.End, text)
}

func (f *frame) level(at float64) {
	y := math.Round(f.y(at))
	f.Add(picture.Level, picture.Point{X: f.left, Y: y}, picture.Point{X: f.Width - f.right, Y: y})
}

// places returns the positions of points in the drawing.
func (f *frame) places(points [][2]float64) (out []picture.Point) {
	for _, p := range points {
		out = append(out, picture.Point{X: f.x(p[0]), Y: f.y(p[1])})
	}
	return out
}

// marks draws the series' marker at points.
func (f *frame) marks(series int, points [][2]float64) {
	at := f.places(points)
	for i := range at {
		at[i].X, at[i].Y = math.Round(at[i].X), math.Round(at[i].Y)
	}
	f.Of(series, picture.Mark, at...)
}

// band shades the area between two lines. At gaps in either it ends and starts
// again.
func (f *frame) band(series int, low, high [][2]float64) {
	for i := 0; i < len(low); {
		end := i
		for end < len(low) && !math.IsNaN(low[end][1]) && !math.IsNaN(high[end][1]) {
			end++
		}
		if end > i+1 {
			area := f.places(high[i:end])
			for k := end - 1; k >= i; k-- {
				area = append(area, picture.Point{X: f.x(low[k][0]), Y: f.y(low[k][1])})
			}
			f.Of(series, picture.Band, area...).Closed = true
		}
		i = end + 1
	}
}
