package plan

import (
	"slices"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// Restart are the steps before which the engine restarts.
type Restart struct {
	Before []string // names of steps; none: it does not
	Caches workload.Caches
}

const restartHint = "as in restart: qr100, or restart: {before: [qr100], caches: kept}"

var restartKeys = strictyaml.Table[Restart]{
	strictyaml.Part[Restart]("before", "The steps, by name. A step at several rates restarts before each.",
		strictyaml.ListOf(strictyaml.Text.Shape)),
	strictyaml.Valued("caches", "dropped (the default): the data leave the page cache of the operating system while the "+
		"engine is stopped. kept: they stay.",
		strictyaml.OneOf(workload.CachesDropped, workload.CachesKept), func(r *Restart, v workload.Caches) { r.Caches = v }),
}

// readRestart reads before which steps the engine restarts.
func readRestart(b *binder, f strictyaml.Fields, p *Plan) {
	n, key := f.Value("restart"), "restart"
	if n == nil {
		return
	}
	b.restart = n
	r := Restart{Caches: workload.CachesDropped}
	if n.Kind == strictyaml.Mapping {
		f, key = b.Fields(n, key, restartKeys.Names()), "before"
		restartKeys.Bind(f, &r)
	}
	before := len(b.Problems)
	r.Before = f.Words(key, restartHint, func(name string) (string, error) { return restartable(p, name) })
	if len(r.Before) == 0 && len(b.Problems) == before {
		b.At(n, "restart names no step", restartHint)
	}
	p.Restart = r
}

// restartable returns a step before which the engine can restart.
func restartable(p *Plan, name string) (string, error) {
	if p.Run == nil {
		return name, nil // that is reported already
	}
	var names []string
	for _, s := range slices.Concat(p.Run.Steps(), p.Steps()) {
		if s.HasClients() && !s.Creates && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	switch {
	case slices.Contains(names, name):
		return name, nil
	case slices.ContainsFunc(p.Steps(), func(s workload.Step) bool { return s.Name == name }):
		return "", hint.Errorf(hint.OneOf("", names), "there is nothing to restart before %s, or it has no clients", name)
	}
	return "", hint.Errorf(hint.OneOf(name, names), "there is no step %q before which the engine can restart", name)
}

// Within returns the steps with those in which the engine restarts.
func (r *Restart) Within(steps []workload.Step, rate *Rate) (out []workload.Step) {
	before := slices.Clone(r.Before)
	if rate != nil {
		for _, name := range r.Before {
			for _, at := range rate.At {
				before = append(before, rateName(name, at))
			}
		}
	}
	for i := range steps {
		if name := steps[i].Name; slices.Contains(before, name) {
			out = append(out, workload.RestartStep("restart."+name, r.Caches))
		}
		out = append(out, steps[i])
	}
	return out
}
