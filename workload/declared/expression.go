package declared

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
)

// scope is the place of a value: the names that it may use.
type scope struct {
	tableDef *tableDef // whose rows the value numbers; nil: none
	table    *columns  // whose columns are computed; nil: the value belongs to an operation
	vars     map[string]slot
	used     map[string]bool                   // names of vars that are used
	lost     map[string]bool                   // missing because of reported problems
	dead     bool                              // rows that were deleted may be chosen
	fixed    bool                              // only parameters: it is computed before the run
	call     func(*ast.CallNode) (value, bool) // functions; nil: there are none
}

// expression compiles a text: arithmetic over parameters, columns and names of the scope,
// in the syntax of github.com/expr-lang/expr. It is compiled to our own functions,
// because that library's virtual machine allocates.
func (c *compiler) expression(n *strictyaml.Node, s scope) (value, bool) {
	tree, err := parser.Parse(n.Text)
	if err != nil {
		syntax(c, n, err, "an expression", exprHint)
		return value{}, false
	}
	return c.node(n, tree.Node, s)
}

// syntax reports a text that cannot be parsed.
func syntax(c *compiler, n *strictyaml.Node, err error, subject, help string) {
	column := 0
	reason := err.Error()
	if e, ok := errors.AsType[*file.Error](err); ok {
		column, reason = e.Column, e.Message
	}
	if strings.Count(n.Text, "(") > strings.Count(n.Text, ")") {
		help = "close the parenthesis; within { } a comma ends a value: put what holds one in quotes"
	}
	reason = unexpected.ReplaceAllString(reason, "unexpected $1")
	c.inside(n, column, fmt.Sprintf("%q is not %s: %s", n.Text, subject, reason), help)
}

// unexpected is how the parser names a token: unexpected token Operator("=").
var unexpected = regexp.MustCompile(`unexpected token \w+\("(.*?)"\)`)

const exprHint = "numbers, names, + - * / % and parentheses, and a timestamp + or - seconds; a text is written " +
	"{const: TEXT}"

// inside reports a problem at a column, from 0, of a scalar.
func (c *compiler) inside(n *strictyaml.Node, column int, reason, help string) {
	at := *n
	at.Column += column
	c.At(&at, reason, help)
}

func (c *compiler) node(n *strictyaml.Node, a ast.Node, s scope) (value, bool) {
	switch x := a.(type) {
	case *ast.IntegerNode:
		return intOf(int64(x.Value)), true
	case *ast.FloatNode:
		return floatOf(x.Value), true
	case *ast.StringNode:
		return textOf(x.Value), true
	case *ast.IdentifierNode:
		return c.name(n, x, s)
	case *ast.CallNode:
		if s.call != nil {
			return s.call(x)
		}
	case *ast.UnaryNode:
		v, ok := c.node(n, x.Node, s)
		if !ok {
			return v, false
		}
		if x.Operator == "-" && isNumber(v.typ) {
			return c.arithmetic("-", intOf(0), v), true
		}
	case *ast.BinaryNode:
		l, ok := c.node(n, x.Left, s)
		r, also := c.node(n, x.Right, s)
		switch {
		case !ok || !also:
			return l, false
		case !slices.Contains([]string{"+", "-", "*", "/", "%"}, x.Operator):
		case l.typ == model.Time && isNumber(r.typ) && (x.Operator == "+" || x.Operator == "-"):
			return later(x.Operator, l, r), true
		case !isNumber(l.typ) || !isNumber(r.typ):
			c.inside(n, x.Location().From, fmt.Sprintf("%s is not a number", textual(l.typ, r.typ)), exprHint)
			return l, false
		case x.Operator == "%" && (l.typ != model.Int || r.typ != model.Int):
			c.inside(n, x.Location().From, "% is of whole numbers", "")
			return l, false
		default:
			return c.arithmetic(x.Operator, l, r), true
		}
	}
	c.inside(n, a.Location().From, fmt.Sprintf("%q is more than arithmetic", n.Text), exprHint)
	return value{}, false
}

func textual(l, r model.Type) string {
	if isNumber(l) {
		l = r
	}
	return "a value of type " + nameOf(l)
}

