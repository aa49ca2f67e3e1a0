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
	// Done reports to the other trial that this one's window of the step is over.
	Done(step string)
	// Alone returns, after Done, how long before that the other's window had
	// ended.
	Alone() time.Duration
}

// nobody is the partner of a trial that runs alone.
type nobody struct{}

func (nobody) Meet(context.Context, string) error { return nil }
func (nobody) Done(string)                        {}
func (nobody) Alone() time.Duration               { return 0 }

// partner returns the other trial, or nobody.
func (t *Spec) partner() Partner {
	if t.Partner == nil {
		return nobody{}
	}
	return t.Partner
}
