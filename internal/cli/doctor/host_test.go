package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
	"rumbench/internal/observe"
)

func TestQuietHostIsFit(t *testing.T) {
	for _, f := range checked(quiet().machine(t)).Findings {
		expect.True(t, f.Status == OK && f.Found != "" && f.Fix == "", f.Name, f.Status, "found", f.Found, "fix", f.Fix)
	}
}

// What a machine does not show is unknown, never ok.
func TestUnknownIsNotOK(t *testing.T) {
	for _, f := range checked(nothing(t)).Findings {
		expect.True(t, f.Status == Unknown && f.Found != "" && f.Fix != "",
			f.Name, f.Status, "found", f.Found, "fix", f.Fix)
	}
}

type files = map[string]string

// noDevice is a directory on a filesystem in memory.
func noDevice(m *machine) {
	m.device = observe.Device{Mount: "/dev/shm", FSType: "tmpfs", MountOptions: "rw,noatime"}
	m.deviceErr = fmt.Errorf("%w under /dev/shm: it is a tmpfs", observe.ErrNoDevice)
}

func mounted(options string) func(*machine) {
	return func(m *machine) { m.device.MountOptions = options }
}

func root(m *machine) { m.uid = 0 }

func free(gib float64) func(*machine) {
	return func(m *machine) {
		m.space = func(string) (float64, float64, error) { return gib * (1 << 30), 500 << 30, nil }
	}
}

// compare looks at one finding.
func compare(t *testing.T, m *machine, check string, status Status, found, fix string) {
	t.Helper()
	for _, f := range checked(m).Findings {
		if f.Name != check {
			continue
		}
		expect.True(t, f.Status == status && strings.Contains(f.Found, found) && strings.Contains(f.Fix, fix) && (f.Status == OK) == (f.Fix == ""), f.Status, f.Found, f.Fix, status, found, fix)
		return
	}
	t.Errorf("there is no check %q", check)
}

// The I/O of a process of another user is tried; a directory in place of the
// file cannot be read.
func TestProcessIO(t *testing.T) {
	change := func(remove []string, add files, set func(*machine)) fixture {
		f := with(add, nil, nil, set)
		for _, path := range remove {
			delete(f.files, path)
		}
		return f
	}
	capable := "Name:\trumbench\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"
	alone := []string{"proc/77/stat", "proc/77/status", "proc/77/io"}
	for name, c := range map[string]struct {
		f          fixture
		status     Status
		found, fix string
	}{
		"denied":         {change([]string{"proc/77/io"}, files{"proc/77/io/": ""}, nil), Warn, "that of process 77 cannot be read", "sudo rumbench"},
		"denied to root": {change([]string{"proc/77/io"}, files{"proc/77/io/": ""}, root), Warn, "that of process 77 cannot be read", "SYS_PTRACE"},
		"ended":          {change([]string{"proc/77/io"}, files{"proc/4242/status": capable}, root), OK, "CAP_SYS_PTRACE", ""},
		"alone, may":     {change(alone, files{"proc/4242/status": capable}, root), OK, "CAP_SYS_PTRACE", ""},
		"alone, may not": {change(alone, nil, nil), Warn, "CAP_SYS_PTRACE is missing", "sudo rumbench"},
		"alone, unknown": {change(append(alone, "proc/4242/status"), nil, nil), Unknown, "no process of another user", "sudo rumbench"},
		"not counted":    {change([]string{"proc/4242/io"}, nil, nil), Unknown, "does not count", "CONFIG_TASK_IO_ACCOUNTING"},
	} {
		t.Run(name, func(t *testing.T) { compare(t, c.f.machine(t), "process I/O", c.status, c.found, c.fix) })
	}
}

func TestAnotherBenchmark(t *testing.T) {
	m := quiet().machine(t)
	compare(t, m, "another benchmark", OK, "none", "")
	expect.NoError(t, os.WriteFile(m.lock, []byte("process 12, campaign /x\n"), 0o600))
	compare(t, m, "another benchmark", OK, "none", "")
	f := expect.Value(os.Open(m.lock))(t)
	defer f.Close()
	expect.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	compare(t, m, "another benchmark", Bad, "process 12, campaign /x", "wait")
	if names := checked(m).Bad(); len(names) != 1 || names[0] != "another benchmark" {
		t.Errorf("bad: %v", names)
	}
	link := m.lock + ".link"
	expect.NoError(t, os.Symlink(m.lock, link))
	m.lock = link
	compare(t, m, "another benchmark", Unknown, "cannot be read", "RUMBENCH_LOCK")
}

// A process that took the number of another one did not use that one's time.
func TestReusedNumber(t *testing.T) {
	m := quiet().machine(t)
	m.before.procs[5] = process{"old", 100, 900}
	m.after.procs[5] = process{"new", 200, 1}
	expect.Equal(t, m.used(5), 1e9, "used")
}

func TestLook(t *testing.T) {
	r, err := Look(context.Background(), Options{Dir: t.TempDir(), Period: 50 * time.Millisecond, Lock: t.TempDir() + "/lock"})
	expect.NoError(t, err)
	expect.Equal(t, len(r.Findings), len(checks), "findings of", "checks")
	if _, err := Look(context.Background(), Options{Dir: "/missing"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := Look(context.Background(), Options{Dir: "host_test.go"}); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Look(ctx, Options{Dir: ".", Period: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled: %v", err)
		}
	})
}
