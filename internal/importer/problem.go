package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/plain"
)

// Problem is one thing that is wrong with what was to be imported.
type Problem struct {
	File   string // as it was named, or found
	Line   int    // from 1; 0 where the whole file is meant
	Reason string // what is wrong, and what was expected
	Hint   string // what to do about it; may be empty
}

// String shows the problem with its place.
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

// Problems are all that is wrong, in the order of the files.
type Problems []Problem

// Error shows all problems, of one kind the first.
func (ps Problems) Error() string {
	texts, reasons := make([]string, len(ps)), make([]string, len(ps))
	for i, p := range ps {
		texts[i], reasons[i] = p.String(), p.Reason
	}
	return plain.Few(texts, reasons)
}

// add notes a problem.
func (ps *Problems) add(file string, line int, hint, reason string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: line, Reason: fmt.Sprintf(reason, args...), Hint: hint})
}

// sorted are the problems by file and line, each once.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(natural(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(ps)
}
