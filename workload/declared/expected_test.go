package declared

import (
	"testing"

	"rumbench/internal/expect"
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
	do := lastStep(t, choosing)
	for n, limit := range []int64{10, 10, 20} {
		if out := do(); out.Expected < 5 || out.Expected > limit || n == 2 && out.Expected != 20 || out.Found != out.Expected {
			t.Errorf("operation %d: found %d of %d expected, of %d rows at most", n, out.Found, out.Expected, limit)
		}
	}
}

const counting = `
name: f
tables: {t: {columns: {id: {value: {sequence: [1]}}, n: {value: 0}}}}
operations:
  enough: [{scan: t, count: found, expect: 10}]
  few: [{scan: t, count: found, expect: 12}]
steps:
  - {load: t, rows: 10}
  - {run: work, seconds: 1, groups: {clients: {sequence: [enough, few]}}}
`

// A scan that counts has found the rows that it counted.
func TestExpectedCount(t *testing.T) {
	do := lastStep(t, counting)
	for _, want := range []int64{10, 12} {
		if out := do(); out.Expected != want || out.Found != 10 {
			t.Errorf("found %d of %d", out.Found, out.Expected)
		}
	}
}

const ignoring = `
name: f
tables: {t: {columns: {id: {value: {sequence: [1]}}, n: {value: 0}}}}
operations:
  known: [{insert: t, row: {any: {}}, conflict: ignore}]
  new: [{insert: t, rows: 2, conflict: ignore}]
steps:
  - {load: t, rows: 10}
  - {run: work, seconds: 1, groups: {clients: {sequence: [known, new]}}}
`

// An insert that ignores rows that exist has written the others only.
func TestIgnoredRows(t *testing.T) {
	do := lastStep(t, ignoring)
	if out := do(); out.Writes != 0 || out.Others != 1 || out.Bytes != 0 {
		t.Errorf("an insert of nothing counts as %+v", out.Work)
	}
	if out := do(); out.Writes != 1 || out.Others != 0 || out.Bytes != 2*2*8 {
		t.Errorf("an insert of two rows of two numbers counts as %+v", out.Work)
	}
}

// lastStep opens the last step of a file, after the loads before it, and returns what does
// an operation of its first client.
func lastStep(t *testing.T, file string) (do func() workload.Outcome) {
	r := newRun(t, readTest(t, "f", []byte(file)), "", nil).(*run)
	db := openMemory(t, r)
	steps := r.steps
	last := len(steps) - 1
	r.steps = steps[:last]
	workloadtest.Lockstep(t, r, db, 1)
	stage, err := steps[last].Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true, Previous: &workload.Live{}})
	expect.NoError(t, err)
	c := workloadtest.Alone(t, db, stage, 0)
	return func() workload.Outcome { return workloadtest.Once(t, c) }
}
