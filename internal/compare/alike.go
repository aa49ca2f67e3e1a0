package compare

import (
	"encoding/json"
	"fmt"
	"slices"

	"rumbench/internal/result"
)

// Unlike says in what two targets did different work, so that their numbers
// must not be compared: workload, preset and parameters. It is empty if they
// did the same.
func Unlike(a, b *Target) []string {
	var out []string
	x, y := a.Trials[0], b.Trials[0]
	differ := func(what, of, other string) {
		if of != other {
			out = append(out, fmt.Sprintf("%s %s and %s", what, named(of), named(other)))
		}
	}
	differ("workload", x.Workload, y.Workload)
	for _, name := range paramNames(x, y) {
		differ(name, paramText(x.Params[name]), paramText(y.Params[name]))
	}
	return out
}

// Apart says in what else two targets differ that can explain a difference of
// their numbers: durability, knobs, host.
func Apart(a, b *Target) []string {
	var out []string
	x, y := a.Trials[0], b.Trials[0]
	differ := func(what, of, other string) {
		if of != other {
			out = append(out, fmt.Sprintf("%s: %s and %s", what, named(of), named(other)))
		}
	}
	differ("durability", x.Durability, y.Durability)
	differ("seed", fmt.Sprint(x.Seed), fmt.Sprint(y.Seed))
	for _, name := range knobNames(x, y) {
		differ(name, x.Knobs[name], y.Knobs[name])
	}
	return out
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
