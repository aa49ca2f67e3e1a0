package plan

import (
	"bytes"
	"fmt"
	"slices"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
)

// mostSuspects is the greatest number of differences of two targets in an experiment.
const mostSuspects = 6

// Experiment returns a plan that finds out which differences between two targets make
// their results differ: in addition to the two it has targets that differ from the base
// in one setting each. The text is a plan that has both.
func Experiment(file string, text []byte, base, other string) ([]byte, error) {
	d := &strictyaml.Document{}
	root := d.ReadFile(file, text)
	if len(d.Problems) > 0 {
		return nil, d.Problems
	}
	targets := root.Get("targets")
	if targets == nil {
		targets = &strictyaml.Node{}
	}
	names := targetNames(targets.Items)
	i, k := slices.Index(names, base), slices.Index(names, other)
	if i < 0 || k < 0 {
		return nil, hint.Errorf("explain a campaign whose plan has both", "the plan has no targets called %s and %s", base,
			other)
	}
	previousNode, after := asMap(targets.Items[i]), asMap(targets.Items[k])
	changes := changesBetween(nil, previousNode, after)
	switch n := len(changes); {
	case slices.ContainsFunc(changes,
		func(c change) bool { return slices.Contains([]string{"engine", "storage"}, c.path[0].Text) }):
		return nil, hint.Errorf("compare targets of one engine",
			"%s and %s are different engines: no single setting makes the difference", base, other)
	case n == 0:
		return nil, hint.Errorf("compare targets of one plan that differ", "%s and %s are the same in the plan", base, other)
	case n == 1:
		return nil, hint.Errorf("explain the two: nothing else differs in the plan",
			"%s and %s differ in one setting only, so that their comparison is the experiment", base, other)
	case n > mostSuspects:
		return nil, hint.Errorf("make the targets more alike", "%s and %s differ in %d settings; at most %d can be separated",
			base, other, n, mostSuspects)
	}
	targets.Items = []*strictyaml.Node{previousNode}
	taken := []string{base, other}
	for _, c := range changes {
		between := copyOf(previousNode)
		c.apply(d, between)
		name := base + "-" + c.path[len(c.path)-1].Text
		for n := 1; slices.Contains(taken, name) || len(name) > longestName; n++ {
			name = fmt.Sprintf("between-%d", n)
		}
		taken = append(taken, name)
		between.Set(word("name"), word(name))
		targets.Items = append(targets.Items, between)
	}
	targets.Items = append(targets.Items, after)
	root.Set(word("name"), word("experiment"))
	var out bytes.Buffer
	out.WriteString("# The targets between the first and the last differ from the first in one setting, and are " +
		"called by it.\n")
	out.Write(root.YAML())
	return out.Bytes(), nil
}

// word returns a text as a node.
func word(s string) *strictyaml.Node { return &strictyaml.Node{Text: s, Value: s} }

// change is a setting that differs between two targets.
type change struct {
	path  []*strictyaml.Node // of its keys
	value *strictyaml.Node   // nil: not set
}

// changesBetween returns the settings that differ between two maps, except the
// name.
func changesBetween(path []*strictyaml.Node, previousNode, after *strictyaml.Node) (out []change) {
	for _, n := range []*strictyaml.Node{after, previousNode} {
		if n == nil {
			continue
		}
		for _, e := range n.Entries {
			at := append(slices.Clone(path), e.Key)
			a, b := previousNode.Get(e.Key.Text), after.Get(e.Key.Text)
			switch {
			case len(path) == 0 && e.Key.Text == "name", n == previousNode && b != nil, a != nil && b != nil &&
				bytes.Equal(a.YAML(), b.YAML()) && a.Text == b.Text:
			case a != nil && a.Kind == strictyaml.Mapping || b != nil && b.Kind == strictyaml.Mapping:
				out = append(out, changesBetween(at, a, b)...)
			default:
				out = append(out, change{at, b})
			}
		}
	}
	return out
}

// apply makes the change of a target.
func (c *change) apply(d *strictyaml.Document, dst *strictyaml.Node) {
	if c.value != nil {
		assign(d, dst, c.path, c.value)
		return
	}
	last := len(c.path) - 1
	for _, k := range c.path[:last] {
		dst = dst.Get(k.Text)
	}
	dst.Entries = slices.DeleteFunc(dst.Entries, func(e strictyaml.Entry) bool { return e.Key.Text == c.path[last].Text })
}

// copyOf returns a copy of a map whose maps can be changed.
func copyOf(n *strictyaml.Node) *strictyaml.Node {
	out := *n
	out.Entries = slices.Clone(n.Entries)
	for i := range out.Entries {
		out.Entries[i].Value = copyOf(out.Entries[i].Value)
	}
	return &out
}
