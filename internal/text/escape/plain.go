// Package escape escapes characters that a terminal or a page would interpret
// instead of show: control characters, and those that change the direction of
// writing. Names, notes and messages come from foreign files and servers. They
// are escaped as \u001b, which is valid in JSON.
//
// It knows nothing of Markdown and HTML, which need different escapes.
package escape

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// shown reports whether a character is written unchanged: all but control and
// invisible characters are. Line ends and tabs stay.
func shown(r rune) bool {
	return r == '\n' || r == '\t' || r >= ' ' && r < 0x7f || r > 0x9f && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Text returns a text of several lines with unsafe characters escaped.
func Text(s string) string { return escape(s, shown) }

// Line returns a name or a message as one line: line ends and tabs become spaces.
func Line(s string) string {
	return Text(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, s))
}

func escape(s string, shown func(rune) bool) string {
	position := strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !shown(r) })
	if position < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:position])
	for _, r := range s[position:] { // invalid UTF-8 becomes U+FFFD
		switch {
		case shown(r):
			b.WriteRune(r)
		case r > 0xffff:
			first, second := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, first, second)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Writer escapes its input, as Text does.
type Writer struct {
	raw  io.Writer
	rest []byte // an incomplete character at the end of the last write
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{raw: w} }

// Raw returns the writer below a Writer, and any other unchanged. It is for code
// that draws on the terminal and escapes texts itself.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*Writer); ok {
		return p.raw
	}
	return w
}

// Write writes b.
func (w *Writer) Write(b []byte) (int, error) {
	n := len(b)
	if len(w.rest) > 0 {
		b = append(w.rest, b...)
	}
	whole := len(b) - partial(b)
	w.rest = bytes.Clone(b[whole:])
	if _, err := io.WriteString(w.raw, Text(string(b[:whole]))); err != nil {
		return 0, err
	}
	return n, nil
}

// partial returns the number of bytes at the end that are an incomplete character.
func partial(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Hidden is written instead of a secret.
const Hidden = "***"

var (
	formula = regexp.MustCompile(`(?s)^[\s\p{Z}\x{feff}]*[=+\-@＝＋－＠].`)
	signed  = regexp.MustCompile(`(?i)^[+\-][\d.,]+(e[+\-]?\d+)? ?%?$`)
)

// Cell returns a cell of a CSV or TSV file that a spreadsheet does not compute: names come
// from others. Numbers stay numbers.
func Cell(s string) string {
	if formula.MatchString(s) && !signed.MatchString(s) {
		return "'" + s
	}
	return s
}

var plainWord = regexp.MustCompile(`^[\w./:@%+,][\w./:@%+,=-]*$`)

// Argument returns a word as a user types it in a shell: in quotes, if it needs them.
func Argument(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Clip returns a line that is no wider than a terminal, with an ellipsis for the
// rest. A width of 0 is unknown, and any line fits.
func Clip(line string, width int) string {
	if width < 1 || utf8.RuneCountInString(line) <= width {
		return line
	}
	for position := range line {
		if width--; width == 0 {
			line = line[:position]
			break
		}
	}
	return line + "…"
}
