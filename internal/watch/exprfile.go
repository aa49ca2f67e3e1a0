package watch

import (
	"fmt"

	"rumbench/internal/hint"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxExprFile keeps the YAML parser, whose time grows with the square of a
// text's length, from files that are something else.
const maxExprFile = 64 << 10

const fileHint = `a file of expressions has lines like: read_share: rate("device.reads") / sum(rate("device.*s"))`

// ParseExprFile reads expressions from YAML: a map of names to expressions.
func ParseExprFile(path string, src []byte) ([]*Expression, error) {
	if len(src) > maxExprFile {
		return nil, hint.Errorf(fileHint, "%s: longer than %d KiB", path, maxExprFile>>10)
	}
	file, err := parser.ParseBytes(src, 0)
	if err != nil {
		return nil, hint.Errorf(fileHint, "%s: %w", path, err)
	}
	var all []*Expression
	for _, doc := range file.Docs {
		entries, err := mapping(path, doc.Body)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			e, err := entryExpression(path, entry)
			if err != nil {
				return nil, err
			}
			all = append(all, e)
		}
	}
	return all, nil
}

func mapping(path string, n ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, hint.Errorf(fileHint, "%s: expected a map of names to expressions", place(path, n))
}

func entryExpression(path string, entry *ast.MappingValueNode) (*Expression, error) {
	name := entry.Key.GetToken().Value
	var text string
	switch v := entry.Value.(type) {
	case *ast.StringNode:
		text = v.Value
	case *ast.LiteralNode:
		text = v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		text = v.GetToken().Value
	default:
		return nil, hint.Errorf(fileHint, "%s: %s is no expression", place(path, entry.Key), name)
	}
	return ParseExpression(place(path, entry.Value)+": "+name, name, text)
}

func place(path string, n ast.Node) string {
	at := n.GetToken().Position
	return fmt.Sprintf("%s:%d:%d", path, at.Line, at.Column)
}

// CheckNames refuses expressions of the same name, and those that are called
// like one that is built in.
func CheckNames(list []*Expression) error {
	seen := make(map[string]bool)
	for _, b := range builtins {
		seen[b.name] = true
	}
	for _, e := range list {
		if seen[e.Name] {
			return hint.Errorf("names may be given once, and rumbench stat --list shows those that are built in", "expression %s: there is another one of that name", e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}
