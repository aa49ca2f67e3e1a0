package declared

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload/workloadtest"
)

const dividedFile = `
name: f
tables:
  a: {columns: {id: {value: {sequence: [1]}}, v: {value: {uniform: [1, 1000000]}}}}
  log: {columns: {id: {value: {sequence: [1]}}, v: {value: {uniform: [1, 1000000]}}}}
operations:
  put: [{insert: a}]
  note: [{insert: log}]
  up: [{update: a, row: {any: {}}, set: {v: {uniform: [1, 1000]}}}]
  change: [{update: log, row: {any: {}}, set: {v: {uniform: [1, 1000]}}}]
  look: [{get: a, row: {any: {}}}]
  newest: [{get: log, row: {latest: {}}}]
  given: [{insert: a, set: {id: {uniform: [1, 200]}}, conflict: ignore}]
  over: [{insert: a, row: {any: {}}, conflict: replace}]
steps:
  - {load: a, rows: 50, clients: 2, batch: 3}
  - {load: log, rows: LOGS}
  - {run: work, seconds: 1, groups: {GROUPS}}
  - {run: more, seconds: 1, groups: {r: {clients: 4, do: up}}}
`

// A step divides if its rows do not depend on the number of processes, nor those of the steps after it. Clients that
// rewrite rows that they have chosen go on as one process would, also behind rows that are missing.
func TestDivides(t *testing.T) {
	for _, c := range []struct {
		groups  string
		logs    string
		divides bool
	}{
		{"all: {clients: 4, mix: {up: 1, look: 1, over: 1}}", "9", true},
		{"w: {do: put}", "9", true},
		{"w: {do: put}, r: {clients: 4, do: look}", "9", true},
		{"w: {do: put}, r: {clients: 4, do: change}", "9", true},
		{"w: {mix: {put: 1, up: 1}}", "9", true},
		{"w: {clients: 2, do: put}", "9", false},
		{"w: {do: put}, v: {do: put}", "9", false},
		{"w: {do: put}, r: {clients: 4, do: up}", "9", false},
		{"w: {do: note}, r: {clients: 4, do: look}", "9", false}, // as another operation asks for the newest of them
		{"w: {do: note}, r: {clients: 4, do: look}", "0", false},
		{"w: {do: given}", "9", true},
	} {
		text := strings.Replace(strings.Replace(dividedFile, "GROUPS", c.groups, 1), "LOGS", c.logs, 1)
		w := readTest(t, "f", []byte(text))
		steps := newRun(t, w, "", nil).Steps()
		if work := &steps[len(steps)-2]; work.Divides != c.divides {
			t.Errorf("%s: step %s divides: %v", c.groups, work.Name, work.Divides)
		}
		t.Run(c.groups, func(t *testing.T) {
			r := newRun(t, w, "", nil)
			workloadtest.Divided(t, workloadtest.Suite{Workload: w, Open: func(t *testing.T, _ model.Schema) engine.DB {
				return openMemory(t, r)
			}})
		})
	}
}

// What is not known of rows stays unknown where it is handed on.
func TestKnowledge(t *testing.T) {
	text := strings.Replace(strings.Replace(dividedFile, "GROUPS", "w: {do: put}", 1), "LOGS", "9", 1)
	w := readTest(t, "f", []byte(text))
	handed := func(a *run) *run {
		t.Helper()
		b := newRun(t, w, "", nil).(*run)
		if err := b.GoOn(func(into any) error {
			*into.(*knowledge) = a.Knowledge().(knowledge)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := newRun(t, w, "", nil).(*run)
	first.begin(true)
	first.tables[0].reset(60)
	first.tables[0].dead.set(54, true)
	first.tables[0].gone.Store(2)
	second := handed(first)
	if a := second.tables[0]; a.next.Load() != 60 || a.live() != 57 || !a.isDead(54) || !second.whole {
		t.Errorf("of 60 rows with 3 missing another process knows %d of %d", a.live(), a.next.Load())
	}
	second.unread = true
	if third := handed(second); !third.unread {
		t.Error("what is to be read is passed on as if it were known")
	}
}
