package layout

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// The columns of the insert benchmark's tables mrg and, as ratios, rel. Costs describe the
// device and the whole host: rps to wmbps, csps and cpups (percent of all
// processors) a second; rpq, rkbpq, cspq and cpupq (µs) per query, or per row
// inserted in a step without queries; wpi and wkbpi per row inserted in every
// step. dbgb1 (data), dbgb2 (directory) and rss are in GB of 2³⁰ bytes, maxop
// in seconds; p50 and p99 are the rates that 50 and 99 percent of a client's
// intervals reached.
var summaryColumns = []string{"ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi",
	"csps", "cpups", "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99"}

const summaryTag = "tag"

var summaryHead = append(slices.Clone(summaryColumns), summaryTag)

// blockEnd is the line between blocks of one step.
const blockEnd = "-"

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
