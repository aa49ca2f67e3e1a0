package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rumbench/internal/form"
	"rumbench/internal/hint"
	"rumbench/workload"
)

// workload reads what to run: workload, preset and params.
func (b *binder) workload(f form.Fields, p *Plan) {
	before := len(b.Problems)
	form.Bind(f, "preset", form.Text, func(v string) { p.Preset = v })
	if f.Of.Get("workload") == nil {
		b.At(f.Of, "workload is missing", hint.OneOf("", b.cat.WorkloadNames()))
		return
	}
	form.Bind(f, "workload", form.Text, func(v string) { p.Workload = v })
	if p.Workload == "" {
		return
	}
	w, ok := b.cat.Workload(p.Workload)
	if !ok {
		b.At(f.Value("workload"), fmt.Sprintf("there is no workload %q", p.Workload), workloadMeant(b.cat, p.Workload))
		return
	}
	info := w.Info()
	if p.Preset != "" {
		if _, err := info.Preset(p.Preset); err != nil {
			b.At(f.Value("preset"), err.Error(), hint.Of(err))
		}
	}
	given := params(f, info)
	if len(b.Problems) > before {
		return
	}
	var err error
	if p.Params, err = info.Resolve(p.Preset, given); err == nil {
		p.Run, err = w.New(p.Params)
	}
	if err != nil {
		b.refused(f, cmp.Or(f.Of.Get("preset"), f.Value("workload")), err)
	}
}

// override reads the parameters that a target overrides. Its steps must be those of
// the plan, as steps are compared by name.
func (t *bound) override(b *binder, p *Plan) {
	if p.Run == nil || t.fields.Value("params") == nil {
		return
	}
	w, _ := b.cat.Workload(p.Workload)
	before := len(b.Problems)
	given := params(t.fields, w.Info())
	if len(b.Problems) > before || len(given) == 0 {
		return
	}
	t.Params, t.Own = maps.Clone(p.Params), slices.Sorted(maps.Keys(given))
	maps.Copy(t.Params, given)
	at, err := t.fields.Of.Get("params"), error(nil)
	if t.Run, err = w.New(t.Params); err != nil {
		b.refused(t.fields, at, err)
		return
	}
	if own, of := outline(p.For(&t.Target)), outline(p); own != of {
		b.At(at, fmt.Sprintf("params change the steps: they are %s, and those of the plan are %s", own, of),
			"targets of one plan have the same steps, which are compared by name; give this target a plan of its own")
	}
}

// outline returns the names of a plan's steps, and which of them have arrivals at a rate.
func outline(p *Plan) string {
	var names []string
	for _, s := range p.Steps() {
		name := s.Name
		if (p.Rate != nil || p.Find != nil) && OpenGroup(&s) >= 0 {
			name += " at a rate"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func params(f form.Fields, info workload.Info) map[string]any {
	var names []string
	for _, p := range info.Params {
		names = append(names, p.Name)
	}
	of := f.In.Fields(f.Of.Get("params"), "params of workload "+info.Name, names)
	given := map[string]any{}
	for _, p := range info.Params {
		n := of.Value(p.Name)
		if n == nil {
			continue
		}
		asText := p.Type == workload.StringParam || p.Type == workload.StringsParam
		v, err := p.Parse(n.Plain(asText))
		if err != nil {
			f.In.At(n, err.Error(), hint.Of(err))
			continue
		}
		given[p.Name] = v
	}
	return given
}

// refused reports an error about parameters at the parameter that caused it. If
// the plan does not give that one, it is reported at n.
func (b *binder) refused(f form.Fields, n *form.Node, err error) {
	if pe, ok := errors.AsType[*workload.ParamError](err); ok && f.Of.Get("params") != nil {
		n = cmp.Or(f.Of.Get("params").Get(pe.Param), n)
	}
	b.At(n, err.Error(), hint.Of(err))
}
