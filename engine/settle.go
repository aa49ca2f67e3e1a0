package engine

import (
	"context"
	"fmt"
	"time"
)

type SettleAction struct {
	Name     string        `json:"name"`
	Duration time.Duration `json:"ns"`
	Detail   string        `json:"detail,omitempty"` // its effect, such as debt before and after
}

// Timed does an action and times it. The function returns the action's effect.
func Timed(name string, do func() (detail string, err error)) (SettleAction, error) {
	start := time.Now()
	detail, err := do()
	return SettleAction{Name: name, Duration: time.Since(start), Detail: detail}, Wrap(name, err)
}

// Settling is the actions of a Settle that does one after the other, up to the
// first that fails.
type Settling struct {
	done []SettleAction
	err  error
}

// Do does the next action.
func (s *Settling) Do(name string, do func() (detail string, err error)) {
	if s.err != nil {
		return
	}
	var a SettleAction
	if a, s.err = Timed(name, do); s.err == nil {
		s.done = append(s.done, a)
	}
}

// Nothing notes that there is nothing to do, and why.
func (s *Settling) Nothing(detail string) {
	s.done = append(s.done, SettleAction{Name: "nothing to do", Detail: detail})
}

// Result returns the actions done.
func (s *Settling) Result() ([]SettleAction, error) { return s.done, s.err }

// Compact flushes the memtables of an LSM tree and waits until nothing is being compacted.
func (s *Settling) Compact(ctx context.Context, flush func() error, rests func() bool, debt func() uint64) {
	previous := debt()
	s.Do("flush memtables", func() (string, error) { return "", flush() })
	s.Do("wait for compactions", func() (string, error) {
		err := AwaitRest(ctx, 50*time.Millisecond, 7, func() (bool, error) { return rests(), nil })
		return fmt.Sprintf("estimated debt %d B before, %d B after", previous, debt()), err
	})
}

// AwaitRest polls until a database has been at rest a number of times in a row:
// background work may begin a moment after the event that makes it necessary.
func AwaitRest(ctx context.Context, every time.Duration, times int, rest func() (bool, error)) error {
	for quiet := 0; ; {
		ok, err := rest()
		if err != nil {
			return err
		}
		if quiet++; !ok {
			quiet = 0
		}
		if quiet >= times {
			return nil
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return fmt.Errorf("the database does not come to rest: %w", ctx.Err())
		}
	}
}
