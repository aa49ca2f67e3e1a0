package layout

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Cost is what the table met of the sysbench suite tells of a configuration in
// a test. What is not known is NaN.
type Cost struct {
	Tag string // the configuration
	// CPU is user and system time of the host in percent of all its processors,
	// divided by the operations a second. It is no time: on a host with twice
	// the processors the same work has half the number.
	CPU      float64
	Switches float64 // context switches of the host per operation
	Reads    float64 // of the device per operation
	ReadKB   float64
	WriteKB  float64
	Rate     float64 // operations a second
	Unlike   bool    // as in Summary
}

func (c *Cost) numbers() []Number {
	return []Number{Fixed(c.CPU, 6), Fixed(c.Switches, 3), Short(c.Reads, 3), Short(c.ReadKB, 3), Short(c.WriteKB, 3), Fixed(c.Rate, 0)}
}

// Test is a test of the sysbench suite. The first configuration is the base.
type Test struct {
	Name  string
	Costs []Cost
}

// Costs writes the table met: per test its name, a line per configuration, and
// then the same as ratios to the first, which has no line there. Rounded is as
// in Ratio. The two tabs after the first column are the layout's own.
func Costs(w io.Writer, tests []Test, rounded bool) error {
	b := bufio.NewWriter(w)
	for _, t := range tests {
		fmt.Fprintf(b, "%s\n--- absolute\ncpu/o\t\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms\n", plain(t.Name))
		for i := range t.Costs {
			line(b, texts(t.Costs[i].numbers()), t.Costs[i].Tag)
		}
		fmt.Fprintln(b, "--- relative to first result")
		for i := range t.Costs {
			if i == 0 {
				continue
			}
			cells := ratios(t.Costs[i].numbers(), against(t.Costs[0].numbers(), t.Costs[i].Unlike), rounded)
			fmt.Fprintf(b, "%s\t\t%s\t%s\n", cells[0], strings.Join(cells[1:], "\t"), plain(t.Costs[i].Tag))
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}
