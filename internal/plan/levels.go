package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
)

// levelKeys are the knobs at whose levels all targets can run.
var levelKeys = strictyaml.Table[struct{}]{levelsOf("memory"), levelsOf("cpus"), levelsOf("cache")}

var levelKnobs = map[string]strictyaml.ScalarOf[int64]{"memory": memory, "cache": memory,
	"cpus": strictyaml.Integer[int64](1, maxCPUs)}

func levelsOf(knob string) strictyaml.Key[struct{}] {
	return strictyaml.Part[struct{}](knob, "Values of "+knob+": each target runs with each of them.",
		strictyaml.Shape{"type": "array", "items": levelKnobs[knob].Shape, "minItems": 2})
}

// leveled returns the targets at all levels of a knob: each target once for each level, under its name
// and the level's.
func leveled(b *binder, f strictyaml.Fields, targets []*strictyaml.Node) []*strictyaml.Node {
	n := f.Value("levels")
	if n == nil || !b.Is(n, strictyaml.Mapping, "levels is a map of one knob", levelsHint) {
		return targets
	}
	if len(n.Entries) != 1 {
		b.At(n, fmt.Sprintf("levels has %d knobs, not one", len(n.Entries)), levelsHint)
		return targets
	}
	knob := n.Entries[0].Key
	if !slices.Contains(levelKeys.Names(), knob.Text) {
		b.At(knob, fmt.Sprintf("levels takes no %s", knob.Text), hint.OneOf(knob.Text, levelKeys.Names()))
		return targets
	}
	values := n.Entries[0].Value
	if !b.Is(values, strictyaml.List, "the levels of "+knob.Text+" are a list", levelsHint) {
		return targets
	}
	if len(values.Items) < 2 {
		b.At(values, "one level is none: there is nothing to compare", "give several, or set "+knob.Text+" in common")
		return targets
	}
	before, seen := len(b.Problems), map[int64]bool{}
	for _, v := range values.Items {
		if v.Kind != strictyaml.Scalar {
			b.At(v, "a level of "+knob.Text+" is one value", levelsHint)
			continue
		}
		value, err := levelKnobs[knob.Text].Read(v)
		switch {
		case err != nil:
			b.At(v, "levels: "+knob.Text+": "+err.Error(), hint.Of(err))
		case seen[value]:
			b.At(v, fmt.Sprintf("the level %s is there twice", v.Text), "remove one of the two")
		}
		seen[value] = true
	}
	if common := f.Of.Get("common").Get(knob.Text); common != nil {
		b.At(common, knob.Text+" is set here and by levels", "remove one of the two")
	}
	wrong := len(b.Problems) > before
	b.loaders = map[*strictyaml.Node]string{}
	var out []*strictyaml.Node
	for _, t := range targets {
		if t = asMap(t); t.Kind != strictyaml.Mapping {
			out = append(out, t) // that is reported
			continue
		}
		if own := t.Get(knob.Text); own != nil {
			b.At(own, knob.Text+" is set here and by levels", "remove one of the two")
		}
		for _, v := range values.Items {
			level := atLevel(t, knob, v)
			if slices.Contains(machineKeys.Names(), knob.Text) {
				b.loaders[level] = cmp.Or(t.Get("name"), t.Get("engine"), t).Text
			}
			out = append(out, level)
		}
	}
	if wrong {
		return targets
	}
	return out
}

const levelsHint = "as in levels: {memory: [256MiB, 1GiB]}"

// atLevel returns a target with a knob's value, under its own name.
func atLevel(t, knob, value *strictyaml.Node) *strictyaml.Node {
	out := *t
	out.Entries = slices.Clone(t.Entries)
	out.Set(knob, value)
	if called := cmp.Or(t.Get("name"), t.Get("engine")); called != nil && called.Kind == strictyaml.Scalar {
		key, name := *knob, *called
		key.Text = "name"
		name.Text = called.Text + "-" + strings.ReplaceAll(value.Text, " ", "")
		name.Value = name.Text
		out.Set(&key, &name)
	}
	return &out
}
