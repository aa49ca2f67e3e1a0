package plan

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rumbench/internal/quantity"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits for files that are not plans: the time and memory of the YAML parser
// grow with the square of either.
const (
	maxBytes = 64 << 10
	maxDepth = 50
)

type kind uint8

const (
	scalar kind = iota
	list
	mapping
	broken // its problem has been reported
)

// node is a value or key of a plan with its position.
type node struct {
	kind         kind
	src          *source
	line, column int
	text         string  // of a scalar, as written, without quotes
	value        any     // of a scalar: nil, bool, int64, uint64, float64 or string
	items        []*node // of a list
	entries      []entry // of a mapping, in order, each key once
}

type entry struct{ key, value *node }

// get returns the value of a key, nil if the node does not have it.
func (n *node) get(key string) *node {
	if i := n.index(key); i >= 0 {
		return n.entries[i].value
	}
	return nil
}

// key returns the key with this text, nil if the node does not have it.
func (n *node) key(text string) *node {
	if i := n.index(text); i >= 0 {
		return n.entries[i].key
	}
	return nil
}

func (n *node) index(key string) int {
	return slices.IndexFunc(n.entries, func(e entry) bool { return e.key.text == key })
}

// set sets the value of a key.
func (n *node) set(key, value *node) {
	if i := n.index(key.text); i >= 0 {
		n.entries[i].value = value
		return
	}
	n.entries = append(n.entries, entry{key, value})
}

func (n *node) isNull() bool { return n.kind == scalar && n.value == nil }

// plain returns the node as Go values: scalars as in value or, if asText, as
// written, []any and map[string]any.
func (n *node) plain(asText bool) any {
	switch n.kind {
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.plain(asText)
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			out[e.key.text] = e.value.plain(asText)
		}
		return out
	}
	if asText && n.value != nil {
		return n.text
	}
	return n.value
}

// readFile reads the plan's own file; it returns nil if that is not a mapping.
func (d *document) readFile(file string, content []byte) *node {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(content), "\ufeff"))
	root := d.read(fileSource(file, strings.ToValidUTF8(text, "\ufffd")), text)
	switch {
	case root == nil:
	case root.isNull():
		d.at(root, "the plan is empty", "the least plan is: {workload: NAME, targets: [ENGINE]}")
	case d.is(root, mapping, "the plan is not a map of keys", "write each key as key: value on its own line"):
		return root
	}
	return nil
}

