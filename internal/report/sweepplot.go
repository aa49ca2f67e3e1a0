package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// sweepPoint is a number at a level: where it is, and from where to where its
// whisker goes.
type sweepPoint struct {
	value, low, high float64 // NaN: not known
	doubted          bool
}

// sweepLine is a target's line over an axis.
type sweepLine struct {
	target int
	points []sweepPoint // as the panel's levels
}

// wide is the ratio of the greatest to the least value above which latencies and
// ratios are drawn by powers.
const wide = 3

// sweepCurve is a quantity over the axis of a sweep, panel by panel. All panels
// have the same scales, so that they can be compared.
type sweepCurve struct {
	title  string
	axis   string
	levels [][]float64   // of each panel
	lines  [][]sweepLine // of each panel
	log    bool          // the values are drawn by powers
	near   float64       // a value that the axis shows in any case; 0: from 0 on
	format func(float64) string
}

// curves are what is drawn of a sweep: throughput and the tail of the latency.
func (w *sweep) curves() []*sweepCurve {
	s := w.first()
	rate := w.curve(s.units(s.Primary)+"/s ("+s.Primary+") over "+w.Axis, func(s *step) (key, bool) { return s.Rate(s.Primary) })
	rate.format = thousands
	p99 := w.curve("p99 latency over "+w.Axis, func(s *step) (key, bool) { return s.Latency(s.Primary, "p99") })
	if k, ok := s.Latency(s.Primary, "p99"); ok {
		measure, _, _ := strings.Cut(k.Metric, "_")
		p99.title = "p99 " + measure + " time (" + k.Op + ") over " + w.Axis
	}
	p99.format = func(us float64) string {
		return strings.NewReplacer(".00 ", " ", ".0 ", " ").Replace(duration(us))
	}
	if low, high := p99.reach(); low > 0 && high/low > wide {
		p99.log = true
	}
	return []*sweepCurve{rate, p99}
}

// curve looks a number up at all levels.
func (w *sweep) curve(title string, find func(*step) (key, bool)) *sweepCurve {
	c := &sweepCurve{title: title, axis: w.Axis}
	for _, p := range w.panels {
		var levels []float64
		for _, l := range p.levels {
			levels = append(levels, l.value)
		}
		var lines []sweepLine
		for _, t := range w.Targets {
			line := sweepLine{target: t.Index}
			for _, l := range p.levels {
				point := sweepPoint{value: math.NaN(), low: math.NaN(), high: math.NaN()}
				if k, ok := find(l.step); ok {
					if n := l.number(t, k); n.Missing == "" && finite(n.Value) {
						point = sweepPoint{n.Value, n.Low, n.High, len(l.Doubts(t)) > 0 || n.Disturbed() || n.MaxOf > 0}
					}
				}
				line.points = append(line.points, point)
			}
			lines = append(lines, line)
		}
		c.levels, c.lines = append(c.levels, levels), append(c.lines, lines)
	}
	return c
}

// reach is from which to which value all panels go, whiskers included.
func (c *sweepCurve) reach() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, panel := range c.lines {
		for _, line := range panel {
			for _, p := range line.points {
				for _, v := range []float64{p.value, p.low, p.high} {
					if finite(v) {
						low, high = min(low, v), max(high, v)
					}
				}
			}
		}
	}
	return low, high
}

// draw draws a panel; false if there is nothing to draw in any.
func (c *sweepCurve) draw(panel int) (template.HTML, bool) {
	low, high := c.reach()
	if low > high || c.log && low <= 0 {
		return "", false
	}
	canvas := newCanvas(460, 240, c.title)
	y := c.scaleY(canvas, low, high)
	x := c.scaleX(canvas, c.levels[panel])
	canvas.captionX(c.axis)
	for _, line := range c.lines[panel] {
		points := make([][2]float64, len(line.points))
		for i, p := range line.points {
			points[i] = [2]float64{x(c.levels[panel][i]), y(p.value)}
		}
		canvas.whiskers(line, points, y)
		canvas.lineOfSteps(line.target, points)
	}
	return canvas.html(), true
}

