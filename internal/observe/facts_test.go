package observe

import (
	"maps"
	"testing"

	"rumbench/internal/expect"
)

// allFacts is what FactsOf does, on a machine made by hand.
func allFacts(t *testing.T, m machine, dir string, major, minor uint32, usable int) Facts {
	t.Helper()
	d, err := m.deviceOf(dir, major, minor)
	return m.facts(d, err, usable)
}

func TestFacts(t *testing.T) {
	files := maps.Clone(machines["nvme partition"])
	maps.Copy(files, map[string]string{
		"etc/os-release":                                                  "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"proc/sys/kernel/hostname":                                        "bench1\n",
		"proc/sys/kernel/osrelease":                                       "6.1.0-13-amd64\n",
		"proc/sys/vm/dirty_ratio":                                         "20\n",
		"proc/sys/vm/dirty_bytes":                                         "0\n",
		"proc/sys/vm/dirty_background_ratio":                              "0\n",
		"proc/sys/vm/dirty_background_bytes":                              "67108864\n",
		"proc/loadavg":                                                    "0.10 0.25 0.31 2/153 4242\n",
		"proc/cpuinfo":                                                    "processor\t: 0\nmodel name\t: AMD EPYC 7302P\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: AMD EPYC 7302P\n",
		"proc/meminfo":                                                    "MemTotal:       24684092 kB\nSwapTotal:             0 kB\n",
		"proc/self/cgroup":                                                "0::/user.slice/bench\n",
		"sys/fs/cgroup/user.slice/bench/cpu.max":                          "max 100000\n",
		"sys/fs/cgroup/user.slice/cpu.max":                                "150000 100000\n",
		"sys/fs/cgroup/user.slice/bench/memory.max":                       "1073741824\n",
		"sys/class/dmi/id/sys_vendor":                                     "QEMU\n",
		"sys/class/dmi/id/product_name":                                   "Standard PC\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "performance\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":            "performance\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":                    "1\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
		"sys/class/block/nvme0n1":                                         "-> ../../devices/nvme0/nvme0n1",
		"sys/class/block/nvme0n1p2":                                       "-> ../../devices/nvme0/nvme0n1/nvme0n1p2",
		"sys/devices/nvme0/nvme0n1/nvme0n1p2/size":                        "536870912\n",
		"sys/devices/nvme0/nvme0n1/device/model":                          "SAMSUNG MZVL2   \n",
		"sys/devices/nvme0/nvme0n1/queue/rotational":                      "0\n",
		"sys/devices/nvme0/nvme0n1/queue/scheduler":                       "[none] mq-deadline\n",
		"sys/devices/nvme0/nvme0n1/queue/write_cache":                     "write back\n",
		"sys/devices/nvme0/nvme0n1/queue/discard_max_bytes":               "2147483648\n",
	})
	machines["everything"] = files
	defer delete(machines, "everything")
	got := allFacts(t, fixtureMachine(t, "everything"), "/my data", 259, 2, 2)
	want := Facts{
		{"hostname", "bench1"},
		{"kernel", "6.1.0-13-amd64"},
		{"distribution", "Debian GNU/Linux 12 (bookworm)"},
		{"virtualization", "virtual machine: QEMU Standard PC"},
		{"load average", "0.10 0.25 0.31"},
		{"cpu", "AMD EPYC 7302P"},
		{"cpus online", "2"},
		{"cpu quota", "1.5"},
		{"cpus usable", "1.5"},
		{"cpu governor", "performance"},
		{"cpu turbo", "off"},
		{"memory", "23.54 GiB"},
		{"memory limit", "1 GiB"},
		{"swap", "off"},
		{"transparent huge pages", "madvise"},
		{"clock source", "tsc"},
		{"vm.dirty_ratio", "20"},
		{"vm.dirty_background_bytes", "67108864"},
		{"filesystem", "xfs"},
		{"mount point", "/my data"},
		{"mount options", "rw,noatime,attr2"},
		{"device", "nvme0n1p2"},
		{"device size", "256 GiB"},
		{"device leaves", "nvme0n1"},
		{"device model", "SAMSUNG MZVL2"},
		{"device rotational", "no"},
		{"device scheduler", "none"},
		{"device write cache", "write back"},
		{"device discard", "yes"},
	}
	expect.Same(t, want, got)
}

