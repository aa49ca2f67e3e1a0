package page

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// markers distinguish series without colour; so do dashes, in the style sheet.
// The colours start over after the eighth series, with other markers and
// dashes; everything repeats after the sixteenth.
var markers = []string{"●", "■", "▲", "◆", "▼", "★", "○", "□", "◎", "▣", "△", "◇", "▽", "☆", "✚", "✖"}

const colours = 8

// Marker returns the sign of a series.
func Marker(series int) string { return markers[series%len(markers)] }

// styleOf returns the classes of a series' colour and, in the second round, dashes.
func styleOf(series int) string {
	series %= len(markers)
	if series < colours {
		return "t" + strconv.Itoa(series)
	}
	return fmt.Sprintf("t%d u", series-colours)
}

// canvas is a plot's frame: it maps positions onto the drawing.
type canvas struct {
	strings.Builder
	width, height            float64
	left, right, top, bottom float64 // margins
	x, y                     func(float64) float64
}

func newCanvas(p *Plot) *canvas {
	c := &canvas{width: 460, height: p.Height, left: 54, right: 20, top: 10, bottom: 36}
	if p.X.Deep {
		c.bottom = 48
	}
	w, h := c.width-c.left-c.right, c.height-c.top-c.bottom
	c.x = func(v float64) float64 { return c.left + w*(v-p.X.From)/(p.X.To-p.X.From) }
	c.y = func(v float64) float64 { return c.top + h - h*(v-p.Y.From)/(p.Y.To-p.Y.From) }
	c.printf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, c.width, c.height, html.EscapeString(p.Label))
	return c
}

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

func (c *canvas) text(x, y float64, anchor, text string) {
	if text != "" {
		c.printf(`<text x="%s" y="%s" text-anchor="%s">%s</text>`, short(x), short(y), anchor, html.EscapeString(text))
	}
}

func (c *canvas) tickX(at float64, t Tick) {
	c.printf(`<path class="grid" d="M%s %sV%s"/>`, short(c.x(at)), short(c.top), short(c.height-c.bottom))
	y := c.height - c.bottom + 15
	if t.Low {
		y += 14
	}
	c.text(c.x(at), y, "middle", t.Text)
}

func (c *canvas) tickY(at float64, text string) {
	c.printf(`<path class="grid" d="M%s %sH%s"/>`, short(c.left), short(c.y(at)), short(c.width-c.right))
	c.text(c.left-6, c.y(at)+4, "end", text)
}

func (c *canvas) level(at float64) {
	c.printf(`<path class="level" d="M%s %sH%s"/>`, short(c.left), short(c.y(at)), short(c.width-c.right))
}

// short formats a length without digits that are too small to see.
func short(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', -1, 64) }

// fine is how many units of a path make one unit of the drawing. Paths are in
// whole units, each point relative to the one before, which is short; the style
// sheet keeps the strokes from being scaled with them.
const fine = 2

// path returns the path through points, with a gap at NaN.
func (c *canvas) path(points [][2]float64) string {
	var b strings.Builder
	var lastX, lastY int
	pen := false
	for _, p := range points {
		if math.IsNaN(p[1]) {
			pen = false
			continue
		}
		x, y := int(math.Round(fine*c.x(p[0]))), int(math.Round(fine*c.y(p[1])))
		switch {
		case !pen:
			fmt.Fprintf(&b, "M%d %d", x, y)
		case b.String()[b.Len()-1] == 'l':
			fmt.Fprintf(&b, "%d %d", x-lastX, y-lastY)
		default:
			b.WriteString(signed(x-lastX) + signed(y-lastY))
		}
		if !pen {
			b.WriteByte('l')
		}
		lastX, lastY, pen = x, y, true
	}
	return strings.NewReplacer("lM", "M").Replace(strings.TrimSuffix(b.String(), "l"))
}

// signed formats a number so that it can follow another in a path.
func signed(v int) string {
	if v < 0 {
		return strconv.Itoa(v)
	}
	return " " + strconv.Itoa(v)
}

func (c *canvas) bareLine(series int, points [][2]float64) {
	c.printf(`<path class="line %s" d="%s"/>`, styleOf(series), c.path(points))
}

// marks draws the series' marker at points, in one text element.
func (c *canvas) marks(series int, points [][2]float64) {
	var x, y []string
	for _, p := range points {
		if !math.IsNaN(p[1]) {
			x, y = append(x, short(c.x(p[0]))), append(y, short(c.y(p[1])+4))
		}
	}
	c.printf(`<text class="mark %s" x="%s" y="%s">%s</text>`, styleOf(series), strings.Join(x, " "), strings.Join(y, " "), strings.Repeat(Marker(series), len(x)))
}

// band shades the area between two lines. At gaps in either it ends and starts
// again.
func (c *canvas) band(series int, low, high [][2]float64) {
	for i := 0; i < len(low); {
		end := i
		for end < len(low) && !math.IsNaN(low[end][1]) && !math.IsNaN(high[end][1]) {
			end++
		}
		if end > i+1 {
			back := slices.Clone(low[i:end])
			slices.Reverse(back)
			c.printf(`<path class="band %s" d="%sz"/>`, styleOf(series), c.path(append(slices.Clone(high[i:end]), back...)))
		}
		i = end + 1
	}
}
