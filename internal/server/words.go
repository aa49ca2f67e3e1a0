package server

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// DiedError says that a server, or a program that prepares its data, ended
// though it should not have.
type DiedError struct {
	Doing string // "start mariadb 10.11.19"
	How   error  // as the system tells: "exit status 1", "signal: killed"
	Words []string
}

// Error returns the message, with the server's own words.
func (e *DiedError) Error() string {
	s := e.Doing + ": " + fmt.Sprint(e.How)
	if e.How == nil {
		s = e.Doing
	}
	if len(e.Words) > 0 {
		s += "; its last words: " + strings.Join(e.Words, " | ")
	}
	return s
}

// hints are what can be done about what servers say.
var hints = []struct {
	words []string
	hint  string
}{
	{[]string{"Address already in use", "address already in use"}, "another program listens on that port: leave port out of the options, and a free one is taken"},
	{[]string{"No space left on device", "errno: 28", "Errcode: 28", "Disk is full"}, "the disk is full: free space, choose another --out, or lower the sizes; remember the redo log, which is made in full size at once"},
	{[]string{"unknown variable", "unknown option", "ambiguous option", "unrecognized configuration parameter", "Unknown suffix", "invalid value for parameter", "errors in configuration file", "Error while setting value"}, "options are handed to the server verbatim, as it writes them in its configuration file: see its manual"},
	{[]string{"Permission denied", "Errcode: 13", "errno: 13"}, "the server runs as an unprivileged user, who cannot read or write there: choose another --out, such as one below /var/tmp"},
	{[]string{"Can't open shared library", "cannot open shared object file"}, "a library or plugin is not installed: see rumbench doctor"},
	{[]string{"Cannot allocate memory", "could not map anonymous shared memory", "Cannot allocate"}, "the cache does not fit into memory: lower it"},
	{[]string{"signal: killed"}, "somebody killed it; if nobody did, the machine ran out of memory: see dmesg"},
}

// Hint says what can be done about it.
func (e *DiedError) Hint() string {
	said := e.Error()
	for _, h := range hints {
		for _, w := range h.words {
			if strings.Contains(said, w) {
				return h.hint
			}
		}
	}
	return ""
}

const (
	tail      = 16 << 10 // how much of the end of a log is looked at
	mostWords = 4        // lines
)

// words returns the lines of the log since the server was started that tell most.
func (s *Server) words() []string {
	f, err := os.Open(s.Log)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(s.since, info.Size()-tail)
	b, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return nil
	}
	return telling(string(b))
}

// telling picks the lines that name an error; without any, the last lines.
func telling(text string) []string {
	var all, errs []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		all = append(all, line)
		for _, mark := range []string{"[ERROR]", "FATAL:", "PANIC:", "ERROR:", "rror: ", "LOG:  could not", "LOG:  unrecognized", "LOG:  invalid", "LOG:  parameter"} {
			if strings.Contains(line, mark) {
				errs = append(errs, line)
				break
			}
		}
	}
	if len(errs) > mostWords {
		errs = errs[:mostWords] // the first error causes those after it
	}
	if len(errs) > 0 {
		return errs
	}
	return all[max(0, len(all)-mostWords):]
}
