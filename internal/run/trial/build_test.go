package trial

import (
	"testing"

	"rumbench/internal/result"
)

// Every step that builds indexes shows how many it has built, of as many as there are.
func TestBuilds(t *testing.T) {
	for name, want := range map[string]int{"ibench": 6, "sysbench": 3, "linkbench": 1, "tpcc": 2, "create-index": 1} {
		params := map[string]string{"ibench": "clients: 2", "sysbench": "tables: 3"}[name]
		src := "workload: " + name + "\npreset: quick\nparams: {" + params + "}\ninterval: 1m\ncalibrate: false\ntargets: [{engine: memory, durability: none}]\n"
		s := preflown(planOf(t, src))
		var last EventBuild
		s.Progress = func(e Event) {
			if e.Build != nil {
				last = *e.Build
			}
		}
		run(t, s, result.Complete)
		if last.Seconds = 0; last != (EventBuild{Done: want, Begun: want, All: want}) {
			t.Errorf("%s: %+v, want %d", name, last, want)
		}
	}
}
