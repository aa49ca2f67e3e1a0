package layout

import (
	"fmt"
	"math"
	"slices"
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

// readLine parses the cells of a line below a header, which names the columns,
// among them the configuration's, tag.
func readLine(columns []string, tag string, header, cells []string) (Line, error) {
	l := Line{Values: map[string]float64{}}
	if len(cells) != len(header) {
		return l, fmt.Errorf("it has %d cells instead of %d", len(cells), len(header))
	}
	for i, name := range header {
		if name == tag {
			l.Tag = cells[i]
			continue
		}
		if !slices.Contains(columns, name) {
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
