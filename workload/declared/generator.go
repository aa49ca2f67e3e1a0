package declared

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload/gen"
)

// generator is a way to make values. Its arguments are written as a scalar (the first
// argument), as a list, or as a map.
type generator struct {
	name, doc string
	args      []argument
	free      bool // its argument is a map with keys chosen by the user
	build     func(a *arguments) value
}

// argument is declared with its default; "" marks a mandatory argument.
type argument struct{ name, doc, usual string }

// over is the first argument of distributions over numbers from 0.
var over = argument{"over", "how many numbers, from 0: a number, or a table, whose rows are meant. In row, the " +
	"default is the statement's table", overDefault}

// overDefault is the number of rows of the statement's table.
const overDefault = "its table"

// generators are all of them, see catalogue.go: some make values of others.
var generators []generator

func generatorNames() []string {
	return quantity.Texts(generators, func(g generator) string { return g.name })
}

// arguments are those of one generator.
type arguments struct {
	c         *compiler
	at        *strictyaml.Node // for problems that concern all of them
	generator *generator
	nodes     map[string]*strictyaml.Node
	body      *strictyaml.Node
	scope     scope
	wrong     bool
}

// generator compiles a generator.
func (c *compiler) generator(key, body *strictyaml.Node, s scope) (value, bool) {
	i := slices.Index(generatorNames(), key.Text)
	if i < 0 {
		c.At(key, fmt.Sprintf("there is no generator %q", key.Text), hint.OneOf(key.Text, generatorNames()))
		return value{}, false
	}
	a := &arguments{c: c, at: key, generator: &generators[i], body: body, nodes: map[string]*strictyaml.Node{}, scope: s}
	a.read()
	if a.wrong {
		return value{}, false
	}
	v := a.generator.build(a)
	return v, !a.wrong
}

// read assigns the arguments.
func (a *arguments) read() {
	names := quantity.Texts(a.generator.args, func(arg argument) string { return arg.name })
	give := func(i int, n *strictyaml.Node) {
		if i >= len(names) {
			a.refuse(n, fmt.Sprintf("%s takes %d arguments at most", a.generator.name, len(names)),
				"they are "+strings.Join(names, ", "))
			return
		}
		a.nodes[names[i]] = n
	}
	switch {
	case a.generator.free || a.body.IsNull():
	case a.body.Kind == strictyaml.List:
		for i, n := range a.body.Items {
			give(i, n)
		}
	case a.body.Kind == strictyaml.Mapping && !a.nested():
		for _, e := range a.c.Fields(a.body, a.generator.name, names).Of.Entries {
			a.nodes[e.Key.Text] = e.Value
			a.wrong = a.wrong || !slices.Contains(names, e.Key.Text)
		}
	default:
		give(0, a.body)
	}
	for _, arg := range a.generator.args {
		if a.nodes[arg.name] == nil && arg.usual == "" && !a.generator.free {
			a.refuse(a.at, fmt.Sprintf("%s has no %s", a.generator.name, arg.name), arg.name+": "+arg.doc)
		}
	}
}

// nested reports whether the body is a generator itself, and so the first argument.
func (a *arguments) nested() bool {
	if len(a.body.Entries) != 1 {
		return false
	}
	name := a.body.Entries[0].Key.Text
	return !slices.ContainsFunc(a.generator.args, func(x argument) bool { return x.name == name }) &&
		slices.Contains(generatorNames(), name)
}

func (a *arguments) refuse(n *strictyaml.Node, reason, help string) {
	a.c.At(n, reason, help)
	a.wrong = true
}

// usual returns the default of an argument as a node.
func (a *arguments) usual(name string) *strictyaml.Node {
	i := slices.IndexFunc(a.generator.args, func(x argument) bool { return x.name == name })
	text := a.generator.args[i].usual
	n := *a.at
	n.Kind, n.Text, n.Value = strictyaml.Scalar, text, strictyaml.Resolve(text)
	return &n
}

func (a *arguments) node(name string) *strictyaml.Node {
	if n := a.nodes[name]; n != nil {
		return n
	}
	return a.usual(name)
}

