package layout

import (
	"errors"
	"io"
	"strings"
)

// readLevels reads tables in the layout of 2020: per test its name, and a line
// per configuration with a column per number of clients, which are not named:
// col-1, col-2 ….
func readLevels(r io.Reader) ([]Step, error) {
	var tests steps
	err := readLines(r, func(line string) error {
		line = strings.TrimRight(line, "\t ")
		cells := strings.Split(line, "\t")
		tag := len(cells) - 1
		switch {
		case line == "":
		case tag == 0:
			tests.begin(line)
		case len(tests) == 0:
			return errors.New("the name of a test must precede its numbers")
		default:
			l := Line{Tag: cells[tag], Values: map[string]float64{}}
			for i, c := range cells[:tag] {
				v, err := readNumber(c)
				if err != nil {
					return err
				}
				l.Values[ColumnName(i)] = v
			}
			tests.add(l)
		}
		return nil
	})
	return tests, err
}

func isLevels(head []string) bool {
	return len(head) > 1 && strings.HasPrefix(head[0], "sb.r.qps.") && strings.Contains(head[1], "\t")
}

func levelsRates(line string) string {
	first, _, several := strings.Cut(line, "\t")
	if !several {
		return "" // the name of a test
	}
	return first
}
