package layout

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The columns of the sysbench suite's table met. CPU is user and system time of
// the host in percent of all its processors, divided by the operations a
// second. It is not a time: with twice the processors the same work has half
// the number. All but the rate o/s is per operation.
var costColumns = []column{{"cpu/o", 6, Fixed}, {"cs/o", 3, Fixed}, {"r/o", 3, short}, {"rKB/o", 3, short}, {"wKB/o", 3, short}, {"o/s", 0, Fixed}}

const (
	costTag  = "dbms"
	absolute = "--- absolute"
)

// WriteCosts writes the table met: per test its name, a line per configuration,
// and then ratios to the first configuration, without a line for it. The two
// tabs after the first column are the layout's own.
func WriteCosts(w io.Writer, tests []Step, rounded bool) error {
	head := &Line{Tag: costTag}
	columns := names(costColumns, costTag)
	return writeTo(w, func(b *bufio.Writer) {
		for _, t := range tests {
			fmt.Fprintf(b, "%s\n%s\n", plain(t.Name), absolute)
			head.write(b, columns[:len(costColumns)], "\t\t")
			lines := slices.Concat(t.Blocks...)
			for i := range lines {
				lines[i].write(b, lines[i].texts(costColumns), "\t")
			}
			fmt.Fprintln(b, "--- relative to first result")
			for i := 1; i < len(lines); i++ {
				lines[i].write(b, lines[i].ratios(&lines[0], costColumns, rounded), "\t\t")
			}
			fmt.Fprintln(b)
		}
	})
}

// readCosts reads the absolute blocks of tables, including those of releases
// with fewer columns.
func readCosts(r io.Reader) ([]Step, error) {
	const (
		outside = iota // the test's name, and ratios
		atHeader
		inside
	)
	var tests []Step
	var header []string
	name, state := "", outside
	err := readLines(r, func(line string) error {
		line = strings.TrimRight(line, "\t ")
		switch {
		case line == absolute:
			tests, state = append(tests, Step{Name: name, Blocks: make([][]Line, 1)}), atHeader
		case line == "" || strings.HasPrefix(line, "---"):
			state = outside
		case state == outside:
			name = line
		case state == atHeader:
			header, state = strings.Fields(line), inside
		default:
			l, err := readLine(costColumns, costTag, header, strings.Fields(line))
			tests[len(tests)-1].add(l)
			return err
		}
		return nil
	})
	return tests, err
}

func isCosts(head []string) bool { return len(head) > 1 && strings.TrimSpace(head[1]) == absolute }
