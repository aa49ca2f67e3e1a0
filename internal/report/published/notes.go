package published

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"rumbench/internal/text/hint"
)

// Notes reads a file of remarks on tests, one a line:
//
//	# why, as far as we know
//	l.i1: sqlite waits for its journal here
//
// Empty lines and those that begin with # are left out. Only the given tests
// may have notes.
func Notes(file, src string, tests []string) (map[string]string, hint.Problems) {
	notes := map[string]string{}
	var problems hint.Problems
	first := map[string]int{}
	n := 0
	for text := range strings.Lines(src) {
		n++
		text = strings.TrimRight(text, " \t\r\n")
		body := strings.TrimLeft(text, " \t\ufeff")
		if body == "" || strings.HasPrefix(body, "#") {
			continue
		}
		column := 1 + utf8.RuneCountInString(text) - utf8.RuneCountInString(body)
		wrong := func(at int, help, reason string, args ...any) {
			problems = append(problems, hint.Problem{File: file, Line: n, Column: column + at,
				Reason: fmt.Sprintf(reason, args...), Hint: help})
		}
		test, note, ok := cut(body, tests)
		switch {
		case !utf8.ValidString(body):
			wrong(0, "save the file as UTF-8", "the line is no valid text")
		case !ok:
			wrong(0, "a line is STEP: TEXT", "there is no colon after a step's name")
		case !slices.Contains(tests, test):
			wrong(0, hint.OneOf(test, tests), "no trial has a step %q", test)
		case note == "":
			wrong(1+utf8.RuneCountInString(test), "write the note after the colon, or leave the line out",
				"there is no note on %s", test)
		case first[test] > 0:
			wrong(0, "write both in one line", "there is a note on %s in line %d already", test, first[test])
		default:
			notes[test], first[test] = note, n
		}
	}
	return notes, problems
}

// cut splits a line at the colon after the test's name, which may itself
// contain colons.
func cut(line string, tests []string) (test, note string, ok bool) {
	test, note, ok = strings.Cut(line, ":")
	test = strings.TrimSpace(test)
	longest := 0
	for _, t := range tests {
		if rest, found := strings.CutPrefix(line, t+":"); found && len(t) > longest {
			test, note, longest = t, rest, len(t)
		}
	}
	return test, strings.TrimSpace(note), ok
}
