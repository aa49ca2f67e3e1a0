package importer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/quantity"
	"rumbench/internal/result"
)

// onePlan is the hint about runs of different plans.
const onePlan = "only runs of one plan can be compared: import others separately, with another --out, or leave them out with --skip"

// agreeing returns the runs that fit into one campaign. Each reason why others do
// not is one problem, however many files have it.
func agreeing(runs []*run, o *Options, ps *Problems) []*run {
	runs = once(runs, ps)
	if !o.Compatible {
		oneArithmetic(runs, ps)
	}
	runs = onePlanOnly(runs, o, ps)
	if len(*ps) == 0 {
		unrelated(runs, ps)
	}
	return runs
}

// cause collects the files with the same problem.
type cause struct {
	files       int
	first       *run
	line        int
	value, want string
}

// causes collects causes by what they have in common, in the order found.
type causes struct {
	order []string
	by    map[string]*cause
}

func (c *causes) add(id string, r *run, line int, value, want string) {
	if c.by == nil {
		c.by = map[string]*cause{}
	}
	if c.by[id] == nil {
		c.by[id] = &cause{first: r, line: line, value: value, want: want}
		c.order = append(c.order, id)
	}
	c.by[id].files++
}

// once leaves out duplicate runs of a step and trial. Those of tables are merged,
// unless they contradict each other.
func once(runs []*run, ps *Problems) (out []*run) {
	seen := map[string]*run{}
	var found causes
	for _, r := range runs {
		id := fmt.Sprintf("%s\n%d\n%s", r.target, r.trial, r.step.Name)
		first := seen[id]
		switch {
		case first == nil:
			seen[id] = r
			out = append(out, r)
		case first.derived && r.derived && first.merge(r), r.derived && first.confirms(r):
		case first.derived && r.confirms(first):
			out[slices.Index(out, first)], seen[id] = r, r
		default:
			found.add(fmt.Sprintf("%s, trial %d", r.target, r.trial), r, 0, r.step.Name, first.file.path)
		}
	}
	for _, id := range found.order {
		c := found.by[id]
		ps.add(c.first.file.path, 0, "put repeated runs into numbered directories, as "+c.first.target+"/1 and "+c.first.target+"/2",
			"%s of %s: another file has the same step, first %s, which is also in %s", quantity.Count(c.files, "file"), id, c.value, c.want)
	}
	return out
}

// oneArithmetic reports targets with both logs and tables: tables use the published
// arithmetic, so that logs must be read with it too.
func oneArithmetic(runs []*run, ps *Problems) {
	derived := map[string]*run{}
	for _, r := range runs {
		if r.derived {
			derived[r.target] = r
		}
	}
	for _, r := range runs {
		if table := derived[r.target]; table != nil && !r.derived {
			ps.add(table.file.path, 0, "import both with --compatible, or separately",
				"it is a table of published arithmetic, and %s also has logs, as %s", r.target, r.file.path)
			delete(derived, r.target)
		}
	}
}

// confirms reports whether the log of a run has the same rate as the table, which
// is then not needed.
func (r *run) confirms(table *run) bool {
	own, printed := r.step.Find("rows_per_s", r.step.Primary, ""), table.step.Find("rows_per_s", table.step.Primary, "")
	return !r.derived && own != nil && printed != nil && math.Round(own.Value) == math.Round(printed.Value)
}

// merge adds to a table's run the numbers of another table; it returns false if
// they contradict each other.
func (r *run) merge(other *run) bool {
	var more []int
	for i := range other.step.Rows {
		row := &other.step.Rows[i]
		own := r.step.Find(row.Metric, row.Op, row.Per)
		if own == nil {
			more = append(more, i)
		} else if own.Value != row.Value {
			return false
		}
	}
	for _, i := range more {
		r.step.Rows = append(r.step.Rows, other.step.Rows[i])
	}
	r.files = append(slices.Clone(r.files), other.files...)
	r.cpus = max(r.cpus, other.cpus)
	return true
}

