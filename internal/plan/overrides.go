package plan

import (
	"fmt"
	"maps"
	"rumbench/internal/text/strictyaml"
	"slices"
	"strings"
)

// Word is a word that can be typed, and its meaning.
type Word struct{ Text, Doc string }

// Overrides returns the completions of an unfinished override, key=value: the keys of a
// plan with a workload, and of its maps, or the values of a key that have names.
func Overrides(cat Catalog, workload, unfinished string) (out []Word) {
	keys := strictyaml.Shape{}
	root := planSchema(cat)
	addKeys(root, keys, "")
	for _, rule := range root["allOf"].([]strictyaml.Shape) {
		if slices.Contains(under(rule, "if", "properties", "workload")["enum"].([]any), any(workload)) {
			addKeys(under(rule, "then"), keys, "")
		}
	}
	key, _, hasValue := strings.Cut(unfinished, "=")
	shape, known := keys[key].(strictyaml.Shape)
	switch {
	case !hasValue:
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, Word{name + "=", fmt.Sprint(keys[name].(strictyaml.Shape)["description"])})
		}
	case known:
		for _, w := range words(shape) {
			out = append(out, Word{key + "=" + w.Text, w.Doc})
		}
	}
	return out
}

// under returns a part of a schema.
func under(s strictyaml.Shape, path ...string) strictyaml.Shape {
	for _, keyword := range path {
		s, _ = s[keyword].(strictyaml.Shape)
	}
	return s
}

// addKeys adds the schema's properties, those of maps by their paths.
func addKeys(s, dst strictyaml.Shape, prefix string) {
	for name, value := range under(s, "properties") {
		shape := value.(strictyaml.Shape)
		if shape["properties"] != nil {
			addKeys(shape, dst, prefix+name+".")
		} else if shape["description"] != nil {
			dst[prefix+name] = shape
		}
	}
}

// words returns the values of a shape that have names.
func words(s strictyaml.Shape) (out []Word) {
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
	shapes, _ := s["anyOf"].([]strictyaml.Shape)
	for _, shape := range shapes {
		out = append(out, words(shape)...)
	}
	return out
}
