// Package hint explains users' mistakes to them: the problem and its position,
// the name that was meant, and, in addition to an error, the remedy.
package hint

import (
	"errors"
	"fmt"
	"syscall"
)

// Hinted is an error that knows its remedy for the user.
type Hinted interface {
	error
	Hint() string
}

type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }
func (e *hinted) Hint() string  { return e.hint }

// With returns err with a hint, which is no part of its message.
func With(err error, hint string) error { return &hinted{err, hint} }

// Errorf returns an error with a hint.
func Errorf(hint, format string, args ...any) error { return With(fmt.Errorf(format, args...), hint) }

// Of returns the remedy for an error, "" if none is known.
func Of(err error) string {
	var h Hinted
	if errors.As(err, &h) && h.Hint() != "" {
		return h.Hint()
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full: free space, choose another --out, or lower the rows; rumbench run --dry-run shows the " +
			"size expected"
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return "check who may write there, or choose another place with --out"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "raise the limit of open files (ulimit -n)"
	}
	return ""
}
