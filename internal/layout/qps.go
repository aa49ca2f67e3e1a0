package layout

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// QPS is the layout of the tables qps.abs and qps.rel of the sysbench suite: a
// line per test, a column per configuration.
type QPS struct {
	Base    string   // the configuration that all numbers are ratios to, which has no column; "" in a table of absolute numbers
	Columns []string // the configurations
	Rows    []QPSRow
}

// QPSRow is what the configurations did in a test.
type QPSRow struct {
	Test  string
	Cells []string // as Columns
	Note  string   // a remark of the analyst; may be empty
}

const (
	relativeTo = "Relative to: "
	noteMark   = "-> "
)

// TSV writes the names of the columns, an empty line, their numbers, and then
// the tests with their names at the end. A note follows the name.
func (t *QPS) TSV(w io.Writer) error {
	return writeTo(w, func(b *bufio.Writer) {
		if t.Base != "" {
			fmt.Fprintf(b, "%s%s\n", relativeTo, plain(t.Base))
		}
		for i, name := range t.Columns {
			fmt.Fprintf(b, "%s : %s\n", columnName(i), plain(name))
		}
		var heads []string
		for i := range t.Columns {
			heads = append(heads, columnName(i))
		}
		fmt.Fprintf(b, "\n%s\n", strings.Join(heads, "\t"))
		for _, r := range t.Rows {
			cells := append(slices.Clone(r.Cells), plain(r.Test))
			if r.Note != "" {
				cells = append(cells, noteMark+plain(r.Note))
			}
			fmt.Fprintln(b, strings.Join(cells, "\t"))
		}
	})
}

func columnName(i int) string { return fmt.Sprintf("col-%d", i+1) }

// CSV writes the tests with their names at the beginning, and no header. There
// is no place for notes.
func (t *QPS) CSV(w io.Writer) error {
	var records [][]string
	for _, r := range t.Rows {
		records = append(records, append([]string{plain(r.Test)}, r.Cells...))
	}
	return csv.NewWriter(w).WriteAll(records)
}

// ReadQPS reads a table that TSV wrote, or one of the same layout: numbers are
// as printed, and what stands behind a test's name is its note.
func ReadQPS(r io.Reader) (*QPS, error) {
	t := &QPS{}
	body := false
	err := readLines(r, func(line string) error {
		line = strings.TrimRight(line, "\t ")
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
			return errors.New("a line col-1, col-2 … is to stand before the numbers")
		default:
			return t.read(strings.Split(line, "\t"))
		}
		return nil
	})
	return t, err
}

// ReadQPSList reads a table that CSV wrote. It does not name its columns.
func ReadQPSList(r io.Reader) (*QPS, error) {
	t := &QPS{}
	err := readLines(r, func(line string) error {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if len(cells) == 1 && cells[0] == "" {
			return nil
		}
		for len(t.Columns) < len(cells)-1 && len(t.Rows) == 0 {
			t.Columns = append(t.Columns, columnName(len(t.Columns)))
		}
		if len(cells) != len(t.Columns)+1 {
			return fmt.Errorf("it has %d cells, and a name and %d numbers are wanted", len(cells), len(t.Columns))
		}
		return t.read(append(cells[1:], cells[0]))
	})
	return t, err
}

// read adds a row: numbers, the test's name, and a note.
func (t *QPS) read(cells []string) error {
	columns := len(t.Columns)
	if len(cells) <= columns {
		return fmt.Errorf("it has %d cells, and %d numbers and a name are wanted", len(cells), columns)
	}
	for _, c := range cells[:columns] {
		if _, err := readNumber(c); err != nil {
			return err
		}
	}
	note := strings.TrimSpace(strings.Join(cells[columns+1:], " "))
	t.Rows = append(t.Rows, QPSRow{Test: cells[columns], Cells: cells[:columns], Note: strings.TrimPrefix(note, noteMark)})
	return nil
}

func isQPS(head []string) bool {
	return len(head) > 0 && (strings.HasPrefix(head[0], relativeTo) || strings.HasPrefix(head[0], "col-1 : "))
}

func isQPSRatios(head []string) bool { return strings.HasPrefix(head[0], relativeTo) }

// isQPSList: every line has the name of a test, and numbers.
func isQPSList(head []string) bool {
	for _, line := range head {
		cells := strings.Split(line, ",")
		if len(cells) < 2 || !strings.Contains(cells[0], "_range=") {
			return false
		}
	}
	return len(head) > 0
}

// isQPSListRatios: rates are whole numbers, and ratios are not.
func isQPSListRatios(head []string) bool {
	return slices.ContainsFunc(head, func(line string) bool {
		_, numbers, _ := strings.Cut(line, ",")
		return strings.Contains(numbers, ".")
	})
}
