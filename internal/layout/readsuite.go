package layout

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

const absolute = "--- absolute"

// IsCosts tells by its first lines whether a text is what Costs writes.
func IsCosts(head []string) bool { return len(head) > 1 && strings.TrimSpace(head[1]) == absolute }

// ReadCosts reads the absolute blocks of tables that Costs wrote, also of
// releases that had fewer columns. What a table does not have is NaN.
func ReadCosts(r io.Reader) ([]Test, error) {
	const (
		outside = iota // the test's name, and ratios
		atHeader
		inside
	)
	var tests []Test
	var header []string
	name, state := "", outside
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimRight(in.Text(), "\r\t ")
		switch {
		case line == absolute:
			tests, state = append(tests, Test{Name: name}), atHeader
		case line == "" || strings.HasPrefix(line, "---"):
			state = outside
		case state == outside:
			name = line
		case state == atHeader:
			header, state = strings.Fields(line), inside
		default:
			c, err := readCost(header, strings.Fields(line))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			t := &tests[len(tests)-1]
			t.Costs = append(t.Costs, c)
		}
	}
	return tests, in.Err()
}

func readCost(header, cells []string) (Cost, error) {
	c := Cost{CPU: math.NaN(), Switches: math.NaN(), Reads: math.NaN(), ReadKB: math.NaN(), WriteKB: math.NaN(), Rate: math.NaN()}
	columns := map[string]*float64{"cpu/o": &c.CPU, "cs/o": &c.Switches, "r/o": &c.Reads, "rKB/o": &c.ReadKB, "wKB/o": &c.WriteKB, "o/s": &c.Rate}
	if len(cells) != len(header) {
		return c, fmt.Errorf("it has %d cells instead of %d", len(cells), len(header))
	}
	for i, name := range header {
		if name == "dbms" {
			c.Tag = cells[i]
			continue
		}
		to, known := columns[name]
		if !known {
			return c, fmt.Errorf("column %q is not known", name)
		}
		v, err := readNumber(cells[i])
		if err != nil {
			return c, err
		}
		*to = v
	}
	return c, nil
}

// Levels is a test in the layout of 2020: a line per configuration, a column
// per number of clients, which are not named.
type Levels struct {
	Name string
	Rows []LevelsRow
}

// LevelsRow is what a configuration did, in the order of the columns.
type LevelsRow struct {
	Tag    string
	Values []float64 // NaN: not known
}

// IsLevels tells by its first lines whether a text has the layout of 2020.
func IsLevels(head []string) bool {
	return len(head) > 1 && strings.HasPrefix(head[0], "sb.r.qps.") && strings.Contains(head[1], "\t")
}

// IsLevelsRatios tells whether such a text is a table of ratios: rates are whole
// numbers.
func IsLevelsRatios(head []string) bool {
	return slices.ContainsFunc(head, func(line string) bool {
		first, _, several := strings.Cut(line, "\t")
		return several && strings.Contains(first, ".")
	})
}

// ReadLevels reads tables in the layout of 2020.
func ReadLevels(r io.Reader) ([]Levels, error) {
	var tests []Levels
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimRight(in.Text(), "\r\t ")
		cells := strings.Split(line, "\t")
		switch {
		case line == "":
		case len(cells) == 1:
			tests = append(tests, Levels{Name: line})
		case len(tests) == 0:
			return nil, fmt.Errorf("line %d: the name of a test is to stand before its numbers", n)
		default:
			row := LevelsRow{Tag: cells[len(cells)-1]}
			for _, c := range cells[:len(cells)-1] {
				v, err := readNumber(c)
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", n, err)
				}
				row.Values = append(row.Values, v)
			}
			t := &tests[len(tests)-1]
			t.Rows = append(t.Rows, row)
		}
	}
	return tests, in.Err()
}
