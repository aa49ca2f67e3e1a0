package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// timePlot draws a quantity over time.
func timePlot(step string, d *chartData, ch chart) template.HTML {
	c := newCanvas(460, 190, ch.Title+" over time in "+step)
	end := d.Width * float64(d.Points)
	low, high := ch.reach()
	at := func(v float64) float64 { return v }
	if ch.Log && high > 0 {
		at = math.Log10
		c.scale(0, end, at(low)-0.05, at(high)+0.05)
		for _, v := range logTicks(low, high) {
			c.tickY(at(v), thousands(v))
		}
	} else {
		if high == 0 {
			high = 1
		}
		high *= 1.05
		c.scale(0, end, 0, high)
		for _, v := range ticks(high) {
			c.tickY(v, thousands(v))
		}
	}
	for _, v := range ticks(end) {
		c.tickX(v, thousands(v))
	}
	c.captionX("seconds from the start of the window")
	c.events(d)
	along := func(l lines) [][2]float64 {
		points := make([][2]float64, len(l))
		for i, v := range l {
			points[i] = [2]float64{(float64(i) + 0.5) * d.Width, math.NaN()}
			if v != nil {
				points[i][1] = at(*v)
			}
		}
		return points
	}
	for i := range ch.Low {
		c.band(d.Targets[i].Index, along(ch.Low[i]), along(ch.High[i]))
	}
	for i, line := range ch.Lines {
		c.line(d.Targets[i].Index, along(line))
	}
	return c.html()
}

// reach is from which value to which the chart goes.
func (ch *chart) reach() (low, high float64) {
	low = math.Inf(1)
	for _, list := range [][]lines{ch.Lines, ch.High} {
		for _, line := range list {
			for _, v := range line {
				if v != nil {
					low, high = min(low, *v), max(high, *v)
				}
			}
		}
	}
	return low, high
}

// events draws the stalls, and the checkpoints in a lane for each target.
func (c *canvas) events(d *chartData) {
	const lane = 6
	for _, s := range d.Stalls {
		fmt.Fprintf(c, `<path class="stall %s" d="M%s %sH%sV%sH%sz"/>`, styleOf(s.Index), short(c.x(s.From)), short(c.top), short(max(c.x(s.To), c.x(s.From)+1)), short(c.height-c.bottom), short(c.x(s.From)))
		fmt.Fprintf(c, `<text class="mark %s" x="%s" y="%s">%s</text>`, styleOf(s.Index), short(c.x((s.From+s.To)/2)), short(c.height-c.bottom-4), Marker(s.Index))
	}
	lanes := map[int]float64{}
	for _, m := range d.Marks {
		if _, ok := lanes[m.Index]; !ok {
			lanes[m.Index] = c.top - 4 + lane*float64(len(lanes))
		}
		fmt.Fprintf(c, `<path class="tick %s" d="M%s %sv%d"/>`, styleOf(m.Index), short(c.x(m.At)), short(lanes[m.Index]), lane-1)
	}
}

// thousands is a number for an axis: 61,200 is 61.2k there.
func thousands(v float64) string {
	switch {
	case v >= 1e9:
		return decimalShort(v/1e9) + "G"
	case v >= 1e6:
		return decimalShort(v/1e6) + "M"
	case v >= 1e4:
		return decimalShort(v/1e3) + "k"
	}
	return decimalShort(v)
}

// decimalShort is a round number without the zeros that tell its precision.
func decimalShort(v float64) string {
	if v >= 1000 {
		return grouped(v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// logTicks are decades, or where there are few of them also their halves and
// fifths.
func logTicks(low, high float64) []float64 {
	steps := []float64{1}
	if high/low < 300 {
		steps = []float64{1, 2, 5}
	}
	var out []float64
	for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
		for _, m := range steps {
			if v := m * math.Pow(10, e); v >= low*0.9 && v <= high*1.1 {
				out = append(out, v)
			}
		}
	}
	return out
}
