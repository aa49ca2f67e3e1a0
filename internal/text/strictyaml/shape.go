package strictyaml

import (
	"maps"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// Shape is a JSON Schema. As files are YAML, it describes scalars as editors see
// them: text that looks like a number is one.
type Shape map[string]any

// With returns the schema with one more keyword.
func (s Shape) With(keyword string, value any) Shape {
	out := maps.Clone(s)
	out[keyword] = value
	return out
}

// MapOrNull is the type of a map that may be left empty.
var MapOrNull = []string{"object", "null"}

var (
	TextShape = Shape{"type": []string{"string", "number", "boolean"}, "minLength": 1}
	SizeShape = Shape{"type": []string{"integer", "string"}, "minimum": 1, "pattern": Whole(quantity.SizePattern)}
	// durationShape has no bounds; a number is in seconds.
	durationShape = Shape{"type": []string{"number", "string"}, "pattern": Whole(quantity.DurationPattern)}
)

func Whole(pattern string) string { return `^\s*(` + pattern + `)\s*$` }

// NumberOrText returns the shape of a number with bounds, or of a text that matches a
// pattern as a whole.
func NumberOrText(bounds Shape, pattern string) Shape {
	return bounds.With("type", []string{"number", "string"}).With("pattern", Whole(pattern))
}

// percent is a percentage of at most 100.
const percent = `0*(100(\.0*)?|[0-9]{1,2}(\.[0-9]*)?|\.[0-9]+)\s*%`

func ShareShape(bounds Shape) Shape { return NumberOrText(bounds, percent) }

func integerShape[T int | int64 | uint64](low, greatest T) Shape {
	const grouped = `[-+]?[0-9][0-9a-fA-FxX]*(_[0-9a-fA-F]+)+` // 1_000 is a text to editors
	return Shape{"type": []string{"integer", "string"}, "minimum": low, "maximum": greatest, "pattern": Whole(grouped)}
}

// ListOf returns the shape of one value or a list of several.
func ListOf(item Shape) Shape {
	return Either(item, Shape{"type": "array", "items": item, "minItems": 1})
}

// Either returns the shape of values that match one of several shapes.
func Either(shapes ...Shape) Shape { return Shape{"anyOf": shapes} }

// Choice returns the shape of one of several names. If a name means something else in
// YAML, such as null, that is accepted too.
func Choice(names []string, doc func(name string) string) Shape {
	var shapes []Shape
	for _, name := range names {
		for _, value := range Written(name) {
			shapes = append(shapes, Shape{"const": value, "description": doc(name)})
		}
	}
	return Shape{"anyOf": shapes}
}

// Written returns the values that represent a name in a file.
func Written(name string) []any {
	if value := Resolve(name); value != any(name) {
		return []any{name, value}
	}
	return []any{name}
}

// Explained returns a reader whose allowed values have descriptions.
func Explained[T ~string](r ScalarOf[T], docs map[string]string) ScalarOf[T] {
	r.Shape = Choice(r.Shape["enum"].([]string), func(name string) string { return docs[name] })
	return r
}

// Worded returns a reader that explains words which are not allowed, but that people use: a
// hint by words, separated by spaces.
func Worded[T any](r ScalarOf[T], hints map[string]string) ScalarOf[T] {
	return ScalarOf[T]{func(n *Node) (T, error) {
		v, err := r.Read(n)
		for words, help := range hints {
			if err != nil && slices.Contains(strings.Fields(words), strings.ToLower(n.Text)) {
				err = hint.With(err, help)
			}
		}
		return v, err
	}, r.Shape}
}

// AnyName returns the shape of one of several names, without descriptions.
func AnyName(list []string) Shape {
	var values []any
	for _, name := range list {
		values = slices.Concat(values, Written(name))
	}
	return Shape{"enum": values}
}
