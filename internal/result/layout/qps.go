package layout

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"rumbench/internal/text/escape"
)

// The tables qps.abs and qps.rel of the sysbench suite have a line per test and
// a column per configuration. Each step has one block. The lines of a block are
// the configurations, all in the same order.

// Rate is the column of their numbers.
const Rate = "qps"

const (
	relativeTo = "Relative to: "
	noteMark   = "-> "
)

// WriteQPS writes the names of the configurations, an empty line, and a line
// per test: numbers with the given decimals, the test's name, its note. Tables
// of ratios have no column for the base, the first configuration.
func WriteQPS(w io.Writer, names []string, tests []Step, show Show, decimals int) error {
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
func (s *Step) rates(show Show, decimals int) (out []string) {
	base := Fixed(s.Blocks[0][0].Value(Rate), decimals)
	for i, l := range s.Blocks[0] {
		switch n := Fixed(l.Value(Rate), decimals); {
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

// readQPS reads a table in the layout of WriteQPS: the text after a test's name
// is its note.
func readQPS(r io.Reader) ([]Step, error) {
	var tests steps
	var names []string
	body := false
	err := readLines(r, func(line string) (err error) {
		line = strings.TrimRight(line, "\t ")
		switch {
		case line == "" || strings.HasPrefix(line, relativeTo):
		case strings.HasPrefix(line, "col-") && strings.Contains(line, " : "):
			_, name, _ := strings.Cut(line, " : ")
			names = append(names, name)
		case strings.HasPrefix(line, "col-"):
			body = true
		case !body:
			return errors.New("a line col-1, col-2 … must precede the numbers")
		default:
			err = tests.addRates(names, strings.Split(line, "\t"))
		}
		return err
	})
	return tests, err
}

// addRates appends a test: its numbers, its name and a note.
func (s *steps) addRates(names, cells []string) error {
	if len(cells) <= len(names) {
		return fmt.Errorf("it has %d cells, and %d numbers and a name are wanted", len(cells), len(names))
	}
	s.begin(cells[len(names)])
	note := strings.TrimSpace(strings.Join(cells[len(names)+1:], " "))
	(*s)[len(*s)-1].Note = strings.TrimPrefix(note, noteMark)
	for i, name := range names {
		v, err := readNumber(cells[i])
		if err != nil {
			return err
		}
		s.add(Line{Tag: name, Values: map[string]float64{Rate: v}})
	}
	return nil
}

func isQPS(head []string) bool {
	return len(head) > 0 && (strings.HasPrefix(head[0], relativeTo) || strings.HasPrefix(head[0], "col-1 : "))
}

// qpsRates returns a cell that is not a whole number if the line shows that the
// table has ratios.
func qpsRates(line string) string {
	if strings.HasPrefix(line, relativeTo) {
		return "."
	}
	return ""
}
