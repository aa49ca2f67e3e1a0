package doctor

import (
	"testing"
	"time"

	"rumbench/internal/observe"
)

// findingCase is the quiet machine with one thing changed, and what a check
// says of it.
type findingCase struct {
	check      string
	f          fixture
	status     Status
	found, fix string // parts of it
}

func TestFindings(t *testing.T) {
	for _, c := range findings {
		t.Run(c.check+" "+string(c.status), func(t *testing.T) {
			compare(t, c.f.machine(t), c.check, c.status, c.found, c.fix)
		})
	}
}

var findings = []findingCase{
	{"other load", with(nil, files{"proc/stat": stat(1160, 100640, 7), "proc/77/stat": processStat(77, "mysqld", 250)}, nil, nil),
		Warn, "20.0 % of 8 CPUs; most: mysqld (process 77) 18.8 %", "top"},
	{"other load", with(nil, files{"proc/stat": stat(1600, 100200, 7)}, nil, nil), Bad, "75.0 % of 8 CPUs; much of it by processes that came and went", "top"},
	{"other load", with(nil, files{"proc/stat": stat(1000, 100000, 7)}, nil, nil), Unknown, "did not show", "--seconds"},
	{"timers", with(nil, nil, nil, func(m *machine) {
		m.timers = []observe.Timer{{Name: "fstrim.timer", At: time.Date(2026, 11, 27, 14, 0, 0, 0, time.UTC)}}
	}), Warn, "fstrim.timer at 14:00", "systemctl stop"},
	{"stolen time", with(nil, files{"proc/stat": stat(1010, 100750, 47)}, nil, nil), Warn, "5.0 % of all CPU time", "CPUs of your own"},
	{"stolen time", with(nil, files{"proc/stat": stat(1010, 100550, 247)}, nil, nil), Bad, "30.0 %", "CPUs of your own"},
	{"stolen time", with(files{"proc/stat": stat(1000, 100000, 0)}, files{"proc/stat": stat(1010, 100790, 0)}, files{"virtualization": "virtual machine"}, nil),
		Unknown, "may not report", "ask"},
	{"stolen time", with(files{"proc/stat": stat(1000, 100000, 0)}, files{"proc/stat": stat(1010, 100790, 0)}, nil, nil), OK, "0.0 %", ""},
	{"pressure", with(nil, files{"proc/pressure/io": psi(301000)}, nil, nil), Warn, "CPU 0.0 %, I/O 30.0 %, memory 0.0 %", "iotop"},
	{"pressure", with(nil, files{"proc/pressure/memory": psi(21000)}, nil, nil), Warn, "memory 2.0 %", "top"},
	{"pressure", with(nil, files{"proc/pressure/cpu": psi(21000)}, nil, nil), OK, "CPU 2.0 %", ""},
	{"cpu governor", with(nil, nil, files{"cpu governor": "powersave, performance"}, nil),
		Warn, "powersave", "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"},
	{"cpu governor", with(nil, nil, files{"cpu governor": "schedutil"}, root), Warn, "schedutil", "echo performance | tee /sys"},
	{"cpu turbo", with(files{"sys/devices/system/cpu/intel_pstate/no_turbo": "0\n"}, nil, files{"cpu turbo": "on"}, nil), Warn, "on", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"},
	{"cpu turbo", with(nil, nil, files{"cpu turbo": "on"}, nil), Warn, "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"},
	{"clock source", with(nil, nil, files{"clock source": "hpet"}, nil), Warn, "hpet", "echo tsc | sudo tee"},
	{"clock source", with(files{"sys/devices/system/clocksource/clocksource0/available_clocksource": "hpet acpi_pm\n"}, nil, files{"clock source": "hpet"}, nil), Warn, "hpet", "dmesg"},
	{"clock source", with(nil, nil, files{"clock source": "kvm-clock"}, nil), OK, "kvm-clock", ""},
	{"cpu limit", with(nil, nil, files{"cpu quota": "1.5", "cpus usable": "1.5"}, nil), Warn, "a quota of 1.5 CPUs; 1.5 of 8 CPUs usable", "cpu.max"},
	{"cpu limit", with(files{"proc/4242/cgroup": ""}, nil, nil, nil), Unknown, "cannot be read", "/sys/fs/cgroup"},
	{"transparent huge pages", with(nil, nil, files{"transparent huge pages": "always"}, nil), Warn, "always", "echo madvise | sudo tee"},
	{"transparent huge pages", with(nil, nil, files{"transparent huge pages": "never"}, nil), OK, "never", ""},
	{"swap", with(files{"proc/meminfo": meminfo(32*gib, 30*gib, 8*gib, 8*gib)}, nil, nil, nil), Warn, "0 B of 8 GiB in use, vm.swappiness 60", "sudo swapoff -a\nsudo sysctl -w vm.swappiness=1"},
	{"swap", with(files{"proc/meminfo": meminfo(32*gib, 30*gib, 8*gib, 8*gib)}, nil, files{"vm.swappiness": "1"}, nil), OK, "vm.swappiness 1", ""},
	{"swap", with(files{"proc/meminfo": meminfo(32*gib, 30*gib, 8*gib, 8*gib)}, nil, files{"vm.swappiness": ""}, nil), Unknown, "vm.swappiness unknown", "swapoff"},
	{"swap", with(files{"proc/meminfo": meminfo(32*gib, 30*gib, 8*gib, 7*gib)}, nil, files{"vm.swappiness": "1"}, nil), Warn, "1 GiB of 8 GiB in use", "swapoff -a"},
	{"swap", with(files{"proc/meminfo": meminfo(32*gib, 3*gib, 8*gib, 2*gib)}, nil, nil, nil), Bad, "6 GiB of 8 GiB", "end what uses the memory"},
	{"swap", with(files{"proc/meminfo": meminfo(32*gib, 30*gib, 8*gib, 7*gib)}, files{"proc/vmstat": "pswpin 5\npswpout 99999\n"}, nil, nil), Bad, "moved while looking", "swapoff -a"},
	{"dirty pages", with(nil, nil, files{"vm.dirty_background_bytes": "", "vm.dirty_background_ratio": "10"}, nil),
		Warn, "begins at 3 GiB, and writers wait from 6 GiB on", "sudo sysctl -w vm.dirty_background_bytes=268435456"},
	{"free memory", with(files{"proc/meminfo": meminfo(32*gib, 10*gib, 0, 0)}, nil, nil, nil), Warn, "10 GiB of 32 GiB", "ps -eo"},
	{"free memory", with(files{"proc/meminfo": meminfo(32*gib, 2*gib, 0, 0)}, nil, nil, nil), Bad, "2 GiB of 32 GiB", "ps -eo"},
	{"memory limit", with(nil, nil, files{"memory limit": "1 GiB"}, nil), Warn, "1 GiB", "memory.max"},
	{"free disk", with(nil, nil, nil, free(50)), Warn, "50 GiB of 500 GiB", "free space"},
	{"free disk", with(nil, nil, nil, free(0.5)), Bad, "512 MiB", "free space"},
	{"mount options", with(nil, nil, nil, mounted("rw")), Warn, "time of access", "sudo mount -o remount,noatime /data"},
	{"mount options", with(nil, nil, nil, mounted("rw,relatime,compress-force=zstd:3")), Warn, "compresses", "--dir"},
	{"mount options", with(nil, nil, nil, mounted("rw,sync,relatime,nobarrier")), Bad, "sync: every write waits for the device; no barriers", "remount,async,barrier=1 /data"},
	{"mount options", with(nil, nil, nil, mounted("ro,relatime")), Bad, "read-only", "remount,rw /data"},
	{"mount options", with(nil, nil, nil, noDevice), Warn, "tmpfs with noatime; no single block device", "--dir"},
	{"mount options", with(nil, nil, nil, mounted("rw,relatime,resv_strict,nosync")), OK, "xfs with relatime", ""},
	{"discard", with(nil, nil, nil, mounted("rw,noatime,discard=async")), Warn, "mounted with discard", "sudo mount -o remount,nodiscard /data\nsudo fstrim /data"},
	{"discard", with(nil, nil, files{"device discard": "no"}, mounted("rw,noatime,discard")), OK, "knows none", ""},
	{"discard", with(nil, nil, files{"device discard": ""}, mounted("rw,noatime,discard")), Warn, "mounted with discard", ""},
	{"discard", with(nil, nil, nil, noDevice), Unknown, "no single block device", "findmnt"},
	{"read-ahead", with(nil, nil, files{"device read-ahead": "8192 KiB"}, nil), Warn, "8192 KiB on nvme0n1p2", "sudo blockdev --setra 256 /dev/nvme0n1p2"},
	{"read-ahead", with(nil, nil, files{"device read-ahead": "0 KiB"}, nil), OK, "0 KiB", ""},
	{"I/O scheduler", with(nil, nil, files{"device scheduler": "bfq"}, nil), Warn, "bfq on nvme0n1", "echo mq-deadline | sudo tee /sys/block/nvme0n1/queue/scheduler"},
	{"I/O scheduler", with(nil, nil, files{"device sda scheduler": "none", "device sdb scheduler": "kyber"}, func(m *machine) { m.device.Leaves = []string{"sda", "sdb"} }),
		Warn, "none on sda, kyber on sdb", "/sys/block/sdb/"},
	{"I/O scheduler", with(nil, nil, files{"device sda scheduler": "none"}, func(m *machine) { m.device.Leaves = []string{"sda", "sdb"} }), Unknown, "does not show", "lsblk"},
	{"open files", with(nil, nil, files{"open files limit": "1024"}, nil), Warn, "1024", "nofile"},
	{"open files", with(nil, nil, files{"open files limit": "unlimited"}, nil), OK, "unlimited", ""},
	{"perf", with(nil, nil, files{"kernel.perf_event_paranoid": "3"}, nil), Warn, "kernel.perf_event_paranoid 3", "sudo sysctl -w kernel.perf_event_paranoid=0"},
	{"perf", with(nil, nil, files{"kernel.perf_event_paranoid": "3"}, root), OK, "hardware counters: yes", ""},
	{"perf", with(nil, nil, files{"hardware counters": "no"}, nil), Warn, "hardware counters: no", "PMU"},
	{"perf", with(nil, nil, files{"hardware counters": ""}, nil), Unknown, "does not show", "perf_event_paranoid"},
}
