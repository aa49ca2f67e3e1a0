package hint_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/hint"
)

func TestHint(t *testing.T) {
	inner := errors.New("inner")
	wrapped := fmt.Errorf("outer: %w", hint.With(inner, "do this"))
	if !errors.Is(wrapped, inner) || wrapped.Error() != "outer: inner" || hint.Of(wrapped) != "do this" {
		t.Errorf("%v, hint %q", wrapped, hint.Of(wrapped))
	}
	if err := hint.Errorf("do that", "no %s", "plan"); err.Error() != "no plan" || hint.Of(err) != "do that" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	if !strings.Contains(hint.Of(full), "disk is full") || !strings.Contains(hint.Of(hint.With(full, "")), "disk is full") {
		t.Errorf("%q", hint.Of(full))
	}
	if hint.Of(inner) != "" || hint.Of(nil) != "" {
		t.Error("a hint came from nothing")
	}
}

func TestNames(t *testing.T) {
	names := []string{"rows_per_s", "rows", "cache", "direct_io", "x"}
	for _, c := range []struct{ wrong, want string }{
		{"row_per_s", "did you mean rows_per_s?"}, {"Cahce", "did you mean cache?"}, {"rowz", "did you mean rows?"},
		{"cache_size", "did you mean cache?"}, {"direct", "did you mean direct_io?"},
		{"per_row_s", "none"}, {"xx", "did you mean x?"}, {"c", "none"}, {"", "none"},
	} {
		if got := hint.Meant(c.wrong, names, "none"); got != c.want {
			t.Errorf("%q: %q, want %q", c.wrong, got, c.want)
		}
	}
	if got := hint.OneOf("zzz", names); got != "one of rows_per_s, rows, cache, direct_io, x" {
		t.Error(got)
	}
	if got := hint.OneOf("zzz", names[:1]); got != "it can be rows_per_s" {
		t.Error(got)
	}
	if got := hint.OneOf("zzz", make([]string, 100)) + hint.OneOf("zzz", nil); got != "" {
		t.Error(got)
	}
}
