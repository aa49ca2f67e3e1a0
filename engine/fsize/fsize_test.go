package fsize_test

import (
	"os"
	"path/filepath"
	"testing"

	"rumbench/engine/fsize"
	"rumbench/internal/expect"
)

// Allocated counts whole blocks, without holes and targets of links.
func TestAllocated(t *testing.T) {
	dir := t.TempDir()
	if n, err := fsize.Allocated(dir); n != 0 || err != nil {
		t.Errorf("empty: %d, %v", n, err)
	}
	expect.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	write := func(name string, size int) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		expect.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		if _, err := f.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil { // some file systems allocate late
			t.Fatal(err)
		}
		return f
	}
	write("one", 100_000)
	write("a/b/two", 200_000)
	hole := write("hole", 1)
	expect.NoError(t, hole.Truncate(1<<40))
	expect.NoError(t, os.Symlink("/proc/kcore", filepath.Join(dir, "link")))
	n, err := fsize.Allocated(dir)
	expect.True(t, err == nil && n >= 300_000 && n <= 1<<20, n, "bytes", err)
	if n, err := fsize.Allocated(filepath.Join(dir, "missing")); n != 0 || err != nil {
		t.Errorf("a missing directory: %d, %v", n, err)
	}
}

func TestFree(t *testing.T) {
	if n, err := fsize.Free(t.TempDir()); n <= 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	expect.Refused(fsize.Free("/missing/missing"))(t, "")
}
