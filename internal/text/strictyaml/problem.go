package strictyaml

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/secret"
)

// SortProblems sorts problems into the order of the file, those of overrides last.
func SortProblems(ps hint.Problems) {
	slices.SortStableFunc(ps, func(a, b hint.Problem) int {
		if a.Line == 0 || b.Line == 0 {
			return -cmp.Compare(min(a.Line, 1), min(b.Line, 1))
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Source is a text that nodes and problems have positions in.
type Source struct {
	name  string
	lines []string
	// shift is the number of characters before the value of an override; 0 for
	// a file.
	shift int
}

func FileSource(name, text string) *Source {
	return &Source{name: name, lines: strings.Split(text, "\n")}
}

// IsFile reports whether it is a file, not an override.
func (s *Source) IsFile() bool { return s.shift == 0 }

func SetSource(set string) *Source {
	name := "--set " + set
	key, _, _ := strings.Cut(name, "=")
	return &Source{name: name, shift: utf8.RuneCountInString(key) + 1}
}

func (s *Source) Problem(line, column int, reason, help string) hint.Problem {
	p := hint.Problem{File: s.name, Line: line, Column: column, Reason: hideQuoted(reason), Hint: help}
	switch {
	case s.shift > 0:
		p.Line, p.File = 0, secret.Cut(s.name)
		p.Shown = p.File
	case line >= 1 && line <= len(s.lines):
		p.Shown = s.shown(line)
	}
	return p
}

var (
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	entryStart = regexp.MustCompile(`^\s*(- |#|["']?[\w.]+["']?\s*:(\s|$)|$)`)
	listItem   = regexp.MustCompile(`^\s*- `)
	dsnList    = regexp.MustCompile(`(?i)dsn["']?\s*:\s*(#.*)?$`)
)

// hideQuoted hides quotations from a file that look like a secret.
func hideQuoted(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		if secret.Is(q) {
			return `"` + escape.Hidden + `"`
		}
		return q
	})
}

// shown returns a line of the source with secrets hidden: a data source name may
// continue below its key, as may a list of them.
func (s *Source) shown(line int) string {
	items := false
	for position := line; position >= 1; position-- {
		text := s.lines[position-1]
		if position < line && (dsnList.MatchString(text) || !items && secret.DSNKey.MatchString(text)) {
			return escape.Hidden
		}
		switch {
		case listItem.MatchString(text):
			items = true // of a list of data source names, or of maps
		case entryStart.MatchString(text):
			return secret.Cut(s.lines[line-1])
		}
	}
	return secret.Cut(s.lines[line-1])
}
