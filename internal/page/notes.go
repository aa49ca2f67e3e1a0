package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/quantity"
)

// Note is a numbered remark below a section.
type Note struct {
	ID     string // unique on the page
	Number int
	Text   string
}

// Notes collects the remarks of a section, and stands below it as a block. The same text gets the same number,
// and so do texts of the same parts that differ in nothing but figures: a machine
// that was disturbed all day long would otherwise fill a page with its tenths of
// seconds.
type Notes struct {
	section string
	List    []Note
	kinds   []*noteKind // of the list
}

// NewNotes returns the notes of the section with an id.
func NewNotes(section string) *Notes { return &Notes{section: section} }

// A remark is made of parts: words, whole numbers, and what has parts of its own.
// Numbers are figures; in words they are not looked for.
type hasParts interface {
	Parts() (words, figures []string) // as metric.Warning has
}

// noteKind is a text with its figures taken out.
type noteKind struct {
	words   []string // around the figures
	figures []figures
	seen    map[string]bool // the texts
}

// figures are those at one place of texts of a kind.
type figures struct {
	named       []string // the first different ones, one more than are named
	least, most string
}

// Mark returns the note of a remark, by its parts: a new one if there is none yet.
func (n *Notes) Mark(parts ...any) Note {
	words, found := split(parts)
	text := strings.Join(interleaved(words, found), "")
	for i, k := range n.kinds {
		if slices.Equal(k.words, words) {
			if k.add(text, found) {
				n.List[i].Text = k.String()
			}
			return n.List[i]
		}
	}
	i := len(n.List) + 1
	k := &noteKind{words: words, figures: make([]figures, len(found)), seen: map[string]bool{}}
	k.add(text, found)
	n.List, n.kinds = append(n.List, Note{fmt.Sprintf("%sn%d", n.prefix(), i), i, text}), append(n.kinds, k)
	return n.List[i-1]
}

// Merged are the texts of remarks, those that differ only in figures made one.
func Merged(remarks [][]any) []string {
	n := &Notes{}
	for _, parts := range remarks {
		n.Mark(parts...)
	}
	out := make([]string, len(n.List))
	for i, note := range n.List {
		out[i] = note.Text
	}
	return out
}

// Has reports whether the very text is among the remarks.
func (n *Notes) Has(text string) bool {
	return slices.ContainsFunc(n.kinds, func(k *noteKind) bool { return k.seen[text] })
}

// prefix makes the ids of notes unique on the page: they are many, so of a step
// like s3-l-i1 it is only its number.
func (n *Notes) prefix() string {
	first, _, _ := strings.Cut(n.section, "-")
	return first
}

// split puts the parts of a remark together: words and figures alternate.
func split(parts []any) (words, found []string) {
	words = []string{""}
	for _, part := range parts {
		switch p := part.(type) {
		case hasParts:
			w, f := p.Parts()
			words[len(words)-1] += w[0]
			words, found = append(words, w[1:]...), append(found, f...)
		case int:
			words, found = append(words, ""), append(found, strconv.Itoa(p))
		default:
			words[len(words)-1] += fmt.Sprint(p)
		}
	}
	return words, found
}

// interleaved are words with the figures between them.
func interleaved(words, found []string) (out []string) {
	for i, w := range words {
		if out = append(out, w); i < len(found) {
			out = append(out, found[i])
		}
	}
	return out
}

// add takes a text in; it reports whether it is a new one.
func (k *noteKind) add(text string, found []string) bool {
	if k.seen[text] {
		return false
	}
	k.seen[text] = true
	for i, f := range found {
		k.figures[i].add(f)
	}
	return true
}

// So many different figures are named one by one; of small ones, such as the
// numbers of trials, some more.
const (
	mostNamed      = 3
	mostNamedShort = 6
)

func (f *figures) add(v string) {
	if len(f.named) <= mostNamedShort && !slices.Contains(f.named, v) {
		f.named = append(f.named, v)
	}
	if f.least == "" || below(v, f.least) {
		f.least = v
	}
	if f.most == "" || below(f.most, v) {
		f.most = v
	}
}

// below compares figures as numbers, and what is none, such as a version, as text.
func below(a, b string) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(a, ",", ""), 64)
	y, err2 := strconv.ParseFloat(strings.ReplaceAll(b, ",", ""), 64)
	if err != nil || err2 != nil {
		return a < b
	}
	return x < y
}

// String is the text with the range of each figure, and how many texts it
// stands for.
func (k *noteKind) String() string {
	var b strings.Builder
	for i, f := range k.figures {
		b.WriteString(k.words[i])
		long := slices.ContainsFunc(f.named, func(v string) bool { return len(v) > 2 })
		if n := len(f.named); n <= mostNamed || n <= mostNamedShort && !long {
			b.WriteString(quantity.Joined(f.named))
		} else {
			b.WriteString(f.least + " to " + f.most)
		}
	}
	fmt.Fprintf(&b, "%s (%d such remarks)", k.words[len(k.words)-1], len(k.seen))
	return b.String()
}
