package picture

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// PNG writes the drawing as an image on light paper, with scale pixels per unit
// of length.
func (p *Picture) PNG(w io.Writer, scale float64) error {
	width, height := int(math.Ceil(p.Width*scale)), int(math.Ceil(p.Height*scale))
	c := &canvas{image: image.NewRGBA(image.Rect(0, 0, width, height)), scale: scale}
	c.fill([][]Point{Box(0, 0, p.Width, p.Height)}, shade("paper", 1))
	for i := range p.Shapes {
		c.shape(&p.Shapes[i])
	}
	return png.Encode(w, c.image)
}

type canvas struct {
	image *image.RGBA
	scale float64
}

func (c *canvas) shape(s *Shape) {
	l := s.Style.look()
	switch {
	case s.Style == Mark:
		for _, at := range s.Points {
			if !at.gap() {
				c.marker([]rune(Marker(s.Series))[0], at, s.size(), s.paint(l.fill, l.opacity))
			}
		}
		return
	case s.Text != "":
		c.text(s, l)
		return
	}
	lines := s.lines()
	if l.fill != "" {
		c.fill(lines, s.paint(l.fill, l.opacity))
	}
	if l.stroke != "" {
		dash := l.dash
		if s.Style == Line && s.Series >= 0 {
			dash = dashes[Sign(s.Series)]
		}
		c.stroke(lines, l.width, dash, s.paint(l.stroke, l.opacity))
	}
}

// lines returns the parts of the shape between gaps.
func (s *Shape) lines() (out [][]Point) {
	var line []Point
	end := func() {
		if s.Closed && len(line) > 1 {
			line = append(line, line[0])
		}
		if len(line) > 1 {
			out = append(out, line)
		}
		line = nil
	}
	for _, p := range s.Points {
		if p.gap() {
			end()
			continue
		}
		line = append(line, p)
	}
	end()
	return out
}

// paint returns a colour, of the shape's series if it is named so.
func (s *Shape) paint(name string, opacity float64) color.Color {
	if name == "series" {
		name = "t" + strconv.Itoa(max(0, s.Series)%colours)
	}
	return shade(name, cmp.Or(opacity, 1))
}

// shade returns a colour of the palette on light paper.
func shade(name string, opacity float64) color.Color {
	hex := palette[name].light[1:]
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	v, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		panic(err) // the palette is part of the program
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), uint8(math.Round(255 * opacity))}
}

func (c *canvas) fill(lines [][]Point, paint color.Color) {
	b := c.image.Bounds()
	r := vector.NewRasterizer(b.Dx(), b.Dy())
	for _, line := range lines {
		for i, p := range line {
			if i == 0 {
				r.MoveTo(c.at(p))
			} else {
				r.LineTo(c.at(p))
			}
		}
		r.ClosePath()
	}
	r.Draw(c.image, b, image.NewUniform(paint), image.Point{})
}

func (c *canvas) at(p Point) (x, y float32) { return float32(p.X * c.scale), float32(p.Y * c.scale) }

// stroke draws lines, as a narrow area around each piece.
func (c *canvas) stroke(lines [][]Point, width float64, dash []float64, paint color.Color) {
	var pieces [][]Point
	for _, line := range lines {
		for _, piece := range dashed(line, dash) {
			for i := 1; i < len(piece); i++ {
				pieces = append(pieces, ribbon(piece[i-1], piece[i], width))
			}
		}
	}
	c.fill(pieces, paint)
}

// ribbon returns the area of a piece of a line, which extends a little beyond
// both ends, so that pieces at an angle leave no gap.
func ribbon(a, b Point, width float64) []Point {
	length := math.Hypot(b.X-a.X, b.Y-a.Y)
	if length == 0 {
		return nil
	}
	dx, dy := (b.X-a.X)/length*width/2, (b.Y-a.Y)/length*width/2
	a, b = Point{a.X - dx/2, a.Y - dy/2}, Point{b.X + dx/2, b.Y + dy/2}
	return []Point{{a.X - dy, a.Y + dx}, {b.X - dy, b.Y + dx}, {b.X + dy, b.Y - dx}, {a.X + dy, a.Y - dx}}
}

