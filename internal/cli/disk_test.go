package cli_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

// A disk that another process fills while a step runs: the trial fails with a
// message that says so, what it had measured is readable, and the next
// campaign is refused before it starts. Where the data are kept, and take the disk to
// its last byte, what was measured and the report are written all the same.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine, size string // the size is the reserve that must be free, and some
		kept         bool
	}{{"pebble", "size=288m", false}, {"bbolt", "size=288m", false}, {"sqlite", "size=288m", false}, {"pebble", "size=320m", true}} {
		t.Run(fmt.Sprint(c.engine, " kept ", c.kept), func(t *testing.T) {
			t.Parallel()
			if c.engine != "pebble" {
				need.Long(t)
			}
			h := newHost(t)
			h.write("plan.yaml", planFor(c.engine)+fmt.Sprintf("keep: %v\n", c.kept))
			h.write("letter.txt", "dear reader\n")
			disk := h.mount(c.size)
			run := h.start("run", "plan.yaml", "--out", "disk/out", "--no-preflight")
			run.during("disk/out/trials/"+c.engine+".1", "qr100")
			// It stands still meanwhile: what it frees in the end is to stay free.
			child := run.child()
			send(t, child, syscall.SIGSTOP)
			fill(t, filepath.Join(disk, "ballast"))
			send(t, child, syscall.SIGCONT)
			run.exits(1)
			h.contains("standard error", run.stderr.String(), "failed in ", "hint: the disk is full: free space")
			if s := run.stderr.String(); !strings.Contains(s, "no space left on device") && !strings.Contains(s, "disk is full (13)") {
				t.Errorf("what happened?\n%s", s)
			}
			h.contains("standard output", run.stdout.String(), "report: ")
			tr := h.trial("disk/out/trials/" + c.engine + ".1")
			expect.True(t, tr.Status == result.Failed && strings.Contains(tr.Hint, "the disk is full"),
				"status", tr.Status, "hint", tr.Hint)
			if n := len(tr.Steps); n != 3 || tr.Steps[2].Status != result.Failed && !c.kept || tr.Steps[2].Find("rows_per_s", "query", "") == nil {
				t.Errorf("%d steps; the last: %+v", n, tr.Steps[n-1])
			}
			for _, page := range []string{"report.html", "report.md"} {
				h.contains(page, h.file("disk/out/"+page), "qr100", "the disk is full")
			}
			out, _ := h.run(0, "show", "disk/out")
			h.contains("show", out, c.engine+".1: failed", "hint: the disk is full", "rows_per_s")
			expect.True(t, h.exists("disk/out/trials/"+c.engine+".1/data") == c.kept && !h.exists("disk/out/.spare"),
				"data was left behind, or is gone, or the spare room is left")
			_, talk := h.run(5, "run", "plan.yaml", "--out", "disk/next")
			h.contains("standard error", talk, "the disk under disk/next would fill", "hint: ")

			var names []string
			for _, e := range expect.Value(os.ReadDir(h.dir))(t) {
				names = append(names, e.Name())
			}
			expect.Equal(t, strings.Join(names, " "), "disk letter.txt lock plan.yaml", "outside of the disk there are")
		})
	}
}

// mount mounts an empty file system on the directory disk.
func (h *host) mount(options string) string {
	h.Helper()
	need.Root(h, "mount a small disk")
	dir := h.path("disk")
	expect.NoError(h, os.Mkdir(dir, 0o755))
	err := syscall.Mount("rumbench-test", dir, "tmpfs", 0, options)
	if errors.Is(err, syscall.EPERM) {
		h.Skip("needs the right to mount a small disk")
	}
	expect.NoError(h, err)
	h.Cleanup(func() { expect.NoError(h, syscall.Unmount(dir, 0)) })
	return dir
}

// fill takes all space that is left.
func fill(t *testing.T, path string) {
	t.Helper()
	f := expect.Value(os.Create(path))(t)
	defer f.Close()
	for size := int64(64 << 20); size >= 4096; {
		at := expect.Value(f.Seek(0, io.SeekEnd))(t)
		switch err := syscall.Fallocate(int(f.Fd()), 0, at, size); {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		case err != nil:
			t.Fatal(err)
		}
	}
}

// A user who may not write there gets an error, and nothing is made.
func TestNoPermission(t *testing.T) {
	need.Root(t, "become a user without rights")
	h := newHost(t)
	// A program that others can run too.
	program := h.path("rumbench")
	if out, err := exec.Command("cp", expect.Value(exec.LookPath("rumbench"))(t), program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.write("plan.yaml", planFor("bbolt"))
	// The lock of the host was made by another user, who is in the middle of nothing.
	h.write("locks/lock", "")
	expect.NoError(t, os.Chmod(h.path("locks"), 0o1777)) // as /tmp
	expect.NoError(t, os.Chmod(h.path("locks", "lock"), 0o666))

	cmd, out, talk := h.command("run", "plan.yaml", "--out", "below/out")
	cmd.Path = program
	cmd.Env = append(os.Environ(), "RUMBENCH_LOCK="+h.path("locks", "lock"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	_ = cmd.Run()
	expect.Equal(t, cmd.ProcessState.ExitCode(), 1, "exit code")
	h.contains("standard error", talk.String(), "rumbench: make the campaign directory: ", "permission denied",
		"hint: check who may write there, or choose another place with --out")
	expect.True(t, out.Len() <= 0 && !h.exists("below") && !h.exists("results"), "something was done", out)
}
