package profile

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteFolded writes a line for each stack, as flamegraph.pl and speedscope read
// them: side and process, thread, the frames from the root, and the CPU time in ns.
func (p *Profile) WriteFolded(w io.Writer) error {
	sums := make(map[string]int64)
	var stacks []string
	name := strings.NewReplacer(";", ":", "\n", " ")
	for i := range p.Samples {
		s := &p.Samples[i]
		line := s.Side.String() + " " + name.Replace(s.Process) + ";" + name.Replace(s.Thread)
		for _, f := range s.Stack {
			line += ";" + name.Replace(p.Frames[f].Name)
		}
		if _, known := sums[line]; !known {
			stacks = append(stacks, line)
		}
		sums[line] += int64(s.CPU())
	}
	slices.Sort(stacks)
	out := bufio.NewWriter(w)
	for _, line := range stacks {
		fmt.Fprintln(out, line, sums[line])
	}
	return out.Flush()
}
