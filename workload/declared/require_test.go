package declared

import (
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/workload"
	"rumbench/workload/workloadtest"
)

const taking = `
name: f
tables: {queue: {columns: {id: {value: {sequence: [1]}}, state: {value: 0}}, indexes: {by_state: [state, id]}}}
operations:
  take:
    transaction: true
    do:
      - {insert: queue}
      - {update: queue, index: by_state, equal: {state: 0, id: 1}, set: {state: 1}, require: 1}
steps:
  - {load: queue, rows: 10}
  - {run: work, seconds: 1, groups: {clients: {do: take}}}
`

// A statement that finds fewer rows than it requires is a conflict, and what came before
// it is undone.
func TestRequire(t *testing.T) {
	r := newRun(t, readTest(t, "f", []byte(taking)), "", nil).(*run)
	db := openMemory(t, r)
	steps := r.steps
	r.steps = steps[:1] // the load
	workloadtest.Lockstep(t, r, db, 1)
	stage, err := steps[1].Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true, Previous: &workload.Live{}})
	expect.NoError(t, err)
	session, err := db.Session(t.Context())
	expect.NoError(t, err)
	defer session.Close()
	c, err := stage.Client(t.Context(), workload.Seat{Session: session})
	expect.NoError(t, err)
	for n, want := range []engine.Class{engine.OK, engine.Conflict, engine.Conflict} { // row 1 is taken once
		var out workload.Outcome
		expect.NoError(t, c.(workload.Readier).Ready(t.Context()))
		if err := c.Do(t.Context(), &out); engine.ClassOf(err) != want {
			t.Fatalf("attempt %d: %v, want class %s", n, err, want)
		}
		expect.True(t, n != 0 || out.Found == 1 && out.Expected == 1, "found", out.Found, "of", out.Expected)
	}
	expect.Equal(t, expect.Value(countRows(t.Context(), session, r.tables[0]))(t), 11,
		"rows", "a take that failed is not undone")
}

// Where a parameter turns the transaction off, what a statement requires is what it should
// find. Checks that hold are noted, also beside one that does not.
func TestRequireWithoutTransaction(t *testing.T) {
	text := strings.Replace(taking, "transaction: true", "transaction: atomic", 1)
	text = strings.Replace(text, "name: f\n", "name: f\nparams: {atomic: {type: bool, default: true, doc: transactions}}\n", 1) +
		"checks:\n  - {name: all there, expect: count(queue) == 10 + done(take)}\n  - {name: none taken, expect: \"sum(queue, state) == 0\"}\n" +
		"  - {name: one taken, expect: \"sum(queue, state) == 1\"}\n"
	r := newRun(t, readTest(t, "f", []byte(text)), "", map[string]any{"atomic": false}).(*run)
	db := openMemory(t, r)
	steps := r.steps
	load, err := steps[0].Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true})
	expect.NoError(t, err)
	expect.NoError(t, db.CreateTables(t.Context()))
	do := func(s workload.Stage, times int) (outs []workload.Outcome) {
		c := workloadtest.Alone(t, db, s, 0)
		for range times {
			outs = append(outs, workloadtest.Once(t, c))
		}
		return outs
	}
	loaded, err := load.Finish(t.Context(), workload.Totals{{{Ops: 1, Work: do(load, 1)[0].Work}}})
	expect.NoError(t, err)
	stage, err := steps[1].Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true, Previous: &loaded.Live})
	expect.NoError(t, err)
	outs := do(stage, 3)
	for i, want := range []int64{1, 0, 0} {
		expect.True(t, outs[i].Expected == 1 && outs[i].Found == want, i, outs[i].Found, outs[i].Expected)
	}
	found, err := stage.Finish(t.Context(), workload.Totals{{{Ops: 3}}})
	expect.True(t, err == nil && len(found.Broken) == 1 && strings.HasPrefix(found.Broken[0], "none taken"),
		err, "broken", found.Broken)
	expect.True(t, slices.Equal(found.Notes, []string{"checks that hold: all there, one taken"}), "notes", found.Notes)
}
