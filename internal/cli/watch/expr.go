package watch

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
	"github.com/goccy/go-yaml"

	"rumbench/internal/text/hint"
)

// Expression computes numbers from the series of a frame. It is written in the
// language of github.com/expr-lang/expr, in which every value is a vector.
type Expression struct {
	Name, Unit string
	Text       string // as written
	program    *vm.Program
	fetches    []*fetch // its function calls on series
	builtin    bool
}

const functionHint = `there are rate(SELECTOR), delta(SELECTOR), value(SELECTOR), sum(X…), avg(X…), min(X…), max(X…), numbers, + - * / and parentheses; ` +
	`a selector is quoted, within one of the first three: rate("device.reads")`

var seriesName = regexp.MustCompile(`^[^\s()+*/,-]+\(?`)

var exprName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// ParseDefinition parses "name = EXPRESSION". where is its origin, for error
// messages.
func ParseDefinition(where, text string) (*Expression, error) {
	name, body, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || !exprName.MatchString(name) {
		return nil, hint.Errorf(`for example: 'read_share = rate("device.reads") / (rate("device.reads") + rate("device.writes"))'`,
			"%s: an expression is written name = EXPRESSION%s", where, hint.Mark(text, 1))
	}
	return parse(where+" "+name, name, body, text)
}

// ParseExpression parses an expression, see docs/stat.md for the language.
func ParseExpression(where, name, text string) (*Expression, error) {
	if !exprName.MatchString(name) {
		return nil, hint.Errorf("names are made of letters, digits, _ and .", "%s: %q is not a name for an expression",
			where, name)
	}
	return parse(where, name, text, text)
}

// parse parses an expression. Errors show the text shown, which ends with it.
func parse(where, name, text, shown string) (*Expression, error) {
	c := compiler{e: &Expression{Name: name, Text: strings.TrimSpace(text)}, where: where, shown: shown}
	if c.e.Text == "" {
		c.fail(0, functionHint, "the expression is empty")
		return nil, c.err
	}
	var err error
	c.e.program, err = expr.Compile(c.e.Text, slices.Concat(language, []expr.Option{expr.Patch(&c)})...)
	var wrong *file.Error
	switch {
	case c.err != nil:
	case errors.As(err, &wrong):
		c.fail(wrong.From, functionHint, "%s",
			strings.TrimSpace(strings.ReplaceAll(wrong.Message, vectorType.String(), "number")))
	case err != nil:
		c.fail(0, functionHint, "%v", err)
	case c.e.program.Node().Type() != vectorType:
		c.fail(0, functionHint, "it is a %v, not a number", c.e.program.Node().Type())
	}
	return c.e, c.err
}

// compiler rewrites the syntax tree into calls of vector functions: numbers into
// vectors, operators into functions, selectors into fetches, which need the frame.
type compiler struct {
	e            *Expression
	where, shown string
	err          error // the first one
}

// fail records an error at a character of the expression.
func (c *compiler) fail(position int, help, format string, args ...any) {
	if c.err != nil {
		return
	}
	column := min(position, utf8.RuneCountInString(c.e.Text)) + 1
	message := fmt.Sprintf("%s, column %d: ", c.where, column) + fmt.Sprintf(format, args...)
	if before, _, _ := strings.Cut(c.shown, c.e.Text); !strings.Contains(c.shown, "\n") {
		message += hint.Mark(c.shown, utf8.RuneCountInString(before)+column)
	}
	c.err = hint.With(errors.New(message), help)
}

