package importer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// onePlan is the hint about runs with different plans.
const onePlan = "only runs of one plan can be compared: import others separately, with another --out, or leave them " +
	"out with --skip"

// agreeing returns the runs that fit into one campaign. Each reason to exclude runs
// is one problem, however many files it affects.
func agreeing(runs []*run, o *Options, ps *hint.Problems) []*run {
	runs = alikeOnly(onePlanOnly(dropRepeated(runs, ps), o, ps), ps)
	if len(*ps) == 0 {
		unrelated(runs, ps)
	}
	return runs
}

// conflict is the reason why a run does not fit the others.
type conflict struct {
	*run
	param
	want string
}

func dropRepeated(runs []*run, ps *hint.Problems) (out []*run) {
	type id struct {
		target, step string
		trial        int
	}
	seen := map[id]*run{}
	var twice []conflict
	for _, r := range runs {
		id := id{r.target, r.step.Name, r.trial}
		if first := seen[id]; first != nil {
			twice = append(twice, conflict{run: r, want: first.file.path})
			continue
		}
		seen[id], out = r, append(out, r)
	}
	trials, byName := groups(twice, func(c conflict) string { return fmt.Sprintf("%s, trial %d", c.target, c.trial) })
	for _, trial := range trials {
		c := byName[trial][0]
		ps.Add(c.file.path, 0, "put repeated runs into numbered directories, as "+c.target+"/1 and "+c.target+"/2",
			"%s of %s: another file has the same step, first %s, which is also in %s",
			quantity.Count(len(byName[trial]), "file"), trial, c.step.Name, c.want)
	}
	return out
}

// onePlanOnly leaves out runs whose parameters differ from those of most runs of
// their step.
func onePlanOnly(runs []*run, o *Options, ps *hint.Problems) []*run {
	ordered := slices.Clone(runs)
	slices.SortStableFunc(ordered, func(a, b *run) int { return byName(o.Base)(a.target, b.target) })
	type asked struct{ step, name, value string }
	var answers []asked
	for _, r := range ordered {
		for _, p := range r.planned() {
			answers = append(answers, asked{r.step.Name, p.name, p.value})
		}
	}
	_, same := groups(answers, func(a asked) asked { return a })
	_, values := groups(answers, func(a asked) asked { return asked{step: a.step, name: a.name} })
	wants := map[asked]string{} // the most frequent value; the first if there are several
	for subject, answersOfOne := range values {
		wants[subject] = slices.MaxFunc(answersOfOne, func(a, b asked) int { return len(same[a]) - len(same[b]) }).value
	}
	var conflicts []conflict
	out := slices.DeleteFunc(slices.Clone(runs), func(r *run) bool {
		found := len(conflicts)
		for _, p := range r.planned() {
			if want := wants[asked{step: r.step.Name, name: p.name}]; p.value != want {
				conflicts = append(conflicts, conflict{r, p, want})
			}
		}
		return len(conflicts) > found
	})
	kinds, byKey := groups(conflicts, func(c conflict) [2]string { return [2]string{c.name, c.target} })
	for _, kind := range kinds {
		c := byKey[kind][0]
		location := c.file.path
		if c.line > 0 {
			location += fmt.Sprintf(":%d", c.line)
		}
		ps.Add("", 0, onePlan, "%s differs in %s of target %s, first %s: %s instead of %s",
			c.name, quantity.Count(len(byKey[kind]), "file"), c.target, location, c.value, c.want)
	}
	return out
}

// mostApart is how many times faster a trial may be than another of the same test, if only their order says that they
// are trials.
const mostApart = 5

// alikeOnly leaves out runs that would be trials of one test and differ too much for that.
func alikeOnly(runs []*run, ps *hint.Problems) []*run {
	tests, trials := groups(runs, func(r *run) [2]string { return [2]string{r.target, r.step.Name} })
	for _, test := range tests {
		lowest, highest := math.Inf(1), 0.0
		for _, r := range trials[test] {
			if rate := r.step.Find(metric.RowsPerS, r.step.Primary, ""); r.numbered && rate != nil {
				lowest, highest = min(lowest, rate.Value), max(highest, rate.Value)
			}
		}
		if highest > mostApart*lowest {
			ps.Add(trials[test][0].file.path, 0, "give the files of each test a name of its own",
				"the %d runs of %s of %s are no trials of one test: the slowest did %.4g/s, and the fastest %.4g/s",
				len(trials[test]), test[1], test[0], lowest, highest)
			runs = slices.DeleteFunc(runs, func(r *run) bool { return r.target == test[0] && r.step.Name == test[1] })
		}
	}
	return runs
}

