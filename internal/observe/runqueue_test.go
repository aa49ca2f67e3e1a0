package observe_test

import (
	"os"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/observe"
)

// Threads that ended, or began in between, are not counted.
func TestRunQueueSince(t *testing.T) {
	value := func(cpu, delay time.Duration) observe.ThreadRun { return observe.ThreadRun{CPU: cpu, Delay: delay} }
	before := observe.RunQueue{1: value(0, 100), 2: value(0, 200), 3: value(10, 300)}
	after := observe.RunQueue{1: value(7, 150), 3: value(19, 300), 4: value(900, 4000)}
	expect.Equal(t, after.Since(before), 50)
	if tid, cpu := after.Busiest(before); tid != 3 || cpu != 9 {
		t.Errorf("thread %d for %v", tid, cpu)
	}
}

func TestRunQueue(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip(err)
	}
	p := observe.NewProcess("/proc", func() []int { return []int{os.Getpid()} })
	q, err := p.RunQueue()
	if tid, cpu := q.Busiest(observe.RunQueue{os.Getpid(): {}}); tid != os.Getpid() || cpu <= 0 || q.Name("/proc", tid) == "" {
		t.Errorf("thread %d, %q, for %v", tid, q.Name("/proc", tid), cpu)
	}
	expect.True(t, err == nil && len(q) >= 2, "threads of a program in Go", len(q), err)
}
