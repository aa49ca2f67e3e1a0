package layout

import (
	"io"
	"strings"
)

// The columns of the sysbench suite's table met. CPU is user and system time of
// the host in percent of all its processors, divided by the operations a
// second. It is not a time: with twice the processors the same work has half
// the number. All but the rate o/s is per operation.
var costColumns = []string{"cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s"}

const (
	costTag  = "dbms"
	absolute = "--- absolute"
)

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
