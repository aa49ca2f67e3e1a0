package importer

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// nameTargets adds the directory's name to targets of different directories that
// have the same name.
func nameTargets(runs []*run) {
	_, same := groups(runs, func(r *run) string { return r.target })
	for _, runs := range same {
		homes, _ := groups(runs, func(r *run) string { return r.home })
		if homes = slices.DeleteFunc(homes, func(h string) bool { return h == "" }); len(homes) < 2 {
			continue
		}
		for _, r := range runs {
			if r.home != "" {
				r.target = apart(r.home, homes) + r.target
			}
		}
	}
}

// apart returns the shortest end of a path, without its last element, that is
// unique among the paths.
func apart(path string, paths []string) string {
	parts := func(p string) []string { return strings.Split(filepath.ToSlash(filepath.Dir(p)), "/") }
	elements := parts(path)
	for n := 1; n < len(elements); n++ {
		end := strings.Join(elements[len(elements)-n:], "/")
		if !slices.ContainsFunc(paths, func(o string) bool {
			candidate := parts(o)
			return o != path && strings.Join(candidate[max(0, len(candidate)-n):], "/") == end
		}) {
			return end + "/"
		}
	}
	return strings.Join(elements, "/") + "/"
}

// nameSteps names the steps whose runs contain only their test, as published tables
// do: with the key and the clients only if they differ between the runs of a test.
func nameSteps(runs []*run) {
	_, tests := groups(runs, func(r *run) string { return r.base })
	delete(tests, "")
	for _, same := range tests {
		several := func(value func(*run) string) bool {
			values, _ := groups(same, value)
			return len(slices.DeleteFunc(values, func(v string) bool { return v == "" })) > 1
		}
		keys := several(func(r *run) string { return r.pk })
		clients := several((*run).clientsText)
		for _, r := range same {
			r.step.Name = r.base
			if keys && r.pk != "" {
				r.step.Name += "_pk=" + r.pk
			}
			if n := r.clientsText(); clients && n != "" {
				r.step.Name += "_clients=" + n
			}
		}
	}
}

// numberByStart makes steps of benchbase's runs that were asked for other things, and trials, by the times of their
// beginning, of those whose files differ in nothing else.
func numberByStart(runs []*run) {
	benchbaseRuns := slices.DeleteFunc(slices.Clone(runs),
		func(r *run) bool { return r.file.format.name != fmtBenchbase })
	slices.SortStableFunc(benchbaseRuns, func(a, b *run) int { return a.step.Started.Compare(b.step.Started) })
	distinguishAll(benchbaseRuns)
	repetitions(benchbaseRuns, func(r *run) string { return fmt.Sprint(title(r), " ", r.clientsText(), " ", r.trial) })
}

// arrange makes the runs of one file trials, in their order, if they were asked for the
// same, and steps if not.
func arrange(runs []*run) {
	distinguishAll(runs)
	repetitions(runs, func(r *run) string { return title(r) + " " + r.clientsText() })
}

// distinguishAll adds to the names of steps what their runs were asked for and others were not.
func distinguishAll(runs []*run) {
	_, steps := groups(runs, title)
	for _, same := range steps {
		byThreads(same)
		varied := variedParams(same)
		for _, r := range same {
			for _, name := range varied {
				distinguish(r, name)
			}
		}
	}
}

// repetitions makes runs with one name trials, in their order.
func repetitions(runs []*run, name func(*run) string) {
	_, repeated := groups(runs, name)
	for _, same := range repeated {
		for i, r := range same {
			r.numbered = len(same) > 1
			if r.trial = same[0].trial + i; i == 1 {
				r.guess("the %d runs of %s in %s are trials of one configuration", len(same), title(r), r.file.path)
			}
		}
	}
}

// title returns the name of a run's step, before the clients are added.
func title(r *run) string { return cmp.Or(r.base, r.step.Name) }

// variedParams returns the names of the requested parameters in which runs differ, in
// order. nameSteps adds the clients where they are known.
func variedParams(runs []*run) (out []string) {
	asked := map[string]bool{}
	for _, r := range runs {
		for _, p := range r.plan {
			asked[p.name] = asked[p.name] || p.name != "clients" || r.clients == 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if values, _ := groups(runs, func(r *run) string { return r.params[name] }); asked[name] && len(values) > 1 {
			out = append(out, name)
		}
	}
	return out
}

// distinguish adds the value of a parameter to the name of the step.
func distinguish(r *run, name string) {
	value := strings.TrimSuffix(strings.TrimPrefix(cmp.Or(r.params[name], "default"), "<builtin: "), ">")
	suffix := fmt.Sprintf("_%s=%s", name, value)
	if name == "script" {
		suffix = "_" + value
	}
	if r.base != "" {
		r.base += suffix
	} else {
		r.step.Name += suffix
	}
}

// script returns the script of a run if it is one word, else its workload.
func script(r *run) string {
	word, _, _ := strings.Cut(r.params["script"], ",")
	if word == "" || strings.ContainsAny(word, " <>") {
		return r.workload
	}
	return word
}
