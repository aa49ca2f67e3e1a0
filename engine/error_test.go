package engine

import (
	"errors"
	"strings"
	"testing"

	"rumbench/internal/text/hint"
)

// A server's message of any length is cut; what the error is stays known.
func TestLongMessage(t *testing.T) {
	cause := hint.With(errors.New(strings.Repeat("µ", 1<<20)), "write less")
	err := Classify(Conflict, cause)
	if n := len(err.Error()); n < 2000 || n > 2*longestError+10 || !strings.HasSuffix(err.Error(), "µ…") {
		t.Errorf("%d bytes", n)
	}
	if ClassOf(err) != Conflict || hint.Of(err) != "write less" || !errors.Is(err, cause) {
		t.Error("what the error is was lost")
	}
	if got := Errorf(Gone, "%s", "short").Error(); got != "short" {
		t.Error(got)
	}
}
