package engine

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"rumbench/internal/text/escape"
)

// Class is the meaning of a failed operation for the client.
type Class string

// The classes of errors.
const (
	OK Class = ""
	// serialization failure: a concurrent transaction changed data that it read; a retry may
	// succeed
	Conflict    Class = "conflict"
	Deadlock    Class = "deadlock"     // it was chosen as the victim of a deadlock
	LockTimeout Class = "lock timeout" // a lock was not granted within the server's limit
	Timeout     Class = "timeout"      // it took too long and was cancelled
	Duplicate   Class = "duplicate"    // a key exists
	Gone        Class = "gone"         // the database or its server has gone away
	Fatal       Class = "fatal"        // anything else: a bug, a full disk, a corrupt file
)

// Yields reports whether errors of the class are caused by concurrent
// transactions: the operation yields to them and may be retried.
func (c Class) Yields() bool { return c == Conflict || c == Deadlock || c == LockTimeout }

// The pauses before an operation is repeated.
const minPause, maxPause = 10 * time.Microsecond, 10 * time.Millisecond

// Repeat attempts an operation, which leaves nothing behind when it fails, until it
// no longer yields to others or the context ends. It returns how often it was
// repeated.
func Repeat(ctx context.Context, attempt func() error) (repeated int64, err error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		err := attempt()
		if err == nil || !ClassOf(err).Yields() {
			return repeated, err
		}
		select {
		case <-ctx.Done():
			return repeated, err
		case <-time.After(pause):
		}
		repeated++
	}
}

// Ends reports whether an error of the class ends the step: a retry would fail too.
func (c Class) Ends() bool { return c == Gone || c == Fatal }

type classified struct {
	class Class
	err   error
}

// longestError is the maximum number of characters of an error: servers decide how long
// their messages are.
const longestError = 2048

func (e *classified) Error() string { return escape.Clip(e.err.Error(), longestError) }
func (e *classified) Unwrap() error { return e.err }

// Classify returns err with a class, nil for a nil error.
func Classify(c Class, err error) error {
	if err == nil {
		return nil
	}
	return &classified{c, err}
}

// Wrap adds to an error what was attempted, nil for a nil error.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Errorf returns a formatted error with a class.
func Errorf(c Class, format string, args ...any) error {
	return Classify(c, fmt.Errorf(format, args...))
}

// ClassOf returns the class of an engine's error: the one given to Classify,
// else Timeout for an expired context, else Fatal.
func ClassOf(err error) Class {
	if err == nil {
		return OK
	}
	if c, ok := errors.AsType[*classified](err); ok {
		return c.class
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Timeout
	}
	return Fatal
}

// DiskFull returns err as an error that also is syscall.ENOSPC.
func DiskFull(err error) error { return &fullError{err} }

type fullError struct{ error }

func (e *fullError) Unwrap() []error { return []error{e.error, syscall.ENOSPC} }
