package importer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

// figure is a number as a log prints it: it may be off by half a unit of its last
// digit.
type figure struct{ value, half float64 }

// figureOf parses a number that is not negative. A whole number is a count: it is
// exact.
func figureOf(text string) (figure, bool) {
	v, ok := positiveNumber(text)
	if point := strings.IndexByte(text, '.'); ok && point >= 0 {
		return figure{v, math.Pow10(point+1-len(text)) / 2}, true
	}
	return figure{value: v}, ok
}

// String returns the number, without decimals if it is 1000 or more.
func (f figure) String() string {
	if f.value >= 1000 {
		return strconv.FormatFloat(f.value, 'f', 0, 64)
	}
	return strconv.FormatFloat(f.value, 'g', 4, 64)
}

func (f figure) plus(g figure) figure { return figure{f.value + g.value, f.half + g.half} }

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

func newFigure(v float64) figure { return figure{value: v} }

// contradiction describes two figures of a log that cannot both be right: the reason to
// refuse it, or to compare none of its numbers.
func contradiction(first string, f figure, second string, g figure) string {
	return fmt.Sprintf("the log contradicts itself: %s is %v, and %s is %v", first, f, second, g)
}

// contradictIf marks the step as one that cannot be compared, because of two figures.
func (r *outcome) contradictIf(condition bool, first string, f figure, second string, g figure) {
	if condition {
		r.step.Warnings = append(r.step.Warnings,
			metric.Warn(remark.Contradictory, metric.Values{"reason": contradiction(first, f, second, g)}))
	}
}

// requireSame reports whether two figures agree, and marks the step if not.
func (r *outcome) requireSame(first string, f figure, second string, g figure) bool {
	r.contradictIf(!f.agrees(g), first, f, second, g)
	return f.agrees(g)
}

// requireWithin reports whether a figure is at most another, and marks the step if not.
func (r *outcome) requireWithin(first string, f figure, second string, g figure) bool {
	r.contradictIf(f.exceeds(g), first, f, second, g)
	return !f.exceeds(g)
}
