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

// meetAndCount calls count when the other trial of a duet is about to begin a step, too.
func meetAndCount(ctx context.Context, t *trial, step string, count func()) error {
	if t.Partner != nil {
		if err := t.Partner.Meet(ctx, step); err != nil {
			return err
		}
	}
	count()
	return nil
}
