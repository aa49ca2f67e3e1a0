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

// ReadQPS reads a table that TSV wrote, or one of the same layout: numbers are
// as printed, and what stands behind a test's name is its note.
func ReadQPS(r io.Reader) (*QPS, error) {
	t := &QPS{}
	in := bufio.NewScanner(r)
	n, body := 0, false
	for in.Scan() {
		n++
		line := strings.TrimRight(in.Text(), "\t\r ")
		switch base, relative := strings.CutPrefix(line, relativeTo); {
		case line == "":
		case relative:
			t.Base = base
		case strings.HasPrefix(line, "col-") && strings.Contains(line, " : "):
			_, name, _ := strings.Cut(line, " : ")
			t.Columns = append(t.Columns, name)
		case strings.HasPrefix(line, "col-"):
			body = true
		case !body:
			return nil, fmt.Errorf("line %d: a line col-1, col-2 … is to stand before the numbers", n)
		default:
			row, err := readQPSRow(strings.Split(line, "\t"), len(t.Columns))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t, in.Err()
}

func readQPSRow(cells []string, columns int) (QPSRow, error) {
	if len(cells) <= columns {
		return QPSRow{}, fmt.Errorf("it has %d cells, and %d numbers and a name are wanted", len(cells), columns)
	}
	for _, c := range cells[:columns] {
		if _, err := readNumber(c); err != nil {
			return QPSRow{}, err
		}
	}
	note := strings.TrimSpace(strings.Join(cells[columns+1:], " "))
	return QPSRow{Test: cells[columns], Cells: cells[:columns], Note: strings.TrimPrefix(note, "-> ")}, nil
}

// ReadMerged reads tables that Merged wrote: of one step, whose name is then
// "", or of several.
func ReadMerged(r io.Reader) ([]Step, error) {
	var steps []Step
	name := ""
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimRight(in.Text(), "\r")
		cells := strings.Split(line, "\t")
		switch {
		case line == "":
		case slices.Equal(cells, mrgHead):
			steps, name = append(steps, Step{Name: name, Blocks: make([][]Summary, 1)}), ""
		case line != separator && len(cells) == 1:
			name = line
		case len(steps) == 0 || name != "":
			return nil, fmt.Errorf("line %d: the names of the columns are to stand before the numbers", n)
		case line == separator:
			s := &steps[len(steps)-1]
			s.Blocks = append(s.Blocks, nil)
		default:
			s := &steps[len(steps)-1]
			summary, err := readSummary(cells)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			last := &s.Blocks[len(s.Blocks)-1]
			*last = append(*last, summary)
		}
	}
	return steps, in.Err()
}

func readSummary(cells []string) (Summary, error) {
	var s Summary
	fields := s.fields()
	if len(cells) != len(fields)+1 {
		return s, fmt.Errorf("it has %d cells instead of %d", len(cells), len(fields)+1)
	}
	for i, f := range fields {
		v, err := readNumber(cells[i])
		if err != nil {
			return s, err
		}
		*f.value = v
	}
	s.Tag = cells[len(fields)]
	return s, nil
}

// readNumber reads a number as the layouts print it; NaN if it is not known.
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

// IsQPS tells by its first lines whether a text is what TSV writes.
func IsQPS(head []string) bool {
	return len(head) > 0 && (strings.HasPrefix(head[0], relativeTo) || strings.HasPrefix(head[0], "col-1 : "))
}

// IsQPSRatios tells whether such a text is a table of ratios.
func IsQPSRatios(head []string) bool { return strings.HasPrefix(head[0], relativeTo) }

// IsQPSList tells by its first lines whether a text is what CSV writes: the name
// of a test, and numbers.
func IsQPSList(head []string) bool {
	for _, line := range head {
		cells := strings.Split(line, ",")
		if len(cells) < 2 || !strings.Contains(cells[0], "_range=") {
			return false
		}
	}
	return len(head) > 0
}

// IsQPSListRatios tells whether such a text is a table of ratios: rates are
// whole numbers.
func IsQPSListRatios(head []string) bool {
	return slices.ContainsFunc(head, func(line string) bool {
		_, numbers, _ := strings.Cut(line, ",")
		return strings.Contains(numbers, ".")
	})
}

// ReadQPSList reads a table that CSV wrote. It does not name its columns.
func ReadQPSList(r io.Reader) (*QPS, error) {
	t := &QPS{}
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		cells := strings.Split(strings.TrimSpace(in.Text()), ",")
		if len(cells) == 1 && cells[0] == "" {
			continue
		}
		for len(t.Columns) < len(cells)-1 && len(t.Rows) == 0 {
			t.Columns = append(t.Columns, fmt.Sprintf("col-%d", len(t.Columns)+1))
		}
		if len(cells) != len(t.Columns)+1 {
			return nil, fmt.Errorf("line %d: it has %d cells, and a name and %d numbers are wanted", n, len(cells), len(t.Columns))
		}
		row, err := readQPSRow(append(cells[1:], cells[0]), len(t.Columns))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, in.Err()
}

// IsMerged tells by its first lines whether a text is what Merged or
// MergedRatios writes.
func IsMerged(head []string) bool {
	return slices.ContainsFunc(head[:min(len(head), 4)], func(l string) bool { return l == strings.Join(mrgHead, "\t") })
}

// IsMergedRatios tells whether such a text is a table of ratios: rates are whole
// numbers.
func IsMergedRatios(head []string) bool {
	return slices.ContainsFunc(head, func(line string) bool {
		cells := strings.Split(line, "\t")
		return len(cells) == len(mrgHead) && line != strings.Join(mrgHead, "\t") && (strings.Contains(cells[0], ".") || strings.Contains(cells[1], "."))
	})
}
