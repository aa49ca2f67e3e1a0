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

// ReadQPS reads a table in the layout of WriteQPS: the text after a test's name
// is its note.
func ReadQPS(r io.Reader) (tests []Test, err error) {
	var names []string
	body := false
	err = readLines(r, func(line string) error {
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
			t, err := readTest(names, strings.Split(line, "\t"))
			tests = append(tests, t)
			return err
		}
		return nil
	})
	return tests, err
}

// readTest reads a test: its numbers, its name and a note.
func readTest(names, cells []string) (t Test, err error) {
	if len(cells) <= len(names) {
		return t, fmt.Errorf("it has %d cells, and %d numbers and a name are wanted", len(cells), len(names))
	}
	note := strings.TrimSpace(strings.Join(cells[len(names)+1:], " "))
	t.Name, t.Note = cells[len(names)], strings.TrimPrefix(note, noteMark)
	for i, name := range names {
		v, err := readNumber(cells[i])
		if err != nil {
			return t, err
		}
		t.Lines = append(t.Lines, Line{Tag: name, Rate: v})
	}
	return t, nil
}

// IsQPS reports whether the first lines of a file are those of such a table, and whether it has ratios.
func IsQPS(head []string) (is, ratios bool) {
	ratios = len(head) > 0 && strings.HasPrefix(head[0], relativeTo)
	return ratios || len(head) > 0 && strings.HasPrefix(head[0], "col-1 : "), ratios
}
