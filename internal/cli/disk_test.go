package cli_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/need"
	"rumbench/internal/result"
)

// A disk that another process fills while a step runs: the trial fails with a
// message that says so, what it had measured is readable, and the next
// campaign is refused before it starts.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"pebble", "bbolt", "sqlite"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("plan.yaml", planFor(engine))
			h.write("letter.txt", "dear reader\n")
			disk := h.mount("size=288m") // the reserve that must be free, and some
			c := h.start("run", "plan.yaml", "--out", "disk/out")
			c.during("disk/out/trials/"+engine+".1", "qr100")
			// It stands still meanwhile: what it frees in the end is to stay free.
			child := c.child()
			send(t, child, syscall.SIGSTOP)
			fill(t, filepath.Join(disk, "ballast"))
			send(t, child, syscall.SIGCONT)
			if code := c.end(); code != 1 {
				t.Errorf("exit code %d", code)
			}
			h.contains("standard error", c.stderr.String(), "failed in ", "hint: the disk is full: free space")
			if s := c.stderr.String(); !strings.Contains(s, "no space left on device") && !strings.Contains(s, "disk is full (13)") {
				t.Errorf("what happened?\n%s", s)
			}
			tr := h.trial("disk/out/trials/" + engine + ".1")
			if tr.Status != result.Failed || !strings.Contains(tr.Hint, "the disk is full") {
				t.Errorf("status %s, hint %q", tr.Status, tr.Hint)
			}
			if n := len(tr.Steps); n != 3 || tr.Steps[2].Status != result.Failed || tr.Steps[2].Find("rows_per_s", "query", "") == nil {
				t.Errorf("%d steps; the last: %+v", n, tr.Steps[n-1])
			}
			out, _ := h.run(0, "show", "disk/out")
			h.contains("show", out, engine+".1: failed", "hint: the disk is full", "rows_per_s")
			if h.exists("disk/out/trials/" + engine + ".1/data") {
				t.Error("data was left behind")
			}
			_, talk := h.run(5, "run", "plan.yaml", "--out", "disk/next")
			h.contains("standard error", talk, "the disk under disk/next would fill", "hint: ")

			var names []string
			entries, err := os.ReadDir(h.dir)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if got := strings.Join(names, " "); err != nil || got != "disk letter.txt lock plan.yaml" {
				t.Errorf("outside of the disk there are %s, %v", got, err)
			}
		})
	}
}

// Where the data are kept, and take the disk to its last byte, what was measured
// and the report are written all the same.
func TestFullDiskKept(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("plan.yaml", strings.Replace(planFor("pebble"), "calibrate: false", "calibrate: false\nkeep: true", 1))
	disk := h.mount("size=320m")
	c := h.start("run", "plan.yaml", "--out", "disk/out")
	c.during("disk/out/trials/pebble.1", "qr100")
	child := c.child()
	send(t, child, syscall.SIGSTOP)
	fill(t, filepath.Join(disk, "ballast"))
	send(t, child, syscall.SIGCONT)
	if code := c.end(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	h.contains("standard error", c.stderr.String(), "failed in ", "no space left on device", "hint: the disk is full: free space")
	h.contains("standard output", c.stdout.String(), "report: ")
	tr := h.trial("disk/out/trials/pebble.1")
	if n := len(tr.Steps); tr.Status != result.Failed || n != 3 || tr.Steps[2].Find("rows_per_s", "query", "") == nil {
		t.Errorf("status %s, %d steps", tr.Status, n)
	}
	for _, page := range []string{"report.html", "report.md"} {
		if text := h.file("disk/out/" + page); !strings.Contains(text, "qr100") || !strings.Contains(text, "the disk is full") {
			t.Errorf("%s has %d bytes, and not what happened", page, len(text))
		}
	}
	if !h.exists("disk/out/trials/pebble.1/data") || h.exists("disk/out/.spare") {
		t.Error("the data are gone, or the spare room is left")
	}
}

// mount mounts an empty file system on the directory disk.
func (h *host) mount(options string) string {
	h.Helper()
	need.Root(h, "mount a small disk")
	dir := h.path("disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		h.Fatal(err)
	}
	if err := syscall.Mount("rumbench-test", dir, "tmpfs", 0, options); errors.Is(err, syscall.EPERM) {
		h.Skip("needs the right to mount a small disk")
	} else if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			h.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// fill takes all space that is left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := int64(64 << 20); size >= 4096; {
		at, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			t.Fatal(err)
		}
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
	// A place that others can reach, and a program that they can run.
	dir, err := os.MkdirTemp("/tmp", "rumbench-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h := &host{t, dir}
	exe, err := exec.LookPath("rumbench")
	if err != nil {
		t.Fatal(err)
	}
	program := h.path("rumbench")
	if out, err := exec.Command("cp", exe, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h.write("plan.yaml", planFor("bbolt"))
	if err := os.Mkdir(h.path("locks"), 0o1777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.path("locks"), 0o1777); err != nil { // as /tmp
		t.Fatal(err)
	}
	// The lock of the host was made by another user, who is in the middle of nothing.
	if err := os.WriteFile(h.path("locks", "lock"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.path("locks", "lock"), 0o666); err != nil {
		t.Fatal(err)
	}

	cmd, out, talk := h.command("run", "plan.yaml", "--out", "below/out")
	cmd.Path = program
	cmd.Env = append(os.Environ(), "RUMBENCH_LOCK="+h.path("locks", "lock"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	h.contains("standard error", talk.String(), "rumbench: make the campaign directory: ", "permission denied",
		"hint: check who may write there, or choose another place with --out")
	if out.Len() > 0 || h.exists("below") || h.exists("results") {
		t.Errorf("something was done: %s", out)
	}
}
