package plan

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// synonyms are keys as other tools call them.
var synonyms = map[string]string{
	"repeat": "trials", "repeats": "trials", "repetitions": "trials", "runs": "trials", "iterations": "trials",
	"database": "targets", "databases": "targets", "engines": "targets", "systems": "targets",
	"benchmark": "workload", "test": "workload", "parameters": "params", "slo": "find", "sla": "find", "qps": "rate",
	"tps":     "rate",
	"threads": "clients", "connections": "clients", "concurrency": "clients", "users": "clients", "workers": "clients",
	"cache_size": "cache", "buffer_pool": "cache", "buffer_pool_size": "cache", "page_size": "page", "block_size": "page",
	"sync": "durability", "fsync": "durability", "isolation_level": "isolation",
	"storage_engine": "storage", "url": "dsn", "host": "dsn", "socket": "dsn",
}

// lengths are the keys for the length of a step in other tools.
var lengths = []string{"duration", "time", "seconds", "runtime", "run_time"}

// levels returns the places of a plan with this root.
func (b *binder) levels(root *strictyaml.Node) []level {
	out := []level{
		{"KEY is a key of the plan: write it at the top", planKeys.Names()},
		{"KEY is a knob: write it below common, or in a target", knobKeys.Names()},
		{"KEY is a key of a target: write it there", append(serverKeys.Names(), programKey.Name, "options", "data")},
	}
	for _, name := range b.cat.EngineNames() {
		e, _ := b.cat.Engine(name)
		var names []string
		for _, o := range e.Info().Options {
			names = append(names, o.Name)
		}
		out = append(out, level{"KEY is an option of " + name + ": write it below options of a target", names})
	}
	n := root.Get("workload")
	if n == nil {
		return out
	}
	w, found := b.cat.Workload(n.Text)
	if !found {
		return out
	}
	var names, seconds []string
	for _, p := range w.Info().Params {
		names = append(names, p.Name)
		if strings.HasSuffix(p.Name, "_seconds") && p.Min > 0 {
			seconds = append(seconds, p.Name)
		}
	}
	out = append(out, level{"KEY is a parameter of the workload: write it below params", names})
	if len(seconds) > 0 {
		out = append(out, level{"parameters of the workload say how long steps are: write " + strings.Join(seconds, " or ") +
			" below params", lengths})
	}
	return out
}

// meant returns a hint at the key that an unknown one was meant to be: the known one
// of that meaning, the place where it belongs, or a known one like it.
func (b *binder) meant(key string, known []string) string {
	name, other := synonyms[key]
	if !other {
		name = key
	}
	if slices.Contains(known, name) {
		return hint.AnyOf([]string{name})
	}
	if plural := name + "s"; slices.Contains(known, plural) { // though name may belong elsewhere
		return hint.AnyOf([]string{plural})
	}
	for _, l := range b.places {
		if slices.Contains(l.keys, name) {
			return strings.Replace(l.hint, "KEY", name, 1)
		}
	}
	if slices.Contains(known, "options") {
		return hint.Meant(key, known, hint.OneOf("", known)+
			"; options of the engine, and variables of its server, are written below options")
	}
	return hint.OneOf(key, known)
}

// adopt gives a node that lacks a key the value of an unknown key that was
// probably meant to be it, so that errors in the value are reported too.
func (b *binder) adopt(n *strictyaml.Node, key string, known []string) {
	if n.Get(key) != nil {
		return
	}
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key.Text) && b.meant(e.Key.Text, known) == hint.AnyOf([]string{key}) {
			meant := *e.Key
			meant.Text = key
			n.Set(&meant, e.Value)
			return
		}
	}
}

// engineMeant returns a hint at the engine that an unknown name was meant to
// be, or that a server or storage of that name belongs to.
func engineMeant(cat Catalog, name string) string {
	word := strings.ToLower(name)
	bare := strings.TrimRight(word, "0123456789.-_")
	for _, engineName := range cat.EngineNames() {
		e, _ := cat.Engine(engineName)
		info := e.Info()
		has := func(names []string) bool { return slices.Contains(names, word) || slices.Contains(names, bare) }
		belongs := func(key, subject string) string {
			return fmt.Sprintf("%s is a %s of %s: write {engine: %s, %s: %s}", bare, subject, engineName, engineName, key, bare)
		}
		switch {
		case bare == engineName, has(info.Aliases):
			return hint.AnyOf([]string{engineName})
		case has(info.Storages):
			return belongs("storage", "storage engine")
		case has(info.Servers):
			return belongs("server", "server")
		}
	}
	return hint.OneOf(name, cat.EngineNames())
}

// workloadMeant returns a hint at the workload that an unknown name was meant to be,
// or that has a list of tests or steps which may contain that name.
func workloadMeant(cat Catalog, name string) string {
	for _, workloadName := range cat.WorkloadNames() {
		w, _ := cat.Workload(workloadName)
		for _, p := range w.Info().Params {
			if p.Type != workload.StringsParam {
				continue
			}
			if _, err := workload.NewRun(w, "", map[string]any{p.Name: []string{name}}); err == nil {
				return fmt.Sprintf("%s is one of the %s of %s: write workload: %s, and params: {%s: [%s]}", name, p.Name,
					workloadName, workloadName, p.Name, name)
			}
		}
	}
	return hint.OneOf(name, cat.WorkloadNames())
}
