package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rumbench/internal/text/quantity"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits for files of a different kind: the time and memory of the YAML parser
// grow with the square of either.
const (
	MaxBytes = 64 << 10
	maxDepth = 50
)

type Kind uint8

const (
	Scalar Kind = iota
	List
	Mapping
	Broken // its problem has been reported
)

// Node is a value or key with its position.
type Node struct {
	Kind         Kind
	Source       *Source
	Line, Column int
	Text         string  // of a scalar, as written, without quotes
	Value        any     // of a scalar: nil, bool, int64, uint64, float64 or string
	Items        []*Node // of a list
	Entries      []Entry // of a mapping, in order, each key once
}

type Entry struct{ Key, Value *Node }

// Get returns the value of a key, nil if the node does not have it, or is nil itself.
func (n *Node) Get(key string) *Node {
	if i := n.index(key); i >= 0 {
		return n.Entries[i].Value
	}
	return nil
}

// Key returns the key with this text, nil if the node does not have it.
func (n *Node) Key(text string) *Node {
	if i := n.index(text); i >= 0 {
		return n.Entries[i].Key
	}
	return nil
}

func (n *Node) index(key string) int {
	if n == nil {
		return -1
	}
	return slices.IndexFunc(n.Entries, func(e Entry) bool { return e.Key.Text == key })
}

// Set sets the value of a key.
func (n *Node) Set(key, value *Node) {
	if i := n.index(key.Text); i >= 0 {
		n.Entries[i].Value = value
		return
	}
	n.Entries = append(n.Entries, Entry{key, value})
}

func (n *Node) IsNull() bool { return n.Kind == Scalar && n.Value == nil }

// Plain returns the node as Go values: scalars as in value or, if asText, as
// written, []any and map[string]any.
func (n *Node) Plain(asText bool) any {
	switch n.Kind {
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Plain(asText)
		}
		return out
	case Mapping:
		out := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			out[e.Key.Text] = e.Value.Plain(asText)
		}
		return out
	}
	if asText && n.Value != nil {
		return n.Text
	}
	return n.Value
}

// ReadFile reads a file; it returns nil if that is not a mapping.
func (d *Document) ReadFile(file string, content []byte) *Node {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(content), "\ufeff"))
	root := d.Read(FileSource(file, strings.ToValidUTF8(text, "\ufffd")), text)
	switch {
	case root == nil:
	case root.IsNull():
		d.At(root, "the "+d.What+" is empty", "the least "+d.What+" is: "+d.Least)
	case d.Is(root, Mapping, "the "+d.What+" is not a map of keys", "write each key as key: value on its own line"):
		return root
	}
	return nil
}

// Read parses one YAML document. It returns nil if the document cannot be read.
func (d *Document) Read(src *Source, text string) *Node {
	r := reader{d: d, src: src}
	if !utf8.ValidString(text) {
		r.refuseBytes(text)
		return nil
	}
	if len(text) > MaxBytes {
		r.refuse(nil, fmt.Sprintf("it is longer than %s", quantity.FormatSize(MaxBytes)), "is this a "+d.What+"?")
		return nil
	}
	file, err := parse(text)
	if err != nil {
		r.syntax(err)
		return nil
	}
	return r.document(file)
}

// deep is the error of a document that is nested too deeply.
type deep struct{ at *token.Token }

func (*deep) Error() string { return "lists and maps are nested too deeply" }

func parse(text string) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil { // a bug in the library must not crash the program
			err = fmt.Errorf("this is not YAML (%v)", p)
		}
	}()
	tokens := lexer.Tokenize(text)
	if t := tooDeep(tokens); t != nil {
		return nil, &deep{t}
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// tooDeep returns the token that exceeds the nesting limit. Nesting by indentation
// alone cannot get deep within maxBytes.
func tooDeep(tokens token.Tokens) *token.Token {
	flow, marks, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			marks, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			marks++
		}
		if flow+marks > maxDepth {
			return t
		}
	}
	return nil
}

// reader turns the library's tree into nodes and reports what files cannot contain.
type reader struct {
	d   *Document
	src *Source
}

// place returns the position of a token in the source, the beginning for nil.
func (r reader) place(t *token.Token) (line, column int) {
	line, column = 1, 1
	if t != nil && t.Position != nil {
		line, column = max(t.Position.Line, 1), max(t.Position.Column, 1)
	}
	if r.src.shift > 0 { // an override is shown in one line
		if line > 1 {
			column = 1
		}
		return 0, column + r.src.shift
	}
	return min(line, len(r.src.lines)), column
}

func (r reader) refuse(t *token.Token, reason, hint string) {
	line, column := r.place(t)
	r.d.Problems = append(r.d.Problems, r.src.Problem(line, column, reason, hint))
}

func (r reader) refuseBytes(text string) {
	good := text
	for i, c := range text {
		if c == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			good = text[:i]
			break
		}
	}
	line := 1 + strings.Count(good, "\n")
	column := 1 + utf8.RuneCountInString(good[strings.LastIndex(good, "\n")+1:])
	r.d.Problems = append(r.d.Problems,
		r.src.Problem(line, column+r.src.shift, "this is not UTF-8 text", "save the "+r.d.What+" as UTF-8"))
}