// Without a directory there are facts about the machine, and none about a file system.
func TestFactsOfNoDirectory(t *testing.T) {
	f := FactsOf("")
	expect.True(t, f.Value("kernel") != "" && f.Value("filesystem")+f.Value("device")+f.Value("mount point") == "", f)
}

// What is not known is left out.
func TestFactsUnknown(t *testing.T) {
	got := allFacts(t, fixtureMachine(t, "tmpfs"), "/dev/shm", 0, 23, 0)
	var names []string
	for _, f := range got {
		names = append(names, f.Name)
		expect.True(t, f.Value != "", "fact is empty", f.Name)
	}
	expect.Same(t, []string{"filesystem", "mount point", "mount options", "device"}, names)
	expect.Contains(t, got[len(got)-1].Value, "no block device", "device is")
}

func TestFactsOfArrayNameEachDisk(t *testing.T) {
	files := maps.Clone(machines["md raid-1"])
	maps.Copy(files, map[string]string{
		"sys/class/block/nvme0n1":                    "-> ../../devices/nvme0/nvme0n1",
		"sys/devices/nvme0/nvme0n1/queue/scheduler":  "none\n",
		"sys/devices/nvme0/nvme0n1/queue/rotational": "0\n",
		"sys/class/block/nvme1n1":                    "-> ../../devices/nvme1/nvme1n1",
		"sys/devices/nvme1/nvme1n1/queue/rotational": "1\n",
		"proc/diskstats":                             " 9 0 md0 11 0 110 0 100 0 2000 0 0 9 9\n",
	})
	machines["array"] = files
	defer delete(machines, "array")
	got := allFacts(t, fixtureMachine(t, "array"), "/data", 9, 0, 0)
	want := Facts{
		{"filesystem", "xfs"},
		{"mount point", "/data"},
		{"mount options", "rw"},
		{"device", "md0"},
		{"device leaves", "nvme0n1, nvme1n1"},
		{"device nvme0n1 rotational", "no"},
		{"device nvme0n1 scheduler", "none"},
		{"device nvme1n1 rotational", "yes"},
		{"discard accounting", "discards are counted as writes on this kernel"},
	}
	expect.Same(t, want, got)
}

func TestQuotaOfVersion1(t *testing.T) {
	root := plant(t, map[string]string{
		"proc/self/cgroup": "3:cpuset:/\n2:cpu,cpuacct:/box\n4:memory:/box\n",
		"sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us":  "50000\n",
		"sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":      "-1\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":     "100000\n",
		"sys/fs/cgroup/memory/box/memory.limit_in_bytes":  "67108864\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
	})
	m := machine{proc: root + "/proc", sys: root + "/sys"}
	expect.Equal(t, m.cpuQuota(), 0.5, "quota")
	expect.Equal(t, m.memoryLimit(), 64<<20, "limit")
}

func TestSize(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "", 512: "512 B", 1024: "1 KiB", 1536: "1.5 KiB", 1 << 20: "1 MiB", 256 << 30: "256 GiB", 24684092 * 1024: "23.54 GiB", 1000 << 30: "1000 GiB",
	} {
		expect.Equal(t, size(bytes), want, bytes)
	}
}

func TestFactsOfThisMachine(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range FactsOf(t.TempDir()) {
		t.Logf("%s: %s", f.Name, f.Value)
		expect.True(t, !names[f.Name], "fact is there twice", f.Name)
		names[f.Name] = true
	}
	for _, name := range []string{"kernel", "memory", "cpus usable", "filesystem", "device", "vm.swappiness", "open files limit"} {
		expect.True(t, names[name], "no fact", name)
	}
}

func TestFactValue(t *testing.T) {
	facts := Facts{{"cpu", "x"}, {"disk", "a"}, {"disk", "b"}}
	for name, want := range map[string]string{"cpu": "x", "disk": "a, b", "memory": ""} {
		expect.Equal(t, facts.Value(name), want, name)
	}
}