// scaleY draws the axis of values. The other axis goes from 0 to 1.
func (c *sweepCurve) scaleY(canvas *canvas, low, high float64) func(float64) float64 {
	const side = 0.05
	if c.near > 0 {
		low, high = min(low, c.near), max(high, c.near)
	}
	if c.log || c.near > 0 && low > 0 && high/low > wide {
		canvas.scale(-side, 1+side, math.Log10(low)-0.08, math.Log10(high)+0.08)
		for _, v := range logTicks(low, high) {
			canvas.tickY(math.Log10(v), c.format(v))
		}
		c.drawNear(canvas, math.Log10(c.near))
		return math.Log10
	}
	from, to := 0.0, high*1.08
	marks := ticks(to)
	if c.near > 0 {
		pad := min(low, max(0.02, 0.08*(high-low)))
		from, to = low-pad, high+pad
		marks = ticksBetween(from, to)
	}
	if !(to > from) {
		to = from + 1
	}
	canvas.scale(-side, 1+side, from, to)
	for _, v := range marks {
		canvas.tickY(v, c.format(v))
	}
	c.drawNear(canvas, c.near)
	return func(v float64) float64 { return v }
}

// drawNear draws the value that the axis shows in any case, where it is on it.
func (c *sweepCurve) drawNear(canvas *canvas, at float64) {
	if c.near > 0 {
		fmt.Fprintf(canvas, `<path class="level" d="M%s %sH%s"/>`, short(canvas.left), short(canvas.y(at)), short(canvas.width-canvas.right))
	}
}

// ticksBetween are about five round values of an axis that does not begin at 0.
func ticksBetween(from, to float64) []float64 {
	gaps := ticks(to - from)
	if len(gaps) < 2 {
		return nil
	}
	unit := gaps[1]
	var out []float64
	for i := math.Ceil(from / unit); i*unit <= to; i++ {
		out = append(out, i*unit)
	}
	return out
}

// scaleX draws the axis of a panel's levels: by powers where they grow by
// factors. All panels have the axis of all levels.
func (c *sweepCurve) scaleX(canvas *canvas, levels []float64) func(float64) float64 {
	var all []float64
	for _, l := range c.levels {
		all = append(all, l...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	first, last := all[0], all[len(all)-1]
	at := func(v float64) float64 { return v }
	if first > 0 && last/first >= 8 {
		at = math.Log
	}
	x := func(v float64) float64 {
		if first == last {
			return 0.5
		}
		return (at(v) - at(first)) / (at(last) - at(first))
	}
	free := math.Inf(-1) // where the last label ends
	for _, v := range all {
		text := thousands(v)
		half := 3.4 * float64(width(text))
		if centre := canvas.x(x(v)); centre-half < free+4 {
			canvas.tickX(x(v), "")
		} else {
			canvas.tickX(x(v), text)
			free = centre + half
		}
	}
	return x
}

// whiskers draws from where to where the trials go, and a ring where a number
// is in doubt.
func (c *canvas) whiskers(line sweepLine, at [][2]float64, y func(float64) float64) {
	var d, rings strings.Builder
	for i, p := range line.points {
		if !finite(p.value) {
			continue
		}
		left := short(c.x(at[i][0]) - 3)
		if finite(p.low) && finite(p.high) && short(c.y(y(p.low))) != short(c.y(y(p.high))) {
			fmt.Fprintf(&d, "M%s %sh6m-3 0V%sm-3 0h6", left, short(c.y(y(p.low))), short(c.y(y(p.high))))
		}
		if p.doubted {
			fmt.Fprintf(&rings, `<circle class="ring %s" cx="%s" cy="%s" r="7"/>`, styleOf(line.target), short(c.x(at[i][0])), short(c.y(at[i][1])))
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(c, `<path class="whisker %s" d="%s"/>`, styleOf(line.target), d.String())
	}
	c.WriteString(rings.String())
}
