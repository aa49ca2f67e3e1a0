package doctor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/observe"
)

// plant writes files under a new directory and returns it. A text that begins
// with "-> " makes a symbolic link, a path that ends with "/" a directory.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		full := filepath.Join(root, path)
		if strings.HasSuffix(path, "/") {
			expect.NoError(t, os.MkdirAll(full, 0o755))
		} else if target, ok := strings.CutPrefix(content, "-> "); ok {
			expect.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
			expect.NoError(t, os.Symlink(target, full))
		} else {
			expect.Write(t, full, content, 0o644)
		}
	}
	return root
}

// fixture is a machine made by hand: files, facts, and what a second brings.
type fixture struct {
	files map[string]string // below proc and sys
	later map[string]string // those that have changed after a second
	facts map[string]string
	set   func(*machine)
}

// stat is /proc/stat with the time of all CPUs in ticks of 10 ms.
func stat(user, idle, steal int) string {
	return fmt.Sprintf("cpu  %d 0 0 %d 0 0 0 %d 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nctxt 1\nbtime 1\nprocesses 1\n", user, idle, steal)
}

// processStat is the /proc/PID/stat of a process that used some ticks.
func processStat(pid int, comm string, ticks int) string {
	return fmt.Sprintf("%d (%s) R 1 1 1 0 -1 4194304 100 0 0 0 %d 0 0 0 20 0 1 0 1232630 3133440 387 18446744073709551615%s\n",
		pid, comm, ticks, strings.Repeat(" 0", 27))
}

func psi(us int) string {
	return fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", us)
}

func meminfo(total, available, swapTotal, swapFree int) string {
	return fmt.Sprintf("MemTotal: %d kB\nMemFree: 1 kB\nMemAvailable: %d kB\nSwapTotal: %d kB\nSwapFree: %d kB\n", total, available, swapTotal, swapFree)
}

const gib = 1 << 20 // in kB, as /proc/meminfo counts

// quiet is a machine that is fit in every way: 8 CPUs, 32 GiB, an NVMe disk.
func quiet() fixture {
	return fixture{
		files: map[string]string{
			"proc/stat":                        stat(1000, 100000, 7),
			"proc/vmstat":                      "pswpin 5\npswpout 9\n",
			"proc/meminfo":                     meminfo(32*gib, 30*gib, 0, 0),
			"proc/pressure/cpu":                psi(1000),
			"proc/pressure/io":                 psi(1000),
			"proc/pressure/memory":             psi(1000),
			"proc/self":                        "-> 4242",
			"proc/4242/io":                     "rchar: 1\n",
			"proc/4242/stat":                   processStat(4242, "rumbench", 10),
			"proc/4242/status":                 "Name:\trumbench\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n",
			"proc/4242/cgroup":                 "0::/\n",
			"proc/77/stat":                     processStat(77, "mysqld", 100),
			"proc/77/status":                   "Name:\tmysqld\nUid:\t101\t101\t101\t101\n",
			"proc/77/io":                       "rchar: 1\n",
			"sys/fs/cgroup/cgroup.controllers": "cpu io memory\n",
			"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
		},
		later: map[string]string{"proc/stat": stat(1010, 100790, 7)},
		facts: map[string]string{
			"hostname": "bench1", "cpu": "AMD EPYC 7302P", "cpus online": "8", "cpus usable": "8", "memory": "32 GiB", "kernel": "6.1.0",
			"cpu governor": "performance", "cpu turbo": "off", "clock source": "tsc",
			"transparent huge pages": "madvise", "vm.swappiness": "60",
			"vm.dirty_background_bytes": "268435456", "vm.dirty_ratio": "20",
			"filesystem": "xfs", "device scheduler": "none", "device discard": "yes", "device read-ahead": "128 KiB",
			"open files limit": "1048576", "hardware counters": "yes", "kernel.perf_event_paranoid": "0",
		},
	}
}

// with is the quiet machine with other files, facts and more.
func with(files, later, facts map[string]string, set func(*machine)) fixture {
	f := quiet()
	maps.Copy(f.files, files)
	maps.Copy(f.later, later)
	maps.Copy(f.facts, facts)
	f.set = set
	return f
}

func (f fixture) machine(t *testing.T) *machine {
	t.Helper()
	root := plant(t, f.files)
	m := &machine{
		proc: filepath.Join(root, "proc"), sys: filepath.Join(root, "sys"), uid: 1000, dir: "/data", lock: filepath.Join(root, "lock"),
		device: observe.Device{Name: "nvme0n1p2", Leaves: []string{"nvme0n1"}, Mount: "/data", FSType: "xfs", MountOptions: "rw,noatime"},
		space:  func(string) (float64, float64, error) { return 300 << 30, 500 << 30, nil }, scheduled: true,
	}
	for name, value := range f.facts {
		if value != "" {
			m.facts = append(m.facts, observe.Fact{Name: name, Value: value})
		}
	}
	m.before = m.sample()
	for path, content := range f.later {
		expect.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(content), 0o644))
	}
	m.after = m.sample()
	m.after.at = m.before.at.Add(time.Second)
	if f.set != nil {
		f.set(m)
	}
	return m
}

// nothing is a machine that shows nothing.
func nothing(t *testing.T) *machine {
	t.Helper()
	return fixture{set: func(m *machine) {
		m.lock, m.scheduled, m.device, m.deviceErr = "", false, observe.Device{}, os.ErrNotExist
		m.space = func(string) (float64, float64, error) { return 0, 0, os.ErrPermission }
	}}.machine(t)
}

// checked returns the result of all checks.
func checked(m *machine) *Report { return m.report(m.headline(), checks) }
