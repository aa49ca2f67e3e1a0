package importer

import (
	"slices"
	"strings"
	"time"
)

// vmstat holds the samples of a file of vmstat.
type vmstat struct {
	file    *file
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
func parseVMStat(f *file, ps *Problems) *vmstat {
	out := &vmstat{file: f}
	var header []string
	f.each(ps, func(n int, line string, last bool) bool {
		words := strings.Fields(line)
		switch {
		case len(words) == 0, strings.Contains(words[0], "procs"):
		case slices.Contains(words, "swpd"):
			header = words
		default:
			s, ok := vmLine(header, words)
			if ok {
				out.samples = append(out.samples, s)
			} else if !last { // else cut off in the middle of a line
				ps.add(f.path, n, "", "%q is not a line of vmstat: %d numbers were expected", clip(line), len(header))
				return false
			}
		}
		return true
	})
	return out
}

// vmLine parses a sample by the names in the header. Option -t adds a date and a
// time, for which the header has one name.
func vmLine(header, words []string) (s vmSample, ok bool) {
	value := func(name string) float64 {
		i := slices.Index(header, name)
		if i < 0 || i >= len(words) {
			return -1
		}
		v, ok := positive(words[i])
		if !ok {
			return -1
		}
		return v
	}
	if header == nil || len(words) != len(header) && len(words) != len(header)+1 {
		return s, false
	}
	us, sy := value("us"), value("sy")
	s.switches, s.busy = value("cs"), us+sy
	if n := len(words); n == len(header)+1 {
		s.when, _ = timestamp(words[n-2] + " " + words[n-1])
	}
	return s, us >= 0 && sy >= 0 && s.switches >= 0
}
