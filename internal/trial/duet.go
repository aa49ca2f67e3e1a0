package trial

import (
	"context"
	"time"
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

// nobody is the partner of a trial that runs alone.
type nobody struct{}

func (nobody) Meet(context.Context, string) error { return nil }
func (nobody) Done(string)                        {}
func (nobody) Alone() time.Duration               { return 0 }

// partner returns the other trial, if there is one.
func (t *Spec) partner() Partner {
	if t.Partner == nil {
		return nobody{}
	}
	return t.Partner
}
