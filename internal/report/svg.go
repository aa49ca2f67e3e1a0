package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/metric"
)

// Plot is a drawing that needs no script.
type Plot struct {
	Title string
	SVG   template.HTML
}

// markers tell targets apart where colour cannot; dashes do it in the style
// sheet. The colours start over after the eighth target, with other markers and
// dashes; all of it after the sixteenth.
var markers = []string{"●", "■", "▲", "◆", "▼", "★", "○", "□", "◎", "▣", "△", "◇", "▽", "☆", "✚", "✖"}

const colours = 8

// Marker is the sign of a target.
func Marker(index int) string { return markers[index%len(markers)] }

// styleOf are the classes of a target's colour and, in the second round, dashes.
func styleOf(index int) string {
	index %= len(markers)
	if index < colours {
		return "t" + strconv.Itoa(index)
	}
	return fmt.Sprintf("t%d u", index-colours)
}

// canvas is a plot's frame: it maps values onto the drawing.
type canvas struct {
	strings.Builder
	width, height            float64
	left, right, top, bottom float64 // margins
	x, y                     func(float64) float64
}

func newCanvas(width, height float64, label string) *canvas {
	c := &canvas{width: width, height: height, left: 54, right: 20, top: 10, bottom: 36}
	fmt.Fprintf(c, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, height, html.EscapeString(label))
	return c
}

// scale makes the mapping of a range onto the drawing's width or height.
func (c *canvas) scale(x0, x1, y0, y1 float64) {
	w, h := c.width-c.left-c.right, c.height-c.top-c.bottom
	c.x = func(v float64) float64 { return c.left + w*(v-x0)/(x1-x0) }
	c.y = func(v float64) float64 { return c.top + h - h*(v-y0)/(y1-y0) }
}

func (c *canvas) text(x, y float64, anchor, text string) {
	if text != "" {
		fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s">%s</text>`, short(x), short(y), anchor, html.EscapeString(text))
	}
}

func (c *canvas) tickX(at float64, text string) {
	fmt.Fprintf(c, `<path class="grid" d="M%s %sV%s"/>`, short(c.x(at)), short(c.top), short(c.height-c.bottom))
	c.text(c.x(at), c.height-c.bottom+15, "middle", text)
}

func (c *canvas) tickY(at float64, text string) {
	fmt.Fprintf(c, `<path class="grid" d="M%s %sH%s"/>`, short(c.left), short(c.y(at)), short(c.width-c.right))
	c.text(c.left-6, c.y(at)+4, "end", text)
}

func (c *canvas) captionX(text string) {
	c.text((c.left+c.width-c.right)/2, c.height-5, "middle", text)
}

// short is a length with no more digits than can be seen at a point of a drawing.
func short(v float64) string { return strconv.FormatFloat(math.Round(v), 'f', -1, 64) }

// fine is how many units of a path make one of the drawing. Paths are in whole
// units, each point relative to the one before, which is short; the style sheet
// keeps the strokes from being scaled with them.
const fine = 2

// path is the way through points, with a gap at NaN.
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
			fmt.Fprintf(&b, "%s%s", signed(x-lastX), signed(y-lastY))
		}
		if !pen {
			b.WriteByte('l')
		}
		lastX, lastY, pen = x, y, true
	}
	return strings.NewReplacer("lM", "M").Replace(strings.TrimSuffix(b.String(), "l"))
}

// signed is a number that can follow another in a path.
func signed(v int) string {
	if v < 0 {
		return strconv.Itoa(v)
	}
	return " " + strconv.Itoa(v)
}

// line draws a target's line with its dash, and its marker now and then. Every
// target begins its markers elsewhere, so that lines on top of each other show.
func (c *canvas) line(index int, points [][2]float64) {
	known := slices.DeleteFunc(slices.Clone(points), func(p [2]float64) bool { return math.IsNaN(p[1]) })
	if len(known) == 0 {
		return
	}
	c.bareLine(index, points)
	every := max(1, len(known)/4)
	var marked [][2]float64
	for i := (index * every / 3) % every; i < len(known); i += every {
		marked = append(marked, known[i])
	}
	c.marks(index, marked)
}

func (c *canvas) bareLine(index int, points [][2]float64) {
	fmt.Fprintf(c, `<path class="line %s" d="%s"/>`, styleOf(index), c.path(points))
}

// marks puts the target's marker at points; one text holds them all.
func (c *canvas) marks(index int, points [][2]float64) {
	var x, y []string
	for _, p := range points {
		if !math.IsNaN(p[1]) {
			x, y = append(x, short(c.x(p[0]))), append(y, short(c.y(p[1])+4))
		}
	}
	fmt.Fprintf(c, `<text class="mark %s" x="%s" y="%s">%s</text>`, styleOf(index), strings.Join(x, " "), strings.Join(y, " "), strings.Repeat(Marker(index), len(x)))
}

