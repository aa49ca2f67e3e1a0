package trial

import (
	"context"
	"fmt"
	"time"

	"rumbench/internal/cpuset"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
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
		t.warn("a duet: another target ran at the same time on the other half of the processors; what is counted for the whole machine or its devices is of both, and is left out")
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
		t.warn(err.Error())
		return ""
	}
	return cpus.String()
}

// littleAlone is the share of a step in which it may be alone without a doubt.
const littleAlone = 0.1

// noteAlone says for how much of a step the other trial of the duet did not run
// any more. It returns what the step's figures are to be doubted for.
func noteAlone(s *result.Step, w *window) (doubts []metric.Warning) {
	if w.alone <= 0 || w.length <= 0 {
		return nil
	}
	alone := min(w.alone, w.length)
	s.Alone = alone.Seconds()
	share := float64(alone) / float64(w.length)
	text := fmt.Sprintf("it ran alone for the last %.3g s, %.0f %% of its time: the other trial of the duet was over", s.Alone, 100*share)
	if share <= littleAlone {
		s.Note(text)
		return nil
	}
	doubts = []metric.Warning{metric.Untyped(text)}
	s.Warnings = append(s.Warnings, doubts...)
	return doubts
}