// syntax reports an error of the YAML library.
func (r reader) syntax(err error) {
	const hint = "check the indentation and brackets, and quote texts that hold ': ' or ' #' or begin with a special " +
		"character"
	d, tooDeep := errors.AsType[*deep](err)
	y, found := errors.AsType[yaml.Error](err)
	switch {
	case tooDeep:
		r.refuse(d.at, d.Error(), "is this a "+r.d.What+"?")
	case !found:
		r.refuse(nil, err.Error(), hint)
	case strings.Contains(y.GetMessage(), "'\t'"):
		r.refuse(y.GetToken(), "a tab stands where only spaces may", "indent with spaces")
	default:
		r.refuse(y.GetToken(), "this is not YAML: "+y.GetMessage(), hint)
	}
}

func (r reader) document(f *ast.File) *Node {
	docs := slices.DeleteFunc(f.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) == 0 {
		return r.node(Scalar, nil)
	}
	if len(docs) > 1 { // without its own start if the one before ended with "..."
		r.refuse(cmp.Or(docs[1].Start, docs[1].GetToken()), "a second document begins",
			"a "+r.d.What+" is one document: put this into a separate file")
	}
	return r.convert(docs[0].Body)
}

func (r reader) node(k Kind, t *token.Token) *Node {
	n := &Node{Kind: k, Source: r.src}
	n.Line, n.Column = r.place(t)
	return n
}

func (r reader) convert(a ast.Node) *Node {
	switch x := a.(type) {
	case *ast.MappingNode:
		return r.mapping(x)
	case *ast.SequenceNode:
		n := r.node(List, x.Start)
		for _, v := range x.Values {
			n.Items = append(n.Items, r.convert(v))
		}
		return n
	case *ast.LiteralNode:
		n := r.node(Scalar, x.Start)
		n.Text = x.Value.Value
		n.Value = n.Text
		return n
	case *ast.AnchorNode:
		r.refuse(x.Start, "anchors are not supported", "remove it, and write the value where it is used")
		return r.convert(x.Value)
	case *ast.TagNode:
		r.refuse(x.Start, "tags are not supported", "remove it; put a value that must be text in quotes")
		return r.convert(x.Value)
	case *ast.AliasNode:
		r.refuse(x.Start, "aliases are not supported", "write the value itself")
		return r.node(Broken, x.Start)
	case ast.ScalarNode:
		return r.scalar(x.GetToken())
	case nil:
		return r.node(Scalar, nil)
	}
	r.refuse(a.GetToken(), "this is not supported", "use maps, lists and plain values")
	return r.node(Broken, a.GetToken())
}

func (r reader) mapping(m *ast.MappingNode) *Node {
	n := r.node(Mapping, m.Start)
	if !m.IsFlowStyle && len(m.Values) > 0 { // a block mapping begins with its first key, not its first colon
		n.Line, n.Column = r.place(m.Values[0].Key.GetToken())
	}
	for _, v := range m.Values {
		key := r.key(v.Key)
		value := r.convert(v.Value)
		if key == nil {
			continue
		}
		if n.Key(key.Text) != nil {
			r.refuse(v.Key.GetToken(), fmt.Sprintf("the key %q is given twice", key.Text), "remove one")
			continue
		}
		n.Entries = append(n.Entries, Entry{key, value})
	}
	return n
}

// key turns a key into a node; nil if such a key cannot exist.
func (r reader) key(k ast.MapKeyNode) *Node {
	t := k.GetToken()
	if k.IsMergeKey() {
		r.refuse(t, "merge keys are not supported", "write the keys themselves")
		return nil
	}
	if _, ok := k.(ast.ScalarNode); !ok || t.Type == token.LiteralType || t.Type == token.FoldedType {
		r.refuse(t, "this cannot be a key", "keys are plain words")
		return nil
	}
	return r.scalar(t)
}

func (r reader) scalar(t *token.Token) *Node {
	n := r.node(Scalar, t)
	switch t.Type {
	case token.ImplicitNullType:
	case token.SingleQuoteType, token.DoubleQuoteType:
		n.Text, n.Value = t.Value, t.Value
	default:
		n.Text, n.Value = t.Value, Resolve(t.Value)
	}
	return n
}

var float = regexp.MustCompile(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// Resolve returns the value of a plain scalar. Two kinds of YAML numbers stay
// text: those with a leading zero, which are octal to some parsers and decimal to
// others, and infinities, which are valid nowhere.
func Resolve(s string) any {
	switch s {
	case "null", "Null", "NULL", "~", "":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if digits := strings.TrimLeft(s, "+-"); len(digits) > 1 && digits[0] == '0' &&
		strings.Trim(digits, "0123456789_") == "" {
		return s
	}
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(s, 0, 64); err == nil {
		return u
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && float.MatchString(s) {
		return f
	}
	return s
}