// dashed cuts a line into its dashes; without a pattern it stays whole.
func dashed(line []Point, dash []float64) (out [][]Point) {
	if len(dash) == 0 {
		return [][]Point{line}
	}
	left, i := dash[0], 0
	piece := []Point{line[0]}
	for k := 1; k < len(line); k++ {
		a, b := line[k-1], line[k]
		for length := math.Hypot(b.X-a.X, b.Y-a.Y); length > left; length = math.Hypot(b.X-a.X, b.Y-a.Y) {
			a = Point{a.X + (b.X-a.X)*left/length, a.Y + (b.Y-a.Y)*left/length}
			if i%2 == 0 {
				out = append(out, append(piece, a))
			}
			i++
			left, piece = dash[i%len(dash)], []Point{a}
		}
		left -= math.Hypot(b.X-a.X, b.Y-a.Y)
		piece = append(piece, b)
	}
	if i%2 == 0 {
		out = append(out, piece)
	}
	return out
}

// text draws a text, with markers as drawings.
func (c *canvas) text(s *Shape, l look) {
	faces.Lock()
	defer faces.Unlock()
	size, paint := s.size(), s.paint(l.fill, l.opacity)
	f := face(l.bold, size*c.scale)
	at := s.Points[0]
	switch wide := advance(f, size*c.scale, s.Text) / c.scale; s.Anchor {
	case Middle:
		at.X -= wide / 2
	case End:
		at.X -= wide
	}
	dot := fixed.Point26_6{X: fixed.Int26_6(at.X * c.scale * 64), Y: fixed.Int26_6(at.Y * c.scale * 64)}
	d := font.Drawer{Dst: c.image, Src: image.NewUniform(paint), Face: f, Dot: dot}
	for _, r := range s.Text {
		if signs[r] == nil {
			d.DrawString(string(r))
			continue
		}
		c.marker(r, Point{float64(d.Dot.X)/64/c.scale + size/2, at.Y - 0.36*size}, 0.8*size, paint)
		d.Dot.X += fixed.Int26_6(size * c.scale * 64)
	}
}

func (c *canvas) marker(r rune, at Point, size float64, paint color.Color) {
	o := signs[r]
	if o == nil {
		return
	}
	outline := place(o.points, at.X, at.Y, size/2)
	if !o.hollow {
		c.fill([][]Point{outline}, paint)
		return
	}
	c.stroke([][]Point{append(outline, outline[0])}, size/8, nil, paint)
	if o.dot {
		c.fill([][]Point{place(o.points, at.X, at.Y, size/4)}, paint)
	}
}

// sign is the drawing of a marker: points around a centre, up to 1 from it.
type sign struct {
	points []Point
	hollow bool
	dot    bool // with a smaller copy of itself inside
}

var (
	disc   = star(24, 1, 1, 0)
	square = []Point{{-.8, -.8}, {.8, -.8}, {.8, .8}, {-.8, .8}}
	up     = []Point{{0, -.9}, {.95, .8}, {-.95, .8}}
	down   = []Point{{0, .9}, {-.95, -.8}, {.95, -.8}}
	tilted = []Point{{0, -1}, {.8, 0}, {0, 1}, {-.8, 0}}
	rays   = star(10, 1, .45, -math.Pi/2)
	cross  = []Point{{-.3, -.9}, {.3, -.9}, {.3, -.3}, {.9, -.3}, {.9, .3}, {.3, .3}, {.3, .9}, {-.3, .9}, {-.3, .3},
		{-.9, .3}, {-.9, -.3}, {-.3, -.3}}
)

// signs are the drawings of characters that the fonts lack.
var signs = map[rune]*sign{
	'●': {points: disc}, '■': {points: square}, '▲': {points: up}, '◆': {points: tilted}, '▼': {points: down},
	'★': {points: rays},
	'○': {points: disc, hollow: true}, '□': {points: square, hollow: true}, '◎': {points: disc, hollow: true, dot: true},
	'▣': {points: square, hollow: true, dot: true}, '△': {points: up, hollow: true}, '◇': {points: tilted, hollow: true},
	'▽': {points: down, hollow: true}, '☆': {points: rays, hollow: true}, '✚': {points: cross},
	'✖': {points: turned(cross)},
}

// star returns n points around a centre, alternating between two distances.
func star(n int, far, near, start float64) (out []Point) {
	for i := range n {
		d := far
		if i%2 == 1 {
			d = near
		}
		a := start + 2*math.Pi*float64(i)/float64(n)
		out = append(out, Point{d * math.Cos(a), d * math.Sin(a)})
	}
	return out
}

func turned(points []Point) (out []Point) {
	for _, p := range points {
		out = append(out, Point{(p.X - p.Y) * math.Sqrt2 / 2, (p.X + p.Y) * math.Sqrt2 / 2})
	}
	return out
}
