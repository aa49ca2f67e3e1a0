package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/quantity"
	"rumbench/workload"
)

// Schema returns the JSON Schema (draft 2020-12) of plans with these engines and
// workloads. It accepts every plan that Load accepts, but for unusual spellings such
// as a metric's name in capitals. What depends on several values, on files or on what
// an engine can do is checked by Load alone.
func Schema(cat Catalog) ([]byte, error) { return json.MarshalIndent(planSchema(cat), "", "  ") }

func planSchema(cat Catalog) schema {
	root := planKeys.shape("workload", "targets")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "rumbench plan"
	root["description"] = "What rumbench run measures: one workload on one or more targets."
	properties := root["properties"].(schema)
	properties["workload"] = choice(cat.WorkloadNames(), func(name string) string {
		w, _ := cat.Workload(name)
		return w.Info().Doc
	}).with("description", "The workload to run.")
	var rules []schema
	for _, name := range cat.WorkloadNames() {
		w, _ := cat.Workload(name)
		rules = append(rules, when("workload", name, workloadShape(w.Info())))
	}
	root["allOf"] = rules
	targets := properties["targets"].(schema)
	targets["items"] = either(enginesShape(cat), targetShape(cat))
	return root
}

// when returns a rule: if a key is a name, the properties have these shapes.
func when(key, name string, properties schema) schema {
	return schema{
		"if":   schema{"properties": schema{key: schema{"enum": written(name)}}, "required": []string{key}},
		"then": schema{"properties": properties},
	}
}

func workloadShape(info workload.Info) schema {
	var presets []string
	for _, p := range info.Presets {
		presets = append(presets, p.Name)
	}
	params := schema{}
	for i := range info.Params {
		p := &info.Params[i]
		usual := inPlan(p.Default)
		text, _ := json.Marshal(usual) // never fails for the types of parameters
		params[p.Name] = paramShape(p).with("default", usual).with("description", fmt.Sprintf("%s Default %s.", sentence(p.Doc, p.Unit), text))
	}
	shape := schema{"properties": params, "additionalProperties": false}
	return schema{
		"preset": choice(presets, func(name string) string {
			p, _ := info.Preset(name)
			return p.Doc
		}).with("description", "A named set of the parameters of "+info.Name+"."),
		"params":  shape,
		"targets": schema{"items": schema{"properties": schema{"params": shape}}},
	}
}

// sentence returns a documentation, with a unit if there is one, as a sentence.
func sentence(doc, unit string) string {
	if unit != "" {
		doc += " (" + unit + ")"
	}
	if doc != "" {
		doc = strings.ToUpper(doc[:1]) + doc[1:] + "."
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

// paramShape returns what [workload.Param.Parse] accepts.
func paramShape(p *workload.Param) schema {
	bounds := schema{}
	if p.Min > -1e300 { // JSON has no infinity
		bounds["minimum"] = p.Min
	}
	if p.Max != 0 {
		bounds["maximum"] = p.Max
	}
	count := bounds.with("type", []string{"integer", "string"}).with("pattern", whole(workload.CountPattern))
	name := textShape
	if len(p.Enum) > 0 {
		name = names(p.Enum)
	}
	switch p.Type {
	case workload.IntParam:
		return count
	case workload.IntsParam:
		return either(count, schema{"type": "array", "items": count})
	case workload.FloatParam:
		if p.Unit == "s" {
			return numberOrText(bounds, quantity.DurationPattern)
		}
		return numberOrText(bounds, workload.CountPattern)
	case workload.DurationParam:
		return numberOrText(bounds, quantity.DurationPattern)
	case workload.BoolParam:
		return boolean.shape
	case workload.StringsParam:
		return either(name, schema{"type": "array", "items": name})
	}
	if len(p.Enum) > 0 {
		return name
	}
	return schema{"type": textShape["type"]} // a text may be empty
}

func enginesShape(cat Catalog) schema {
	return choice(cat.EngineNames(), func(name string) string {
		e, _ := cat.Engine(name)
		return e.Info().Doc
	})
}

func targetShape(cat Catalog) schema {
	target := targetKeys.shape("engine")
	target["properties"].(schema)["engine"] = enginesShape(cat).with("description", "The engine.")
	var rules []schema
	for _, name := range cat.EngineNames() {
		e, _ := cat.Engine(name)
		rules = append(rules, when("engine", name, engineShape(e.Info())))
	}
	return target.with("allOf", rules)
}

// engineShape returns the shapes of a target's keys that depend on its engine.
func engineShape(info engine.Info) schema {
	options := schema{}
	for _, o := range info.Options {
		if !strings.Contains(o.Name, " ") { // others describe what else there may be
			options[o.Name] = optionShape(o.Type).with("description", sentence(o.Doc, ""))
		}
	}
	if len(info.Servers) == 0 {
		out := schema{"options": schema{"properties": options, "additionalProperties": false}}
		for _, key := range serverKeys.names() {
			out[key] = false
		}
		if len(info.Storages) > 0 {
			out["storage"] = names(info.Storages)
		}
		return out
	}
	out := schema{"options": schema{"properties": options}, "server": names(info.Servers)}
	if len(info.Storages) > 0 {
		out["storage"] = either(names(info.Storages), word.shape) // the server may have others
	}
	return out
}

// optionShape returns the shape of an option by the type that its engine declares.
func optionShape(kind string) schema {
	switch kind {
	case "bool":
		return boolean.shape
	case "int":
		return schema{"type": "integer"}
	case "number":
		return schema{"type": "number"}
	case "size":
		return sizeShape.with("minimum", 0)
	case "duration":
		return schema{"type": "string", "pattern": whole(quantity.DurationPattern)}
	case "string":
		return textShape
	}
	return schema{"enum": strings.Split(kind, "|")}
}
