package importer

import (
	"slices"
	"strings"
	"time"

	"rumbench/internal/text/hint"
)

// vmstat holds the samples of a file of vmstat.
type vmstat struct {
	*input
	header
	samples []vmSample
}

// vmSample is a line: the activity of the whole machine in one interval.
type vmSample struct {
	when     time.Time // zero without option -t
	switches float64   // context switches per second
	busy     float64   // user + system, percent of all CPUs
}

func isVMStat(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.Contains(l, "swpd") && strings.Contains(l, " cs ") && strings.Contains(l, " us ")
	})
}

// parseVMStat reads a file of vmstat. Its two header lines are repeated every twenty
// lines or so.
func parseVMStat(f *file, ps *hint.Problems) *vmstat {
	v := &vmstat{input: &input{file: f, ps: ps}}
	usable(func() { v.each(v.line) })
	return v
}

func (v *vmstat) line(line string) {
	switch words := strings.Fields(line); {
	case len(words) == 0, strings.Contains(words[0], "procs"):
	case slices.Contains(words, "swpd"):
		v.header = words
	case !v.sample(words) && !v.last: // otherwise cut off in the middle of a line
		v.refuse("", "%q is not a line of vmstat: %d numbers were expected", clip(line), len(v.header))
	}
}

// sample adds a sample by the names in the header. Option -t adds a date and a time,
// which share one name in the header. It returns false if the line is not a sample.
func (v *vmstat) sample(words []string) bool {
	n := len(words)
	if v.header == nil || n != len(v.header) && n != len(v.header)+1 {
		return false
	}
	var s vmSample
	us, user := positive(v.text(words, "us"))
	sy, system := positive(v.text(words, "sy"))
	cs, switches := positive(v.text(words, "cs"))
	if s.switches, s.busy = cs, us+sy; n > len(v.header) {
		s.when, _ = timestamp(words[n-2] + " " + words[n-1])
	}
	if user && system && switches {
		v.samples = append(v.samples, s)
	}
	return user && system && switches
}