// read parses one YAML document. It returns nil if the document cannot be read.
func (d *document) read(src *source, text string) *node {
	r := reader{d: d, src: src}
	if !utf8.ValidString(text) {
		r.refuseBytes(text)
		return nil
	}
	if len(text) > maxBytes {
		r.refuse(nil, fmt.Sprintf("it is longer than %s", quantity.FormatSize(maxBytes)), "is this a plan?")
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

// reader turns the library's tree into nodes and reports what plans cannot contain.
type reader struct {
	d   *document
	src *source
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
	r.d.problems = append(r.d.problems, r.src.problem(line, column, reason, hint))
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
	r.d.problems = append(r.d.problems, r.src.problem(line, column+r.src.shift, "this is not UTF-8 text", "save the plan as UTF-8"))
}

// syntax reports an error of the YAML library.
func (r reader) syntax(err error) {
	const hint = "check the indentation and brackets, and quote texts that hold ': ' or ' #' or begin with a special character"
	d, tooDeep := errors.AsType[*deep](err)
	y, known := errors.AsType[yaml.Error](err)
	switch {
	case tooDeep:
		r.refuse(d.at, d.Error(), "is this a plan?")
	case !known:
		r.refuse(nil, err.Error(), hint)
	case strings.Contains(y.GetMessage(), "'\t'"):
		r.refuse(y.GetToken(), "a tab stands where only spaces may", "indent with spaces")
	default:
		r.refuse(y.GetToken(), "this is not YAML: "+y.GetMessage(), hint)
	}
}

func (r reader) document(f *ast.File) *node {
	docs := slices.DeleteFunc(f.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) == 0 {
		return r.node(scalar, nil)
	}
	if len(docs) > 1 { // without a start of its own if the one before ended with "..."
		r.refuse(cmp.Or(docs[1].Start, docs[1].GetToken()), "a second document begins", "a plan is one document: make this a file of its own")
	}
	return r.convert(docs[0].Body)
}

func (r reader) node(k kind, t *token.Token) *node {
	n := &node{kind: k, src: r.src}
	n.line, n.column = r.place(t)
	return n
}

func (r reader) convert(a ast.Node) *node {
	switch x := a.(type) {
	case *ast.MappingNode:
		return r.mapping(x)
	case *ast.SequenceNode:
		n := r.node(list, x.Start)
		for _, v := range x.Values {
			n.items = append(n.items, r.convert(v))
		}
		return n
	case *ast.LiteralNode:
		n := r.node(scalar, x.Start)
		n.text = x.Value.Value
		n.value = n.text
		return n
	case *ast.AnchorNode:
		r.refuse(x.Start, "anchors are not used in plans", "remove it, and write the value where it is used")
		return r.convert(x.Value)
	case *ast.TagNode:
		r.refuse(x.Start, "tags are not used in plans", "remove it; put a value that must be text in quotes")
		return r.convert(x.Value)
	case *ast.AliasNode:
		r.refuse(x.Start, "aliases are not used in plans", "write the value itself; common holds what targets share")
		return r.node(broken, x.Start)
	case ast.ScalarNode:
		return r.scalar(x.GetToken())
	case nil:
		return r.node(scalar, nil)
	}
	r.refuse(a.GetToken(), "plans do not have such a thing", "a plan is made of maps, lists and plain values")
	return r.node(broken, a.GetToken())
}

func (r reader) mapping(m *ast.MappingNode) *node {
	n := r.node(mapping, m.Start)
	if !m.IsFlowStyle && len(m.Values) > 0 { // a block mapping begins with its first key, not its first colon
		n.line, n.column = r.place(m.Values[0].Key.GetToken())
	}
	for _, v := range m.Values {
		key := r.key(v.Key)
		value := r.convert(v.Value)
		if key == nil {
			continue
		}
		if n.key(key.text) != nil {
			r.refuse(v.Key.GetToken(), fmt.Sprintf("the key %q is given twice", key.text), "remove one")
			continue
		}
		n.entries = append(n.entries, entry{key, value})
	}
	return n
}

// key turns a key into a node; nil if plans cannot have such a key.
func (r reader) key(k ast.MapKeyNode) *node {
	t := k.GetToken()
	if k.IsMergeKey() {
		r.refuse(t, "merge keys are not used in plans", "write the keys themselves; common holds what targets share")
		return nil
	}
	if _, ok := k.(ast.ScalarNode); !ok || t.Type == token.LiteralType || t.Type == token.FoldedType {
		r.refuse(t, "this cannot be a key", "keys are plain words")
		return nil
	}
	return r.scalar(t)
}

func (r reader) scalar(t *token.Token) *node {
	n := r.node(scalar, t)
	switch t.Type {
	case token.ImplicitNullType:
	case token.SingleQuoteType, token.DoubleQuoteType:
		n.text, n.value = t.Value, t.Value
	default:
		n.text, n.value = t.Value, resolve(t.Value)
	}
	return n
}

var float = regexp.MustCompile(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolve returns the value of a plain scalar. Two kinds of YAML numbers stay
// text: those with a leading zero, which are octal to some parsers and decimal to
// others, and infinities, which are valid nowhere in a plan.
func resolve(s string) any {
	switch s {
	case "null", "Null", "NULL", "~", "":
		return nil
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if digits := strings.TrimLeft(s, "+-"); len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789_") == "" {
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
