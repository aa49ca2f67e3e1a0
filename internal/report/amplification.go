package report

import (
	"html/template"
	"math"
	"strconv"

	"rumbench/internal/metric"
)

// overSteps draws the groups of a table whose columns are steps, a line per
// target: what happens to the data and to the engine as a campaign goes on. It
// shows the table's numbers and no others.
func overSteps(t Table) []Plot {
	if len(t.Columns) < 2 {
		return nil // one point is no line
	}
	var out []Plot
	for _, g := range t.Groups {
		if g.Metric == "live_bytes" {
			continue // much the same on all targets
		}
		if svg, ok := stepsPlot(t.Columns, g); ok {
			out = append(out, Plot{g.Name, svg})
		}
	}
	return out
}

// spreadOut is the ratio of the greatest to the least value above which an
// axis is logarithmic: an LSM tree beside a B-tree would else lie on the ground.
const spreadOut = 30

func stepsPlot(steps []Column, g RowGroup) (template.HTML, bool) {
	low, high := math.Inf(1), 0.0
	points := 0
	for _, r := range g.Rows {
		for _, cell := range r.Cells {
			v, ok := cell.value()
			if ok && v > 0 {
				low, high = min(low, v), max(high, v)
			}
			if ok {
				points++
			}
		}
	}
	if points < 2 || high == 0 {
		return "", false
	}
	c := newCanvas(460, 210, g.Name+" over the steps")
	c.bottom = 48
	at := c.stepsAxis(g, low, high, float64(len(steps)-1))
	for i, s := range steps {
		c.tickStep(float64(i), i, len(steps), s.Name)
	}
	for _, r := range g.Rows {
		line := make([][2]float64, len(r.Cells))
		for i, cell := range r.Cells {
			line[i] = [2]float64{float64(i), math.NaN()}
			if v, ok := cell.value(); ok {
				line[i][1] = at(v)
			}
		}
		c.lineOfSteps(r.Target, line)
	}
	return c.html(), true
}

// stepsAxis scales the drawing and draws the axis of values.
func (c *canvas) stepsAxis(g RowGroup, low, high, end float64) (at func(float64) float64) {
	text := thousands
	if g.Metric != "" && isBytes(g.Metric) {
		text = func(v float64) string { return sizeIn(v, decimalShort) }
	}
	if high/low > spreadOut {
		c.scale(-0.3, end+0.3, math.Log10(low)-0.08, math.Log10(high)+0.08)
		for _, v := range logTicks(low, high) {
			c.tickY(math.Log10(v), text(v))
		}
		return func(v float64) float64 {
			if v <= 0 {
				return math.NaN() // a gap
			}
			return math.Log10(v)
		}
	}
	c.scale(-0.3, end+0.3, 0, high*1.08)
	marks := ticks(high * 1.08)
	if isBytes(g.Metric) {
		marks = binaryTicks(high * 1.08)
	}
	for _, v := range marks {
		c.tickY(v, text(v))
	}
	return func(v float64) float64 { return v }
}

// binaryTicks are round in the binary unit that fits.
func binaryTicks(top float64) []float64 {
	unit := 1.0
	for top/unit >= 999.5 {
		unit *= 1024
	}
	out := ticks(top / unit)
	for i := range out {
		out[i] *= unit
	}
	return out
}

// tickStep names a step below the axis; where there are many, in two rows.
func (c *canvas) tickStep(at float64, i, of int, name string) {
	c.tickX(at, "")
	const crowded = 6
	y := c.height - c.bottom + 15
	if of > crowded && i%2 == 1 {
		y += 14
	}
	c.text(c.x(at), y, "middle", clip(name, max(4, 90/of)))
}

// lineOfSteps draws a line with its marker at every step.
func (c *canvas) lineOfSteps(index int, points [][2]float64) {
	c.bareLine(index, points)
	c.marks(index, points)
}

// value is the number behind the cell.
func (c Cell) value() (float64, bool) {
	if c.Absent || c.Value == "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(c.Value, 64)
	return v, err == nil && finite(v)
}

func isBytes(name string) bool {
	m := metric.ByName(name)
	return m != nil && m.Unit == "B"
}
