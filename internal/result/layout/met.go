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
var costColumns = []column{{"cpu/o", 6, Fixed}, {"cs/o", 3, Fixed}, {"r/o", 3, short}, {"rKB/o", 3, short},
	{"wKB/o", 3, short}, {"o/s", 0, Fixed}}

const (
	costTag  = "dbms"
	absolute = "--- absolute"
)

// WriteCosts writes the table met: per test its name, a line per configuration,
// and then ratios to the first configuration, without a line for it. The two
// tabs after the first column are the layout's own.
func WriteCosts(w io.Writer, tests []Step, rounded bool) error {
	head, show := &Line{Tag: costTag}, Ratios
	if rounded {
		show = RoundedRatios
	}
	columns := names(costColumns, costTag)
	return writeTo(w, func(b *bufio.Writer) {
		for _, t := range tests {
			fmt.Fprintf(b, "%s\n%s\n", plain(t.Name), absolute)
			head.write(b, columns[:len(costColumns)], "\t\t")
			lines := slices.Concat(t.Blocks...)
			for i := range lines {
				lines[i].write(b, lines[i].cells(&lines[i], costColumns, Numbers), "\t")
			}
			fmt.Fprintln(b, "--- relative to first result")
			for i := 1; i < len(lines); i++ {
				lines[i].write(b, lines[i].cells(&lines[0], costColumns, show), "\t\t")
			}
			fmt.Fprintln(b)
		}
	})
}

// readCosts reads the absolute blocks of tables, including those of releases
// with fewer columns.
func readCosts(r io.Reader) ([]Step, error) {
	var tests steps
	var header []string
	name, inside := "", false // of a block; outside are the test's name, and ratios
	err := readLines(r, func(line string) error {
		line = strings.TrimRight(line, "\t ")
		switch {
		case line == absolute:
			tests.begin(name)
			header, inside = nil, true
		case line == "" || strings.HasPrefix(line, "---"):
			inside = false
		case !inside:
			name = line
		case header == nil:
			header = strings.Fields(line)
		default:
			l, err := readLine(costColumns, costTag, header, strings.Fields(line))
			tests.add(l)
			return err
		}
		return nil
	})
	return tests, err
}

func isCosts(head []string) bool { return len(head) > 1 && strings.TrimSpace(head[1]) == absolute }
