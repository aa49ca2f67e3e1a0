package page

import (
	"fmt"
	"strings"
)

// Tree is a line of text with lines below it, for a terminal only.
type Tree struct {
	Text     string
	Verbatim bool // never wrapped: a command to copy
	Items    []Tree
}

// Add appends a line below the tree's own, and returns it. Only the line
// returned last may get lines below it.
func (t *Tree) Add(format string, args ...any) *Tree {
	t.Items = append(t.Items, Tree{Text: fmt.Sprintf(format, args...)})
	return &t.Items[len(t.Items)-1]
}

func (Tree) kind() string { return "tree" }

// tree writes a tree, with a blank line before the outer lines that have lines
// below them.
func (t *text) tree(n Tree, depth int) {
	if len(n.Items) > 0 && depth < 2 && t.Len() > 0 {
		t.WriteByte('\n')
	}
	limit := t.style.Width
	if n.Verbatim {
		limit = 0
	}
	t.wrapped(strings.Repeat("  ", depth), n.Text, limit)
	for _, item := range n.Items {
		t.tree(item, depth+1)
	}
}

// wrapped writes a text behind an indentation, broken between words into lines
// that fit the limit. A longer word stays whole; a limit of 0 is none.
func (t *text) wrapped(indent, text string, limit int) {
	line := indent
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line += word
		case limit > 0 && width(line)+1+width(word) > limit:
			t.printf("%s\n", strings.TrimRight(line, " "))
			line = indent + "  " + word
		default:
			line += " " + word
		}
	}
	t.printf("%s\n", line)
}
