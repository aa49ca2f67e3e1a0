package plain

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with what a user wrote or named.
type Problem struct {
	File   string // as given, or found
	Line   int    // from 1; 0 for the whole file
	Column int    // in characters, from 1; 0 for the whole line
	Text   string // what is wrong, as written; "" if something is missing
	Reason string // what is wrong, and what was expected
	Hint   string // what to do about it; may be empty
	Source string // the line, to be shown; may be empty
}

// String returns the problem with its position, and a caret below the column of its
// line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	if p.File != "" {
		b.WriteString(": ")
	}
	b.WriteString(p.Reason)
	if p.Source != "" {
		b.WriteString(Mark(p.Source, p.Column))
	}
	if p.Hint != "" {
		b.WriteString("\nhint: " + p.Hint)
	}
	return b.String()
}

// Problems are all that is wrong, in the order of the input.
type Problems []Problem

// Add adds a problem with a line of a file.
func (ps *Problems) Add(file string, line int, hint, reason string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: line, Reason: fmt.Sprintf(reason, args...), Hint: hint})
}

// Error returns the problems, of each kind the first.
func (ps Problems) Error() string {
	texts, reasons := make([]string, len(ps)), make([]string, len(ps))
	for i, p := range ps {
		texts[i], reasons[i] = p.String(), p.Reason
	}
	return Few(texts, reasons)
}
