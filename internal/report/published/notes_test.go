package published_test

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"rumbench/internal/expect"
	"rumbench/internal/report/published"
	"rumbench/internal/text/hint"
)

func TestNotes(t *testing.T) {
	tests := []string{"l.i0", "l.i1", "a: b", "read-only_range=100"}
	for _, c := range []struct {
		name, src string
		notes     map[string]string
		problems  hint.Problems
	}{
		{"some", "# why\n\nl.i1: the journal: it waits\n  read-only_range=100:\tthe plan changed \r\n", map[string]string{"l.i1": "the journal: it waits", "read-only_range=100": "the plan changed"}, nil},
		{"a name with a colon", "a: b: this one\n", map[string]string{"a: b": "this one"}, nil},
		{"none", "", map[string]string{}, nil},
		{"unknown step", "l.i0: fine\n l.i9: what\n", map[string]string{"l.i0": "fine"}, hint.Problems{{File: "n", Line: 2, Column: 2, Reason: `no trial has a step "l.i9"`, Hint: "did you mean l.i0?"}}},
		{"unknown and like none", "zzz: what\n", map[string]string{}, hint.Problems{{File: "n", Line: 1, Column: 1, Reason: `no trial has a step "zzz"`, Hint: "one of l.i0, l.i1, a: b, read-only_range=100"}}},
		{"no colon", "l.i1 the journal\n", map[string]string{}, hint.Problems{{File: "n", Line: 1, Column: 1, Reason: "there is no colon after a step's name", Hint: "a line is STEP: TEXT"}}},
		{"empty", "l.i1:  \n", map[string]string{}, hint.Problems{{File: "n", Line: 1, Column: 6, Reason: "there is no note on l.i1", Hint: "write the note after the colon, or leave the line out"}}},
		{"twice", "l.i1: one\n\nl.i1: two\n", map[string]string{"l.i1": "one"}, hint.Problems{{File: "n", Line: 3, Column: 1, Reason: "there is a note on l.i1 in line 1 already", Hint: "write both in one line"}}},
		{"no text", "l.i1: \xff\n", map[string]string{}, hint.Problems{{File: "n", Line: 1, Column: 1, Reason: "the line is no valid text", Hint: "save the file as UTF-8"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			notes, problems := published.Notes("n", c.src, tests)
			expect.Same(t, c.notes, notes)
			expect.Same(t, c.problems, problems, cmpopts.IgnoreUnexported(hint.Problem{}))
		})
	}
}
