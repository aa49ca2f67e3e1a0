package regular_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result/regular"
)

// Anything but a regular file is an error at once, also a pipe without a writer.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	expect.NoError(t, syscall.Mkfifo(pipe, 0o644))
	l := expect.Value(net.Listen("unix", socket))(t)
	defer l.Close()
	for _, path := range []string{pipe, socket, dir, "/dev/null", "/dev/zero"} {
		f, err := regular.Open(path)
		expect.True(t, errors.Is(err, regular.ErrNot), path, f, err)
	}
	expect.NoError(t, os.WriteFile(file, []byte("12345"), 0o644))
	expect.NoError(t, os.Symlink(file, link))
	expect.Equal(t, string(expect.Value(regular.ReadFile(link, 5))(t)), "12345")
	if _, err := regular.ReadFile(file, 4); !errors.Is(err, regular.ErrBig) {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, err := regular.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A text may come through a pipe, unless nothing is written into it. It has an end.
func TestReadText(t *testing.T) {
	dir := t.TempDir()
	pipe, big := filepath.Join(dir, "pipe"), filepath.Join(dir, "big")
	expect.NoError(t, syscall.Mkfifo(pipe, 0o644))
	if b, err := regular.ReadText(pipe); err == nil || !strings.Contains(err.Error(), "nothing is written") {
		t.Errorf("a pipe without a writer: %q, %v", b, err)
	}
	r, w, err := os.Pipe()
	expect.NoError(t, err)
	defer r.Close()
	go func() {
		_, _ = w.WriteString("a text")
		w.Close()
	}()
	expect.Equal(t, string(expect.Value(regular.ReadText(fmt.Sprintf("/proc/self/fd/%d", r.Fd())))(t)), "a text")
	for _, path := range []string{"/dev/zero", dir} {
		_, err := regular.ReadText(path)
		expect.True(t, errors.Is(err, regular.ErrNot), path, err)
	}
	expect.NoError(t, os.WriteFile(big, make([]byte, 1<<20+1), 0o644))
	if _, err := regular.ReadText(big); !errors.Is(err, regular.ErrBig) {
		t.Errorf("a file that is too large: %v", err)
	}
	expect.NoError(t, os.WriteFile(big, nil, 0o644))
	if b, err := regular.ReadText(big); err != nil || len(b) > 0 {
		t.Errorf("an empty file: %q, %v", b, err)
	}
}

// A file of the kernel is a regular one, and may never end.
func TestMuteFile(t *testing.T) {
	need.Root(t, "read the kernel's messages as they come")
	t.Parallel()
	_, err := regular.ReadFile("/proc/kmsg", 1<<30)
	expect.True(t, !(!errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrPermission)), err)
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	expect.NoError(t, os.WriteFile(file, []byte("12345"), 0o644))
	for limit, want := range map[int64]string{2: "45", 5: "12345", 9: "12345"} {
		expect.Equal(t, string(expect.Value(regular.Tail(file, limit))(t)), want, limit)
	}
}
