package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/plain"
)

// Problem is one thing that is wrong with the input.
type Problem struct {
	File   string // as given, or found
	Line   int    // from 1; 0 for the whole file
	Reason string // what is wrong, and what was expected
	Hint   string // what to do about it; may be empty
}

// String returns the problem with its position.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.File != "" {
		b.WriteString(": ")
	}
	b.WriteString(p.Reason)
	if p.Hint != "" {
		b.WriteString("\nhint: " + p.Hint)
	}
	return b.String()
}

// Problems are all problems, in the order of the files.
type Problems []Problem

// Error returns the problems, of each kind the first.
func (ps Problems) Error() string {
	texts, reasons := make([]string, len(ps)), make([]string, len(ps))
	for i, p := range ps {
		texts[i], reasons[i] = p.String(), p.Reason
	}
	return plain.Few(texts, reasons)
}

// add adds a problem.
func (ps *Problems) add(file string, line int, hint, reason string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: line, Reason: fmt.Sprintf(reason, args...), Hint: hint})
}

// sorted returns the problems by file and line, without duplicates.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(natural(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(ps)
}