// planned returns the parameters that runs of a step must share. A missing option
// is a value too: "not given".
func (r *run) planned() []param {
	out := append(slices.Clone(r.plan), param{name: "workload", value: r.workload})
	if r.storage != "" { // a target has one storage engine; other targets may have different ones
		out = append(out, param{name: "storage engine of " + r.target, value: r.storage})
	}
	if r.workload != fmtSysbench || r.params["script"] == "" || r.params["tables"]+r.params["table_size"] == "" {
		return out // the command is unknown
	}
	for _, name := range strings.Fields(planned) {
		if r.params[name] == "" {
			out = append(out, param{name: name, value: "not given"})
		}
	}
	return out
}

// unrelated reports targets that have no step in common with the others, so that
// nothing could be compared.
func unrelated(runs []*run, ps *hint.Problems) {
	targets, byName := groups(runs, func(r *run) string { return r.target })
	_, steps := groups(runs, func(r *run) string { return r.step.Name })
	for _, t := range targets {
		shared := func(r *run) bool {
			return slices.ContainsFunc(steps[r.step.Name], func(o *run) bool { return o.target != t })
		}
		if len(targets) > 1 && !slices.ContainsFunc(byName[t], shared) {
			ps.Add(byName[t][0].file.path, 0,
				"import them separately, with another --out; or give the logs of the same test the same name",
				"%s has no step in common with another target: it has %s. These are runs of different plans", t,
				strings.Join(stepsOf(byName[t]), ", "))
		}
	}
}

// missing returns the steps that some targets lack, by name.
func missing(runs []*run) (out []Missing) {
	targets, _ := groups(runs, func(r *run) string { return r.target })
	slices.SortFunc(targets, quantity.Natural)
	names, steps := groups(runs, func(r *run) string { return r.step.Name })
	slices.SortFunc(names, quantity.Natural)
	for _, name := range names {
		lack := slices.DeleteFunc(slices.Clone(targets), func(t string) bool {
			return slices.ContainsFunc(steps[name], func(r *run) bool { return r.target == t })
		})
		if len(lack) > 0 {
			out = append(out, Missing{name, lack})
		}
	}
	return out
}

// counted returns what is listed of runs, each with its number of runs.
func counted(runs []*run, listed func(*run) []string) (out []string) {
	var texts []string
	for _, r := range runs {
		texts = append(texts, listed(r)...)
	}
	out, same := groups(texts, func(g string) string { return g })
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(same[b])-len(same[a]), strings.Compare(a, b)) })
	for i, g := range out {
		if n := len(same[g]); n > 1 {
			out[i] = fmt.Sprintf("%s (%d logs)", g, n)
		}
	}
	return out
}

// TargetSize is the amount of data imported for a target.
type TargetSize struct {
	Name                          string
	Trials, Steps, Files, Partial int // Partial: steps that are not complete
}

// Sizes returns the amount of data imported: per target, and the tests and files in
// all.
func (c *Campaign) Sizes() (targets []TargetSize, tests, files int) {
	names, byName := groups(c.trials, func(t trial) string { return t.Target })
	var allRuns []*run
	for _, name := range names {
		size := TargetSize{Name: name, Trials: len(byName[name])}
		var runs []*run
		for _, t := range byName[name] {
			size.Steps = max(size.Steps, len(t.Steps))
			runs = append(runs, t.runs...)
		}
		complete := func(r *run) bool { return r.step.Status == result.Complete }
		size.Partial = len(slices.DeleteFunc(slices.Clone(runs), complete))
		size.Files = countFiles(runs)
		targets, allRuns = append(targets, size), append(allRuns, runs...)
	}
	return targets, len(stepsOf(allRuns)), countFiles(allRuns)
}

func countFiles(runs []*run) int {
	paths := map[string]bool{}
	for _, r := range runs {
		for _, path := range r.paths() {
			paths[path] = true
		}
	}
	return len(paths)
}
