package plan

import (
	"maps"
	"slices"

	"rumbench/internal/quantity"
)

// schema is a JSON Schema. As plans are YAML, it describes what editors make of their
// scalars: what looks like a number is one.
type schema map[string]any

// with returns the schema with one more keyword.
func (s schema) with(keyword string, value any) schema {
	out := maps.Clone(s)
	out[keyword] = value
	return out
}

// mapOrNull is the type of a map that may be left empty.
var mapOrNull = []string{"object", "null"}

var (
	textShape = schema{"type": []string{"string", "number", "boolean"}, "minLength": 1}
	sizeShape = schema{"type": []string{"integer", "string"}, "minimum": 1, "pattern": whole(quantity.SizePattern)}
	// durationShape has no bounds; a number is of seconds.
	durationShape = schema{"type": []string{"number", "string"}, "pattern": whole(quantity.DurationPattern)}
)

func whole(pattern string) string { return `^\s*(` + pattern + `)\s*$` }

// numberOrText returns the shape of a number with bounds, or of a text that matches a
// pattern as a whole.
func numberOrText(bounds schema, pattern string) schema {
	return bounds.with("type", []string{"number", "string"}).with("pattern", whole(pattern))
}

// percent is a percentage of at most 100.
const percent = `0*(100(\.0*)?|[0-9]{1,2}(\.[0-9]*)?|\.[0-9]+)\s*%`

func shareShape(bounds schema) schema { return numberOrText(bounds, percent) }

func integerShape[T int | int64 | uint64](least, greatest T) schema {
	const grouped = `[-+]?[0-9][0-9a-fA-FxX]*(_[0-9a-fA-F]+)+` // 1_000 is a text to editors
	return schema{"type": []string{"integer", "string"}, "minimum": least, "maximum": greatest, "pattern": whole(grouped)}
}

// listOf returns the shape of one value or a list of several.
func listOf(item schema) schema {
	return either(item, schema{"type": "array", "items": item, "minItems": 1})
}

// either returns the shape of values of which one of several shapes fits.
func either(shapes ...schema) schema { return schema{"anyOf": shapes} }

// choice returns the shape of one of several names. Where a name means something else
// in YAML, such as null, that is accepted too.
func choice(names []string, doc func(name string) string) schema {
	var shapes []schema
	for _, name := range names {
		for _, value := range written(name) {
			shapes = append(shapes, schema{"const": value, "description": doc(name)})
		}
	}
	return schema{"anyOf": shapes}
}

// written returns the values that stand for a name in a plan.
func written(name string) []any {
	if value := resolve(name); value != any(name) {
		return []any{name, value}
	}
	return []any{name}
}

// explained returns a reader whose allowed values have descriptions.
func explained[T ~string](r scalarOf[T], docs map[string]string) scalarOf[T] {
	r.shape = choice(r.shape["enum"].([]string), func(name string) string { return docs[name] })
	return r
}

// names returns the shape of one of several names, without descriptions.
func names(list []string) schema {
	var values []any
	for _, name := range list {
		values = slices.Concat(values, written(name))
	}
	return schema{"enum": values}
}
