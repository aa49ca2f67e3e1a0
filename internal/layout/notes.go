package layout

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is something wrong in a file of notes.
type Problem struct {
	Line, Column int // from 1; columns in characters
	Reason, Hint string
}

// Notes reads a file of remarks on tests, one a line:
//
//	# why, as far as we know
//	l.i1: sqlite waits for its journal here
//
// Empty lines and those that begin with # are left out. The tests are those
// that there can be notes on.
func Notes(src string, tests []string) (map[string]string, []Problem) {
	notes := map[string]string{}
	var problems []Problem
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
		wrong := func(at int, hint, reason string, args ...any) {
			problems = append(problems, Problem{n, column + at, fmt.Sprintf(reason, args...), hint})
		}
		test, note, ok := cut(body, tests)
		at := utf8.RuneCountInString(test)
		note = strings.TrimSpace(note)
		switch {
		case !utf8.ValidString(body):
			wrong(0, "save the file as UTF-8", "the line is no valid text")
		case !ok:
			wrong(0, "a line is STEP: TEXT", "there is no colon after a step's name")
		case !slices.Contains(tests, test):
			wrong(0, nearest(test, tests), "no trial has a step %q", test)
		case note == "":
			wrong(at+1, "write the note after the colon, or leave the line out", "there is no note on %s", test)
		case first[test] > 0:
			wrong(0, "write both in one line", "there is a note on %s in line %d already", test, first[test])
		default:
			notes[test], first[test] = note, n
		}
	}
	return notes, problems
}

// cut parts a line at the colon after the test's name. A name may hold colons
// itself.
func cut(line string, tests []string) (test, note string, ok bool) {
	for _, t := range tests {
		if rest, found := strings.CutPrefix(line, t+":"); found && len(t) > len(test) {
			test, note, ok = t, rest, true
		}
	}
	if ok {
		return test, note, true
	}
	test, note, ok = strings.Cut(line, ":")
	return strings.TrimSpace(test), note, ok
}

// nearest hints at the test whose name has the longest beginning or end in
// common with a wrong one.
func nearest(wrong string, tests []string) string {
	best, most := "", 1
	for _, t := range tests {
		n := 0
		for n < min(len(t), len(wrong)) && t[n] == wrong[n] {
			n++
		}
		back := 0
		for back < min(len(t), len(wrong))-n && t[len(t)-1-back] == wrong[len(wrong)-1-back] {
			back++
		}
		if n+back > most {
			best, most = t, n+back
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %s?", best)
	}
	if len(tests) > 50 { // nobody reads as many
		return ""
	}
	return "the steps are " + strings.Join(tests, ", ")
}
