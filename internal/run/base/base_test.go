package base_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/run/base"
	"rumbench/internal/text/hint"
	"rumbench/workload"
)

// data makes a directory like those of databases: nested, with a sparse file, one that is allocated
// beyond what was written, a link, and a socket that a server has left.
func data(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	expect.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o750))
	random := make([]byte, 300<<10)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(random)
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b", "rows"), random, 0o640))
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600))
	sparse, err := os.Create(filepath.Join(dir, "sparse"))
	expect.NoError(t, err)
	_, err = sparse.WriteAt([]byte("far away"), 50<<20+12345)
	expect.NoError(t, err)
	expect.NoError(t, sparse.Truncate(100<<20))
	expect.NoError(t, sparse.Close())
	log, err := os.Create(filepath.Join(dir, "log"))
	expect.NoError(t, err)
	if err := syscall.Fallocate(int(log.Fd()), 0, 0, 1<<20); err != nil {
		t.Skip("the file system preallocates nothing: ", err)
	}
	expect.NoError(t, log.Close())
	expect.NoError(t, os.Symlink("a/b/rows", filepath.Join(dir, "link")))
	expect.NoError(t, syscall.Mknod(filepath.Join(dir, "socket"), syscall.S_IFSOCK|0o600, 0))
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	expect.NoError(t, os.Chtimes(filepath.Join(dir, "a", "b", "rows"), at, at))
	return dir
}

func kept(t *testing.T) (*base.Base, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bases", "x-1")
	b := &base.Base{Identity: base.Identity{"seed": "1"}, Live: workload.Live{Rows: 7}, Knowledge: json.RawMessage(`{"n":1}`)}
	from := data(t)
	expect.NoError(t, os.MkdirAll(dir+".new1/data/rest", 0o755)) // of a process that was killed
	expect.NoError(t, b.Keep(from, dir))
	if _, err := os.Stat(dir + ".new1"); !os.IsNotExist(err) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	if _, err := os.Stat(from); !os.IsNotExist(err) {
		t.Errorf("the data are still there: %v", err)
	}
	read, err := base.Open(dir, b.Identity)
	expect.NoError(t, err)
	return read, dir
}

// A copy is what was kept: content, modes, times, holes and allocation, and without sockets.
func TestCopy(t *testing.T) {
	b, dir := kept(t)
	expect.True(t, b.Live.Rows == 7 && json.Valid(b.Knowledge) && b.Identity["seed"] == "1", "read back", b)
	to := filepath.Join(t.TempDir(), "copy")
	if _, err := b.CopyTo(to, false); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/b/rows", "sparse", "log", "empty", "link"} {
		want, err := os.ReadFile(filepath.Join(dir, "data", name))
		expect.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(to, name))
		expect.NoError(t, err)
		expect.True(t, bytes.Equal(got, want), "differs", name)
		var mine, other syscall.Stat_t
		expect.NoError(t, syscall.Lstat(filepath.Join(dir, "data", name), &mine))
		expect.NoError(t, syscall.Lstat(filepath.Join(to, name), &other))
		expect.True(t, mine.Mode == other.Mode && mine.Uid == other.Uid && (name == "link" || mine.Mtim == other.Mtim),
			name, other, mine)
		if more := other.Blocks - mine.Blocks; name != "sparse" && more != 0 || more*512 > 1<<20 {
			t.Errorf("%s has %d blocks, want %d", name, other.Blocks, mine.Blocks)
		}
	}
	if _, err := os.Lstat(filepath.Join(to, "socket")); !os.IsNotExist(err) {
		t.Errorf("the socket was copied: %v", err)
	}
}

// Loaded data that have changed are refused, with the file that did.
func TestChanged(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"the content of a/b/rows": func(dir string) error { return flip(filepath.Join(dir, "a/b/rows"), 200<<10) },
		"the content of log":      func(dir string) error { return flip(filepath.Join(dir, "log"), 5) },
		"empty is missing":        func(dir string) error { return os.Remove(filepath.Join(dir, "empty")) },
		"there are files that":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) },
	} {
		b, dir := kept(t)
		expect.NoError(t, change(filepath.Join(dir, "data")))
		expect.Refused(b.CopyTo(filepath.Join(t.TempDir(), "copy"), false))(t, name)
	}
}

