package watch

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Expression computes numbers from the series of a frame.
type Expression struct {
	Name, Unit string
	Text       string // as written
	root       node
	fetches    []*fetch // what it asks for
	builtin    bool
}

// UserError is a mistake in what a user wrote, with its place.
type UserError struct {
	Where   string // such as `--expr busy, column 7`
	Message string
	Text    string // what was written; "" if it cannot be shown
	At      int    // place of the mistake in it, in bytes
	Advice  string
}

// Error tells the mistake, with a mark under its place.
func (e *UserError) Error() string {
	line := e.Where + ": " + e.Message
	if e.Text == "" || strings.Contains(e.Text, "\n") {
		return line
	}
	at := min(e.At, len(e.Text))
	text := strings.ReplaceAll(e.Text, "\t", " ")
	return line + "\n    " + text + "\n    " + strings.Repeat(" ", utf8.RuneCountInString(text[:at])) + "^"
}

// Hint is what the user can do about it.
func (e *UserError) Hint() string { return e.Advice }

const functionHint = `there are rate(SELECTOR), delta(SELECTOR), value(SELECTOR), sum(X…), avg(X…), min(X…), max(X…), numbers, + - * / and parentheses`

var (
	fetchers   = []string{"rate", "delta", "value"}
	aggregates = []string{"sum", "avg", "min", "max"}
	exprName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)
)

// ParseDefinition reads "name = EXPRESSION". Errors say that it was given where.
func ParseDefinition(where, text string) (*Expression, error) {
	name, body, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || !exprName.MatchString(name) {
		return nil, &UserError{Where: where, Message: "an expression is written name = EXPRESSION", Text: text,
			Advice: `for example: 'read_share = rate("device.reads") / (rate("device.reads") + rate("device.writes"))'`}
	}
	start := len(text) - len(body)
	start += len(body) - len(strings.TrimLeft(body, " \t"))
	e, err := ParseExpression(where+" "+name, name, text[start:])
	var wrong *UserError
	if errors.As(err, &wrong) { // show all of what was written
		wrong.Text, wrong.At = text, wrong.At+start
	}
	return e, err
}

// ParseExpression reads an expression, see docs/stat.md for the grammar.
func ParseExpression(where, name, text string) (*Expression, error) {
	e := &Expression{Name: name, Text: strings.TrimSpace(text)}
	c := compiler{e: e, where: where}
	if !exprName.MatchString(name) {
		return nil, &UserError{Where: where, Message: fmt.Sprintf("%q is no name for an expression", name), Advice: "names are made of letters, digits, _ and ."}
	}
	if e.Text == "" {
		return nil, c.fail(0, "the expression is empty", functionHint)
	}
	config := conf.CreateNew()
	for _, f := range aggregates { // the language has some of them, with other parameters
		config.Functions[f] = nil
	}
	tree, err := new(parser.Parser).Parse(e.Text, config)
	var wrong *file.Error
	if errors.As(err, &wrong) {
		return nil, c.fail(byteAt(e.Text, wrong.From), wrong.Message, functionHint)
	}
	if err != nil {
		return nil, c.fail(0, err.Error(), functionHint)
	}
	if e.root, err = c.node(tree.Node); err != nil {
		return nil, err
	}
	return e, nil
}

// compiler turns the tree of the language's parser into nodes.
type compiler struct {
	e     *Expression
	where string
}

// byteAt turns a place in characters into one in bytes.
func byteAt(text string, char int) int {
	for i := range text {
		if char--; char < 0 {
			return i
		}
	}
	return len(text)
}

func (c *compiler) fail(at int, message, hint string) error {
	column := utf8.RuneCountInString(c.e.Text[:min(at, len(c.e.Text))]) + 1
	return &UserError{Where: fmt.Sprintf("%s, column %d", c.where, column), Message: message, Text: c.e.Text, At: at, Advice: hint}
}

func (c *compiler) refuse(n ast.Node, message string) error {
	for m, ok := n.(*ast.MemberNode); ok; m, ok = n.(*ast.MemberNode) {
		n = m.Node // which begins a name with dots
	}
	return c.fail(byteAt(c.e.Text, n.Location().From), message, functionHint)
}

func (c *compiler) node(n ast.Node) (node, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return number(n.Value), nil
	case *ast.FloatNode:
		return number(n.Value), nil
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, name.Value, n.Arguments)
		}
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.StringNode:
		return nil, c.refuse(n, fmt.Sprintf("a selector stands within a function: rate(%q)", n.Value))
	case *ast.IdentifierNode, *ast.MemberNode:
		return nil, c.refuse(n, fmt.Sprintf("%s is no function; a series is named in quotation marks: rate(%q)", n, n))
	}
	return nil, c.refuse(n, "this is not part of the grammar")
}

func (c *compiler) unary(n *ast.UnaryNode) (node, error) {
	x, err := c.node(n.Node)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "-":
		return &binary{op: "-", left: number(0), right: x}, nil
	case "+":
		return x, nil
	}
	return nil, c.refuse(n, fmt.Sprintf("there is no operator %s", n.Operator))
}

func (c *compiler) binary(n *ast.BinaryNode) (node, error) {
	if !slices.Contains([]string{"+", "-", "*", "/"}, n.Operator) {
		return nil, c.refuse(n, fmt.Sprintf("there is no operator %s", n.Operator))
	}
	left, err := c.node(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.node(n.Right)
	if err != nil {
		return nil, err
	}
	return &binary{op: n.Operator, left: left, right: right, at: n.Location().From}, nil
}

func (c *compiler) call(n ast.Node, name string, args []ast.Node) (node, error) {
	switch {
	case slices.Contains(fetchers, name):
		return c.fetch(n, name, args)
	case !slices.Contains(aggregates, name):
		return nil, c.refuse(n, fmt.Sprintf("there is no function %s", name))
	case len(args) == 0:
		return nil, c.refuse(n, fmt.Sprintf("%s wants at least one argument", name))
	}
	a := &aggregate{function: name}
	for _, arg := range args {
		x, err := c.node(arg)
		if err != nil {
			return nil, err
		}
		a.args = append(a.args, x)
	}
	return a, nil
}

func (c *compiler) fetch(n ast.Node, name string, args []ast.Node) (node, error) {
	if len(args) != 1 {
		return nil, c.refuse(n, fmt.Sprintf("%s wants one selector, not %d arguments", name, len(args)))
	}
	text, ok := args[0].(*ast.StringNode)
	if !ok {
		return nil, c.refuse(args[0], fmt.Sprintf("%s wants a selector in quotation marks, such as %s(%q)", name, name, "device.reads"))
	}
	s, wrong := parseSelector(text.Value)
	if wrong != nil { // within the quotation marks
		return nil, c.fail(byteAt(c.e.Text, text.Location().From)+1+wrong.at, wrong.message, wrong.hint)
	}
	f := &fetch{function: name, selector: s}
	c.e.fetches = append(c.e.fetches, f)
	return f, nil
}
