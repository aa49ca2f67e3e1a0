// Package expect states what a test expects, in a line for each expectation: a failed one is
// reported with the value, the expected one and what they belong to. It is for tests only.
// What is expected of a loop's every turn costs no more than the words of its subject: most functions call Helper,
// which is slow, for a failure only.
package expect

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Reporter is a test, also a drawn one of rapid.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// about returns the words that begin a report.
func about(subject []any) string {
	var words strings.Builder
	for i, s := range subject {
		if text, ok := s.([]byte); ok {
			s = string(text)
		}
		fmt.Fprintf(&words, "%s%+v", strings.Repeat(" ", min(i, 1)), s)
	}
	if words.Len() == 0 {
		return ""
	}
	return words.String() + ": "
}

// NoError ends the test if there is an error.
func NoError(t Reporter, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Value returns a function that returns the value, or ends the test if there is an error.
func Value[T any](v T, err error) func(Reporter) T {
	return func(t Reporter) T {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// Near expects a number but for a tolerance; an unknown one is an error.
func Near(t Reporter, got, want, tolerance float64, subject ...any) {
	if !(math.Abs(got-want) <= tolerance) {
		t.Helper()
		t.Errorf("%sgot  %v\nwant %v ± %v", about(subject), got, want, tolerance)
	}
}

// Error expects an error that contains a text.
func Error(t Reporter, err error, part string, subject ...any) {
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Helper()
		t.Errorf("%serror %v, want %q", about(subject), err, part)
	}
}

// Refused returns Error for a function that returns a value, too.
func Refused[T any](_ T, err error) func(t Reporter, part string, subject ...any) {
	return func(t Reporter, part string, subject ...any) {
		t.Helper()
		Error(t, err, part, subject...)
	}
}

// True expects a condition; the subject has the values that it is about.
func True(t Reporter, condition bool, subject ...any) {
	if !condition {
		t.Helper()
		t.Errorf("not as expected: %s", strings.TrimSuffix(about(subject), ": "))
	}
}

// Written returns what a function writes, and ends the test if there is an error.
func Written(t Reporter, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	NoError(t, write(&b))
	return b.String()
}

// Equal expects a value.
func Equal[T comparable](t Reporter, got, want T, subject ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%sgot  %+v\nwant %+v", about(subject), got, want)
	}
}

// Same expects a value with parts. Options of cmp may be among the words of the subject.
func Same(t Reporter, want, got any, subject ...any) {
	t.Helper()
	var options []cmp.Option
	subject = slices.DeleteFunc(subject, func(s any) bool {
		o, ok := s.(cmp.Option)
		if ok {
			options = append(options, o)
		}
		return ok
	})
	if d := cmp.Diff(want, got, options...); d != "" {
		t.Errorf("%s(-want +got)\n%s", about(subject), d)
	}
}

// List expects a list of values; nil is an empty one.
func List[T comparable](t Reporter, got, want []T, subject ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("%sgot  %+v\nwant %+v", about(subject), got, want)
	}
}

// Contains expects a part of a text.
func Contains(t Reporter, text, part string, subject ...any) {
	if !strings.Contains(text, part) {
		t.Helper()
		t.Errorf("%sno %q in\n%s", about(subject), part, text)
	}
}

// All expects several parts of a text.
func All(t Reporter, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		Contains(t, text, part)
	}
}

// Lacks expects that a text does not contain a part.
func Lacks(t Reporter, text, part string, subject ...any) {
	if i := strings.Index(text, part); i >= 0 {
		t.Helper()
		t.Errorf("%s%q is in %q", about(subject), part, text[max(0, i-200):min(len(text), i+len(part)+200)])
	}
}

// Is expects an error that is, or wraps, another.
func Is(t Reporter, err, target error, subject ...any) {
	if !errors.Is(err, target) {
		t.Helper()
		t.Errorf("%serror %v, want %v", about(subject), err, target)
	}
}

// Must ends the test if a condition does not hold; what follows rests on it.
func Must(t Reporter, condition bool, subject ...any) {
	if !condition {
		t.Helper()
		t.Fatal("not as expected: " + strings.TrimSuffix(about(subject), ": "))
	}
}