// value returns an argument of a type; the zero value if it is wrong.
func (a *arguments) value(name string, t model.Type) value {
	n := a.node(name)
	v, ok := a.c.value(n, a.scope)
	if !ok {
		a.wrong = true
		return value{}
	}
	if v, ok := v.as(t); ok {
		return v
	}
	a.refuse(n, fmt.Sprintf("%s of %s is a value of type %s, not %s", name, a.generator.name, nameOf(v.typ), nameOf(t)),
		"")
	return value{}
}

// float returns a number argument that is known before the run.
func (a *arguments) float(name string, low, high float64) float64 {
	n := a.node(name)
	f, ok := a.c.number(n, name+" of "+a.generator.name, low)
	if !ok {
		a.wrong = true
	} else if f > high {
		a.refuse(n, fmt.Sprintf("%s of %s is %v, and must be at most %v", name, a.generator.name, f, high), "")
	}
	return f
}

// int returns a whole-number argument that is known before the run.
func (a *arguments) int(name string, low, high int64) int64 {
	n, ok := a.c.whole(a.node(name), name+" of "+a.generator.name, low, high)
	a.wrong = a.wrong || !ok
	return n
}

// stream returns the generator's own stream.
func (a *arguments) stream() gen.Stream {
	return gen.NewStream(a.c.seed, "declared", a.generator.name).Sub(uint64(a.at.Line)<<32 | uint64(a.at.Column))
}

// numbers is the size of the range that a distribution covers.
type numbers struct {
	fixed int64
	table *tableDef // the range is the table's rows; nil: fixed
	dead  bool      // rows that were deleted may be chosen
}

// now returns the current size.
func (n numbers) now() int64 {
	if n.table != nil {
		return max(n.table.rows(), 1)
	}
	return n.fixed
}

// highest returns the size when the run begins: for a table, the rows of its loads.
func (n numbers) highest() int64 {
	if n.table != nil {
		return max(n.table.loaded, 1)
	}
	return n.fixed
}

// over returns the argument of that name.
func (a *arguments) over() numbers {
	n := a.nodes["over"]
	if n == nil {
		if a.scope.tableDef == nil {
			a.refuse(a.at, a.generator.name+" has no over", "over: "+over.doc)
			return numbers{fixed: 1}
		}
		return numbers{table: a.scope.tableDef, dead: a.scope.dead}
	}
	if n.Kind == strictyaml.Scalar {
		if t := a.c.table(n.Text); t != nil && a.scope.table != nil {
			return numbers{fixed: max(t.loaded, 1)} // a column's values never change
		} else if t != nil {
			return numbers{table: t, dead: a.scope.dead && t == a.scope.tableDef}
		}
	}
	if name := n.Text; isName(name) && a.c.info.Param(name) == nil && a.c.named[name] == nil && !a.c.wrong[name] &&
		a.c.table(name) == nil {
		known := scope{fixed: true}.names(a.c)
		known = append(known, quantity.Texts(a.c.tables, func(t *tableDef) string { return t.Name })...)
		a.refuse(n, fmt.Sprintf("there is no table and no parameter %q", name), hint.OneOf(name, known))
		return numbers{fixed: 1}
	}
	return numbers{fixed: a.int("over", 1, manyRows)}
}

// rows returns a value that draws a number of 0…now-1, and draws again if that row does
// not exist. draw gets the current size.
func (n numbers) rows(draw func(e *env, now int64) int64) value {
	return n.retried(func(e *env, now int64, _ int) int64 { return draw(e, now) })
}

// retried is rows; draw gets the number of earlier tries, too.
func (n numbers) retried(draw func(e *env, now int64, tries int) int64) value {
	if n.table == nil {
		return value{typ: model.Int, num: func(e *env) int64 { return draw(e, n.fixed, 0) }}
	}
	return value{typ: model.Int, chosen: &n.table.rowState, num: func(e *env) (at int64) {
		now := n.now()
		for tries := range mostRedraws {
			if at = draw(e, now, tries); n.exists(at, now) {
				return at
			}
		}
		for i := range now {
			if next := (max(at, 0) + i) % now; n.exists(next, now) {
				return next
			}
		}
		return 0
	}}
}

func (n numbers) exists(row, now int64) bool {
	return row >= 0 && row < now && (n.dead || !n.table.isDead(row))
}

// mostRedraws limits the draws when most rows are gone; after that, the next existing row
// is taken.
const mostRedraws = 1000
