package plan

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// Between the two targets are those that differ from the base in one setting each.
func TestExperiment(t *testing.T) {
	const text = `workload: sysbench
params: {table_size: 10}
targets:
  - {name: a, engine: sqlite, cache: 1MiB, options: {x: 1, y: "2"}}
  - {name: b, engine: sqlite, durability: os, options: {x: 3}}
  - {name: c, engine: pebble}
  - {name: d, engine: sqlite, cache: 1MiB, options: {x: 1, y: "2"}}
  - {name: f, engine: sqlite, cache: 2MiB, options: {x: 1, y: "2"}}
trials: 4
`
	out, err := Experiment("p.yaml", []byte(text), "a", "b")
	expect.NoError(t, err)
	for _, want := range []string{"name: a\n", "name: a-durability\n", "name: a-x\n", "name: a-cache\n", "name: a-y\n", "name: b\n", "trials: 4", "name: experiment"} {
		expect.Contains(t, string(out), want, out)
	}
	if n := strings.Count(string(out), `cache: "1MiB"`); n != 4 { // a, and all but that without it
		t.Errorf("%d caches in\n%s", n, out)
	}
	expect.Lacks(t, string(out), "name: a-durability-x\n", "two settings at once")
	for name, want := range map[string]string{"c": "different engines", "d": "the same in the plan", "f": "differ in one setting only", "e": "no targets called"} {
		expect.Refused(Experiment("p.yaml", []byte(text), "a", name))(t, want, name)
	}
}
