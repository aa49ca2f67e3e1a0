package escape_test

import (
	"testing"

	"rumbench/internal/text/escape"
)

func TestArgument(t *testing.T) {
	for word, want := range map[string]string{
		"results/a-1": "results/a-1", "a b": "'a b'", "-x": "'-x'", "it's": `'it'\''s'`, "": "''", "é$x": "'é$x'", "~": "'~'",
	} {
		if got := escape.Argument(word); got != want {
			t.Errorf("Argument(%q) = %s, want %s", word, got, want)
		}
	}
}

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
