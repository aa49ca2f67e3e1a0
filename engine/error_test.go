package engine

import (
	"errors"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

// A server's message of any length is cut; what the error is stays known.
func TestLongMessage(t *testing.T) {
	cause := hint.With(errors.New(strings.Repeat("µ", 1<<20)), "write less")
	err := Classify(Conflict, cause)
	if n := len(err.Error()); n < 2000 || n > 2*longestError+10 || !strings.HasSuffix(err.Error(), "µ…") {
		t.Errorf("%d bytes", n)
	}
	expect.True(t, ClassOf(err) == Conflict && hint.Of(err) == "write less" && errors.Is(err, cause),
		"what the error is was lost")
	expect.Equal(t, Errorf(Gone, "%s", "short").Error(), "short")
}
