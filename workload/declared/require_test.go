package declared

import (
	"testing"

	"rumbench/engine"
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
	if err != nil {
		t.Fatal(err)
	}
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	c, err := stage.Client(t.Context(), workload.Seat{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []engine.Class{engine.OK, engine.Conflict, engine.Conflict} { // row 1 is taken once
		var out workload.Outcome
		if err := c.(workload.Readier).Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.Do(t.Context(), &out); engine.ClassOf(err) != want {
			t.Fatalf("attempt %d: %v, want class %s", n, err, want)
		}
		if n == 0 && (out.Found != 1 || out.Expected != 1) {
			t.Errorf("found %d of %d", out.Found, out.Expected)
		}
	}
	if n, err := countRows(t.Context(), session, r.tables[0]); err != nil || n != 11 {
		t.Errorf("%d rows, %v: a take that failed is not undone", n, err)
	}
}
