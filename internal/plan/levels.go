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
	n, before := f.Value("levels"), len(b.Problems)
	if n == nil || !b.Is(n, strictyaml.Mapping, "levels is a map of one knob", levelsHint) {
		return targets
	}
	knob, values := readLevels(b, n)
	if values == nil {
		return targets
	}
	const help = "remove one of the two"
	common := f.Of.Get("common").Get(knob.Text)
	b.refuse(exclusion{common, common != nil, knob.Text + " is set here and by levels", help})
	wrong := len(b.Problems) > before
	b.loaders = map[*strictyaml.Node]string{}
	var out []*strictyaml.Node
	for _, t := range targets {
		if t = asMap(t); t.Kind != strictyaml.Mapping {
			out = append(out, t) // that is reported
			continue
		}
		own := t.Get(knob.Text)
		b.refuse(exclusion{own, own != nil, knob.Text + " is set here and by levels", help})
		for _, v := range values {
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

// readLevels reads a knob and its values; none if they are no levels.
func readLevels(b *binder, n *strictyaml.Node) (knob *strictyaml.Node, values []*strictyaml.Node) {
	if len(n.Entries) != 1 {
		b.At(n, fmt.Sprintf("levels has %d knobs, not one", len(n.Entries)), levelsHint)
		return nil, nil
	}
	knob, list := n.Entries[0].Key, n.Entries[0].Value
	read, known := levelKnobs[knob.Text]
	if b.refuse(
		exclusion{knob, !known, "levels takes no " + knob.Text, hint.OneOf(knob.Text, levelKeys.Names())},
		exclusion{holds: list.Kind == strictyaml.Broken},
		exclusion{list, list.Kind != strictyaml.List, "the levels of " + knob.Text + " are a list", levelsHint},
		exclusion{list, len(list.Items) < 2, "one level is none: there is nothing to compare",
			"give several, or set " + knob.Text + " in common"},
	) {
		return nil, nil
	}
	seen := map[int64]bool{}
	for _, v := range list.Items {
		value, err := read.Read(v)
		switch {
		case v.Kind != strictyaml.Scalar:
			b.At(v, "a level of "+knob.Text+" is one value", levelsHint)
			continue
		case err != nil:
			b.At(v, "levels: "+knob.Text+": "+err.Error(), hint.Of(err))
		case seen[value]:
			b.At(v, "the level "+v.Text+" is there twice", "remove one of the two")
		}
		seen[value] = true
	}
	return knob, list.Items
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
