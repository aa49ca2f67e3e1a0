package trial

import (
	"context"
	"time"

	"rumbench/internal/cpuset"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
)

// Partner is the other trial of a duet, as this one sees it.
type Partner interface {
	// Meet waits until the other is about to begin a step, too. It is an error
	// if the other has ended.
	Meet(ctx context.Context, step string) error
	// Done says that this trial's window of the step is over.
	Done(step string)
	// Alone tells, after Done, for how long the other's had been over before.
	Alone() time.Duration
}

// meet waits for the other trial of a duet before a step.
func (t *trial) meet(ctx context.Context, step string) error {
	if t.Partner == nil {
		return nil
	}
	return t.Partner.Meet(ctx, step)
}

// over says that the window of a step is over.
func (t *trial) over(step string) {
	if t.Partner != nil {
		t.Partner.Done(step)
	}
}

// alone asks for how long a window went on after the other trial's was over.
func (t *trial) alone() time.Duration {
	if t.Partner == nil {
		return 0
	}
	return t.Partner.Alone()
}

// machine are the collectors of what the whole machine and its devices do. A
// duet has none: what they count is of two trials, and nobody can tell which
// part is whose.
func (t *trial) machine() []observe.Collector {
	if t.Partner != nil {
		t.res.CPUs = t.processors()
		t.warn(metric.Duet, nil)
		return nil
	}
	collectors := []observe.Collector{observe.NewHost("/proc")}
	if c := t.deviceCollector(); c != nil {
		collectors = append(collectors, c)
	}
	return collectors
}

// processors are those that this process may use, and the servers that it starts.
func (t *trial) processors() string {
	cpus, err := cpuset.Allowed()
	if err != nil {
		t.unobserved(err.Error())
		return ""
	}
	return cpus.String()
}
