package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rumbench/internal/hint"
)

// override applies one override, key=value, to the tree. If root is nil it only
// reports the problems of the override itself.
func (d *document) override(root *node, set string) {
	src := setSource(set)
	key, text, found := strings.Cut(set, "=")
	path := setPath(src, key)
	if !found || slices.ContainsFunc(path, func(n *node) bool { return n.text == "" }) {
		d.problems = append(d.problems, src.problem(0, len("--set ")+1, "an override is key=value", "as in --set trials=3 or --set params.rows=10M"))
		return
	}
	value := d.read(src, text)
	if value == nil || root == nil {
		return
	}
	if path[0].text == "targets" && len(path) > 1 {
		d.assignTarget(root.get("targets"), path, value)
		return
	}
	d.assign(root, path, value)
}

// setPath splits a key at its dots into nodes with their positions.
func setPath(src *source, key string) []*node {
	var path []*node
	column := len("--set ") + 1
	for _, part := range strings.Split(key, ".") {
		path = append(path, &node{src: src, column: column, text: part, value: part})
		column += utf8.RuneCountInString(part) + 1
	}
	return path
}

// join joins the rest of a path into one node.
func join(path []*node) *node {
	parts := make([]string, len(path))
	for i, n := range path {
		parts[i] = n.text
	}
	out := *path[0]
	out.text = strings.Join(parts, ".")
	return &out
}

// assign sets the value at the end of a path below a mapping. It creates missing
// maps. An option's name may itself have dots.
func (d *document) assign(n *node, path []*node, value *node) {
	if len(path) > 2 && path[0].text == "options" {
		path = []*node{path[0], join(path[1:])}
	}
	key := path[0]
	if len(path) == 1 {
		n.set(key, value)
		return
	}
	child := n.get(key.text)
	if child == nil || child.isNull() {
		child = &node{kind: mapping, src: key.src, column: key.column}
		n.set(key, child)
	}
	if child.kind != mapping {
		if child.kind != broken {
			d.at(key, fmt.Sprintf("%s is not a map: it has no key %q", key.text, path[1].text), fmt.Sprintf("set it whole, as %s=VALUE", key.text))
		}
		return
	}
	d.assign(child, path[1:], value)
}

// assignTarget sets a target, or a key of one, that the path names after
// "targets" by name or by number.
func (d *document) assignTarget(targets *node, path []*node, value *node) {
	if targets == nil || targets.kind != list {
		d.at(path[0], "the plan has no list of targets", "set it whole, as targets=[ENGINE]")
		return
	}
	item, rest := findTarget(targets.items, path[1:])
	if item < 0 {
		d.at(path[1], fmt.Sprintf("there is no target %q", path[1].text), hint.OneOf(path[1].text, targetNames(targets.items)))
		return
	}
	if len(rest) == 0 {
		targets.items[item] = value
		return
	}
	t := asMap(targets.items[item])
	if t.kind != mapping {
		return // reported when the targets are read
	}
	targets.items[item] = t
	d.assign(t, rest, value)
}

// findTarget returns the target that a path begins with, -1 if there is none, and
// the rest of the path. Names may have dots; the longest match counts.
func findTarget(items []*node, path []*node) (item int, rest []*node) {
	names := targetNames(items)
	for n := len(path); n > 0; n-- {
		if i := slices.Index(names, join(path[:n]).text); i >= 0 {
			return i, path[n:]
		}
	}
	if i, err := strconv.Atoi(path[0].text); err == nil && i >= 0 && i < len(items) {
		return i, path[1:]
	}
	return -1, nil
}

// targetNames returns the names of targets as given, "" for one without.
func targetNames(items []*node) []string {
	names := make([]string, len(items))
	for i, n := range items {
		n = asMap(n)
		for _, key := range []string{"engine", "name"} {
			if v := n.get(key); v != nil && v.text != "" {
				names[i] = v.text
			}
		}
	}
	return names
}