// Visit rewrites a node of the tree; it is called for child nodes first.
func (c *compiler) Visit(node *ast.Node) {
	refuse := func(format string, args ...any) {
		c.fail((*node).Location().From, functionHint, format, args...)
	}
	call := func(operator string, args ...ast.Node) {
		ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: operator}, Arguments: args})
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		switch name := seriesName.FindString(string([]rune(c.e.Text)[n.Location().From:])); {
		case fetchers[n.Value] != nil || aggregates[n.Value] != nil:
		case strings.HasSuffix(name, "("):
			refuse("there is no function %s", strings.TrimSuffix(name, "("))
		default:
			refuse("%s is no function; a series is named in quotation marks: rate(%q)", name, name)
		}
	case *ast.IntegerNode:
		ast.Patch(node, &ast.ConstantNode{Value: vector{{"", float64(n.Value)}}})
	case *ast.FloatNode:
		ast.Patch(node, &ast.ConstantNode{Value: vector{{"", n.Value}}})
	case *ast.UnaryNode:
		switch n.Operator {
		case "-":
			call("-", &ast.ConstantNode{Value: vector{{"", 0}}}, n.Node)
		case "+":
			*node = n.Node
		}
	case *ast.BinaryNode:
		if operators[n.Operator] == nil {
			refuse("there is no operator %s", n.Operator)
			return
		}
		call(n.Operator, n.Left, n.Right)
	case *ast.CallNode:
		name := fmt.Sprint(n.Callee)
		if fetchers[name] == nil {
			return
		}
		if len(n.Arguments) != 1 {
			refuse("%s wants one selector, not %d arguments", name, len(n.Arguments))
		} else if f := c.fetch(name, n.Arguments[0]); f != nil {
			call(name, &ast.ConstantNode{Value: f})
		}
	}
}

// fetch returns the call of a function on the series that its argument selects.
func (c *compiler) fetch(name string, argument ast.Node) *fetch {
	position := argument.Location().From
	text, ok := argument.(*ast.StringNode)
	if !ok {
		c.fail(position, functionHint, "%s wants a selector in quotation marks, such as %s(%q)", name, name, "device.reads")
		return nil
	}
	s, wrong := parseSelector(text.Value)
	if wrong != nil { // within the quotation marks
		c.fail(position+1+utf8.RuneCountInString(text.Value[:wrong.at]), selectorHint, "%s", wrong.message)
		return nil
	}
	f := &fetch{function: name, selector: s}
	c.e.fetches = append(c.e.fetches, f)
	return f
}

var vectorType = reflect.TypeFor[vector]()

// language holds the functions and operators of expressions, and no others.
var language = []expr.Option{expr.DisableAllBuiltins(), expr.Env((&scope{}).functions())}

func (e *Expression) eval(s *scope) (vector, error) {
	out, err := expr.Run(e.program, s.functions())
	v, _ := out.(vector)
	return v, err
}

// maxExprFile is the maximum size of a file of expressions: the YAML parser takes
// time quadratic in the size.
const maxExprFile = 64 << 10

const fileHint = `a file of expressions has lines like: read_share: rate("device.reads") / sum(rate("device.*s"))`

// ParseExprFile parses expressions from YAML: a map of names to expressions.
func ParseExprFile(path string, src []byte) ([]*Expression, error) {
	if len(src) > maxExprFile {
		return nil, hint.Errorf(fileHint, "%s: longer than %d KiB", path, maxExprFile>>10)
	}
	var entries yaml.MapSlice // in the order of the file
	if err := yaml.Unmarshal(src, &entries); err != nil {
		return nil, hint.Errorf(fileHint, "%s: a map of names to expressions was expected: %w", path, err)
	}
	var expressions []*Expression
	for _, entry := range entries {
		name := fmt.Sprint(entry.Key)
		before, _, _ := strings.Cut("\n"+string(src), "\n"+name+":")
		where := fmt.Sprintf("%s:%d: %s", path, 1+strings.Count(before, "\n"), name)
		switch entry.Value.(type) {
		case string, int64, uint64, float64:
		default:
			return nil, hint.Errorf(fileHint, "%s is not an expression", where)
		}
		e, err := ParseExpression(where, name, fmt.Sprint(entry.Value))
		if err != nil {
			return nil, err
		}
		expressions = append(expressions, e)
	}
	return expressions, nil
}

// CheckNames refuses duplicate names of expressions, and the names of built-in
// ones.
func CheckNames(list []*Expression) error {
	seen := make(map[string]bool)
	for _, b := range defaults.Derived {
		seen[b.Name] = true
	}
	for _, e := range list {
		if seen[e.Name] {
			return hint.Errorf("names may be given once, and rumbench stat --list shows those that are built in",
				"expression %s: another one has that name", e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}
