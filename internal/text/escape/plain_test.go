package escape_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/text/escape"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"rate/s — µs ≠ ✓ 日本\n\tx":   "rate/s — µs ≠ ✓ 日本\n\tx",
		"\x1b[2J\x1b]0;title\a":     `\u001b[2J\u001b]0;title\u0007`,
		"a\rb\x00\x7f":              `a\u000db\u0000\u007f`,
		"\u0085\u009b31m":           `\u0085\u009b31m`,
		"\x9b31m":                   "\ufffd31m",
		"abc\u202egnp.exe":          `abc\u202egnp.exe`,
		"\u2066x\u2069\u200f\ufeff": `\u2066x\u2069\u200f\ufeff`,
		"a\u2028b":                  `a\u2028b`,
		"\U000e0041":                `\udb40\udc41`,
	} {
		expect.Equal(t, escape.Text(in), want, in)
	}
	expect.Equal(t, escape.Line("a\nb\tc\r\x1b"), `a b c \u001b`)
}

// The output does not depend on how a text is split into writes, and JSON keeps
// its meaning.
func TestWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\x1b\u009b\u202e\U000e0041\n\\\""))), 0, 40, -1).Draw(t, "text")
		quoted := expect.Value(json.Marshal(text))(t)
		var out bytes.Buffer
		w := escape.NewWriter(&out)
		for b := quoted; len(b) > 0; {
			n := rapid.IntRange(1, len(b)).Draw(t, "n")
			if got, err := w.Write(b[:n]); got != n || err != nil {
				t.Fatal(got, err)
			}
			b = b[n:]
		}
		expect.Equal(t, out.String(), escape.Text(string(quoted)), "is written as", quoted)
		if strings.ContainsFunc(out.String(), func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("%q has a control character", out.String())
		}
		var again string
		if err := json.Unmarshal(out.Bytes(), &again); err != nil || again != text {
			t.Errorf("%q is read back as %q, %v", text, again, err)
		}
	})
}

func TestRaw(t *testing.T) {
	var b bytes.Buffer
	expect.True(t, escape.Raw(escape.NewWriter(&b)) == &b && escape.Raw(&b) == &b, "another writer")
}
