package declared

import (
	"encoding/json"
	"fmt"
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

// Reference returns the reference of workload files, in Markdown.
func Reference() string {
	var b strings.Builder
	table := func(heading, about string, keys strictyaml.Table[none]) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | meaning |\n|---|---|\n", heading, about)
		for _, k := range keys {
			fmt.Fprintf(&b, "| `%s` | %s |\n", k.Name, k.Doc)
		}
	}
	table("The file", "A workload file is a map.", fileKeys)
	table("A parameter", "Below `params`, by name. A plan's `params` override it. "+
		"Values may use it by its name; a bool is 1 or 0, a duration its seconds.", paramKeys)
	table("A table", "Below `tables`, by name.", tableKeys)
	table("A column", "Below `columns`, by name. The value is a function of the seed and the row's number: every "+
		"engine gets the same.", columnKeys)
	table("An index", "Below `indexes`, by name. A list of columns is short for `{columns: [...]}`.", indexKeys)
	table("An operation", "Below `operations`, by name. A list of statements is short for `{do: [...]}`.", operationKeys)
	for _, kind := range kinds {
		table("Statement: "+kind, statementDocs[kind], keysOf(kind))
	}
	for _, kind := range stepNames {
		table("Step: "+kind, stepDocs[kind], stepKinds[kind])
	}
	table("A group of clients", "Below `groups`, by name.", groupKeys)
	table("A rate that rises and falls",
		"mean + amplitude · sin(2πt / period). Operations then arrive whether earlier ones are done or not.", rateKeys)
	table("A check", "It is evaluated after each run, with parameter `check: true`.", checkKeys)
	b.WriteString(expressionDoc)
	b.WriteString("\n## Generators\n\nA value is a number, a text in an expression's syntax, or a map of one generator: " +
		"`{NAME: ARGUMENT}`, `{NAME: [ARGUMENT, …]}` or `{NAME: {ARGUMENT: VALUE, …}}`.\n\n")
	b.WriteString("| generator | what it makes | arguments |\n|---|---|---|\n")
	for i := range generators {
		g := &generators[i]
		var args []string
		for _, a := range g.args {
			text := "`" + a.name + "`"
			if a.doc != "" {
				text += ": " + a.doc
			}
			if a.usual != "" && a.usual != overDefault {
				text += ", default `" + a.usual + "`"
			}
			args = append(args, text)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", g.name, g.doc, strings.Join(args, "<br>"))
	}
	return b.String()
}

var expressionDoc = strings.ReplaceAll(`
## Expressions

A text where a value is expected is arithmetic: numbers, names, '+ - * / %' and parentheses, as in '(row + 1) * size'.

- Names are parameters, values with a name, in a column 'row' and the columns before it, and in an operation what
  was drawn or carried before. A constant text is '{const: TEXT}'.
- Of whole numbers, '+ - * %' are whole, and '/' is always a fraction. Where a whole number is needed the fraction is
  cut off: '{type: int64, value: row / 10}'. The remainder of a division by 0 is 0.
- A timestamp and a number of seconds can be added or subtracted: 'made + 1800'. A whole number as a timestamp is
  microseconds since 1970.
- A number alone may have a suffix: 250k, 1.5M, 2G.
- A number that a column cannot hold, as one too large for an int32, ends the run with an error.
`, "'", "`")

var statementDocs = map[string]string{
	sInsert: "Rows get the numbers that follow, and their columns their own values.",
	sGet:    "It needs one of `row`, `key` and `index`.",
	sScan:   "Without bounds it reads all of the table, or as many rows as `limit` says.",
	sUpdate: "It needs one of `row`, `key` and `index`, and `set` or `add`.",
	sDelete: "It needs `row` or `key`, and deletes one row.",
}

var stepDocs = map[string]string{
	stepLoad:   "The first step that does something creates the tables, with the indexes that no step builds.",
	stepIndex:  "An index that a step builds does not exist before.",
	stepSettle: "`settle` alone rests for 60 s and a second per million rows.",
	stepRun:    "Groups of clients do operations at the same time.",
}
