package pagecache_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/observe/pagecache"
)

// written makes a directory with a file of 4 MiB that has been synced.
func written(t *testing.T, parent string) (dir, file string) {
	t.Helper()
	dir = expect.Value(os.MkdirTemp(parent, "pagecache-"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	file = filepath.Join(dir, "data")
	f := expect.Value(os.Create(file))(t)
	defer f.Close()
	if _, err := f.Write(bytes.Repeat([]byte("x"), 4<<20)); err != nil {
		t.Fatal(err)
	}
	expect.NoError(t, f.Sync())
	return dir, file
}

// What was read is in memory; what was dropped is not, and reading brings it back.
func TestDrop(t *testing.T) {
	dir, file := written(t, ".")
	check := func(when string, low, high int64) {
		t.Helper()
		s := expect.Value(pagecache.Of(dir))(t)
		expect.True(t, s.All == 4<<20 && s.Resident >= low && s.Resident <= high,
			"of in memory", when, s.Resident, s.All, low, high)
	}
	check("written", 4<<20, 4<<20)
	expect.NoError(t, pagecache.Drop(dir))
	check("dropped", 0, 4<<20/100)
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	check("read again", 4<<20, 4<<20)
}

// A file system in memory has no cache to drop.
func TestDropInMemory(t *testing.T) {
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		t.Skip("no file system in memory")
	}
	dir, _ := written(t, memory)
	expect.Error(t, pagecache.Drop(dir), "100 % of the files")
}
