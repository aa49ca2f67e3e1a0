package observe_test

import (
	"os"
	"testing"

	"rumbench/internal/observe"
)

// Threads that ended, or began in between, are not counted.
func TestRunQueueSince(t *testing.T) {
	before := observe.RunQueue{1: 100, 2: 200, 3: 300}
	after := observe.RunQueue{1: 150, 3: 300, 4: 4000}
	if got := after.Since(before); got != 50 {
		t.Errorf("%v", got)
	}
}

func TestRunQueue(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip(err)
	}
	p := observe.NewProcess("/proc", func() []int { return []int{os.Getpid()} })
	q, err := p.RunQueue()
	if err != nil || len(q) < 2 {
		t.Errorf("%d threads of a program in Go: %v", len(q), err)
	}
}
