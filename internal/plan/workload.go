package plan

import (
	"cmp"
	"errors"
	"fmt"

	"rumbench/internal/hint"
	"rumbench/workload"
)

// workload reads what to run: workload, preset and params.
func (b *binder) workload(f fields, p *Plan) {
	before := len(b.problems)
	bind(f, "preset", word, func(v string) { p.Preset = v })
	if f.of.get("workload") == nil {
		b.at(f.of, "workload is missing", hint.OneOf("", b.cat.WorkloadNames()))
		return
	}
	bind(f, "workload", word, func(v string) { p.Workload = v })
	if p.Workload == "" {
		return
	}
	w, ok := b.cat.Workload(p.Workload)
	if !ok {
		b.at(f.value("workload"), fmt.Sprintf("there is no workload %q", p.Workload), b.workloadMeant(p.Workload))
		return
	}
	info := w.Info()
	if p.Preset != "" {
		if _, err := info.Preset(p.Preset); err != nil {
			b.at(f.value("preset"), err.Error(), hint.Of(err))
		}
	}
	given := f.params(info)
	if len(b.problems) > before {
		return
	}
	var err error
	if p.Params, err = info.Resolve(p.Preset, given); err == nil {
		p.Run, err = w.New(p.Params)
	}
	if err != nil {
		b.refused(f, err)
	}
}

func (f fields) params(info workload.Info) map[string]any {
	var names []string
	for _, p := range info.Params {
		names = append(names, p.Name)
	}
	of := f.in.fields(f.of.get("params"), "params of workload "+info.Name, names)
	given := map[string]any{}
	for _, p := range info.Params {
		n := of.value(p.Name)
		if n == nil {
			continue
		}
		asText := p.Type == workload.StringParam || p.Type == workload.StringsParam
		v, err := p.Parse(n.plain(asText))
		if err != nil {
			f.in.at(n, err.Error(), hint.Of(err))
			continue
		}
		given[p.Name] = v
	}
	return given
}

// refused reports an error about parameters at the parameter that caused it. If
// the plan does not give that one, it comes from the preset or is a default.
func (b *binder) refused(f fields, err error) {
	n := cmp.Or(f.of.get("preset"), f.value("workload"))
	if pe, ok := errors.AsType[*workload.ParamError](err); ok && f.of.get("params") != nil {
		n = cmp.Or(f.of.get("params").get(pe.Param), n)
	}
	b.at(n, err.Error(), hint.Of(err))
}
