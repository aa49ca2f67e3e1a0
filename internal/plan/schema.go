package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// Schema returns the JSON Schema (draft 2020-12) of plans with these engines and
// workloads. It accepts every plan that Load accepts, except for unusual spellings
// such as a metric's name in capitals. Rules that depend on several values, on files
// or on an engine's capabilities are checked by Load alone.
func Schema(cat Catalog) ([]byte, error) { return json.MarshalIndent(planSchema(cat), "", "  ") }

func planSchema(cat Catalog) strictyaml.Shape {
	root := planKeys.Shape("workload", "targets")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "rumbench plan"
	root["description"] = "What rumbench run measures: one workload on one or more targets."
	properties := root["properties"].(strictyaml.Shape)
	names := strictyaml.Choice(cat.WorkloadNames(), func(name string) string {
		w, _ := cat.Workload(name)
		return w.Info().Doc
	})
	file := strictyaml.Shape{"type": "string", "pattern": `/|\.ya?ml$`,
		"title": "the file of a workload of your own, relative to the plan"}
	own := strictyaml.Shape{"type": "object",
		"title": "a workload of your own, as rumbench schema --workload describes it"}
	properties["workload"] = strictyaml.Either(names, file, own).With("description", "The workload to run.")
	var rules []strictyaml.Shape
	for _, name := range cat.WorkloadNames() {
		w, _ := cat.Workload(name)
		rules = append(rules, when("workload", name, workloadShape(w.Info())))
	}
	root["allOf"] = rules
	targets := properties["targets"].(strictyaml.Shape)
	targets["items"] = strictyaml.Either(enginesShape(cat), targetShape(cat))
	return root
}

// when returns a rule: if a key is a name, the properties have these shapes.
func when(key, name string, properties strictyaml.Shape) strictyaml.Shape {
	return strictyaml.Shape{
		"if": strictyaml.Shape{"properties": strictyaml.Shape{key: strictyaml.Shape{"enum": strictyaml.Written(name)}},
			"required": []string{key}},
		"then": strictyaml.Shape{"properties": properties},
	}
}

func workloadShape(info workload.Info) strictyaml.Shape {
	presets := quantity.Texts(info.Presets, func(p workload.Preset) string { return p.Name })
	params := strictyaml.Shape{}
	for i := range info.Params {
		p := &info.Params[i]
		usual := inPlan(p.Default)
		text, _ := json.Marshal(usual) // never fails for the types of parameters
		params[p.Name] = paramShape(p).With("default", usual).With("description",
			fmt.Sprintf("%s Default %s.", sentence(p.Doc, p.Unit), text))
	}
	shape := strictyaml.Shape{"properties": params, "additionalProperties": false}
	return strictyaml.Shape{
		"preset": strictyaml.Choice(presets, func(name string) string {
			p, _ := info.Preset(name)
			return p.Doc
		}).With("description", "A named set of the parameters of "+info.Name+"."),
		"params":  shape,
		"targets": strictyaml.Shape{"items": strictyaml.Shape{"properties": strictyaml.Shape{"params": shape}}},
	}
}

// sentence returns a documentation, with a unit if there is one, as a sentence.
func sentence(doc, unit string) string {
	if unit != "" {
		doc += " (" + unit + ")"
	}
	if doc != "" {
		doc = quantity.Capital(doc) + "."
	}
	return doc
}

// inPlan returns a parameter's value as plans write it.
func inPlan(v any) any {
	if d, ok := v.(time.Duration); ok {
		return d.String()
	}
	return v
}

// paramShape returns the shape of the values that [workload.Param.Parse]
// accepts.
func paramShape(p *workload.Param) strictyaml.Shape {
	bounds := strictyaml.Shape{}
	if p.Min > -1e300 { // JSON has no infinity
		bounds["minimum"] = p.Min
	}
	if p.Max != 0 {
		bounds["maximum"] = p.Max
	}
	count := bounds.With("type", []string{"integer", "string"}).With("pattern", strictyaml.Whole(workload.CountPattern))
	name := strictyaml.TextShape
	if len(p.Enum) > 0 {
		name = strictyaml.AnyName(p.Enum)
	}
	switch p.Type {
	case workload.IntParam, workload.FloatParam, workload.DurationParam:
		switch {
		case p.Type == workload.DurationParam || p.Unit == "s":
			return strictyaml.NumberOrText(bounds, quantity.DurationPattern)
		case p.Type == workload.IntParam:
			return count
		}
		return strictyaml.NumberOrText(bounds, workload.CountPattern)
	case workload.IntsParam:
		return strictyaml.Either(count, strictyaml.Shape{"type": "array", "items": count})
	case workload.BoolParam:
		return strictyaml.Boolean.Shape
	case workload.StringsParam:
		return strictyaml.Either(name, strictyaml.Shape{"type": "array", "items": name})
	}
	if len(p.Enum) > 0 {
		return name
	}
	return strictyaml.Shape{"type": strictyaml.TextShape["type"]} // a text may be empty
}

func enginesShape(cat Catalog) strictyaml.Shape {
	return strictyaml.Choice(cat.EngineNames(), func(name string) string {
		e, _ := cat.Engine(name)
		return e.Info().Doc
	})
}

func targetShape(cat Catalog) strictyaml.Shape {
	target := targetKeys.Shape("engine")
	target["properties"].(strictyaml.Shape)["engine"] = enginesShape(cat).With("description", "The engine.")
	var rules []strictyaml.Shape
	for _, name := range cat.EngineNames() {
		e, _ := cat.Engine(name)
		rules = append(rules, when("engine", name, engineShape(e.Info())))
	}
	return target.With("allOf", rules)
}

// engineShape returns the shapes of a target's keys that depend on its engine.
func engineShape(info engine.Info) strictyaml.Shape {
	options := strictyaml.Shape{}
	for _, o := range info.Options {
		if !strings.Contains(o.Name, " ") { // others describe further options
			options[o.Name] = optionShape(o.Type).With("description", sentence(o.Doc, ""))
		}
	}
	if len(info.Servers) == 0 {
		out := strictyaml.Shape{"options": strictyaml.Shape{"properties": options, "additionalProperties": false}}
		for _, key := range serverKeys.Names() {
			out[key] = false
		}
		if len(info.Storages) > 0 {
			out["storage"] = strictyaml.AnyName(info.Storages)
		}
		return out
	}
	out := strictyaml.Shape{"options": strictyaml.Shape{"properties": options}, "server": strictyaml.AnyName(info.Servers)}
	if len(info.Storages) > 0 {
		// the server may have others
		out["storage"] = strictyaml.Either(strictyaml.AnyName(info.Storages), strictyaml.Text.Shape)
	}
	return out
}

// optionShape returns the shape of an option by the type that its engine declares.
func optionShape(kind string) strictyaml.Shape {
	switch kind {
	case "bool":
		return strictyaml.Boolean.Shape
	case "int":
		return strictyaml.Shape{"type": "integer"}
	case "number":
		return strictyaml.Shape{"type": "number"}
	case "size":
		return strictyaml.SizeShape.With("minimum", 0)
	case "duration":
		return strictyaml.Shape{"type": "string", "pattern": strictyaml.Whole(quantity.DurationPattern)}
	case "string":
		return strictyaml.TextShape
	}
	return strictyaml.Shape{"enum": strings.Split(kind, "|")}
}
