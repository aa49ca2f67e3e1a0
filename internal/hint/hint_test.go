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
