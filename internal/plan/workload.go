package plan

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// workload reads the workload, its preset and params.
func (b *binder) workload(f strictyaml.Fields, p *Plan) {
	previous := len(b.Problems)
	strictyaml.Bind(f, "preset", strictyaml.Text, func(v string) { p.Preset = v })
	if f.Of.Get("workload") == nil {
		b.At(f.Of, "workload is missing", hint.OneOf("", b.cat.WorkloadNames()))
		return
	}
	own := choose(b, f, p)
	if b.chosen == nil {
		return
	}
	info := b.chosen.Info()
	p.Workload = info.Name
	if p.Preset != "" {
		if _, err := info.Preset(p.Preset); err != nil {
			b.At(f.Value("preset"), err.Error(), hint.Of(err))
		}
	}
	given := params(f, info)
	if len(b.Problems) > previous {
		return
	}
	var err error
	if p.Params, err = info.Resolve(p.Preset, given); err == nil {
		p.Run, err = made(b.chosen, p.Params)
	}
	if err != nil {
		b.refused(f, cmp.Or(f.Of.Get("preset"), f.Value("workload")), err)
	} else if own != nil {
		p.Params[fileParam] = fmt.Sprintf("%x", sha256.Sum256(own))[:12]
	}
}

// made returns the workload with parameters, if its rates can be walked.
func made(w workload.Workload, params map[string]any) (workload.Run, error) {
	run, err := w.New(params)
	if err != nil {
		return nil, err
	}
	return run, workload.CheckRates(run.Steps())
}

// fileParam is the parameter that represents the content of a workload's file:
// results of different files do not belong to one workload, whatever their names are.
const fileParam = "file"

// choose finds the workload: by its name, in a file, or in the plan itself. own is the
// declaration of a workload that does not come with rumbench.
func choose(b *binder, f strictyaml.Fields, p *Plan) (own []byte) {
	n := f.Value("workload")
	var err error
	switch {
	case n == nil:
		return nil // that is reported
	case n.Kind == strictyaml.Mapping:
		own = n.YAML()
		b.chosen, err = b.cat.WorkloadOf(n)
	case !b.Is(n, strictyaml.Scalar, "workload is a name, a file, or a map", "as in workload: ./queue.yaml"):
		return nil
	case isFile(n.Text):
		if own, err = regular.ReadText(b.paths.located(n)); err == nil {
			p.Declared = own
			b.paths.moved = append(b.paths.moved, moved{n, "./" + WorkloadFile})
			b.chosen, err = b.cat.ReadWorkload(n.Text, own)
		}
	default:
		var ok bool
		if b.chosen, ok = b.cat.Workload(n.Text); !ok {
			b.At(n, fmt.Sprintf("there is no workload %q", n.Text), workloadMeant(b.cat, n.Text))
		}
	}
	if wrong, ok := errors.AsType[hint.Problems](err); ok {
		b.Problems = append(b.Problems, wrong...)
	} else if err != nil {
		b.At(n, err.Error(), cmp.Or(b.paths.elsewhere(n),
			"a workload's file is named relative to the plan, as in ./queue.yaml"))
	}
	return own
}

// isFile reports whether a workload's name is that of a file.
func isFile(name string) bool {
	ext := filepath.Ext(name)
	return strings.ContainsRune(name, '/') || ext == ".yaml" || ext == ".yml"
}

// WorkloadFile is the workload's file in a campaign's directory.
const WorkloadFile = "workload.yaml"

// override reads the parameters that a target overrides. Its steps must be those of
// the plan, as steps are compared by name.
func (t *bound) override(b *binder, p *Plan) {
	if p.Run == nil || t.fields.Value("params") == nil {
		return
	}
	previous := len(b.Problems)
	given := params(t.fields, b.chosen.Info())
	if len(b.Problems) > previous || len(given) == 0 {
		return
	}
	t.Params, t.Own = maps.Clone(p.Params), slices.Sorted(maps.Keys(given))
	maps.Copy(t.Params, given)
	at, err := t.fields.Of.Get("params"), error(nil)
	if t.Run, err = made(b.chosen, t.Params); err != nil {
		b.refused(t.fields, at, err)
		return
	}
	if own, whole := outline(p.For(&t.Target)), outline(p); own != whole {
		b.At(at, fmt.Sprintf("params change the steps: they are %s, and those of the plan are %s", own, whole),
			"targets of one plan have the same steps, which are compared by name; give this target its own plan")
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

func params(f strictyaml.Fields, info workload.Info) map[string]any {
	names := quantity.Texts(info.Params, func(p workload.Param) string { return p.Name })
	fields := f.In.Fields(f.Of.Get("params"), "params of workload "+info.Name, names)
	given := map[string]any{}
	for _, p := range info.Params {
		n := fields.Value(p.Name)
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
func (b *binder) refused(f strictyaml.Fields, n *strictyaml.Node, err error) {
	given := f.Of.Get("params")
	if pe, ok := errors.AsType[*workload.ParamError](err); ok && given != nil {
		n = cmp.Or(given.Get(pe.Param), n)
	}
	if wrong, ok := errors.AsType[hint.Problems](err); ok { // of the workload's file
		for _, p := range wrong {
			if given != nil {
				p.Hint = cmp.Or(p.Hint, fmt.Sprintf("this is so with the params in line %d of the plan", given.Line))
			}
			b.Problems = append(b.Problems, p)
		}
		return
	}
	b.At(n, err.Error(), hint.Of(err))
}
