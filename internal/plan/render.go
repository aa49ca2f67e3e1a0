package plan

import (
	"regexp"
	"strconv"
	"strings"
)

// yaml returns the tree as the text of an equivalent plan.
func (n *node) yaml() []byte {
	var b strings.Builder
	n.write(&b, "")
	return []byte(b.String())
}

// write writes a value on lines of its own, indented.
func (n *node) write(b *strings.Builder, indent string) {
	for _, item := range n.items {
		b.WriteString(indent + "-")
		item.writeAfter(b, indent)
	}
	for _, e := range n.entries {
		b.WriteString(indent + e.key.scalar() + ":")
		e.value.writeAfter(b, indent)
	}
}

// writeAfter writes a value after its key or dash.
func (n *node) writeAfter(b *strings.Builder, indent string) {
	switch {
	case n.kind == list && len(n.items) == 0:
		b.WriteString(" []\n")
	case n.kind == mapping && len(n.entries) == 0:
		b.WriteString(" {}\n")
	case n.kind == scalar:
		b.WriteString(" " + n.scalar() + "\n")
	default:
		b.WriteString("\n")
		n.write(b, indent+"  ")
	}
}

var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// scalar returns the text of a value or a key: as it was written, or quoted if it
// would be read as something else.
func (n *node) scalar() string {
	text, isText := n.value.(string)
	if isText && (!plainWord.MatchString(text) || resolve(text) != text) {
		return strconv.Quote(text)
	}
	return n.text
}
