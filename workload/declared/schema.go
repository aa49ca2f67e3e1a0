package declared

import (
	"encoding/json"
	"strings"

	"rumbench/internal/text/strictyaml"
)

// Schema returns the JSON Schema (draft 2020-12) of workload files. It accepts every
// file that Read accepts.
func Schema() ([]byte, error) {
	root := fileKeys.Shape("name", "tables", "steps")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "rumbench workload"
	root["$defs"] = strictyaml.Shape{
		"value":      valueShape(),
		"param":      paramKeys.Shape("default"),
		"table":      tableKeys.Shape("columns"),
		"column":     columnKeys.Shape(),
		"index":      indexKeys.Shape("columns"),
		"operation":  operationKeys.Shape("do"),
		"statements": strictyaml.Shape{"type": "array", "minItems": 1, "items": eachKind(kinds, keysOf)},
		"step":       eachKind(stepNames, func(kind string) strictyaml.Table[none] { return stepKinds[kind] }),
		"group":      groupKeys.Shape(),
		"rate":       rateKeys.Shape(rateKeys.Names()...),
		"check":      checkKeys.Shape("expect"),
	}
	return json.MarshalIndent(root, "", "  ")
}

// eachKind returns the shape of a map that is one of several kinds. Each kind has its own
// keys, one of them with the name of the kind.
func eachKind(kinds []string, keys func(kind string) strictyaml.Table[none]) strictyaml.Shape {
	var shapes []strictyaml.Shape
	for _, kind := range kinds {
		shapes = append(shapes, keys(kind).Shape(kind))
	}
	return strictyaml.Either(shapes...)
}

// valueShape returns the shape of a value: a scalar, or a map of one generator.
func valueShape() strictyaml.Shape {
	properties := strictyaml.Shape{}
	for i := range generators {
		properties[generators[i].name] = generators[i].shape().With("description", generators[i].summary())
	}
	one := strictyaml.Shape{"type": "object", "minProperties": 1, "maxProperties": 1, "properties": properties,
		"additionalProperties": false}
	return strictyaml.Either(strictyaml.Shape{"type": []string{"number", "string", "boolean"}}, one)
}

// shape returns the forms of the generator's arguments: a single value, a list, or a map
// by name.
func (g *generator) shape() strictyaml.Shape {
	if g.free {
		return strictyaml.Shape{}
	}
	named := strictyaml.Shape{}
	for _, a := range g.args {
		named[a.name] = valueOf
	}
	return strictyaml.Either(strictyaml.Shape{"type": "null"}, valueOf,
		strictyaml.Shape{"type": "array", "items": valueOf, "maxItems": len(g.args)},
		strictyaml.Shape{"type": "object", "properties": named, "additionalProperties": false})
}

// summary returns a description of the generator and its arguments.
func (g *generator) summary() string {
	var args []string
	for _, a := range g.args {
		text := a.name
		if a.doc != "" {
			text += " (" + a.doc + ")"
		}
		if a.usual != "" && a.usual != overDefault {
			text += " = " + a.usual
		}
		args = append(args, text)
	}
	if len(args) == 0 {
		return g.doc + "."
	}
	return g.doc + ". Arguments: " + strings.Join(args, "; ") + "."
}
