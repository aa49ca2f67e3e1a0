package declared

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/workload"
	"rumbench/workload/workloadtest"
)

// An operation is counted once, however often a sequence has it, and under one name
// where a group does no other; shares are those of the file.
func TestTurns(t *testing.T) {
	r := newRun(t, readTest(t, "turns.yaml", []byte(`
name: turns
tables:
  t: {columns: {id: {value: {sequence: [1]}}, n: {value: 0}}}
operations:
  get: [{get: t, row: {any: {}}}]
  put: [{insert: t}]
  add: [{update: t, row: {any: {}}, add: {n: 1}}]
steps:
  - {load: t, rows: 10}
  - run: work
    seconds: 1
    groups:
      turns: {sequence: [put, get, get]}
      mixed: {mix: {get: 3, add: 1}}
      alone: {do: add}
  - run: again
    seconds: 1
    groups: {first: {do: get}, second: {do: get}}
`)), "", nil)
	type op struct {
		name, whole string
		share       float64
	}
	want := map[string][]op{
		"turns": {{"put", "operation", 1. / 3}, {"get", "operation", 2. / 3}},
		"mixed": {{"get", "mixed", 0.75}, {"add", "mixed", 0.25}},
		"alone": {{"add", "add", 1}},
		"first": {{"get", "get", 1}}, "second": {{"get", "second", 1}}, // the step's rate is the first one's alone
	}
	db, steps := openMemory(t, r), r.Steps()
	expect.NoError(t, db.CreateTables(t.Context()))
	for _, s := range steps[1:] {
		for _, g := range s.Groups {
			var got []op
			for _, k := range g.Ops {
				got = append(got, op{k.Name, k.Whole(), k.Share})
			}
			expect.True(t, slices.Equal(got, want[g.Name]), g.Name, got, want[g.Name])
		}
	}
	expect.Equal(t, strings.Join(turns(t, &steps[1], workload.Env{DB: db, Seed: 1, Results: true}), " "), "put get get put get get put")
}

// turns returns the operations that a client of a step's first group begins with.
func turns(t *testing.T, s *workload.Step, env workload.Env) (names []string) {
	stage, err := s.Open(t.Context(), env)
	expect.NoError(t, err)
	c := workloadtest.Alone(t, env.DB, stage, 0)
	for range 7 {
		names = append(names, s.Groups[0].Ops[workloadtest.Once(t, c).Kind].Name)
	}
	return names
}
