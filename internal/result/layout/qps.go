package layout

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"rumbench/internal/text/escape"
)

// The tables qps.abs and qps.rel of the sysbench suite have a line per test and
// a column per configuration, in the same order in all tests.

const (
	relativeTo = "Relative to: "
	noteMark   = "-> "
)

// WriteQPS writes the names of the configurations, an empty line, and a line
// per test: numbers with the given decimals, the test's name, its note. Tables
// of ratios have no column for the base, the first configuration.
func WriteQPS(w io.Writer, names []string, tests []Test, show Show, decimals int) error {
	b := bufio.NewWriter(w)
	if show != Numbers {
		fmt.Fprintf(b, "%s%s\n", relativeTo, escape.Line(names[0]))
		names = names[1:]
	}
	var heads []string
	for i, name := range names {
		heads = append(heads, fmt.Sprintf("col-%d", i+1))
		fmt.Fprintf(b, "%s : %s\n", heads[i], escape.Line(name))
	}
	fmt.Fprintf(b, "\n%s\n", strings.Join(heads, "\t"))
	for _, t := range tests {
		cells := append(t.rates(show, decimals), escape.Cell(escape.Line(t.Name)))
		if t.Note != "" {
			cells = append(cells, noteMark+escape.Line(t.Note))
		}
		fmt.Fprintln(b, strings.Join(cells, "\t"))
	}
	return b.Flush()
}

// rates returns the cells of a test.
func (t *Test) rates(show Show, decimals int) (out []string) {
	base := Fixed(t.Lines[0].Rate, decimals)
	for i, l := range t.Lines {
		switch n := Fixed(l.Rate, decimals); {
		case show == Numbers:
			out = append(out, n.Text)
		case i > 0 && l.Unlike:
			out = append(out, notKnown)
		case i > 0:
			out = append(out, Ratio(n, base, show == RoundedRatios))
		}
	}
	return out
}
