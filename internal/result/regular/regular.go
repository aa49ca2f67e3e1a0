// Package regular opens regular files and refuses all others: a pipe without a
// writer, or a device, is an error instead of a hang. It knows nothing of their
// contents.
package regular

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// The errors of files that are refused.
var (
	ErrNot = errors.New("not a regular file")
	ErrBig = errors.New("larger than any such file")
)

// Open opens a regular file for reading; links are followed.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket
		err = ErrNot
	}
	if err != nil {
		return nil, named(path, err)
	}
	if err := Check(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check returns an error unless an open file is a regular one.
func Check(f *os.File) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNot
	}
	return named(f.Name(), err)
}

// ReadFile reads a regular file of at most a number of bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = ErrBig
	}
	return b, named(path, err)
}

// named adds the file's name to an error that lacks it.
func named(path string, err error) error {
	var has *os.PathError
	if err == nil || errors.As(err, &has) {
		return err
	}
	return &os.PathError{Op: "read", Path: path, Err: err}
}
