// Package layout writes the tables of rates that results of sysbench are published in.
//
// It knows nothing of trials and metrics: a table is tests with a rate per configuration.
package layout

import (
	"math"
	"strconv"

	"rumbench/internal/text/quantity"
)

const (
	notKnown = "NA"  // a number that is unknown
	infinite = "inf" // a ratio to 0
)

// Number is a number as a table prints it.
type Number struct {
	Value float64 // in full; NaN: unknown
	Text  string
}

// Fixed returns a number with the given decimals, rounded like C's printf: to
// the nearest, ties to even.
func Fixed(v float64, decimals int) Number {
	if !quantity.Finite(v) {
		return Number{math.NaN(), notKnown}
	}
	return Number{v, strconv.FormatFloat(v+0, 'f', decimals, 64)}
}

// Printed returns the value of the number's text; NaN if it is unknown.
func (n Number) Printed() float64 {
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// Ratio returns n ÷ base with two decimals. Rounded divides the numbers as
// printed, as published tables do, instead of the full ones. It is NA if either
// is unknown or both are printed as 0, and inf if only the base is 0.
func Ratio(n, base Number, rounded bool) string {
	x, y := n.Value, base.Value
	if rounded {
		x, y = n.Printed(), base.Printed()
	}
	switch {
	case math.IsNaN(x) || math.IsNaN(y) || n.Printed() == 0 && base.Printed() == 0:
		return notKnown
	case y == 0:
		return infinite
	}
	return Fixed(x/y, 2).Text
}

// Show is the kind of numbers in a table.
type Show int

// The choices. Published tables divide numbers as printed.
const (
	Numbers Show = iota
	Ratios
	RoundedRatios
)
