// Package workloadtest is the conformance suite that every workload passes, with the
// lockstep runner, which tests that a seed gives the same rows and results on every
// engine. It measures no time.
package workloadtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/model"
	"rumbench/workload"
)

// Suite is a workload under test.
type Suite struct {
	Workload workload.Workload
	// Small are parameters of a short run with every step.
	Small map[string]any
	// Open opens an empty database that stores rows and has every capability that
	// the workload needs.
	Open func(t *testing.T, schema model.Schema) engine.DB
}

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	t.Run("info", s.testInfo)
	t.Run("presets", s.testPresets)
	t.Run("steps", s.testSteps)
	t.Run("same seed", s.testSameSeed)
	t.Run("each step alone", s.testAlone)
	t.Run("from a copy", s.testCopied)
	t.Run("divided", func(t *testing.T) { Divided(t, s) })
}

func (s Suite) small(t *testing.T) workload.Run {
	t.Helper()
	r, err := workload.NewRun(s.Workload, "", s.Small)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// failIf fails the test on a condition.
func failIf(t testing.TB, wrong bool, format string, args ...any) {
	t.Helper()
	if wrong {
		t.Errorf(format, args...)
	}
}

func (s Suite) testInfo(t *testing.T) {
	i := s.Workload.Info()
	failIf(t, i.Name == "" || i.Doc == "", "incomplete info: %+v", i)
	for _, p := range i.Params {
		failIf(t, p.Doc == "", "parameter %s is not documented", p.Name)
		if _, err := p.Parse(p.Default); err != nil {
			t.Errorf("parameter %s refuses its default: %v", p.Name, err)
		}
	}
}

func (s Suite) testPresets(t *testing.T) {
	i := s.Workload.Info()
	failIf(t, len(i.Presets) == 0, "no presets")
	for _, preset := range i.Presets {
		for name := range preset.Values {
			failIf(t, i.Param(name) == nil, "preset %s sets %s, which is not a parameter", preset.Name, name)
		}
		r, err := workload.NewRun(s.Workload, preset.Name, nil)
		if err != nil {
			t.Errorf("preset %s: %v", preset.Name, err)
			continue
		}
		checkSteps(t, r)
	}
}

func (s Suite) testSteps(t *testing.T) {
	r := s.small(t)
	checkSteps(t, r)
	if e := r.Estimate(r.Steps()); e.Rows <= 0 || e.Bytes <= 0 {
		t.Errorf("estimate %+v", e)
	}
}

// checkSteps checks properties on which other packages rely.
func checkSteps(t *testing.T, r workload.Run) {
	t.Helper()
	schema := r.Schema()
	for i := range schema.Tables {
		if err := schema.Tables[i].Validate(); err != nil {
			t.Error(err)
		}
	}
	seen := map[string]bool{}
	judged := 0
	for _, step := range r.Steps() {
		judged += len(step.Judged)
		for _, name := range step.Judged {
			m := metric.ByName(name)
			failIf(t, m == nil || m.Better == "", "step %s is judged by %s, of which no direction is better", step.Name, name)
		}
		failIf(t, step.Warmup && len(step.Judged) > 0, "step %s is judged and a warm-up", step.Name)
		failIf(t, seen[step.Name] || step.Name == "" || step.Doc == "", "step %q is repeated or not documented", step.Name)
		seen[step.Name] = true
		if step.Settle != nil {
			failIf(t, len(step.Groups) > 0, "settle step %s has groups", step.Name)
			continue
		}
		checkGroups(t, &step)
	}
	failIf(t, judged == 0, "no step is judged")
}

func checkGroups(t *testing.T, step *workload.Step) {
	t.Helper()
	kinds := map[string]bool{}
	work := step.Seconds > 0
	for _, g := range step.Groups {
		work = work || g.Work > 0
		failIf(t, g.Clients < 1 || len(g.Ops) == 0, "step %s, group %s has no clients or no operations", step.Name, g.Name)
		failIf(t, g.Rate > 0 && g.RowsPerOp < 1, "step %s, group %s has a rate but no RowsPerOp", step.Name, g.Name)
		for _, k := range g.Ops {
			kinds[k.Whole()] = true
			failIf(t, k.Unit == "", "step %s: operation %s has no unit", step.Name, k.Name)
		}
	}
	failIf(t, !work, "step %s would never end", step.Name)
	if !kinds[step.Primary] || !kinds[step.WritesPer] {
		t.Errorf("step %s is about %q and %q, which no group does", step.Name, step.Primary, step.WritesPer)
	}
}

// testSameSeed checks that a seed always gives the same rows and results, and a different
// seed does not.
func (s Suite) testSameSeed(t *testing.T) {
	run := func(seed uint64) []State {
		r := s.small(t)
		return Lockstep(t, r, s.Open(t, r.Schema()), seed)
	}
	a, b, c := run(1), run(1), run(2)
	Compare(t, "the same seed", a, b)
	failIf(t, slices.EqualFunc(a, c, func(x, y State) bool { return x.equal(&y) }),
		"another seed gives the same rows and results")
}

// testAlone checks that every step that creates nothing can be run alone, and repeated,
// on a database of earlier steps.
func (s Suite) testAlone(t *testing.T) {
	whole := s.small(t)
	db := s.Open(t, whole.Schema())
	steps := whole.Steps()
	made := map[string]bool{}
	for i := range steps {
		runStep(t, &steps[i], db, 1, nil)
		if kind := steps[i].Primary; !steps[i].Creates && steps[i].Settle == nil && kind != "index" && !made[steps[i].Name] {
			runStep(t, &steps[i], db, 2, nil)
		}
	}
}

// Divided checks that the steps which several processes can run give the same rows and results then.
func Divided(t *testing.T, s Suite) {
	t.Helper()
	if !slices.ContainsFunc(s.small(t).Steps(), func(step workload.Step) bool { return step.Divides }) {
		return
	}
	run := func(processes int) []State {
		runs := []workload.Run{s.small(t)}
		for range processes {
			runs = append(runs, s.small(t))
		}
		return lockstep(t, runs, s.Open(t, runs[0].Schema()), 1)
	}
	whole := run(0)
	for _, processes := range []int{1, 2, 3} {
		divided := run(processes)
		for i, step := range s.small(t).Steps() {
			a, b := &whole[i], &divided[i]
			same := a.equal(b)
			if !slices.Equal(a.Sums, b.Sums) { // the engine has numbered rows in another order
				same = slices.Equal(a.Bare, b.Bare)
			} else if step.Creates || !slices.Equal(a.Notes, b.Notes) {
				same = true // clients take what they load when they are free, or choose other rows as a note says
			}
			failIf(t, !same, "%d processes: after step %s\n got %+v\nwant %+v", processes, step.Name, b, a)
		}
	}
}

// testCopied goes on from steps in another run that knows what the first knew, with other
// draws, as trials do that begin from a copy of loaded data.
func (s Suite) testCopied(t *testing.T) {
	count := len(s.small(t).Steps())
	for done := 1; done < count; done++ {
		t.Run(fmt.Sprint("after ", done), func(t *testing.T) {
			if done != 1 && done != count/2 && done != count-1 {
				need.Long(t)
			}
			s.goOn(t, done)
		})
	}
}

// goOn goes on after so many steps.
func (s Suite) goOn(t *testing.T, done int) {
	loads := s.small(t)
	db := s.Open(t, loads.Schema())
	loaded := uint64(1)
	var live *workload.Live
	for i := range done {
		step := loads.Steps()[i]
		now, _ := runStep(t, &step, db, loaded, live)
		if step.Settle == nil {
			live = &now.Live
		}
	}
	goesOn := s.small(t)
	hand(t, loads, goesOn)
	for i := range goesOn.Steps()[done:] {
		step := goesOn.Steps()[done+i]
		env := workload.Env{DB: db, Seed: 2, Copied: &loaded, Results: true, Previous: live}
		now, _ := runParts(t, []*workload.Step{&step}, env)
		if step.Settle == nil {
			live = &now.Live
		}
	}
}

// hand gives what a run knows to another, by way of a file.
func hand(t *testing.T, loads, goesOn workload.Run) {
	t.Helper()
	k, ok := loads.(workload.Knowing)
	if !ok {
		return
	}
	text, err := json.Marshal(k.Knowledge())
	if err == nil {
		err = goesOn.(workload.Knowing).GoOn(func(into any) error { return json.Unmarshal(text, into) })
	}
	if err != nil {
		t.Fatal(err)
	}
}
