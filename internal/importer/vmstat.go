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

var isVMStat = anyLine(`swpd.* cs (?:.* )?us `)

// parseVMStat reads a file of vmstat. Its two header lines are repeated every twenty
// lines or so.
func parseVMStat(f *file, ps *hint.Problems) *vmstat {
	v := &vmstat{input: &input{file: f, ps: ps}}
	usable(func() { v.each(v.line) })
	return v
}

// line adds a sample by the names in the header. Option -t adds a date and a time,
// which share one name in the header.
func (v *vmstat) line(line string) {
	words := strings.Fields(line)
	if len(words) == 0 || strings.Contains(words[0], "procs") {
		return
	}
	if slices.Contains(words, "swpd") {
		v.header = words
		return
	}
	us, user := positiveNumber(v.text(words, "us"))
	sy, system := positiveNumber(v.text(words, "sy"))
	cs, switches := positiveNumber(v.text(words, "cs"))
	n, columns := len(words), len(v.header)
	ok := user && system && switches && (n == columns || n == columns+1)
	v.refuseIf(!ok && !v.last, "", "%q is not a line of vmstat: %d numbers were expected", clip(line), columns)
	if !ok {
		return // it is cut off
	}
	s := vmSample{switches: cs, busy: us + sy}
	if n > columns {
		s.when, _ = timestamp(words[n-2] + " " + words[n-1])
	}
	v.samples = append(v.samples, s)
}

// timestamp parses the time that option -t of iostat and vmstat prints.
func timestamp(s string) (time.Time, bool) {
	for _, layout := range []string{
		"2006-01-02T15:04:05-0700", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05",
		"01/02/2006 03:04:05 PM", "01/02/2006 15:04:05", "01/02/06 15:04:05", "01/02/06 03:04:05 PM",
	} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
