package importer

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/metric"
)

// figure is a number as a log prints it: it may be off by half a unit of its last
// digit.
type figure struct{ value, half float64 }

// figureOf parses a number that is not negative. A whole number is a count: it is
// exact.
func figureOf(text string) (figure, bool) {
	v, ok := positive(text)
	if point := strings.IndexByte(text, '.'); ok && point >= 0 {
		return figure{v, math.Pow10(point+1-len(text)) / 2}, true
	}
	return figure{value: v}, ok
}

// plus returns the sum of two figures.
func (f figure) plus(g figure) figure { return figure{f.value + g.value, f.half + g.half} }

// times returns the product of two figures.
func (f figure) times(g figure) figure {
	return figure{f.value * g.value, f.half*g.value + f.value*g.half + f.half*g.half}
}

// slack is the share by which figures may differ beyond rounding: tools read the clock
// and their counters one after the other, while operations are in flight.
const slack = 0.01

// exceeds reports whether f is above g beyond rounding and slack.
func (f figure) exceeds(g figure) bool { return f.value-f.half > (g.value+g.half)*(1+slack) }

// agrees reports whether two figures are equal within rounding and slack.
func (f figure) agrees(g figure) bool { return !f.exceeds(g) && !g.exceeds(f) }

// contradiction describes two figures of a log that cannot both be right: the reason to
// refuse it, or to compare none of its numbers.
func contradiction(first string, f figure, second string, g figure) string {
	return fmt.Sprintf("the log contradicts itself: %s is %.6g, and %s is %.6g", first, f.value, second, g.value)
}

// contradict marks the step as one that cannot be compared, because of two figures.
func (r *run) contradict(first string, f figure, second string, g figure) {
	r.step.Warnings = append(r.step.Warnings,
		metric.Warn(metric.Contradictory, metric.Values{"reason": contradiction(first, f, second, g)}))
}
