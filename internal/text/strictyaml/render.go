package strictyaml

import (
	"regexp"
	"strconv"
	"strings"
)

// YAML returns the tree as the text of an equivalent file.
func (n *Node) YAML() []byte {
	var b strings.Builder
	n.write(&b, "")
	return []byte(b.String())
}

// write writes a value on separate lines, indented.
func (n *Node) write(b *strings.Builder, indent string) {
	for _, item := range n.Items {
		b.WriteString(indent + "-")
		item.writeAfter(b, indent)
	}
	for _, e := range n.Entries {
		b.WriteString(indent + e.Key.scalar() + ":")
		e.Value.writeAfter(b, indent)
	}
}

// writeAfter writes a value after its key or dash.
func (n *Node) writeAfter(b *strings.Builder, indent string) {
	switch {
	case n.Kind == List && len(n.Items) == 0:
		b.WriteString(" []\n")
	case n.Kind == Mapping && len(n.Entries) == 0:
		b.WriteString(" {}\n")
	case n.Kind == Scalar:
		b.WriteString(" " + n.scalar() + "\n")
	default:
		b.WriteString("\n")
		n.write(b, indent+"  ")
	}
}

var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// scalar returns the text of a value or a key: as it was written, or quoted if it
// would be read as something else.
func (n *Node) scalar() string {
	text, isText := n.Value.(string)
	if isText && (!plainWord.MatchString(text) || Resolve(text) != text) {
		return strconv.Quote(text)
	}
	return n.Text
}
