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

// suggest returns a hint at the known name nearest to a wrong one, or at all known
// names if none is near.
func suggest(wrong string, known []string) string {
	best, least := "", min(1+len(wrong)/4, 3)
	for _, k := range known {
		if d := Distance(strings.ToLower(wrong), k); d <= least && (best == "" || d < least) {
			best, least = k, d
		}
	}
	switch {
	case best != "" && len(wrong) > 1:
		return fmt.Sprintf("did you mean %s?", best)
	case len(known) == 0, len(known) > 50: // too many to read
		return ""
	case len(known) == 1:
		return "it can be " + known[0]
	}
	return "one of " + strings.Join(known, ", ")
}

// Distance returns the edit distance of a and b, in characters.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
