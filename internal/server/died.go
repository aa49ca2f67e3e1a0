package server

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/text/escape"
)

// DiedError is an unexpected end of a server, or of a program that prepares its
// data.
type DiedError struct {
	What     string   // what failed: "start mariadb 10.11.19"
	How      error    // "exit status 1", "signal: killed"
	Messages []string // the last relevant ones
}

// Error returns the message, with the server's last messages.
func (e *DiedError) Error() string {
	s := e.What
	if e.How != nil {
		s += ": " + e.How.Error()
	}
	if len(e.Messages) > 0 {
		s += "; its last messages: " + strings.Join(e.Messages, " | ")
	}
	return s
}

// hints are remedies for messages of servers.
var hints = []struct {
	messages []string
	hint     string
}{
	{[]string{"ddress already in use"},
		"another program listens on that port: remove port from the options, and a free one is used"},
	{[]string{"TCP/IP port: Permission denied", "could not bind IPv4 address"},
		"it may not listen on that port: remove port from the options, and a free one is used"},
	{[]string{"No space left on device", "errno: 28", "Errcode: 28", "Disk is full"},
		"the disk is full: free space, choose another --out, or lower the sizes; the redo log is allocated in full at the " +
			"start"},
	{[]string{"Invalid page size"}, "a page of InnoDB has 4, 8, 16, 32 or 64 KiB: the knob page sets it"},
	{[]string{"unknown variable", "unknown option", "ambiguous option", "unrecognized configuration parameter",
		"Unknown suffix",
		"invalid value for parameter", "is outside the valid range", "errors in configuration file",
		"Error while setting value",
		"unexpected option", "Incorrect value for option"},
		"options are passed to the server's configuration file verbatim: see its manual"},
	{[]string{"Permission denied", "Errcode: 13", "errno: 13"},
		"the server runs as an unprivileged user, who has no access there: choose another --out, such as one below /var/tmp"},
	{[]string{"Can't open shared library", "cannot open shared object file"},
		"a library or plugin is not installed: see rumbench doctor"},
	{[]string{"Cannot allocate memory", "could not map anonymous shared memory", "Cannot allocate"},
		"the cache does not fit in memory, or in the huge pages that the host has reserved: lower it, or leave them out"},
	{[]string{"signal: killed"}, "it was killed from outside, or by the kernel because the machine ran out of memory: " +
		"see dmesg"},
}

func (e *DiedError) Hint() string {
	text := e.Error()
	for _, h := range hints {
		if slices.ContainsFunc(h.messages, func(m string) bool { return strings.Contains(text, m) }) {
			return h.hint
		}
	}
	return ""
}

// errorMarks are parts of lines that name an error.
var errorMarks = []string{
	"[ERROR]", "FATAL:", "PANIC:", "ERROR:", "rror: ", "ER_CFG", " F> ", " E> ", "LOG:  could not", "LOG:  unrecognized",
	"LOG:  invalid", "LOG:  parameter",
	"is outside the valid range",
}

// warningMarks stand before a server's warning in its log.
var warningMarks = regexp.MustCompile(`\[Warning\] (?:\[MY-\d+\] )?(?:\[\w+\] )?|WARNING: +| W> |"s":"W".*?"msg":`)

// numbers are what differs between two warnings of a kind.
var numbers = regexp.MustCompile(`\b(?:0x[0-9a-f]+|\d+)\b`)

// WarningsIn returns the kinds of warnings in a server's log, each once, with N for each number. There are none in
// a log that cannot be read.
func WarningsIn(log string) (out []string) {
	f, err := os.Open(log)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxLog))
	for lines.Scan() && len(out) < maxWarnings {
		if at := warningMarks.FindIndex(lines.Bytes()); at != nil {
			text := numbers.ReplaceAllString(lines.Text()[at[1]:], "N")
			if text = escape.Clip(escape.Line(text), longestWarning); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	slices.Sort(out)
	return out
}

// The limits of what is read of warnings.
const (
	maxLog         = 64 << 20
	maxWarnings    = 50
	longestWarning = 200
)

const (
	tail        = 16 << 10 // bytes at the end of a log that are searched
	maxMessages = 4
)

// messages returns the most relevant lines of the log since the start.
func (s *Server) messages() []string {
	f, err := os.Open(s.Log)
	if err != nil {
		return nil
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	start := max(s.since, end-tail)
	b, err := io.ReadAll(io.NewSectionReader(f, start, end-start))
	if err != nil {
		return nil
	}
	return relevant(string(b))
}

// relevant returns the lines that name an error; without any, the last lines.
func relevant(text string) []string {
	var all, errs []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		all = append(all, line)
		if slices.ContainsFunc(errorMarks, func(mark string) bool { return strings.Contains(line, mark) }) {
			errs = append(errs, line)
		}
	}
	if len(errs) > 0 {
		return errs[:min(len(errs), maxMessages)] // later errors follow from the first
	}
	return all[max(0, len(all)-maxMessages):]
}
