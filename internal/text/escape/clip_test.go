package escape_test

import (
	"testing"

	"rumbench/internal/text/escape"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"µµµµ", 3, "µµ…"}, {"abc", 1, "…"}, {"abc", 0, "abc"}, {"abc", -1, "abc"}, {"", 5, ""},
	} {
		if got := escape.Clip(c.text, c.width); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
