// Package regular reads the files that users name. It refuses what would never end or
// never begin: a device, a pipe without a writer, a file beyond a limit. It knows
// nothing of their contents.
package regular

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"rumbench/internal/text/hint"
)

// The errors of files that are refused.
var (
	ErrNot = errors.New("not a regular file")
	ErrBig = errors.New("larger than any such file")
	// errMute is the error of a pipe from which nothing can be read.
	errMute = errors.New("a pipe into which nothing is written")
)

// Open opens a regular file for reading; links are followed.
func Open(path string) (*os.File, error) { return open(path, 0) }

// open opens a regular file, or one that has a mode as well.
func open(path string, also os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket
		err = ErrNot
	}
	if err != nil {
		return nil, named(path, err)
	}
	if err := check(f, also); err != nil {
		f.Close()
		return nil, err
	}
	_ = f.SetReadDeadline(time.Now().Add(patience)) // for /proc/kmsg and the like: files on disks have none
	return f, nil
}

// Check returns an error unless an open file is a regular one.
func Check(f *os.File) error { return check(f, 0) }

func check(f *os.File, also os.FileMode) error {
	info, err := f.Stat()
	if err == nil && info.Mode().Type()&^also != 0 {
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
	b, err := ReadAll(f, limit)
	return b, named(path, err)
}

// Tail reads at most a number of bytes from the end of a regular file.
func Tail(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	start := max(0, size-limit)
	return io.ReadAll(io.NewSectionReader(f, start, size-start))
}

// ReadAll reads at most a number of bytes; it is ErrBig if there are more.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = ErrBig
	}
	return b, err
}

// Limits of texts that people write: their size, and how long the next part of one may
// take that comes through a pipe.
const (
	mostText = 1 << 20
	patience = 10 * time.Second
)

// ReadText reads a text that a person wrote: a plan, a workload, a script, prices,
// remarks. It may come through a pipe, as from a shell's <(COMMAND).
func ReadText(path string) ([]byte, error) {
	f, err := open(path, os.ModeNamedPipe)
	if errors.Is(err, os.ErrNotExist) {
		err = hint.With(err, hint.AnyOf(hint.Paths(path, nil)))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := ReadAll(patient{f}, mostText)
	if errors.Is(err, os.ErrDeadlineExceeded) || err == nil && len(b) == 0 && Check(f) != nil {
		err = errMute
	}
	return b, named(path, err)
}

// patient reads a file, and waits for each part of a pipe for a limited time.
type patient struct{ *os.File }

func (p patient) Read(b []byte) (int, error) {
	_ = p.SetReadDeadline(time.Now().Add(patience)) // regular files have none
	return p.File.Read(b)
}

// named adds the file's name to an error that lacks it.
func named(path string, err error) error {
	var has *os.PathError
	if err == nil || errors.As(err, &has) {
		return err
	}
	return &os.PathError{Op: "read", Path: path, Err: err}
}
