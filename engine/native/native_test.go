package native_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rumbench/engine/native"
)

// A version is looked for in RUMBENCH_LIB before the shared directory; a path is
// taken as it is.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("RUMBENCH_LIB", dir)
	path := filepath.Join(dir, "libthing-1.2.so")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.2", path} {
		if got, err := native.Find("libthing", version); err != nil || got != path {
			t.Errorf("%s: %s, %v", version, got, err)
		}
	}
	_, err := native.Find("libthing", "1.3")
	if err == nil || !strings.Contains(err.Error(), "libthing-1.3.so is in none of") || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if _, err := native.Find("libthing", "./absent.so"); err == nil {
		t.Error("a file that does not exist was found")
	}
	pipe := filepath.Join(dir, "pipe.so")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := native.Find("libthing", pipe); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe, whose reader would wait: %v", err)
	}
}

// A library is judged by what it exports, before it is loaded.
func TestCheckExports(t *testing.T) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	if _, err := os.Stat(libc); err != nil {
		t.Skip(err)
	}
	if err := native.CheckExports(libc, "fsync", "malloc"); err != nil {
		t.Error(err)
	}
	if err := native.CheckExports(libc, "fsync", "rocksdb_open"); err == nil || !strings.Contains(err.Error(), "no function rocksdb_open") {
		t.Error(err)
	}
	if err := native.CheckExports("native_test.go", "fsync"); err == nil {
		t.Error("a text is taken for a library")
	}
}
