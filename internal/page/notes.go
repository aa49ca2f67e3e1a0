package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/text/quantity"
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
	kinds   []*noteKind    // of the list
	index   map[string]int // where the list has which words
}

// NewNotes returns the notes of the section with an id.
func NewNotes(section string) *Notes { return &Notes{section: section} }

// A remark consists of parts: words, integers, and values with their own parts.
// Integers are figures; digits within words are not.
type hasParts interface {
	Parts() (words, figures []string) // as metric.Warning has
}

// noteKind is a text with its figures taken out.
type noteKind struct {
	words   []string // around the figures
	figures []figure // of the remark that represents all: the largest
	listed  []listed // the integers of all, by the positions of figures
	seen    map[string]bool
}

// figure is a number in a remark. Merged remarks list all their integers, such as
// trials, but the values of one remark represent those of all: ranges of several
// figures would make a sentence that is true of none.
type figure struct {
	text    string
	integer bool
}

// listed are the integers at one position of texts of a kind.
type listed struct {
	named         []string // the first different ones, one more than the list shows
	lowest, limit string
}

// Mark returns the note of a remark, given by its parts; a new one if there is
// none yet.
func (n *Notes) Mark(parts ...any) Note {
	words, found := split(parts)
	text := joined(words, found)
	key := strings.Join(words, "\x00")
	if i, ok := n.index[key]; ok {
		if n.kinds[i].add(text, found) {
			n.List[i].Text = n.kinds[i].String()
		}
		return n.List[i]
	}
	if n.index == nil {
		n.index = map[string]int{}
	}
	n.index[key] = len(n.List)
	i := len(n.List) + 1
	k := &noteKind{words: words, listed: make([]listed, len(found)), seen: map[string]bool{}}
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
	return quantity.Texts(n.List, func(note Note) string { return note.Text })
}

// Has reports whether exactly this text is among the remarks.
func (n *Notes) Has(text string) bool {
	return slices.ContainsFunc(n.kinds, func(k *noteKind) bool { return k.seen[text] })
}

// prefix returns the prefix that makes the ids of notes unique on the page: for a
// step like s3-l-i1 only its number, as there are many.
func (n *Notes) prefix() string {
	first, _, _ := strings.Cut(n.section, "-")
	return first
}

// split joins the parts of a remark so that words and figures alternate.
func split(parts []any) (words []string, found []figure) {
	words = []string{""}
	for _, part := range parts {
		switch p := part.(type) {
		case hasParts:
			w, f := p.Parts()
			words[len(words)-1] += w[0]
			words = append(words, w[1:]...)
			for _, text := range f {
				found = append(found, figure{text: text})
			}
		case int:
			words, found = append(words, ""), append(found, figure{strconv.Itoa(p), true})
		default:
			words[len(words)-1] += fmt.Sprint(p)
		}
	}
	return words, found
}

// joined returns words with the figures between them.
func joined(words []string, found []figure) string {
	var b strings.Builder
	for i, w := range words {
		if b.WriteString(w); i < len(found) {
			b.WriteString(found[i].text)
		}
	}
	return b.String()
}

// add adds a text, and reports whether it is new.
func (k *noteKind) add(text string, found []figure) bool {
	if k.seen[text] {
		return false
	}
	k.seen[text] = true
	for i, f := range found {
		if f.integer {
			k.listed[i].add(f.text)
		}
	}
	if k.figures == nil || isLarger(found, k.figures) {
		k.figures = found
	}
	return true
}

// isLarger compares the values of two remarks, the first ones that differ.
func isLarger(a, b []figure) bool {
	for i := range a {
		if !a[i].integer && a[i].text != b[i].text {
			return lessFigure(b[i].text, a[i].text)
		}
	}
	return false
}

const maxNamed = 6

func (f *listed) add(v string) {
	if len(f.named) <= maxNamed && !slices.Contains(f.named, v) {
		f.named = append(f.named, v)
	}
	if f.lowest == "" || lessFigure(v, f.lowest) {
		f.lowest = v
	}
	if f.limit == "" || lessFigure(f.limit, v) {
		f.limit = v
	}
}

// String returns the integers, or their range if they are many.
func (f *listed) String() string {
	if len(f.named) > maxNamed {
		return f.lowest + " to " + f.limit
	}
	return quantity.Joined(f.named)
}

// lessFigure compares figures as numbers, and others, such as versions, as text.
func lessFigure(a, b string) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(a, ",", ""), 64)
	y, err2 := strconv.ParseFloat(strings.ReplaceAll(b, ",", ""), 64)
	if err != nil || err2 != nil {
		return a < b
	}
	return x < y
}

// String returns the remark with the largest values, and the number of remarks
// that it represents.
func (k *noteKind) String() string {
	all, values := slices.Clone(k.figures), false
	for i := range all {
		if all[i].integer {
			all[i].text = k.listed[i].String()
		} else {
			values = true
		}
	}
	text := joined(k.words, all)
	if values {
		return fmt.Sprintf("%s (the largest of %d)", text, len(k.seen))
	}
	return text
}
