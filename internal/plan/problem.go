package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"rumbench/internal/plain"
)

// Problem is one thing that is wrong with a plan.
type Problem struct {
	File   string // the plan file, or the override as on the command line
	Line   int    // from 1; 0 in an override
	Column int    // in characters, from 1; in an override, of File
	Text   string // what is wrong, as written; "" if something is missing
	Reason string
	Hint   string // what to do about it; may be empty

	source string // the line of the file
}

// String returns the problem with its line of the file and a caret below the column.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": " + p.Reason)
	if p.source != "" {
		b.WriteString(plain.Mark(p.source, p.Column))
	}
	if p.Hint != "" {
		b.WriteString("\nhint: " + p.Hint)
	}
	return b.String()
}

// Problems are the problems of a plan, in the order of the file, those of
// overrides last.
type Problems []Problem

// Error returns the problems, of each kind the first.
func (ps Problems) Error() string {
	texts, reasons := make([]string, len(ps)), make([]string, len(ps))
	for i, p := range ps {
		texts[i], reasons[i] = p.String(), p.Reason
	}
	return plain.Few(texts, reasons)
}

func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		switch {
		case a.Line == 0 && b.Line == 0:
			return 0
		case a.Line == 0:
			return 1
		case b.Line == 0:
			return -1
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// source is a text in which nodes and problems have positions.
type source struct {
	name  string
	lines []string
	// shift is the number of characters before the value of an override; 0 for
	// a file.
	shift int
}

func fileSource(name, text string) *source {
	return &source{name: name, lines: strings.Split(text, "\n")}
}

func setSource(set string) *source {
	name := "--set " + set
	key, _, _ := strings.Cut(name, "=")
	return &source{name: name, shift: utf8.RuneCountInString(key) + 1}
}

func (s *source) problem(line, column int, text, reason, hint string) Problem {
	p := Problem{File: s.name, Line: line, Column: column, Text: text, Reason: hideQuoted(reason), Hint: hint}
	switch {
	case s.shift > 0:
		p.Line, p.File = 0, hideSecrets(s.name)
		p.source = p.File
	case line >= 1 && line <= len(s.lines):
		p.source = s.shown(line)
	}
	return p
}