// band shades what lies between two lines. It has no gaps: it ends where either
// is unknown, and begins anew.
func (c *canvas) band(index int, low, high [][2]float64) {
	for i := 0; i < len(low); {
		end := i
		for end < len(low) && !math.IsNaN(low[end][1]) && !math.IsNaN(high[end][1]) {
			end++
		}
		if end > i+1 {
			back := slices.Clone(low[i:end])
			slices.Reverse(back)
			fmt.Fprintf(c, `<path class="band %s" d="%sz"/>`, styleOf(index), c.path(append(slices.Clone(high[i:end]), back...)))
		}
		i = end + 1
	}
}

func (c *canvas) html() template.HTML {
	c.WriteString("</svg>")
	return template.HTML(c.String())
}

// ticks are about five round values from 0 to top.
func ticks(top float64) []float64 {
	if !(top > 1e-300 && top < 1e300) {
		return []float64{0} // no drawing has such an axis
	}
	unit := math.Pow(10, math.Floor(math.Log10(top/5)))
	for _, m := range []float64{1, 2, 5, 10} {
		if top/(unit*m) <= 6 {
			unit *= m
			break
		}
	}
	var out []float64
	for i := 0; float64(i)*unit <= top; i++ {
		out = append(out, float64(i)*unit)
	}
	return out
}

// curves draw latency over percentiles: those of the primary operation, and
// the others apart.
func (c *campaign) curves(s *step) (main, more []Plot) {
	type curve struct {
		subject
		measure string
	}
	var all []curve
	for _, t := range c.Targets {
		if r := s.Leader(t); r != nil {
			for _, cv := range r.Step.Curves {
				if len(cv.Points) > 0 && !(cv.Measure == "statement" && c.crowded()) {
					all = appendOnce(all, curve{subject{cv.Group, cv.Op}, cv.Measure})
				}
			}
		}
	}
	for _, one := range all {
		var curves []indexed
		for _, t := range c.Targets {
			if r := s.Leader(t); r != nil {
				for _, cv := range r.Step.Curves {
					if (curve{subject{cv.Group, cv.Op}, cv.Measure}) == one {
						curves = append(curves, indexed{t.Index, cv})
					}
				}
			}
		}
		p := Plot{one.String() + ": " + strings.Replace(one.measure+" time", "lateness time", "lateness", 1), curvePlot(curves)}
		if (one.op == s.Primary || one.group == s.Primary) && one.measure != "lateness" && len(main) < 2 {
			main = append(main, p)
		} else {
			more = append(more, p)
		}
	}
	return main, more
}

type indexed struct {
	index int
	metric.Curve
}

// nines is a percentile's place on an axis on which every further nine takes
// the same room.
func nines(percentile float64) float64 {
	return min(6, -math.Log10(max(1e-6, 1-percentile/100)))
}

// curvePlot draws percentile curves: nines to the right, µs upwards by decades.
func curvePlot(curves []indexed) template.HTML {
	c := newCanvas(460, 280, "latency over percentiles")
	low, high, far := math.Inf(1), 0.0, 1.0
	for _, cv := range curves {
		for _, p := range cv.Points {
			low, high = min(low, max(0.1, p[1])), max(high, p[1])
			if p[0] < 100 {
				far = max(far, nines(p[0]))
			}
		}
	}
	// The greatest value has no place among the nines: it stands one step to
	// the right of the last of them.
	end := math.Ceil(far) + 1
	from := math.Floor(math.Log10(low))
	to := max(math.Ceil(math.Log10(max(high, low))), from+1)
	c.scale(0, end, from, to)
	for i, text := range []string{"0", "90", "99", "99.9", "99.99", "99.999", "99.9999"} {
		if float64(i) <= math.Ceil(far) {
			c.tickX(float64(i), text)
		}
	}
	c.tickX(end, "max")
	for e := from; e <= to; e++ {
		c.tickY(e, strings.NewReplacer(".00 ", " ", ".0 ", " ").Replace(duration(math.Pow(10, e))))
	}
	c.captionX("percentile of operations")
	for _, cv := range curves {
		var points [][2]float64
		for _, p := range cv.Points {
			x := end
			if p[0] < 100 {
				x = nines(p[0])
			}
			points = append(points, [2]float64{x, math.Log10(max(0.1, p[1]))})
		}
		c.line(cv.index, points)
	}
	return c.html()
}
