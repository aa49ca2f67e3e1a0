package plan

import (
	"testing"

	"rumbench/internal/expect"
)

// Each target runs at each level, under its own name.
func TestLevels(t *testing.T) {
	p, err := Load("p.yaml", []byte(`
workload: ibench
levels: {memory: [64MiB, 1 GiB]}
targets: [pebble, {name: b, engine: sqlite, cpus: 1}]
`), nil, fakes())
	expect.NoError(t, err)
	for i, want := range []struct {
		name, engine string
		memory       int64
		cpus         int
	}{{"pebble-64MiB", "pebble", 64 << 20, 0}, {"pebble-1GiB", "pebble", 1 << 30, 0}, {"b-64MiB", "sqlite", 64 << 20, 1}, {"b-1GiB", "sqlite", 1 << 30, 1}} {
		got := p.Targets[i]
		if got.Name != want.name || got.Engine != want.engine || got.Machine.Memory != want.memory || got.Machine.CPUs.Number != want.cpus {
			t.Errorf("target %d: %s, engine %s, memory %d, %d CPUs", i, got.Name, got.Engine, got.Machine.Memory, got.Machine.CPUs.Number)
		}
	}
}
