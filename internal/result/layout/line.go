package layout

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
)

// Line is the numbers of a configuration in a table of many columns.
type Line struct {
	Tag    string             // the configuration
	Values map[string]float64 // by column; unknown ones may be missing
	// Unlike: the work differs from the base's, so there are no ratios.
	Unlike bool
}

// Value returns the number of a column; NaN if it is unknown.
func (l *Line) Value(column string) float64 {
	if v, ok := l.Values[column]; ok {
		return v
	}
	return math.NaN()
}

// Step is a step, or a test, with the lines of its blocks. The first line of a
// block is the base of the others.
type Step struct {
	Name   string
	Blocks [][]Line
	Note   string // a remark of the analyst; may be empty
}

// steps are steps that are being read.
type steps []Step

func (s *steps) begin(name string) { *s = append(*s, Step{Name: name, Blocks: make([][]Line, 1)}) }

// add adds a line to the last block.
func (s steps) add(l Line) {
	blocks := s[len(s)-1].Blocks
	blocks[len(blocks)-1] = append(blocks[len(blocks)-1], l)
}

// column is a column of numbers.
type column struct {
	name     string
	decimals int
	write    func(v float64, decimals int) Number
}

func names(columns []column, tag string) []string {
	return append(quantity.Texts(columns, func(c column) string { return c.name }), tag)
}

// cells returns the cells of a line: its numbers, or their ratios to its base.
// Rounded ratios are 1 if both numbers are printed as 0.
func (l *Line) cells(base *Line, columns []column, show Show) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		n, number := c.write(l.Value(c.name), c.decimals), c.write(base.Value(c.name), c.decimals)
		switch {
		case show == Numbers:
			out[i] = n.Text
		case l.Unlike:
			out[i] = notKnown
		case show == RoundedRatios && n.Printed() == 0 && number.Printed() == 0:
			out[i] = "1"
		default:
			out[i] = Ratio(n, number, show == RoundedRatios)
		}
	}
	return out
}

// write writes the cells of a line, with a separator after the first.
func (l *Line) write(w io.Writer, cells []string, separator string) {
	fmt.Fprintf(w, "%s%s%s\t%s\n", cells[0], separator, strings.Join(cells[1:], "\t"), plain(l.Tag))
}

// readLine parses the cells of a line below a header, which names the columns,
// among them the configuration's, tag.
func readLine(columns []column, tag string, header, cells []string) (Line, error) {
	l := Line{Values: map[string]float64{}}
	if len(cells) != len(header) {
		return l, fmt.Errorf("it has %d cells instead of %d", len(cells), len(header))
	}
	for i, name := range header {
		if name == tag {
			l.Tag = cells[i]
			continue
		}
		if !slices.ContainsFunc(columns, func(c column) bool { return c.name == name }) {
			return l, fmt.Errorf("column %q is not known", name)
		}
		v, err := readNumber(cells[i])
		if err != nil {
			return l, err
		}
		l.Values[name] = v
	}
	return l, nil
}

// writeTo calls write with a buffered w.
func writeTo(w io.Writer, write func(b *bufio.Writer)) error {
	b := bufio.NewWriter(w)
	write(b)
	return b.Flush()
}
