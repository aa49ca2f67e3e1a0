package layout

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The columns of the insert benchmark's tables mrg and rel. Costs describe the
// device and the whole host: rps to wmbps, csps and cpups (percent of all
// processors) a second; rpq, rkbpq, cspq and cpupq (µs) per query, or per row
// inserted in a step without queries; wpi and wkbpi per row inserted in every
// step. dbgb1 (data), dbgb2 (directory) and rss are in GB of 2³⁰ bytes, maxop
// in seconds; p50 and p99 are the rates that 50 and 99 percent of a client's
// intervals reached.
var summaryColumns = []column{
	{"ips", 0, Fixed}, {"qps", 0, Fixed}, {"rps", 0, Fixed}, {"rmbps", 1, Fixed}, {"wps", 1, Fixed}, {"wmbps", 1, Fixed},
	{"rpq", 3, Fixed}, {"rkbpq", 3, Fixed}, {"wpi", 3, Fixed}, {"wkbpi", 3, Fixed},
	{"csps", 0, Fixed}, {"cpups", 1, Fixed}, {"cspq", 3, Fixed}, {"cpupq", 0, Fixed},
	{"dbgb1", 1, Fixed}, {"dbgb2", 1, Fixed}, {"rss", 1, Fixed}, {"maxop", 3, Fixed}, {"p50", 0, Fixed}, {"p99", 0, Fixed},
}

const summaryTag = "tag"

var summaryHead = names(summaryColumns, summaryTag)

// blockEnd is the line between blocks of one step.
const blockEnd = "-"

// WriteSummaries writes the table mrg: 21 columns, a line per configuration; or
// rel, the same columns as ratios to the block's first configuration, which has
// no line. If there are several steps, each begins with an empty line and its
// name.
func WriteSummaries(w io.Writer, steps []Step, show Show) error {
	return writeTo(w, func(b *bufio.Writer) {
		for _, s := range steps {
			if len(steps) > 1 {
				fmt.Fprintf(b, "\n%s\n", plain(s.Name))
			}
			fmt.Fprintln(b, strings.Join(summaryHead, "\t"))
			for i, block := range s.Blocks {
				if i > 0 {
					fmt.Fprintln(b, blockEnd)
				}
				for k := range block {
					if k > 0 || show == Numbers {
						block[k].write(b, block[k].cells(&block[0], summaryColumns, show), "\t")
					}
				}
			}
		}
	})
}

// readSummaries reads tables of one step, whose name is then "", or of several
// steps.
func readSummaries(r io.Reader) ([]Step, error) {
	var all steps
	name := ""
	err := readLines(r, func(line string) error {
		cells := strings.Split(line, "\t")
		switch {
		case line == "":
		case slices.Equal(cells, summaryHead):
			all.begin(name)
			name = ""
		case line != blockEnd && len(cells) == 1:
			name = line
		case all == nil || name != "":
			return errors.New("the names of the columns must precede the numbers")
		case line == blockEnd:
			last := &all[len(all)-1]
			last.Blocks = append(last.Blocks, nil)
		default:
			l, err := readLine(summaryColumns, summaryTag, summaryHead, cells)
			all.add(l)
			return err
		}
		return nil
	})
	return all, err
}

func isSummary(head []string) bool {
	return slices.Contains(head[:min(len(head), 4)], strings.Join(summaryHead, "\t"))
}

func summaryRates(line string) string {
	cells := strings.Split(line, "\t")
	if len(cells) != len(summaryHead) {
		return ""
	}
	return cells[0] + cells[1]
}