// flip changes a bit and keeps the time.
func flip(path string, at int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	one := []byte{0}
	if _, err := f.ReadAt(one, at); err != nil {
		return err
	}
	one[0] ^= 1
	if _, err := f.WriteAt(one, at); err != nil {
		return err
	}
	return os.Chtimes(path, info.ModTime(), info.ModTime())
}

// A directory of the user's is copied only if that is safe, and is not touched.
func TestCopyOwn(t *testing.T) {
	own := data(t)
	copyTo := func() error {
		_, err := base.CopyOwn(own, filepath.Join(t.TempDir(), "copy"), false)
		return err
	}
	expect.NoError(t, copyTo())
	f, err := os.Open(filepath.Join(own, "log"))
	expect.NoError(t, err)
	expect.Error(t, copyTo(), "is in use by", "in use")
	expect.NoError(t, f.Close())
	expect.NoError(t, os.Symlink("/etc", filepath.Join(own, "tablespace")))
	expect.Error(t, copyTo(), "is a link to /etc", "a link out of it")
}

// A base that is cut short, or that of other data, is refused with a hint; what another process is making,
// or has made meanwhile, stays.
func TestOpenWrong(t *testing.T) {
	b, dir := kept(t)
	making, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new")
	expect.NoError(t, err)
	f, err := os.Open(making)
	expect.NoError(t, err)
	defer f.Close()
	expect.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	made := b.Made
	b.Made = time.Now()
	from := data(t)
	expect.NoError(t, b.Keep(from, dir))
	read, err := base.Open(dir, b.Identity)
	expect.NoError(t, err)
	if _, err := os.Stat(making); err != nil || !read.Made.Equal(made) {
		t.Errorf("of two processes: %v, made %v, want %v", err, read.Made, made)
	}
	if _, err := os.Stat(from); !os.IsNotExist(err) {
		t.Errorf("the data that are not needed are still there: %v", err)
	}
	wrong := func(id base.Identity) string {
		_, err := base.Open(dir, id)
		return fmt.Sprint(err, hint.Of(err))
	}
	if got := wrong(base.Identity{"seed": "2"}); !strings.Contains(got, "other data") || !strings.Contains(got, "remove that") {
		t.Errorf("other data: %s", got)
	}
	expect.NoError(t, os.Truncate(filepath.Join(dir, "base.json"), 20))
	if got := wrong(b.Identity); !strings.Contains(got, "unexpected end") || !strings.Contains(got, "remove that") {
		t.Errorf("cut short: %s", got)
	}
}

// Data shaped by something else have another name.
func TestName(t *testing.T) {
	a, b := base.Identity{"seed": "1", "param rows": "5"}, base.Identity{"seed": "1", "param rows": "6"}
	expect.True(t, a.Name("x") != b.Name("x") && a.Name("x") == a.Name("x") && strings.HasPrefix(a.Name("x"), "x-"),
		"and", a.Name("x"), b.Name("x"))
}

// Where the file system can, a copy shares its blocks with the base; changes are still noticed.
func TestClone(t *testing.T) {
	need.Root(t, "mount a file system")
	mkfs, err := exec.LookPath("mkfs.xfs")
	if err != nil {
		t.Skip("no program makes a file system that can share blocks")
	}
	image, dir := filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), "disk")
	expect.NoError(t, os.WriteFile(image, nil, 0o600))
	expect.NoError(t, os.Truncate(image, 400<<20))
	expect.NoError(t, os.Mkdir(dir, 0o755))
	for _, command := range [][]string{{mkfs, "-q", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v: %s", command, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	b := &base.Base{}
	expect.NoError(t, b.Keep(data(t), filepath.Join(dir, "base")))
	b, err = base.Open(filepath.Join(dir, "base"), nil)
	expect.NoError(t, err)
	if cloned, err := b.CopyTo(filepath.Join(dir, "copy"), true); err != nil || !cloned {
		t.Errorf("cloned %v, %v", cloned, err)
	}
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "base", "data", "empty"), []byte("x"), 0o600))
	expect.Refused(b.CopyTo(filepath.Join(dir, "again"), true))(t, "the content of empty", "changed")
}
