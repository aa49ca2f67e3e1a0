package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"rumbench/internal/result"
)

// Plot is a drawing that needs no script.
type Plot struct {
	Title string
	SVG   template.HTML
}

// Markers tell targets apart where colour cannot; dashes do it in the style
// sheet. Both start over after the eighth target.
var markers = []string{"●", "■", "▲", "◆", "▼", "★", "○", "□"}

// Marker is the sign of a target.
func Marker(index int) string { return markers[index%len(markers)] }

// canvas is a plot's frame: it maps values onto the drawing.
type canvas struct {
	strings.Builder
	width, height            float64
	left, right, top, bottom float64 // margins
	x, y                     func(float64) float64
}

func newCanvas(width, height float64, label string) *canvas {
	c := &canvas{width: width, height: height, left: 62, right: 18, top: 12, bottom: 40}
	fmt.Fprintf(c, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, height, html.EscapeString(label))
	return c
}

// scale makes the mapping of a range onto the drawing's width or height.
func (c *canvas) scale(x0, x1, y0, y1 float64) {
	w, h := c.width-c.left-c.right, c.height-c.top-c.bottom
	c.x = func(v float64) float64 { return c.left + w*(v-x0)/(x1-x0) }
	c.y = func(v float64) float64 { return c.top + h - h*(v-y0)/(y1-y0) }
}

func (c *canvas) tickX(at float64, text string) {
	fmt.Fprintf(c, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, c.x(at), c.x(at), c.top, c.height-c.bottom)
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, c.x(at), c.height-c.bottom+16, text)
}

func (c *canvas) tickY(at float64, text string) {
	fmt.Fprintf(c, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, c.left, c.width-c.right, c.y(at), c.y(at))
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="end">%s</text>`, c.left-6, c.y(at)+4, text)
}

func (c *canvas) captionX(text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, (c.left+c.width-c.right)/2, c.height-6, html.EscapeString(text))
}

// line draws a target's line with its dash, and its marker now and then. Every
// target begins its markers elsewhere, so that lines on top of each other show.
func (c *canvas) line(index int, points [][2]float64) {
	if len(points) == 0 {
		return
	}
	var path strings.Builder
	for i, p := range points {
		command := "L"
		if i == 0 || math.IsNaN(points[i-1][1]) {
			command = "M"
		}
		if !math.IsNaN(p[1]) {
			fmt.Fprintf(&path, "%s%.1f %.1f", command, c.x(p[0]), c.y(p[1]))
		}
	}
	fmt.Fprintf(c, `<path class="line t%d" d="%s"/>`, index%len(markers), path.String())
	every := max(1, len(points)/6)
	for i := (index * every / 3) % every; i < len(points); i += every {
		if p := points[i]; !math.IsNaN(p[1]) {
			fmt.Fprintf(c, `<text class="mark t%d" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, index%len(markers), c.x(p[0]), c.y(p[1])+4, Marker(index))
		}
	}
}

func (c *canvas) html() template.HTML {
	c.WriteString("</svg>")
	return template.HTML(c.String())
}

// timePlot draws the throughput over time.
func timePlot(step string, d chartData) template.HTML {
	ch := d.Charts[0]
	c := newCanvas(760, 250, ch.Title+" over time in "+step)
	end, top := d.Width*float64(d.Points), 0.0
	for _, line := range ch.Lines {
		for _, v := range line {
			if v != nil {
				top = max(top, *v)
			}
		}
	}
	if top == 0 {
		top = 1
	}
	top *= 1.05
	c.scale(0, end, 0, top)
	for _, v := range ticks(end) {
		c.tickX(v, amount(v))
	}
	for _, v := range ticks(top) {
		c.tickY(v, amount(v))
	}
	c.captionX("seconds from the start of the window")
	for _, s := range d.Stalls {
		fmt.Fprintf(c, `<rect class="stall t%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, s.Index%len(markers), c.x(s.From), c.top, c.x(s.To)-c.x(s.From), c.height-c.top-c.bottom)
	}
	for i, line := range ch.Lines {
		points := make([][2]float64, 0, len(line))
		for j, v := range line {
			y := math.NaN()
			if v != nil {
				y = *v
			}
			points = append(points, [2]float64{(float64(j) + 0.5) * d.Width, y})
		}
		c.line(d.Targets[i].Index, points)
	}
	return c.html()
}

// ticks are about five round values from 0 to top.
func ticks(top float64) []float64 {
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
				if len(cv.Points) > 0 {
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
	result.Curve
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
