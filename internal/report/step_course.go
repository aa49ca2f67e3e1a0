package report

import (
	"fmt"

	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// course describes a rate over time: whether it was steady, and how well the
// run determines its mean, which implies nothing about the next run. It is ""
// if the run is too short.
func course(rates []float64) string {
	c := stat.CourseOf(rates)
	if c.Shape == stat.Unknown || len(c.Phases) == 0 {
		return ""
	}
	text := c.Shape.String()
	switch first, last := c.Phases[0], c.Phases[len(c.Phases)-1]; c.Shape {
	case stat.Steady:
		if i := stat.MeanInterval(rates[c.WarmUp:], 0.95); i.Value > 0 && quantity.Finite(i.High) {
			text += fmt.Sprintf(" (mean known to ±%s)", quantity.RoughShare((i.High-i.Value)/i.Value))
		}
	case stat.Degrading, stat.Improving:
		text += fmt.Sprintf(" from %s/s to %s/s", quantity.Digits(first.Level), quantity.Digits(last.Level))
	}
	if c.WarmUp > 0 {
		text += fmt.Sprintf(" after %d intervals of warm-up", c.WarmUp)
	}
	return text
}
