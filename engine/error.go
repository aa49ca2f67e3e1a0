package engine

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Class is what a failed operation means to the client.
type Class string

// The classes of errors.
const (
	OK          Class = ""
	Conflict    Class = "conflict"     // another transaction was in the way, and what was read is not so any more; the same operation may succeed when tried again
	Deadlock    Class = "deadlock"     // it and others waited for each other, and it was chosen to give way
	LockTimeout Class = "lock timeout" // a lock was not to be had, or not in the time that the server allows
	Timeout     Class = "timeout"      // it took too long and was given up
	Duplicate   Class = "duplicate"    // a key exists
	Gone        Class = "gone"         // the database or its server is not there any more
	Fatal       Class = "fatal"        // anything else: a bug, a full disk, a broken file
)

// Yields tells whether an error of the class says that others were in the way.
func (c Class) Yields() bool { return c == Conflict || c == Deadlock || c == LockTimeout }

// Ends tells whether an error of the class ends the step: it would only repeat.
func (c Class) Ends() bool { return c == Gone || c == Fatal }

type classified struct {
	class Class
	err   error
}

func (e *classified) Error() string { return e.err.Error() }
func (e *classified) Unwrap() error { return e.err }

// Classify gives err a class. It returns nil for a nil error.
func Classify(c Class, err error) error {
	if err == nil {
		return nil
	}
	return &classified{c, err}
}

// Errorf makes an error of a class.
func Errorf(c Class, format string, args ...any) error {
	return Classify(c, fmt.Errorf(format, args...))
}

// ClassOf tells the class of an error that an engine returned: the one it was
// given, Timeout for an expired context, otherwise Fatal.
func ClassOf(err error) Class {
	if err == nil {
		return OK
	}
	var c *classified
	if errors.As(err, &c) {
		return c.class
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Timeout
	}
	return Fatal
}

// DiskFull makes an error that is the system's of a full disk, too.
func DiskFull(err error) error { return &fullError{err} }

type fullError struct{ error }

func (e *fullError) Unwrap() []error { return []error{e.error, syscall.ENOSPC} }
