package layout

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// Test is a test in the layout of 2020: a line per configuration, a column per
// number of clients, which are not named.
type Test struct {
	Name string
	Rows []TestRow
}

// TestRow is what a configuration did, in the order of the columns.
type TestRow struct {
	Tag    string
	Values []float64 // NaN: unknown
}

// ReadLevels reads tables in the layout of 2020.
func ReadLevels(r io.Reader) ([]Test, error) {
	var tests []Test
	err := readLines(r, func(line string) error {
		line = strings.TrimRight(line, "\t ")
		cells := strings.Split(line, "\t")
		tag := len(cells) - 1
		switch {
		case line == "":
			return nil
		case tag == 0:
			tests = append(tests, Test{Name: line})
			return nil
		case len(tests) == 0:
			return errors.New("the name of a test is to stand before its numbers")
		}
		row := TestRow{Tag: cells[tag]}
		for _, c := range cells[:tag] {
			v, err := readNumber(c)
			if err != nil {
				return err
			}
			row.Values = append(row.Values, v)
		}
		t := &tests[len(tests)-1]
		t.Rows = append(t.Rows, row)
		return nil
	})
	return tests, err
}

func isLevels(head []string) bool {
	return len(head) > 1 && strings.HasPrefix(head[0], "sb.r.qps.") && strings.Contains(head[1], "\t")
}

// isLevelsRatios: rates are whole numbers, and ratios are not.
func isLevelsRatios(head []string) bool {
	return slices.ContainsFunc(head, func(line string) bool {
		first, _, several := strings.Cut(line, "\t")
		return several && strings.Contains(first, ".")
	})
}
