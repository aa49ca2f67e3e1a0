package regular_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"rumbench/internal/result/regular"
)

// Anything but a regular file is an error at once, also a pipe without a writer.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{pipe, socket, dir, "/dev/null", "/dev/zero"} {
		if f, err := regular.Open(path); !errors.Is(err, regular.ErrNot) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	if err := os.WriteFile(file, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if b, err := regular.ReadFile(link, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := regular.ReadFile(file, 4); !errors.Is(err, regular.ErrBig) {
		t.Errorf("a file that is too large: %v", err)
	}
	if _, err := regular.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
