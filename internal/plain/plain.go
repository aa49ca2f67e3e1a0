// Package plain takes out of texts what a terminal or a page would obey instead
// of show: control characters, and those that turn the direction of writing.
// Names, notes and messages come from files and servers of others. What is taken
// out is written as \u001b, which in JSON still means the same.
//
// It knows nothing of Markdown or HTML, which have characters of their own to
// escape.
package plain

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// shown tells whether a character is shown as itself: all but control characters
// and those that are invisible. Lines end and columns begin as they did.
func shown(r rune) bool {
	return r == '\n' || r == '\t' || r >= ' ' && r < 0x7f || r > 0x9f && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Text returns a text of several lines with what is not shown written out.
func Text(s string) string { return escape(s, shown) }

// Line returns a name or a message as one line: line ends and tabs are spaces.
func Line(s string) string {
	return Text(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, s))
}

func escape(s string, shown func(rune) bool) string {
	at := strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !shown(r) })
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:at])
	for _, r := range s[at:] { // bytes that are no UTF-8 become U+FFFD
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

// Writer writes what it is given as Text does, to a terminal, a pipe or a file.
type Writer struct {
	raw  io.Writer
	rest []byte // the beginning of a character that goes on in the next write
}

// NewWriter returns a Writer to another one.
func NewWriter(w io.Writer) *Writer { return &Writer{raw: w} }

// Raw returns the writer behind a Writer, and any other as it is, to those who
// draw on the terminal: they take care of the texts themselves.
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

// partial is how many bytes at the end begin a character that is not complete.
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
