package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/result"
)

// Unlike returns the differences in workload and parameters that make all
// numbers of two targets incomparable. Differences in what was offered in
// single steps are left to [Step.Offered].
func Unlike(a, b *Target) []string {
	var out []string
	x := a.Trials[0]
	for _, y := range slices.Concat(a.Trials[1:], b.Trials) {
		differ := func(what, of, other string) {
			if of != other {
				out = AppendNew(out, fmt.Sprintf("%s %s and %s", what, named(of), named(other)))
			}
		}
		differ("workload", x.Workload, y.Workload)
		for _, name := range paramNames(x, y) {
			of, other := paramText(x.Params[name]), paramText(y.Params[name])
			if (x.Imported == nil && y.Imported == nil) || of != "" && other != "" { // logs may lack parameters
				differ(name, of, other)
			}
		}
		if x.Order == "duet" || y.Order == "duet" {
			differ("order", x.Order, y.Order) // half of the processors, or all
		}
	}
	return out
}

// hostFacts are the facts of a host that determine its speed.
var hostFacts = []string{"cpu", "cpus usable", "memory", "kernel", "virtualization", "filesystem", "device", "device size"}

// Apart returns other differences of two targets that may explain their
// numbers: versions first, as they are most often what is compared, then
// durability, seed, hosts and knobs. Unknown facts do not count as different.
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
	if x.Durability != y.Durability || x.Promise != "" && y.Promise != "" { // old results do not record what the level means
		differ("durability", x.DurabilityText(), y.DurabilityText())
	}
	differ("seed", fmt.Sprint(x.Seed), fmt.Sprint(y.Seed))
	for _, name := range hostFacts {
		if of, other := x.Host.Value(name), y.Host.Value(name); of != "" && other != "" {
			differ(name, of, other)
		}
	}
	differ("engine", x.Engine, y.Engine)
	version("rumbench version", func(t *result.Trial) string { return t.Versions.Value("rumbench") })
	for _, name := range knobNames(x, y) {
		of, other := x.Knobs[name], y.Knobs[name]
		if name == "cache" {
			of, other = x.Cache(), y.Cache()
		}
		if x.Engine != y.Engine && (of == "" || other == "") {
			continue // of one engine only: the other does not have it
		}
		differ(name, cmp.Or(of, notSet), cmp.Or(other, notSet))
	}
	return out
}

// UnequalCaches returns which cache each target has, if they differ: "a: 16MiB,
// b: the page cache, without a limit". Unknown caches do not count as
// different.
func (c *Campaign) UnequalCaches() string {
	var sizes, parts []string
	for _, t := range c.Targets {
		if cache := t.Trials[0].Cache(); cache != "" {
			sizes, parts = AppendNew(sizes, cache), append(parts, t.Name+": "+cache)
		}
	}
	if len(sizes) < 2 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// versions returns the distinct versions of a target's trials: a server may
// have been upgraded between them.
func versions(t *Target, of func(*result.Trial) string) string {
	var out []string
	for _, trial := range t.Trials {
		if v := of(trial); v != "" {
			out = AppendNew(out, v)
		}
	}
	return strings.Join(out, " or ")
}

// notSet is the value of a knob that is left to the engine.
const notSet = "not set"

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
			out = AppendNew(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func knobNames(trials ...*result.Trial) []string {
	var out []string
	for _, t := range trials {
		for name := range t.Knobs {
			out = AppendNew(out, name)
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
