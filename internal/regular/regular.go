// Package regular opens files that others may have made. It waits for nobody: a
// pipe without a writer, or a device, is an error and not a hang. It knows
// nothing of what is in them.
package regular

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// The errors of files that are not read.
var (
	ErrNot = errors.New("it is not a regular file")
	ErrBig = errors.New("it is larger than any such file")
)

// Open opens a regular file for reading; a link may lead to it.
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

// Check returns an error unless the open file is a regular one.
func Check(f *os.File) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNot
	}
	return named(f.Name(), err)
}

// ReadFile reads a regular file of at most that many bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = ErrBig
	}
	return b, named(path, err)
}

// named puts the file's name before an error that does not have it.
func named(path string, err error) error {
	var has *os.PathError
	if err == nil || errors.As(err, &has) {
		return err
	}
	return &os.PathError{Op: "read", Path: path, Err: err}
}
