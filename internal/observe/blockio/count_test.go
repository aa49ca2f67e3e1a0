package blockio

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file with holes has an extent for each part, an empty one none.
func TestCountOfExtents(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	const parts = 5
	f, err := os.Create(filepath.Join(dir, "below", "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range parts {
		if _, err := f.WriteAt(make([]byte, 64<<10), int64(i)<<20); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	extents, files, err := Extents(dir)
	if err == unix.EOPNOTSUPP || err == unix.ENOTTY {
		t.Skip(err)
	}
	if err != nil || files != 1 || extents < parts {
		t.Errorf("%d extents of %d files, %v", extents, files, err)
	}
	if extents, files, err := Extents(filepath.Join(dir, "none")); extents != 0 || files != 0 || err != nil {
		t.Errorf("%d extents of %d files, %v", extents, files, err)
	}
}
