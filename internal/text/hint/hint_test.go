package hint_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

func TestHint(t *testing.T) {
	inner := errors.New("inner")
	wrapped := fmt.Errorf("outer: %w", hint.With(inner, "do this"))
	expect.True(t, errors.Is(wrapped, inner) && wrapped.Error() == "outer: inner" &&
		hint.Of(wrapped) == "do this", wrapped, hint.Of(wrapped))
	err := hint.Errorf("do that", "no %s", "plan")
	expect.True(t, err.Error() == "no plan" && hint.Of(err) == "do that", err, hint.Of(err))
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	expect.Contains(t, hint.Of(full), "disk is full")
	expect.Contains(t, hint.Of(hint.With(full, "")), "disk is full")
	expect.True(t, hint.Of(inner) == "" && hint.Of(nil) == "", "a hint came from nothing")
}

func TestNames(t *testing.T) {
	names := []string{"rows_per_s", "rows", "cache", "direct_io", "x"}
	for _, c := range []struct{ wrong, want string }{
		{"row_per_s", "did you mean rows_per_s?"}, {"Cahce", "did you mean cache?"}, {"rowz", "did you mean rows?"},
		{"cache_size", "did you mean cache?"}, {"direct", "did you mean direct_io?"},
		{"drct", "did you mean direct_io?"}, {"rwps", "did you mean rows_per_s?"}, {"rwp", "none"}, {"irct", "none"},
		{"per_row_s", "none"}, {"xx", "did you mean x?"}, {"c", "none"}, {"", "none"},
	} {
		expect.Equal(t, hint.Meant(c.wrong, names, "none"), c.want, c.wrong)
	}
	expect.Equal(t, hint.OneOf("zzz", names), "one of rows_per_s, rows, cache, direct_io, x")
	expect.Equal(t, hint.OneOf("zzz", names[:1]), "it can be rows_per_s")
	expect.Equal(t, hint.OneOf("zzz", make([]string, 100))+hint.OneOf("zzz", nil), "")
}

// A path that does not exist is near one that does, with its first missing part replaced.
func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"results/r1/c.json", "results/r2/c.json", "results/notes.md", "plans/quick.yaml", "plans/quick-two.yaml", "plan.yaml"} {
		expect.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		expect.NoError(t, os.WriteFile(file, nil, 0o644))
	}
	campaign := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "c.json"))
		return err == nil
	}
	for _, c := range []struct {
		path string
		fit  func(string) bool
		want string
	}{
		{"resluts", nil, "results"}, {"./resluts/", nil, "results"}, {"resluts/r2", nil, "results/r2"}, {"resluts/r2", campaign, "results/r2"},
		{"resluts/r7", nil, ""}, {"results/r7", campaign, "results/r1"}, {"results/note", campaign, ""}, {"results/note", nil, "results/notes.md"},
		{"plans/qick.yaml", nil, "plans/quick.yaml"}, {"plans/qick", nil, "plans/quick.yaml"}, {"plans/quick.yml", nil, "plans/quick.yaml"},
		{"plans/uick", nil, "plans/quick.yaml"}, {"plan", nil, "plan.yaml"}, {"plans/two", nil, "plans/quick-two.yaml"},
		{"/nowhere/at/all", nil, ""}, {"", nil, ""},
	} {
		expect.Equal(t, strings.Join(hint.Paths(c.path, c.fit), " "), c.want, c.path)
	}
}

func TestMark(t *testing.T) {
	for _, c := range []struct {
		line   string
		column int
		want   string
	}{
		{"a: b", 4, "\n    a: b\n       ^"}, {"\ta", 2, "\n    \ta\n    \t^"}, {"ää", 2, "\n    ää\n     ^"}, {"", 1, "\n    \n    ^"},
	} {
		expect.Equal(t, hint.Mark(c.line, c.column), c.want, c.line, c.column)
	}
}

// A line of any length is shown around its mistake, and a reason loses its middle.
func TestLongLines(t *testing.T) {
	line := strings.Repeat("a", 5000) + "b" + strings.Repeat("c", 5000)
	for column, part := range map[int]string{1: "aaa", 5001: "abc", 10001: "ccc"} {
		lines := strings.Split(hint.Mark(line, column), "\n")
		at := strings.IndexByte(lines[2], '^')
		if shown := []rune(lines[1]); len(shown) > 300 || !strings.Contains(lines[1], part) || shown[at] != rune(line[column-1]) {
			t.Errorf("column %d: %q, at %d", column, lines[1], at)
		}
	}
	got := hint.Problem{Reason: line + " is no number\nand so on"}.String()
	expect.True(t, len(got) <= 1100 && strings.HasSuffix(got, "c is no number\nand so on") &&
		strings.HasPrefix(got, "aaa"), len(got), got)
	expect.Equal(t, hint.OneOf(line, []string{"x", "y"}), "one of x, y")
}

func TestProblem(t *testing.T) {
	for _, c := range []struct {
		problem hint.Problem
		want    string
	}{
		{hint.Problem{File: "f", Line: 1, Column: 4, Reason: "why", Shown: "a\tö x"}, "f:1:4: why\n    a\tö x\n     \t ^"},
		{hint.Problem{File: "f", Line: 1, Reason: "why", Hint: "do"}, "f:1: why\nhint: do"},
		{hint.Problem{File: "f", Column: 2, Reason: "why", Shown: "ab"}, "f: why\n    ab\n     ^"},
		{hint.Problem{Reason: "why"}, "why"},
	} {
		expect.Equal(t, c.problem.String(), c.want)
	}
}

// Of each kind the first problems are shown.
func TestProblems(t *testing.T) {
	var ps hint.Problems
	ps.Add("at", 0, "", "it is empty")
	for i := range 25 {
		ps.Add("at", 0, "", "unknown key %q", fmt.Sprint("k\"", i))
		if i%2 == 0 {
			ps.Add("at", 0, "", "rows is %d, but in /logs/%d.log:3 it is 7", i, i)
		}
	}
	got := strings.Split(ps.Error(), "\n")
	expect.Equal(t, len(got), 1+20+1+13, "lines")
	more := slices.Index(got, "… and 5 more of this kind")
	expect.True(t, more >= 1 && got[more-1] == `at: unknown key "k\"19"`, got)
	expect.Equal(t, ps[:3].Error(), ps[0].String()+"\n"+ps[1].String()+"\n"+ps[2].String())
}
