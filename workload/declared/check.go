package declared

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
)

// check is a condition that must hold after each run: a comparison of two numbers.
type check struct {
	name, text, operator string
	left, right          value
	needs                []need
}

// need is a number that must be known before a check is evaluated.
type need struct {
	table  *tableDef // whose rows are counted, or one of whose columns is summed
	column string
	done   string // or an operation
}

var comparisons = map[string]func(a, b float64) bool{
	"==": func(a, b float64) bool { return a == b }, "!=": func(a, b float64) bool { return a != b },
	"<": func(a, b float64) bool { return a < b }, "<=": func(a, b float64) bool { return a <= b },
	">": func(a, b float64) bool { return a > b }, ">=": func(a, b float64) bool { return a >= b },
}

const checkHint = "as in count(queue) == rows + done(put), or in quotes \"sum(accounts, balance) == 0\"; " +
	"there are count(TABLE), sum(TABLE, COLUMN), done(OPERATION), and ==, !=, <, <=, >, >="

// checkReader reads checks, which may name operations.
type checkReader struct {
	*compiler
	ops []*operation
}

func (c *checkReader) read(n *strictyaml.Node) (out []check) {
	if n == nil || !c.Is(n, strictyaml.List, "checks is a list",
		"as in [{name: nothing lost, expect: count(queue) == rows}]") {
		return nil
	}
	for _, item := range n.Items {
		f, ok := c.Record(item, "a check", checkKeys.Names(), "expect")
		if !ok {
			continue
		}
		var k check
		strictyaml.Bind(f, "name", strictyaml.OneLine, func(v string) { k.name = v })
		if expect := f.Value("expect"); expect != nil {
			k.text = expect.Text
			c.condition(&k, expect)
		}
		if k.name == "" {
			k.name = k.text
		}
		out = append(out, k)
	}
	return out
}

func (c *checkReader) condition(k *check, n *strictyaml.Node) {
	// The library's own functions of these names take lists.
	config := conf.CreateNew()
	config.Functions = conf.FunctionsTable{"count": nil, "sum": nil}
	tree, err := parser.ParseWithConfig(n.Text, config)
	if err != nil {
		help := checkHint
		if strings.Contains(err.Error(), `Operator("=")`) {
			help = "equality is written =="
		}
		syntax(c.compiler, n, err, "a condition", help)
		return
	}
	both, ok := tree.Node.(*ast.BinaryNode)
	if !ok || comparisons[both.Operator] == nil {
		c.At(n, fmt.Sprintf("%q is not a comparison", n.Text), checkHint)
		return
	}
	k.operator = both.Operator
	s := scope{vars: map[string]slot{}, call: func(x *ast.CallNode) (value, bool) { return c.need(k, n, x) }}
	for _, side := range []struct {
		node ast.Node
		dst  *value
	}{{both.Left, &k.left}, {both.Right, &k.right}} {
		v, ok := c.node(n, side.node, s)
		switch {
		case !ok:
		case !isNumber(v.typ):
			c.At(n, "the condition compares a value of type "+nameOf(v.typ), checkHint)
		default:
			*side.dst = v.float()
		}
	}
}

// need compiles a call of count, sum or done into a slot of the environment that is
// filled before the check is evaluated.
func (c *checkReader) need(k *check, n *strictyaml.Node, x *ast.CallNode) (value, bool) {
	name := func(a ast.Node) *strictyaml.Node {
		at := *n
		at.Text = ""
		at.Column += a.Location().From
		switch x := a.(type) {
		case *ast.IdentifierNode:
			at.Text = x.Value
		case *ast.StringNode:
			at.Text = x.Value
		}
		return &at
	}
	wanted := need{}
	typ := model.Int
	called := name(x.Callee).Text
	switch {
	case called == "count" && len(x.Arguments) == 1:
		if wanted.table = c.tableOf(name(x.Arguments[0])); wanted.table == nil || wanted.table.wrong {
			return value{}, false
		}
	case called == "sum" && len(x.Arguments) == 2:
		if wanted.table = c.tableOf(name(x.Arguments[0])); wanted.table == nil || wanted.table.wrong {
			return value{}, false
		}
		at := name(x.Arguments[1])
		i := wanted.table.Column(at.Text)
		if i < 0 || !isNumber(wanted.table.Columns[i].Type) {
			c.At(at, fmt.Sprintf("table %s has no column of numbers %q", wanted.table.Name, at.Text),
				hint.OneOf(at.Text, wanted.table.ColumnNames()))
			return value{}, false
		}
		wanted.column, typ = at.Text, wanted.table.Columns[i].Type
	case called == "done" && len(x.Arguments) == 1:
		at := name(x.Arguments[0])
		var known []string
		for _, o := range c.ops {
			known = append(known, o.name)
			if o.name == at.Text {
				wanted.done = at.Text
			}
		}
		if wanted.done == "" {
			c.At(at, fmt.Sprintf("there is no operation %q", at.Text), hint.OneOf(at.Text, known))
			return value{}, false
		}
	default:
		c.At(n, fmt.Sprintf("%q calls what does not exist, or with other arguments", n.Text), checkHint)
		return value{}, false
	}
	k.needs = append(k.needs, wanted)
	return slot{at: len(k.needs) - 1, typ: typ}.value(), true
}
