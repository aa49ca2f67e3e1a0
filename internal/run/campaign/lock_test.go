package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// What is no lock of ours is refused at once and stays as it is: a pipe that
// nobody writes to, a link, a file with another name elsewhere, other content.
func TestLockLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		expect.NoError(t, os.WriteFile(at(name), []byte(text), 0o644))
	}
	write("letter", "dear reader\n")
	write("process", "process 1, and what follows\n")
	write("empty", "")
	for _, err := range []error{
		syscall.Mkfifo(at("pipe"), 0o666), os.Symlink(at("process"), at("symlink")), os.Link(at("process"), at("hard link")), os.Link(at("empty"), at("empty link")), os.Mkdir(at("dir"), 0o755),
	} {
		expect.NoError(t, err)
	}
	for _, name := range []string{"pipe", "symlink", "hard link", "empty link", "dir", "letter"} {
		if f, err := lock(at(name), "campaign"); err == nil {
			t.Errorf("%s was locked", name)
			unlock(f)
		}
	}
	for name, want := range map[string]string{"letter": "dear reader\n", "process": "process 1, and what follows\n", "empty": ""} {
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != want {
			t.Errorf("%s is now %q, %v", name, b, err)
		}
	}
}

// A campaign that runs is not gone on with, whatever the lock of the host is.
func TestResumeOfRunning(t *testing.T) {
	dir := t.TempDir()
	c, p := config(dir, `echo '{"step":"here"}'; `+says(result.Complete))
	again, _ := config(dir, says(result.Complete))
	again.Resume, again.LockFile = true, filepath.Join(dir, "another lock")
	tried := 0
	c.Progress = &cancelling{p, func() {
		tried++
		want := fmt.Sprintf("campaign %s is running: process %d, campaign %s", c.Dir, os.Getpid(), c.Dir)
		if _, err := Run(t.Context(), again); err == nil || err.Error() != want || hint.Of(err) == "" {
			t.Errorf("error %v, want %s", err, want)
		}
	}}
	if _, err := Run(t.Context(), c); err != nil || tried != 4 {
		t.Errorf("%d trials, %v", tried, err)
	}
	if state, err := Run(t.Context(), again); err != nil || state.Resumed != 1 {
		t.Errorf("%+v, %v", state, err)
	}
}

// A lock of another user is locked, and not written to.
func TestLockOfAnotherUser(t *testing.T) {
	need.Root(t, "give a file away")
	path := filepath.Join(t.TempDir(), "lock")
	for _, text := range []string{"", "process 1, campaign /theirs\n"} {
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		expect.NoError(t, os.Chown(path, 65534, 65534))
		f := expect.Value(lock(path, "mine"))(t)
		expect.Refused(lock(path, "second"))(t, "another benchmark runs on this host", "a second campaign")
		unlock(f)
		b, err := os.ReadFile(path)
		expect.True(t, err == nil && string(b) == text, "it is now", b, err)
	}
}
