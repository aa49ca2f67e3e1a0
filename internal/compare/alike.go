package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/result"
)

// Unlike says in what two targets did different work throughout, so that none of
// their numbers must be compared: workload and parameters. It is empty if they
// did the same; what was offered in single steps is another matter, see
// [Step.Offered].
func Unlike(a, b *Target) []string {
	var out []string
	x := a.Trials[0]
	for _, y := range slices.Concat(a.Trials[1:], b.Trials) {
		differ := func(what, of, other string) {
			if of != other {
				out = appendNew(out, fmt.Sprintf("%s %s and %s", what, named(of), named(other)))
			}
		}
		differ("workload", x.Workload, y.Workload)
		for _, name := range paramNames(x, y) {
			of, other := paramText(x.Params[name]), paramText(y.Params[name])
			if (x.Imported == nil && y.Imported == nil) || of != "" && other != "" { // logs need not say all
				differ(name, of, other)
			}
		}
		if x.Order == "duet" || y.Order == "duet" {
			differ("order", x.Order, y.Order) // half of the processors, or all
		}
	}
	return out
}

// hostFacts are those of a host that decide how fast it is.
var hostFacts = []string{"cpu", "cpus usable", "memory", "kernel", "virtualization", "filesystem", "device", "device size"}

// Apart says in what else two targets differ that can explain a difference of
// their numbers: versions first, as they are what is most often compared, then
// durability, seed, hosts and knobs. Unknown facts differ from nothing.
func Apart(a, b *Target) []string {
	var out []string
	x, y := a.Trials[0], b.Trials[0]
	differ := func(what, of, other string) {
		if of != other {
			out = append(out, fmt.Sprintf("%s: %s and %s", what, named(of), named(other)))
		}
	}
	version := func(what string, read func(*result.Trial) string) {
		if of, other := versions(a, read), versions(b, read); of != "" && other != "" {
			differ(what, of, other)
		}
	}
	if x.Engine == y.Engine {
		version(cmp.Or(x.Engine, "engine")+" version", (*result.Trial).EngineVersion)
	}
	if x.Durability != y.Durability || x.Promise != "" && y.Promise != "" { // old results do not say what the level means
		differ("durability", x.DurabilityText(), y.DurabilityText())
	}
	differ("seed", fmt.Sprint(x.Seed), fmt.Sprint(y.Seed))
	for _, name := range hostFacts {
		if of, other := fact(x, name), fact(y, name); of != "" && other != "" {
			differ(name, of, other)
		}
	}
	differ("engine", x.Engine, y.Engine)
	version("rumbench version", func(t *result.Trial) string { return t.Version("rumbench") })
	for _, name := range knobNames(x, y) {
		of, other := x.Knobs[name], y.Knobs[name]
		if name == "cache" {
			of, other = x.Cache(), y.Cache()
		}
		if x.Engine != y.Engine && (of == "" || other == "") {
			continue // of one engine only: it says nothing about the other
		}
		differ(name, cmp.Or(of, notSet), cmp.Or(other, notSet))
	}
	return out
}

// UnequalCaches says which cache each target has, if they do not all have the
// same: "a: 16MiB, b: the page cache, without a limit". What is unknown differs
// from nothing.
func (c *Campaign) UnequalCaches() string {
	var sizes, parts []string
	for _, t := range c.Targets {
		if cache := t.Trials[0].Cache(); cache != "" {
			sizes, parts = appendNew(sizes, cache), append(parts, t.Name+": "+cache)
		}
	}
	if len(sizes) < 2 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// versions are the different ones of a target's trials: a server may have been
// upgraded between them.
func versions(t *Target, of func(*result.Trial) string) string {
	var out []string
	for _, trial := range t.Trials {
		if v := of(trial); v != "" {
			out = appendNew(out, v)
		}
	}
	return strings.Join(out, " or ")
}

// notSet stands for a knob that is left to the engine.
const notSet = "not set"

func fact(t *result.Trial, name string) string {
	for _, f := range t.Host {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func named(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

func paramNames(trials ...*result.Trial) []string {
	var out []string
	for _, t := range trials {
		for name := range t.Params {
			out = appendNew(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func knobNames(trials ...*result.Trial) []string {
	var out []string
	for _, t := range trials {
		for name := range t.Knobs {
			out = appendNew(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func paramText(v any) string {
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
