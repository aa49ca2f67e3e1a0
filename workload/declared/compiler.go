package declared

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

func document() strictyaml.Document {
	return strictyaml.Document{What: "workload", Least: "{name: NAME, tables: {…}, steps: […]}", Meant: meant}
}

// meant returns a hint for an unknown key: which kinds of statements have it, or which
// key was meant.
func meant(name string, known []string) string {
	for _, k := range statementKeys {
		if k.Name == name && slices.Contains(kinds, known[0]) {
			return name + " is a key of " + strings.Join(k.list, ", ") + "; " + known[0] + " has " + strings.Join(known[1:],
				", ")
		}
	}
	return hint.OneOf(name, known)
}

// checkParam is the parameter that every declared workload has.
var checkParam = workload.Param{
	Name: "check", Type: workload.BoolParam, Default: true,
	Doc: "count the rows of changed tables after each run, and evaluate the file's checks",
}

// reserved are names that no parameter may have: every workload has the parameter check,
// file names the workload in results, presets have doc, and columns have row.
var reserved = []string{checkParam.Name, "file", "doc", "row"}

// compiler turns the nodes of a file into a run, or into the operations of a client.
type compiler struct {
	strictyaml.Document
	info   workload.Info
	params workload.Params
	wrong  map[string]bool // parameters that have been reported
	tables []*tableDef
	named  map[string]*strictyaml.Node // values with a name
	naming []string                    // names that are being compiled
	values map[*tableDef]*columns
	seed   uint64
	limit  int64           // rows of a load; 0: no limit
	used   map[string]bool // names in use, as SECTION.NAME; nil: usage is not tracked
}

// use marks a declaration in a section of the file as used.
func (c *compiler) use(section, name string) {
	if c.used != nil {
		c.used[section+"."+name] = true
	}
}

// readValues reads the named values. They are compiled when they are used.
func (c *compiler) readValues(n *strictyaml.Node) {
	if n == nil || !c.Is(n, strictyaml.Mapping, "values is a map of values by name",
		"as in {customer: {zipf: customers}}") {
		return
	}
	c.named = map[string]*strictyaml.Node{}
	for _, e := range n.Entries {
		if !isName(e.Key.Text) || c.info.Param(e.Key.Text) != nil {
			c.At(e.Key, fmt.Sprintf("%q cannot be the name of a value", e.Key.Text),
				"letters, digits and _, and no parameter's name")
			continue
		}
		c.named[e.Key.Text] = e.Value
	}
}

// entries returns the entries of a map, none if the node is missing; it refuses anything else, and keys that are
// no names.
func entries(d *strictyaml.Document, n *strictyaml.Node, notMap, help string) []strictyaml.Entry {
	if n == nil || !d.Is(n, strictyaml.Mapping, notMap, help) {
		return nil
	}
	d.Names(n)
	return n.Entries
}

// word returns a node's text; "" if the node is missing.
func word(n *strictyaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

// table returns the table of that name; nil if there is none.
func (c *compiler) table(name string) *tableDef {
	i := slices.IndexFunc(c.tables, func(t *tableDef) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return c.tables[i]
}

// tableOf returns the table that a node names.
func (c *compiler) tableOf(n *strictyaml.Node) *tableDef {
	t := c.table(n.Text)
	switch {
	case t != nil || n.Kind == strictyaml.Broken || len(c.tables) == 0: // reported elsewhere
	case n.Kind != strictyaml.Scalar || n.IsNull():
		c.At(n, "the name of a table is missing", "as in get: TABLE")
	default:
		known := quantity.Texts(c.tables, func(t *tableDef) string { return t.Name })
		c.At(n, fmt.Sprintf("there is no table %q", n.Text), hint.OneOf(n.Text, known))
	}
	return t
}

func isName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
