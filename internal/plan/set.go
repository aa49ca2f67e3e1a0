package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
)

// override applies one override, key=value, to the tree. If root is nil it only
// reports the problems of the override itself.
func override(d *strictyaml.Document, root *strictyaml.Node, set string) {
	src := strictyaml.SetSource(set)
	key, text, found := strings.Cut(set, "=")
	path := setPath(src, key)
	if !found || slices.ContainsFunc(path, func(n *strictyaml.Node) bool { return n.Text == "" }) {
		d.Problems = append(d.Problems,
			src.Problem(0, len("--set ")+1, "an override is key=value", "as in --set trials=3 or --set params.rows=10M"))
		return
	}
	value := d.Read(src, text)
	if value == nil || root == nil {
		return
	}
	if path[0].Text == "targets" && len(path) > 1 {
		assignTarget(d, root.Get("targets"), path, value)
		return
	}
	assign(d, root, path, value)
}

// setPath splits a key at its dots into nodes with their positions.
func setPath(src *strictyaml.Source, key string) []*strictyaml.Node {
	var path []*strictyaml.Node
	column := len("--set ") + 1
	for _, part := range strings.Split(key, ".") {
		path = append(path, &strictyaml.Node{Source: src, Column: column, Text: part, Value: part})
		column += utf8.RuneCountInString(part) + 1
	}
	return path
}

// join joins the rest of a path into one node.
func join(path []*strictyaml.Node) *strictyaml.Node {
	parts := quantity.Texts(path, func(n *strictyaml.Node) string { return n.Text })
	out := *path[0]
	out.Text = strings.Join(parts, ".")
	return &out
}

// assign sets the value at the end of a path below a mapping. It creates missing
// maps. An option's name may itself have dots.
func assign(d *strictyaml.Document, n *strictyaml.Node, path []*strictyaml.Node, value *strictyaml.Node) {
	if len(path) > 2 && path[0].Text == "options" {
		path = []*strictyaml.Node{path[0], join(path[1:])}
	}
	key := path[0]
	if len(path) == 1 {
		n.Set(key, value)
		return
	}
	child := n.Get(key.Text)
	if child == nil || child.IsNull() {
		child = &strictyaml.Node{Kind: strictyaml.Mapping, Source: key.Source, Column: key.Column}
		n.Set(key, child)
	}
	if child.Kind != strictyaml.Mapping {
		if child.Kind != strictyaml.Broken {
			d.At(key, fmt.Sprintf("%s is not a map: it has no key %q", key.Text, path[1].Text),
				fmt.Sprintf("set it whole, as %s=VALUE", key.Text))
		}
		return
	}
	assign(d, child, path[1:], value)
}

// assignTarget sets a target, or a key of one, that the path names after
// "targets" by name or by number.
func assignTarget(d *strictyaml.Document, targets *strictyaml.Node, path []*strictyaml.Node, value *strictyaml.Node) {
	if targets == nil || targets.Kind != strictyaml.List {
		d.At(path[0], "the plan has no list of targets", "set it whole, as targets=[ENGINE]")
		return
	}
	item, remaining := findTarget(targets.Items, path[1:])
	if item < 0 {
		d.At(path[1], fmt.Sprintf("there is no target %q", path[1].Text),
			hint.OneOf(path[1].Text, targetNames(targets.Items)))
		return
	}
	if len(remaining) == 0 {
		targets.Items[item] = value
		return
	}
	t := asMap(targets.Items[item])
	if t.Kind != strictyaml.Mapping {
		return // reported when the targets are read
	}
	targets.Items[item] = t
	assign(d, t, remaining, value)
}

// findTarget returns the target that a path begins with, -1 if there is none, and
// the rest of the path. Names may have dots; the longest match counts.
func findTarget(items []*strictyaml.Node, path []*strictyaml.Node) (item int, remaining []*strictyaml.Node) {
	names := targetNames(items)
	for n := len(path); n > 0; n-- {
		if i := slices.Index(names, join(path[:n]).Text); i >= 0 {
			return i, path[n:]
		}
	}
	if i, err := strconv.Atoi(path[0].Text); err == nil && i >= 0 && i < len(items) {
		return i, path[1:]
	}
	return -1, nil
}

// targetNames returns the names of targets as given, "" for one without.
func targetNames(items []*strictyaml.Node) []string {
	names := make([]string, len(items))
	for i, n := range items {
		n = asMap(n)
		for _, key := range []string{"engine", "name"} {
			if v := n.Get(key); v != nil && v.Text != "" {
				names[i] = v.Text
			}
		}
	}
	return names
}
