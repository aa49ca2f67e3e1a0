package hint

import (
	"fmt"
	"regexp"
	"strings"
)

// Problem is one mistake in a user's input.
type Problem struct {
	File   string // or argument of a command, as given; "" if it is all of the input
	Line   int    // from 1; 0 if it is the whole file, or in an argument
	Column int    // in characters, from 1; 0 if it is the whole line
	Reason string // the mistake, and what was expected
	Hint   string // the remedy; may be empty
	Shown  string // the line, as far as it may be shown; may be empty
}

// String returns the problem with its line and a caret below the column.
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
	b.WriteString(Shorten(p.Reason))
	if p.Shown != "" {
		b.WriteString(Mark(p.Shown, p.Column))
	}
	if p.Hint != "" {
		b.WriteString("\nhint: " + p.Hint)
	}
	return b.String()
}

// longest is the length from which a line of a message is cut, and widest that of a line
// of input. Input may have lines of any length.
const (
	longest = 1000
	widest  = 200
)

// Shorten cuts the middle out of lines that are too long for a message.
func Shorten(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if r := []rune(line); len(r) > longest {
			lines[i] = string(r[:longest/2]) + " … " + string(r[len(r)-longest/2:])
		}
	}
	return strings.Join(lines, "\n")
}

// Mark returns a line of input, indented, with a caret below a column of it,
// counted from 1. It begins with a newline.
func Mark(line string, column int) string {
	if r := []rune(line); len(r) > widest {
		start := min(max(0, column-widest/2), len(r)-widest)
		line = string(r[start : start+widest])
		if start > 0 {
			line, column = "…"+line, column-start+1
		}
	}
	var margin strings.Builder
	for _, r := range line {
		if column--; column <= 0 {
			break
		}
		if r != '\t' { // a tab is as wide above as below
			r = ' '
		}
		margin.WriteRune(r)
	}
	return "\n    " + line + "\n    " + margin.String() + "^"
}

// Problems are all problems of an input, in its order.
type Problems []Problem

// Add adds a problem of a line of a file.
func (ps *Problems) Add(file string, line int, hint, reason string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: line, Reason: fmt.Sprintf(reason, args...), Hint: hint})
}

// few is the number of problems of one kind that are shown.
const few = 20

// varying matches the parts that differ between problems of one kind: quoted
// text, and words with digits or slashes.
var varying = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S*[\d/]\S*`)

// Error returns the problems. Of those whose reasons differ only in names and
// numbers, it keeps the first and counts the rest.
func (ps Problems) Error() string {
	seen, last := map[string]int{}, map[string]int{} // by kind
	kinds := make([]string, len(ps))
	for i, p := range ps {
		kinds[i] = varying.ReplaceAllString(p.Reason, "")
		if seen[kinds[i]]++; seen[kinds[i]] <= few {
			last[kinds[i]] = i
		}
	}
	var out []string
	for i, kind := range kinds {
		if i > last[kind] {
			continue
		}
		out = append(out, ps[i].String())
		if extra := seen[kind] - few; i == last[kind] && extra > 0 {
			out = append(out, fmt.Sprintf("… and %d more of this kind", extra))
		}
	}
	return strings.Join(out, "\n")
}
