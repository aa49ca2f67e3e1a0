// Package layout writes and reads tables of numbers in the text layouts that
// benchmark results are published in, and knows the colours that published
// pages give them.
//
// It knows nothing of trials and metrics, measures nothing and chooses nothing:
// it is given numbers, and says how they are written. What a table is to hold is
// the business of package compare.
package layout

import (
	"math"
	"strconv"
	"strings"
)

const (
	// notKnown is how the layouts write a number that nobody knows.
	notKnown = "NA"
	// infinite is how they write a ratio to nothing.
	infinite = "inf"
	// separator is the line between blocks of lines.
	separator = "-"
)

// Number is a number as a table prints it.
type Number struct {
	Value float64 // in full; NaN: not known
	Text  string
}

// Fixed is a number with so many decimals, rounded as C's printf rounds: to the
// nearest, and of two that are equally near to the even one.
func Fixed(v float64, decimals int) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{math.NaN(), notKnown}
	}
	return Number{v, strconv.FormatFloat(v+0, 'f', decimals, 64)}
}

// Short is Fixed without the zeros at the end of the decimals: 6.570 is 6.57.
func Short(v float64, decimals int) Number {
	n := Fixed(v, decimals)
	if strings.Contains(n.Text, ".") {
		n.Text = strings.TrimSuffix(strings.TrimRight(n.Text, "0"), ".")
	}
	return n
}

// Printed is the number as its text has it; NaN if it is not known.
func (n Number) Printed() float64 {
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// Ratio writes n ÷ base with two decimals. Rounded divides the numbers as they
// are printed, as published tables do, instead of the full ones. Where either is
// not known it is NA, and something to nothing is inf. Of two numbers that are
// both printed as 0 nothing is known either: NA.
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

// costRatio is Ratio as published tables of costs have it: rounded, and 1 of two
// numbers that are printed as 0.
func costRatio(n, base Number, rounded bool) string {
	if rounded && n.Printed() == 0 && base.Printed() == 0 {
		return "1"
	}
	return Ratio(n, base, rounded)
}

// plain keeps what ends a cell or a line out of a name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, name)
}
