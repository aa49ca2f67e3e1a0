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

// Notes collects the remarks of a section, and is a block below it. The same
// text gets the same number, and so do texts that differ only in figures:
// otherwise a machine that was disturbed all day would fill the page with
// notes.
type Notes struct {
	section string
	List    []Note
	kinds   []*noteKind // of the list
}

// NewNotes returns the notes of the section with an id.
func NewNotes(section string) *Notes { return &Notes{section: section} }

// A remark consists of parts: words, integers, and values with parts of their
// own. Integers are figures; digits within words are not.
type hasParts interface {
	Parts() (words, figures []string) // as metric.Warning has
}

// noteKind is a text with its figures taken out.
type noteKind struct {
	words   []string // around the figures
	figures []figures
	seen    map[string]bool // the texts
}

// figures are the values at one position of texts of a kind.
type figures struct {
	named       []string // the first different ones, one more than are listed
	least, most string
}

// Mark returns the note of a remark, given by its parts; a new one if there is
// none yet.
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

// Merged returns the texts of remarks, merging those that differ only in
// figures.
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

// Has reports whether exactly this text is among the remarks.
func (n *Notes) Has(text string) bool {
	return slices.ContainsFunc(n.kinds, func(k *noteKind) bool { return k.seen[text] })
}

// prefix returns what makes the ids of notes unique on the page: for a step
// like s3-l-i1 only its number, as there are many.
func (n *Notes) prefix() string {
	first, _, _ := strings.Cut(n.section, "-")
	return first
}

// split joins the parts of a remark so that words and figures alternate.
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

// interleaved returns words with the figures between them.
func interleaved(words, found []string) (out []string) {
	for i, w := range words {
		if out = append(out, w); i < len(found) {
			out = append(out, found[i])
		}
	}
	return out
}

// add adds a text, and reports whether it is new.
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

// How many different figures are listed individually; small ones, such as trial
// numbers, may be more.
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

// below compares figures as numbers, and others, such as versions, as text.
func below(a, b string) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(a, ",", ""), 64)
	y, err2 := strconv.ParseFloat(strings.ReplaceAll(b, ",", ""), 64)
	if err != nil || err2 != nil {
		return a < b
	}
	return x < y
}

// String returns the text with the range of each figure and the number of
// merged texts.
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
