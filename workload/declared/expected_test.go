package declared

import (
	"testing"

	"rumbench/workload"
	"rumbench/workload/workloadtest"
)

const choosing = `
name: f
tables: {numbered: {columns: {id: {auto: true}, n: {value: 0}}}, short: {columns: {id: {value: {sequence: [1]}}}}}
operations:
  numbered: [{get: numbered, row: {any: {}}, rows: 50}]
  short: [{get: short, row: {any: {}}, rows: 50}]
  stated: [{get: short, row: {any: {}}, rows: 50, expect: 20}]
  delete: [{delete: short, row: {any: {}}}]
steps:
  - {load: numbered, rows: 10}
  - {load: short, rows: 10}
  - {run: work, seconds: 1, groups: {clients: {sequence: [numbered, short, stated]}, others: {do: delete}}}
`

// A row that is chosen twice is expected once, also where nobody knows for sure that it
// exists: engines return it once or twice.
func TestExpectedOnce(t *testing.T) {
	r := newRun(t, readTest(t, "f", []byte(choosing)), "", nil).(*run)
	db := openMemory(t, r)
	steps := r.steps
	r.steps = steps[:2]
	workloadtest.Lockstep(t, r, db, 1)
	stage, err := steps[2].Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true, Previous: &workload.Live{}})
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
	for n, most := range []int64{10, 10, 20} {
		var out workload.Outcome
		if err := c.(workload.Readier).Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.Do(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if out.Expected < 5 || out.Expected > most || n == 2 && out.Expected != 20 || out.Found != out.Expected {
			t.Errorf("operation %d: found %d of %d expected, of %d rows at most", n, out.Found, out.Expected, most)
		}
	}
}
