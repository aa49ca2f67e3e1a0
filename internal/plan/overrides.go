package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Word is a word that can be typed, and what it means.
type Word struct{ Text, Doc string }

// Overrides returns what can stand in place of an unfinished override, key=value: the
// keys of a plan with a workload, and of its maps, or the values of a key that have names.
func Overrides(cat Catalog, workload, unfinished string) (out []Word) {
	keys := schema{}
	root := planSchema(cat)
	root.addKeys(keys, "")
	for _, rule := range root["allOf"].([]schema) {
		if slices.Contains(rule.under("if", "properties", "workload")["enum"].([]any), any(workload)) {
			rule.under("then").addKeys(keys, "")
		}
	}
	key, _, hasValue := strings.Cut(unfinished, "=")
	shape, known := keys[key].(schema)
	switch {
	case !hasValue:
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, Word{name + "=", fmt.Sprint(keys[name].(schema)["description"])})
		}
	case known:
		for _, w := range shape.words() {
			out = append(out, Word{key + "=" + w.Text, w.Doc})
		}
	}
	return out
}

// under returns a part of a schema.
func (s schema) under(path ...string) schema {
	for _, keyword := range path {
		s, _ = s[keyword].(schema)
	}
	return s
}

// addKeys adds the schema's properties, those of maps by their paths.
func (s schema) addKeys(to schema, prefix string) {
	for name, value := range s.under("properties") {
		shape := value.(schema)
		if shape["properties"] != nil {
			shape.addKeys(to, prefix+name+".")
		} else if shape["description"] != nil {
			to[prefix+name] = shape
		}
	}
}

// words returns the values of a shape that have names.
func (s schema) words() (out []Word) {
	if s["type"] == "boolean" {
		return []Word{{"true", ""}, {"false", ""}}
	}
	switch values := s["enum"].(type) {
	case []string:
		for _, v := range values {
			out = append(out, Word{v, ""})
		}
	case []any:
		for _, v := range values {
			out = append(out, Word{fmt.Sprint(v), ""})
		}
	}
	if text, ok := s["const"].(string); ok {
		doc, _ := s["description"].(string)
		out = append(out, Word{text, doc})
	}
	shapes, _ := s["anyOf"].([]schema)
	for _, shape := range shapes {
		out = append(out, shape.words()...)
	}
	return out
}
