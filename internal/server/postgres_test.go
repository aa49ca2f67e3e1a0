package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
	"rumbench/internal/need"
)

func requirePostgres(t *testing.T) {
	t.Helper()
	if !slices.Contains(installedKinds(t), Postgres) {
		t.Skip("no PostgreSQL")
	}
}

// segmentOf returns the segment of a running server.
func segmentOf(t *testing.T, dataDir string) segment {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	expect.NoError(t, err)
	s, ok := parseLockFile(string(b))
	expect.Must(t, ok && s.dir == dataDir, s, "of", b)
	return s
}

func (s segment) exists() bool {
	var desc unix.SysvShmDesc
	_, err := unix.SysvShmCtl(s.id, unix.IPC_STAT, &desc)
	return err == nil
}

// sharedFiles returns the files that the processes of a server share outside its
// directory.
func sharedFiles(t *testing.T, s *Server) (out []string) {
	t.Helper()
	for _, pid := range workers(s.Dir) {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // a worker that has ended
		}
		expect.NoError(t, err)
		for line := range strings.Lines(string(maps)) {
			if at := strings.Index(line, "/dev/shm/"); at >= 0 {
				out = append(out, line[at:])
			}
		}
	}
	return out
}

// A killed server leaves nothing in the kernel, and a running one uses no shared
// memory with a global name.
func TestSharedMemory(t *testing.T) {
	requirePostgres(t)
	s := start(t, Config{Kind: Postgres})
	segment := segmentOf(t, s.DataDir())
	if files := sharedFiles(t, s); len(files) > 0 || !segment.exists() || segment.left() {
		t.Errorf("it shares %q; segment %+v: exists %v, left %v", files, segment, segment.exists(), segment.left())
	}
	s.Kill()
	expect.True(t, !segment.exists(), "segment", segment, "is left")
	dir := s.Dir
	// The same when its starter is gone.
	s = start(t, Config{Kind: Postgres, Dir: dir})
	segment = segmentOf(t, s.DataDir())
	if err := Sweep(dir); err != nil || segment.exists() {
		t.Errorf("segment %+v is left: %v", segment, err)
	}
}

// Sweep takes nothing from a running server, even if the directory is a copy of
// that server's or names its segment.
func TestSharedMemoryOfOthers(t *testing.T) {
	requirePostgres(t)
	s := start(t, Config{Kind: Postgres})
	segment := segmentOf(t, s.DataDir())
	check := func(subject string) {
		t.Helper()
		if err := accepts(t.Context(), s.Endpoint()); !segment.exists() || err != nil || s.Died() != nil {
			t.Fatalf("%s: segment %v, %v, %v", subject, segment.exists(), err, s.Died())
		}
	}
	copied := need.TempDir(t)
	for _, dir := range []string{"data", "run"} {
		err := os.CopyFS(filepath.Join(copied, dir), os.DirFS(filepath.Join(s.Dir, dir)))
		if err != nil && !strings.Contains(err.Error(), "invalid") { // its socket
			t.Fatal(err)
		}
	}
	expect.NoError(t, Sweep(copied))
	check("a copy was swept")
	other := start(t, Config{Kind: Postgres})
	lies, err := os.ReadFile(filepath.Join(s.DataDir(), "postmaster.pid"))
	expect.NoError(t, err)
	other.Kill()
	own := []byte(strings.Replace(string(lies), s.DataDir(), other.DataDir(), 1))
	expect.NoError(t, os.WriteFile(filepath.Join(other.DataDir(), "postmaster.pid"), own, 0o600))
	expect.NoError(t, Sweep(other.Dir))
	check("a directory was swept that names its segment")
}

// An unused segment is left only if its key and creator match.
func TestLeft(t *testing.T) {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	expect.NoError(t, err)
	defer unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	right := segment{dir: "/d", creator: os.Getpid(), key: 0, id: id}
	otherKey, otherCreator := right, right
	otherKey.key, otherCreator.creator = 1, 1
	expect.True(t, right.left() && !otherKey.left() && !otherCreator.left(),
		"left", right.left(), "with another key", otherKey.left(), "of another creator", otherCreator.left())
	for text, want := range map[string]segment{
		"12\n/d\n1\n5432\n/run\n127.0.0.1\n 9999  7\nready\n":  {"/d", 12, 7, 9999},
		"-12\n/d\n1\n5432\n/run\n\n 18446744073709551615  7\n": {"/d", 12, 7, 1<<64 - 1},
	} {
		if got, ok := parseLockFile(text); !ok || got != want {
			t.Errorf("%q is %+v, %v", text, got, ok)
		}
	}
	if _, ok := parseLockFile("12\n/d\n1\n5432\n\n\n"); ok {
		t.Error("a file without a segment has one")
	}
}