// name compiles a name: of the scope, of a column, or of a parameter.
func (c *compiler) name(n *strictyaml.Node, x *ast.IdentifierNode, s scope) (value, bool) {
	if v, ok := s.vars[x.Value]; ok && !s.fixed {
		if s.used != nil {
			s.used[x.Value] = true
		}
		return v.value(), true
	}
	if s.table != nil && !s.fixed {
		if x.Value == "row" {
			return value{typ: model.Int, num: func(e *env) int64 { return e.row }}, true
		}
		if v, ok := s.table.named(x.Value); ok {
			return v, v.typ != model.Null // otherwise it has been reported
		}
	}
	if c.wrong[x.Value] || s.lost[x.Value] {
		return value{}, false
	}
	if p := c.info.Param(x.Value); p != nil {
		c.use("params", p.Name)
		return parameter(c.params[x.Value]), true
	}
	if named := c.named[x.Value]; named != nil {
		if slices.Contains(c.naming, x.Value) {
			c.At(named, fmt.Sprintf("value %q is made of itself", x.Value), "")
			return value{}, false
		}
		c.use("values", x.Value)
		c.naming = append(c.naming, x.Value)
		v, ok := c.value(named, s)
		c.naming = c.naming[:len(c.naming)-1]
		return v, ok
	}
	known := s.names(c)
	help := []string{hint.OneOf(x.Value, known)}
	if help[0] == "" {
		help = nil
	}
	if !s.fixed && s.call == nil {
		help = append(help, "a text is written {const: TEXT}")
	}
	c.inside(n, x.Location().From, fmt.Sprintf("there is nothing called %q here", x.Value), strings.Join(help, "; "))
	return value{}, false
}

// names lists the names that values may use.
func (s scope) names(c *compiler) (out []string) {
	for _, p := range c.info.Params {
		if p.Name != checkParam.Name { // files do not declare it
			out = append(out, p.Name)
		}
	}
	for name := range c.named {
		out = append(out, name)
	}
	if s.fixed {
		return out
	}
	for name := range s.vars {
		out = append(out, name)
	}
	if s.table != nil {
		out = append(out, "row")
		for i := range s.table.list {
			out = append(out, s.table.list[i].def.name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out) // a column and a value may have the same name
}

// parameter returns a parameter's value as a constant: a duration in seconds.
func parameter(v any) value {
	switch x := v.(type) {
	case int64:
		return intOf(x)
	case float64:
		return floatOf(x)
	case time.Duration:
		return floatOf(x.Seconds())
	case bool:
		if x {
			return intOf(1)
		}
		return intOf(0)
	}
	return textOf(v.(string))
}

// arithmetic combines two numbers. The result is a Float if one of them is, and for every
// quotient.
func (c *compiler) arithmetic(operator string, l, r value) value {
	out := value{fixed: l.fixed && r.fixed, late: l.late || r.late}
	if l.typ == model.Float || r.typ == model.Float || operator == "/" {
		out.typ, out.real = model.Float, combined(operator, l.float().real, r.float().real)
	} else {
		out.typ, out.num = model.Int, combined(operator, l.num, r.num)
	}
	switch {
	case !out.fixed:
		return out
	case out.typ == model.Float:
		return floatOf(out.real(nil)) // folded
	}
	return intOf(out.num(nil))
}

// combined returns the function of an operator. The remainder of a division by 0 is 0.
func combined[N int64 | float64](operator string, a, b func(*env) N) func(*env) N {
	switch operator {
	case "+":
		return func(e *env) N { return a(e) + b(e) }
	case "-":
		return func(e *env) N { return a(e) - b(e) }
	case "*":
		return func(e *env) N { return a(e) * b(e) }
	case "/":
		return func(e *env) N { return a(e) / b(e) }
	}
	return func(e *env) N { // % is of whole numbers
		if d := int64(b(e)); d != 0 {
			return N(int64(a(e)) % d)
		}
		return 0
	}
}

// later returns a timestamp some seconds after, or before, a given one.
func later(operator string, at, seconds value) value {
	sign := 1e6
	if operator == "-" {
		sign = -1e6
	}
	micros, by := at.num, seconds.float().real
	return value{typ: model.Time, late: at.late || seconds.late,
		num: func(e *env) int64 { return micros(e) + cut(math.Round(sign*by(e))) }}
}

// value compiles a value: a scalar, or a map of one generator.
func (c *compiler) value(n *strictyaml.Node, s scope) (value, bool) {
	switch {
	case n == nil || n.Kind == strictyaml.Broken:
		return value{}, false
	case n.Kind == strictyaml.Mapping && len(n.Entries) == 1:
		return c.generator(n.Entries[0].Key, n.Entries[0].Value, s)
	case n.Kind != strictyaml.Scalar || n.IsNull():
		c.At(n, "a value is a number, an expression, or a map of one generator",
			"as in 10, rows / 2, {uniform: [1, 100]}; the generators are "+strings.Join(generatorNames(), ", "))
		return value{}, false
	}
	switch x := n.Value.(type) {
	case int64:
		return intOf(x), true
	case float64:
		return floatOf(x), true
	case bool:
		return parameter(x), true
	case string:
		if k, err := workload.ParseCount(x); err == nil {
			return intOf(k), true
		}
	}
	return c.expression(n, s)
}
