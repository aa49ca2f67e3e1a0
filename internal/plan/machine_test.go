package plan

import "testing"

func TestMachine(t *testing.T) {
	p := load(t, "workload: ibench\ncommon: {memory: 256MiB, cpus: 1}\ntargets:\n  - pebble\n  - {name: b, engine: pebble, cpus: [1, 0], memory: 1GiB}\n")
	a, b := p.Targets[0], p.Targets[1]
	if a.Machine.Memory != 256<<20 || a.Machine.CPUs.Number != 1 || a.Knobs["memory"] != "256MiB" || a.Knobs["cpus"] != "1" {
		t.Errorf("%+v, %v", a.Machine, a.Knobs)
	}
	if b.Machine.Memory != 1<<30 || b.Machine.CPUs.Number != 0 || b.Knobs["cpus"] != "[0-1]" || !b.Machine.Limited() {
		t.Errorf("%+v, %v", b.Machine, b.Knobs)
	}
}
