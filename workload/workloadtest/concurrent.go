package workloadtest

import (
	"context"
	"sync"
	"testing"

	"rumbench/engine"
	"rumbench/workload"
)

// Concurrent runs all steps with one goroutine per client, which repeats operations that
// yield to others, and checks the invariants of every step.
func Concurrent(t *testing.T, r workload.Run, db engine.DB, seed uint64) {
	t.Helper()
	var previous *workload.Live
	steps := r.Steps()
	for i := range steps {
		s := begin(t, []*workload.Step{&steps[i]}, workload.Env{DB: db, Seed: seed, Results: true, Previous: previous})
		var work, others sync.WaitGroup
		opened, end := context.WithCancel(context.Background())
		for _, u := range s.turns {
			group := &others
			if u.leads {
				group = &work
			}
			group.Go(func() {
				for opened.Err() == nil && !(u.leads && u.left == 0) {
					if err := u.takeUntil(context.Background(), opened); err != nil && opened.Err() == nil && !retried(err) {
						t.Errorf("step %s: %v", steps[i].Name, err)
						return
					}
				}
			})
		}
		work.Wait()
		end()
		others.Wait()
		if found, _ := s.finish(); len(s.stages) > 0 {
			previous = &found.Live
		}
	}
}

// retried reports whether an operation is attempted again after an error.
func retried(err error) bool {
	class := engine.ClassOf(err)
	return class.Yields() || class == engine.Duplicate
}
