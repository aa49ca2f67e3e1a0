package blockio

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
)

// A file with holes has an extent for each part, an empty one none.
func TestCountOfExtents(t *testing.T) {
	dir := t.TempDir()
	expect.NoError(t, os.MkdirAll(filepath.Join(dir, "below"), 0o755))
	const parts = 5
	f := expect.Value(os.Create(filepath.Join(dir, "below", "table")))(t)
	defer f.Close()
	for i := range parts {
		if _, err := f.WriteAt(make([]byte, 64<<10), int64(i)<<20); err != nil {
			t.Fatal(err)
		}
	}
	expect.NoError(t, f.Sync())
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600))
	extents, files, err := Extents(dir)
	if err == unix.EOPNOTSUPP || err == unix.ENOTTY {
		t.Skip(err)
	}
	expect.True(t, err == nil && files == 1 && extents >= parts, "extents of files", extents, files, err)
	if extents, files, err := Extents(filepath.Join(dir, "none")); extents != 0 || files != 0 || err != nil {
		t.Errorf("%d extents of %d files, %v", extents, files, err)
	}
}
