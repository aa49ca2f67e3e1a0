package declared

import (
	"fmt"
	"maps"
	"slices"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
)

// operation is an operation, compiled for one client.
type operation struct {
	name       string
	draws      []draw
	statements []*statement
	atomic     bool
	optional   bool // a parameter decides whether it is atomic
	isolation  model.Isolation
	wrong      bool // it has been reported
	vars       int  // values that are drawn and carried
}

// draw is a value that is drawn before the first statement.
type draw struct {
	slot  int
	value value
}

// readOperations compiles all operations.
func (c *compiler) readOperations(n *strictyaml.Node) (out []*operation) {
	for _, e := range entries(&c.Document, n, "operations is a map of operations by name",
		"as in {look: [{get: queue, row: {any: {}}}]}") {
		previous := len(c.Problems)
		o := c.operation(e)
		o.wrong = len(c.Problems) > previous
		out = append(out, o)
	}
	return out
}

func (c *compiler) operation(e strictyaml.Entry) *operation {
	o := &operation{name: e.Key.Text}
	do := e.Value
	s := scope{vars: map[string]slot{}, used: map[string]bool{}, lost: map[string]bool{}}
	if do.Kind == strictyaml.Mapping {
		f := c.Fields(e.Value, "operation "+o.name, operationKeys.Names())
		if do = f.Value("do"); do == nil {
			c.At(e.Key, "operation "+o.name+" has no do", "its statements, as in {do: [{get: queue, row: {any: {}}}]}")
			return o
		}
		if n := f.Value("draw"); n != nil &&
			c.Is(n, strictyaml.Mapping, "draw is a map of values by name", "as in {draw: {amount: {uniform: [1, 100]}}}") {
			for _, d := range n.Entries {
				o.draw(c, d, s)
			}
		}
		o.transaction(c, f.Value("transaction"))
	}
	if !c.Is(do, strictyaml.List, "an operation is a list of statements, or a map with do",
		"as in [{get: queue, row: {any: {}}}]") {
		return o
	}
	if len(do.Items) == 0 {
		c.At(do, "operation "+o.name+" has no statements", "")
	}
	for _, n := range do.Items {
		if st := c.statement(n, s); st != nil {
			o.statements = append(o.statements, st)
			o.require(c, st)
		} else {
			s.lose(n)
		}
	}
	o.vars = len(s.vars)
	for _, st := range o.statements {
		for _, k := range st.carries {
			st.needed = st.needed || s.used[k.name]
			if s.used[k.name] && k.column >= 0 && st.expected == 0 && st.at.Get("expect") == nil {
				st.expected = 1
			}
		}
	}
	return o
}

// require turns a statement's requirement into an expectation if a parameter has turned
// the transaction off.
func (o *operation) require(c *compiler, st *statement) {
	switch {
	case st.required == 0 || o.atomic:
	case o.optional:
		st.required = 0
	default:
		c.At(st.at, "require undoes what came before, and operation "+o.name+" is no transaction", "add transaction: true")
	}
}

// lose marks the names that an invalid statement would carry as lost.
func (s scope) lose(n *strictyaml.Node) {
	for _, key := range []string{"read", "count", "sum", "number", "returns"} {
		switch carried := n.Get(key); {
		case carried == nil:
		case carried.Kind == strictyaml.Scalar:
			s.lost[carried.Text] = true
		default:
			for _, e := range carried.Entries {
				s.lost[e.Key.Text], s.lost[e.Value.Text] = true, true
			}
		}
	}
}

func (o *operation) draw(c *compiler, e strictyaml.Entry, s scope) {
	if !isName(e.Key.Text) || c.info.Param(e.Key.Text) != nil {
		c.At(e.Key, fmt.Sprintf("%q cannot be the name of a value", e.Key.Text),
			"letters, digits and _, and no parameter's name")
		return
	}
	v, ok := c.value(e.Value, s)
	if !ok {
		s.lost[e.Key.Text] = true
		return
	}
	position := len(s.vars)
	s.vars[e.Key.Text] = slot{at: position, typ: v.typ, limit: v.limit, chosen: v.chosen, proven: v.proven}
	o.draws = append(o.draws, draw{position, v})
}

func (o *operation) transaction(c *compiler, n *strictyaml.Node) {
	if n == nil {
		return
	}
	given := n.Value
	if p := c.info.Param(n.Text); p != nil {
		c.use("params", p.Name)
		given = c.params[p.Name]
		o.optional = true
	}
	if on, ok := given.(bool); ok {
		o.atomic = on
		return
	}
	o.atomic = true
	var known []string
	for _, level := range model.Isolations() {
		known = append(known, level.String())
		if given == level.String() {
			o.isolation = level
		}
	}
	if o.isolation == model.DefaultIsolation {
		c.At(n, fmt.Sprintf("transaction is %q", n.Text),
			"true, false, a parameter of type bool, or an isolation level: "+hint.OneOf(n.Text, known))
	}
}

// writes reports whether the operation has statements that write.
func (o *operation) writes() bool {
	return slices.ContainsFunc(o.statements, func(s *statement) bool {
		if s.kind == sOwn {
			return !s.reads()
		}
		return s.kind != sGet && s.kind != sScan
	})
}

// has reports whether the operation has statements of these kinds.
func (o *operation) has(kinds ...string) bool {
	return slices.ContainsFunc(o.statements, func(s *statement) bool { return slices.Contains(kinds, s.kind) })
}

// kind returns the operation's kind, as reported.
func (o *operation) kind(name string) workload.OpKind {
	k := workload.OpKind{Name: o.name, Unit: "operation", Of: name, Returns: !o.writes()}
	known := 0
	exact := true
	for _, s := range o.statements {
		if s.expected > 0 {
			known++
			exact = exact && s.exact
		}
	}
	switch {
	case known > 0 && exact:
		k.Finds = workload.FindsExactly
	case known > 0:
		k.Finds = workload.FindsOnAverage
	}
	return k
}

// access returns how operations access rows.
func access(ops []*operation) workload.Access {
	var gets, scans, writes bool
	for _, o := range ops {
		gets, scans, writes = gets || o.has(sGet), scans || o.has(sScan), writes || o.writes()
	}
	switch {
	case writes && !gets && !scans:
		return workload.WriteAccess
	case gets && !scans && !writes:
		return workload.PointAccess
	case scans && !gets && !writes:
		return workload.RangeAccess
	}
	return workload.MixedAccess
}

// speaks returns the engines that can run the operations; nil: all.
func speaks(ops []*operation) (names []string) {
	for _, o := range ops {
		for _, s := range o.statements {
			if s.kind != sOwn {
				continue
			}
			own := slices.Sorted(maps.Keys(s.own))
			if names == nil {
				names = own
			}
			names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(own, name) })
		}
	}
	return names
}
