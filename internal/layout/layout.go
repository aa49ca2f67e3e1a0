// Package layout writes and reads the text formats that results of the insert
// benchmark and of sysbench are published in: each format is one file.
//
// It knows nothing of trials and metrics: whatever the format, a table is steps
// with lines of configurations, and numbers by the names of columns.
package layout

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	notKnown = "NA"  // a number that is unknown
	infinite = "inf" // a ratio to nothing
)

// Number is a number as a table prints it.
type Number struct {
	Value float64 // in full; NaN: unknown
	Text  string
}

// Fixed returns a number with so many decimals, rounded as C's printf rounds: to
// the nearest, and of two that are equally near to the even one.
func Fixed(v float64, decimals int) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{math.NaN(), notKnown}
	}
	return Number{v, strconv.FormatFloat(v+0, 'f', decimals, 64)}
}

// short returns Fixed without the zeros at the end of the decimals: 6.570 is 6.57.
func short(v float64, decimals int) Number {
	n := Fixed(v, decimals)
	if strings.Contains(n.Text, ".") {
		n.Text = strings.TrimSuffix(strings.TrimRight(n.Text, "0"), ".")
	}
	return n
}

// Printed returns the number as its text has it; NaN if it is unknown.
func (n Number) Printed() float64 {
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// Ratio returns n ÷ base with two decimals. Rounded divides the numbers as they
// are printed, as published tables do, instead of the full ones. Where either is
// unknown it is NA, and something to nothing is inf. Of two numbers that are
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

// readNumber reads a number as the formats print it; NaN if it is unknown.
func readNumber(text string) (float64, error) {
	switch text {
	case notKnown:
		return math.NaN(), nil
	case infinite:
		return math.Inf(1), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return v, nil
}

// readLines calls read for every line. An error of it names the line.
func readLines(r io.Reader, read func(line string) error) error {
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		if err := read(strings.TrimRight(in.Text(), "\r")); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return in.Err()
}

// plain keeps what ends a cell or a line out of a name.
var plain = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace

// Show is what a table shows.
type Show int

// The choices. Published tables divide numbers as they are printed.
const (
	Numbers Show = iota
	Ratios
	RoundedRatios
)

// Format is a format of published tables.
type Format string

// The formats of tables.
const (
	None    Format = ""
	QPS     Format = "qps"    // the sysbench suite's rates, tab separated
	QPSList Format = "list"   // the same as CSV, without a header
	Summary Format = "mrg"    // the insert benchmark's 21 columns
	Costs   Format = "met"    // the sysbench suite's costs per operation
	Levels  Format = "levels" // its rates of 2020, a column for each number of clients
)

// formats lists the formats, those that are recognised more surely first.
var formats = [...]struct {
	Format
	is func(head []string) bool // by the first lines of a file
	// rates are the cells of a line that are whole numbers in a table of numbers.
	rates func(line string) string
	read  func(r io.Reader) ([]Step, error)
}{
	{QPS, isQPS, qpsRates, readQPS}, {Summary, isSummary, summaryRates, readSummaries}, {Costs, isCosts, nil, readCosts},
	{Levels, isLevels, levelsRates, readLevels}, {QPSList, isQPSList, qpsListRates, readQPSList},
}

// FormatOf returns the format of a table by its first lines, and whether it
// holds ratios instead of numbers.
func FormatOf(head []string) (f Format, ratios bool) {
	for _, k := range formats {
		if k.is(head) {
			return k.Format, k.rates != nil && slices.ContainsFunc(head, func(line string) bool { return strings.Contains(k.rates(line), ".") })
		}
	}
	return None, false
}

// Read reads a table of numbers.
func Read(f Format, r io.Reader) ([]Step, error) {
	for _, k := range formats {
		if k.Format == f {
			return k.read(r)
		}
	}
	return nil, fmt.Errorf("there is no format %q", f)
}
