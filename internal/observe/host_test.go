package observe

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func TestHost(t *testing.T) {
	page := float64(os.Getpagesize())
	want := map[string]float64{
		"host.cpu.user_ns":             35.25e9,
		"host.cpu.nice_ns":             0.07e9,
		"host.cpu.system_ns":           25.44e9,
		"host.cpu.irq_ns":              0.05e9,
		"host.cpu.softirq_ns":          0.76e9,
		"host.cpu.iowait_ns":           3.33e9,
		"host.cpu.steal_ns":            0.32e9,
		"host.cpu.idle_ns":             2164.9e9,
		"host.cpu.busy_ns":             0, // since the first sample, which this is
		"host.context_switches":        1862411,
		"host.memory.available_bytes":  22987654 * 1024,
		"host.memory.free_bytes":       20123456 * 1024,
		"host.memory.cached_bytes":     2345678 * 1024,
		"host.memory.dirty_bytes":      1420 * 1024,
		"host.memory.writeback_bytes":  16 * 1024,
		"host.swap.in_bytes":           3 * page,
		"host.swap.out_bytes":          5 * page,
		"host.major_faults":            211,
		"host.pressure.cpu_some_us":    11238983,
		"host.pressure.io_some_us":     2904786,
		"host.pressure.io_full_us":     2581322,
		"host.pressure.memory_some_us": 17,
		"host.pressure.memory_full_us": 4,
	}
	got := collect(t, NewHost("testdata/proc"))
	expect.Same(t, want, got)
}

// fixtures copies some files of testdata/proc.
func fixtures(t *testing.T, names ...string) string {
	t.Helper()
	files := make(map[string]string)
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", "proc", name))
		expect.NoError(t, err)
		files[name] = string(data)
	}
	return plant(t, files)
}

func TestHostWithoutPressure(t *testing.T) {
	got := collect(t, NewHost(fixtures(t, "stat", "meminfo", "vmstat")))
	for key := range maps.Keys(got) {
		expect.True(t, key != "host.pressure.cpu_some_us", "pressure was reported by a kernel that has none")
	}
}

// The kernel's idle and iowait counters fall now and then; read as a reset,
// that would count all idle time since boot as growth.
func TestHostIdleNeverFalls(t *testing.T) {
	proc := fixtures(t, "stat", "meminfo", "vmstat")
	h := NewHost(proc)
	before := collect(t, h)
	write(t, filepath.Join(proc, "stat"), "cpu  3526 7 2544 216488 330 5 76 32 0 0\nctxt 1862412\n", false)
	after := collect(t, h)
	for _, key := range []string{"host.cpu.idle_ns", "host.cpu.iowait_ns"} {
		expect.Equal(t, after[key], before[key], "went from", key)
	}
	expect.Equal(t, after["host.cpu.user_ns"]-before["host.cpu.user_ns"], 10e6, "user time grew by")
}

func TestHostOfThisMachine(t *testing.T) {
	got := collect(t, NewHost("/proc"))
	expect.True(t, got["host.context_switches"] != 0 && got["host.memory.available_bytes"] != 0, "implausible", got)
}

func TestHostError(t *testing.T) {
	h := NewHost(t.TempDir())
	err := h.Collect(t.Context(), nil)
	expect.True(t, err != nil, "no error without /proc/stat")
}

// What is not idle, waiting or stolen is busy, however the ticks saw it.
func TestNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Host{}
		const idle, waiting, stolen = 7, 5, 6
		h.cpu[idle], h.cpu[waiting] = 100e9, 10e9
		expect.Equal(t, h.notIdle(2), 0, "at first")
		time.Sleep(10 * time.Second) // 20 s on two processors
		h.cpu[idle], h.cpu[waiting], h.cpu[stolen] = 112e9, 12e9, 1e9
		expect.Equal(t, h.notIdle(2), 5e9)
		h.cpu[idle] = 112.01e9 // idle time comes in whole ticks
		expect.Equal(t, h.notIdle(2), 5e9)
	})
}

func TestKernelThreads(t *testing.T) {
	k := newKernelThreads("/proc")
	first, ok := k.read()
	if !ok {
		t.Skip("the kernel's threads cannot be seen here")
	}
	expect.True(t, first == 0 && len(k.last) >= 5 && k.others[os.Getpid()] != false,
		"ns of threads", first, len(k.last))
	second, _ := k.read()
	expect.True(t, second >= first, "after", second, first)
	if _, ok := newKernelThreads("testdata/proc").read(); ok {
		t.Error("there are kernel threads in the fixture")
	}
}

// What a setting does is seen of a process, not believed.
func TestEffects(t *testing.T) {
	direct := engine.DirectIO
	seen := func() string { return EffectsOf("/proc", []int{os.Getpid()}).Value(string(direct)) }
	expect.Equal(t, seen(), "none", "without such a file")
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_CREATE|os.O_RDWR|unix.O_DIRECT, 0o600)
	if errors.Is(err, unix.EINVAL) {
		t.Skip("the file system has no direct I/O")
	}
	expect.NoError(t, err)
	defer f.Close()
	expect.Equal(t, seen(), "yes", "with one")
	expect.Equal(t, len(EffectsOf("/proc", []int{1 << 30})), 0, "of no process")
	root := t.TempDir()
	for pages, want := range map[string]string{"0 kB": "none", "2048 kB": "yes"} {
		expect.NoError(t, os.MkdirAll(filepath.Join(root, "7"), 0o755))
		expect.NoError(t, os.WriteFile(filepath.Join(root, "7/smaps_rollup"), []byte("Rss: 9 kB\nShared_Hugetlb:  "+pages+"\nPrivate_Hugetlb: 0 kB\n"), 0o600))
		expect.Equal(t, EffectsOf(root, []int{7}).Value(string(engine.HugePages)), want, pages)
	}
}
