package observe

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
)

// limits is the beginning of a /proc/PID/limits.
const limits = `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max open files            20000                1048576              files
`

func tuningOf(t *testing.T, files map[string]string, d Device, err error) Facts {
	t.Helper()
	root := plant(t, files)
	m := machine{proc: filepath.Join(root, "proc"), sys: filepath.Join(root, "sys")}
	return slices.DeleteFunc(m.facts(d, err, 0), func(f Fact) bool { return f.Name == "device" })
}

func TestTuning(t *testing.T) {
	files := map[string]string{
		"sys/kernel/mm/transparent_hugepage/defrag":      "always defer [madvise] never\n",
		"proc/sys/vm/swappiness":                         "60\n",
		"proc/sys/vm/dirty_expire_centisecs":             "3000\n",
		"proc/self/limits":                               limits,
		"proc/sys/kernel/perf_event_paranoid":            "2\n",
		"sys/bus/event_source/devices/software/":         "",
		"sys/bus/event_source/devices/cpu/":              "",
		"sys/class/block/nvme0n1p2":                      "-> ../../devices/nvme0n1/nvme0n1p2",
		"sys/devices/nvme0n1/nvme0n1p2/partition":        "2\n",
		"sys/devices/nvme0n1/queue/read_ahead_kb":        "128\n",
		"sys/class/block/md0":                            "-> ../../devices/virtual/block/md0",
		"sys/devices/virtual/block/md0/queue/":           "",
		"sys/devices/virtual/block/md0/slaves/nvme0n1p2": "-> ../../../../nvme0n1/nvme0n1p2",
	}
	want := Facts{
		{"transparent huge page defrag", "madvise"},
		{"vm.swappiness", "60"},
		{"vm.dirty_expire_centisecs", "3000"},
		{"open files limit", "1048576"},
		{"kernel.perf_event_paranoid", "2"},
		{"hardware counters", "yes"},
		{"device read-ahead", "128 KiB"},
	}
	expect.Equal(t, cmp.Diff(want, tuningOf(t, files, Device{Name: "nvme0n1p2"}, nil)), "",
		"a partition has the read-ahead of its disk")
	expect.Equal(t, cmp.Diff(want[:6], tuningOf(t, files, Device{Name: "md0"}, nil)), "",
		"an array has its own read-ahead, not that of its disks")
	expect.Same(t, want[:6], tuningOf(t, files, Device{}, errors.New("no device")))
}

func TestTuningUnknown(t *testing.T) {
	if got := tuningOf(t, nil, Device{Name: "vda"}, nil); len(got) > 0 {
		t.Errorf("facts about nothing: %v", got)
	}
	got := tuningOf(t, map[string]string{"sys/bus/event_source/devices/software/": ""}, Device{Name: "vda"}, nil)
	expect.Same(t, Facts{{"hardware counters", "no"}}, got)
}
