package layout

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
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

const relativeTo = "Relative to: "

// TSV writes the names of the columns, an empty line, their numbers, and then
// the tests with their names at the end. A note follows the name.
func (t *QPS) TSV(w io.Writer) error {
	b := bufio.NewWriter(w)
	if t.Base != "" {
		fmt.Fprintf(b, "%s%s\n", relativeTo, plain(t.Base))
	}
	var heads []string
	for i, name := range t.Columns {
		heads = append(heads, fmt.Sprintf("col-%d", i+1))
		fmt.Fprintf(b, "col-%d : %s\n", i+1, plain(name))
	}
	fmt.Fprintf(b, "\n%s\n", strings.Join(heads, "\t"))
	for _, r := range t.Rows {
		cells := append(append([]string(nil), r.Cells...), plain(r.Test))
		if r.Note != "" {
			cells = append(cells, "-> "+plain(r.Note))
		}
		fmt.Fprintln(b, strings.Join(cells, "\t"))
	}
	return b.Flush()
}

// CSV writes the tests with their names at the beginning, and no header. There
// is no place for notes.
func (t *QPS) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	for _, r := range t.Rows {
		if err := c.Write(append([]string{plain(r.Test)}, r.Cells...)); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
