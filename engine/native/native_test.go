package native_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rumbench/engine/native"
	"rumbench/internal/expect"
)

// A version is looked for in RUMBENCH_LIB before the shared directory; a path is
// taken as it is.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("RUMBENCH_LIB", dir)
	path := filepath.Join(dir, "libthing-1.2.so")
	expect.NoError(t, os.WriteFile(path, nil, 0o644))
	for _, version := range []string{"1.2", path} {
		expect.Equal(t, expect.Value(native.Find("libthing", version))(t), path, version)
	}
	_, err := native.Find("libthing", "1.3")
	expect.True(t, err != nil && strings.Contains(err.Error(), "libthing-1.3.so is in none of") && strings.Contains(err.Error(), dir), err)
	expect.Refused(native.Find("libthing", "./absent.so"))(t, "", "a file that does not exist was found")
	pipe := filepath.Join(dir, "pipe.so")
	expect.NoError(t, syscall.Mkfifo(pipe, 0o644))
	expect.Refused(native.Find("libthing", pipe))(t, "not a regular file", "a pipe, whose reader would wait")
}

// A library is judged by what it exports, before it is loaded.
func TestCheckExports(t *testing.T) {
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	if _, err := os.Stat(libc); err != nil {
		t.Skip(err)
	}
	expect.NoError(t, native.CheckExports(libc, "fsync", "malloc"))
	expect.Error(t, native.CheckExports(libc, "fsync", "rocksdb_open"), "no function rocksdb_open")
	expect.Error(t, native.CheckExports("native_test.go", "fsync"), "", "a text is taken for a library")
}