// onePlanOnly leaves out runs whose parameters differ from those of most runs of
// their step.
func onePlanOnly(runs []*run, o *Options, ps *Problems) []*run {
	ordered := slices.Clone(runs)
	slices.SortStableFunc(ordered, func(a, b *run) int { return byName(o.Base)(a.target, b.target) })
	wants := map[[2]string]string{} // by step and parameter
	counts := map[[3]string]int{}
	for _, r := range ordered {
		for _, p := range r.planned() {
			counts[[3]string{r.step.Name, p.name, p.value}]++
		}
	}
	for _, r := range ordered {
		for _, p := range r.planned() {
			of := [2]string{r.step.Name, p.name}
			if want, known := wants[of]; !known || counts[[3]string{of[0], of[1], p.value}] > counts[[3]string{of[0], of[1], want}] {
				wants[of] = p.value
			}
		}
	}
	var found causes
	out := slices.DeleteFunc(slices.Clone(runs), func(r *run) bool {
		good := true
		for _, p := range r.planned() {
			if want := wants[[2]string{r.step.Name, p.name}]; p.value != want {
				good = false
				found.add(p.name+"\n"+r.target, r, p.line, p.value, want)
			}
		}
		return !good
	})
	for _, id := range found.order {
		c := found.by[id]
		name, target, _ := strings.Cut(id, "\n")
		at := c.first.file.path
		if c.line > 0 {
			at += fmt.Sprintf(":%d", c.line)
		}
		ps.add("", 0, onePlan, "%s differs in %s of target %s, first %s: %s instead of %s", name, quantity.Count(c.files, "file"), target, at, c.value, c.want)
	}
	return out
}

// planned returns the parameters in which runs of a step must agree. A missing
// option counts as one.
func (r *run) planned() []param {
	out := append(slices.Clone(r.plan), param{name: "workload", value: r.workload})
	if r.storage != "" { // a target has one storage engine; others may have another
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

// targetsOf returns the targets in the order of their first runs, with their steps.
func targetsOf(runs []*run) (targets []string, steps map[string][]string) {
	steps = map[string][]string{}
	for _, r := range runs {
		if !slices.Contains(targets, r.target) {
			targets = append(targets, r.target)
		}
		if !slices.Contains(steps[r.target], r.step.Name) {
			steps[r.target] = append(steps[r.target], r.step.Name)
		}
	}
	return targets, steps
}

// unrelated reports targets that have no step in common with the others, so that
// nothing could be compared.
func unrelated(runs []*run, ps *Problems) {
	targets, steps := targetsOf(runs)
	for _, t := range targets {
		shared := slices.ContainsFunc(steps[t], func(s string) bool {
			return slices.ContainsFunc(targets, func(o string) bool { return o != t && slices.Contains(steps[o], s) })
		})
		if len(targets) > 1 && !shared {
			i := slices.IndexFunc(runs, func(r *run) bool { return r.target == t })
			ps.add(runs[i].file.path, 0, "import them separately, with another --out; or give the logs of the same test the same name",
				"%s has no step in common with another target: it has %s. These are runs of different plans", t, strings.Join(steps[t], ", "))
		}
	}
}

// missing returns the steps that some targets lack, by name.
func missing(runs []*run) (out []Missing) {
	targets, steps := targetsOf(runs)
	slices.SortFunc(targets, quantity.Natural)
	var all []string
	for _, t := range targets {
		for _, s := range steps[t] {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, quantity.Natural)
	for _, s := range all {
		m := Missing{Step: s}
		for _, t := range targets {
			if !slices.Contains(steps[t], s) {
				m.Targets = append(m.Targets, t)
			}
		}
		if len(m.Targets) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// guessed returns the assumptions about the runs, and how many runs each is about.
func guessed(runs []*run) (out []string) {
	times := map[string]int{}
	for _, r := range runs {
		for _, g := range r.guesses {
			if times[g]++; times[g] == 1 {
				out = append(out, g)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(times[b]-times[a], strings.Compare(a, b)) })
	for i, g := range out {
		if times[g] > 1 {
			out[i] = fmt.Sprintf("%s (%d logs)", g, times[g])
		}
	}
	return out
}

// TargetSize is how much was imported of a target.
type TargetSize struct {
	Name                          string
	Trials, Steps, Files, Partial int // Partial: steps that are not complete
}

// Sizes returns how much was imported: of each target, and the tests and files in
// all.
func (c *Campaign) Sizes() (targets []TargetSize, tests, files int) {
	allSteps, allFiles := map[string]bool{}, map[string]bool{}
	for i := range c.trials {
		t := &c.trials[i]
		k := slices.IndexFunc(targets, func(s TargetSize) bool { return s.Name == t.Target })
		if k < 0 {
			k = len(targets)
			targets = append(targets, TargetSize{Name: t.Target})
		}
		of := &targets[k]
		of.Trials++
		of.Steps = max(of.Steps, len(t.Steps))
		own := map[string]bool{}
		for _, r := range t.runs {
			allSteps[r.step.Name] = true
			if r.step.Status != result.Complete {
				of.Partial++
			}
			for _, path := range r.paths() {
				own[path], allFiles[path] = true, true
			}
		}
		of.Files += len(own)
	}
	return targets, len(allSteps), len(allFiles)
}
