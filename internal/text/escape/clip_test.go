package escape_test

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/escape"
)

func TestArgument(t *testing.T) {
	for word, want := range map[string]string{
		"results/a-1": "results/a-1", "a b": "'a b'", "-x": "'-x'", "it's": `'it'\''s'`, "": "''", "é$x": "'é$x'", "~": "'~'",
	} {
		expect.Equal(t, escape.Argument(word), want, word)
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
		expect.Equal(t, escape.Clip(c.text, c.width), c.want, c.text, c.width)
	}
}
