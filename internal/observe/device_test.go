package observe

import (
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// The machines below have real sysfs shapes: class/block and dev/block are
// links to the device's own directory, partitions lie in their disk's.
var machines = map[string]map[string]string{
	"virtio": {
		"sys/devices/virtio1/block/vda/slaves/": "",
		"sys/dev/block/254:0":                   "-> ../../devices/virtio1/block/vda",
		"sys/class/block/vda":                   "-> ../../devices/virtio1/block/vda",
		"proc/self/mountinfo":                   "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n",
		"proc/diskstats": "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n" +
			" 254       0 vda 73467 12341 7621578 26548 30801 39594 6781456 16601 2 15276 43841 9746 40 1149120 533 4614 158\n",
	},
	"nvme partition": {
		"sys/devices/nvme0/nvme0n1/slaves/":             "",
		"sys/devices/nvme0/nvme0n1/nvme0n1p2/partition": "2\n",
		"sys/dev/block/259:2":                           "-> ../../devices/nvme0/nvme0n1/nvme0n1p2",
		"proc/self/mountinfo": "25 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw\n" +
			`30 25 259:2 / /my\040data rw,noatime shared:2 - xfs /dev/nvme0n1p2 rw,attr2` + "\n",
		"proc/diskstats": " 259 0 nvme0n1 90 0 900 1 80 0 800 2 0 3 4 5 0 50 6 7 8\n" +
			" 259 1 nvme0n1p1 10 0 100 1 10 0 100 2 0 3 4 1 0 10 6 0 0\n" +
			" 259 2 nvme0n1p2 80 0 800 1 70 0 700 2 0 3 4 4 0 40 6 0 0\n",
	},
	"md raid-1": {
		"sys/devices/nvme0/nvme0n1/nvme0n1p1/partition":  "1\n",
		"sys/devices/nvme1/nvme1n1/nvme1n1p1/partition":  "1\n",
		"sys/devices/virtual/block/md0/slaves/nvme0n1p1": "-> ../../../../nvme0/nvme0n1/nvme0n1p1",
		"sys/devices/virtual/block/md0/slaves/nvme1n1p1": "-> ../../../../nvme1/nvme1n1/nvme1n1p1",
		"sys/dev/block/9:0":                              "-> ../../devices/virtual/block/md0",
		"proc/self/mountinfo":                            "30 1 9:0 / /data rw - xfs /dev/md0 rw\n",
		"proc/diskstats": " 259 0 nvme0n1 5 0 50 0 100 0 2000 0 0 9 9 0 0 0 0 11 1\n" +
			" 259 1 nvme0n1p1 5 0 50 0 100 0 2000 0 0 9 9 0 0 0 0 0 0\n" +
			" 259 2 nvme1n1 6 0 60 0 100 0 2000 0 0 9 9 0 0 0 0 12 1\n" +
			" 259 3 nvme1n1p1 6 0 60 0 100 0 2000 0 0 9 9 0 0 0 0 0 0\n" +
			" 9 0 md0 11 0 110 0 100 0 2000 0 0 9 9 0 0 0 0 0 0\n",
	},
	"lvm over a partition": {
		"sys/devices/ata1/block/sda/sda3/partition":  "3\n",
		"sys/devices/virtual/block/dm-1/slaves/sda3": "-> ../../../../ata1/block/sda/sda3",
		"sys/dev/block/253:1":                        "-> ../../devices/virtual/block/dm-1",
		"proc/self/mountinfo":                        "30 1 253:1 / /data rw - ext4 /dev/mapper/vg-data rw\n",
		"proc/diskstats": " 8 0 sda 1 0 8 0 3 0 24 0 0 1 1\n" +
			" 8 3 sda3 1 0 8 0 2 0 16 0 0 1 1\n" +
			" 253 1 dm-1 1 0 8 0 2 0 16 0 0 1 1\n",
	},
	"btrfs on lvm": {
		"dev/mapper/vg-data": "-> ../dm-1",
		"dev/dm-1":           "",
		"sys/devices/ata1/block/sda/sda3/partition":  "3\n",
		"sys/devices/virtual/block/dm-1/slaves/sda3": "-> ../../../../ata1/block/sda/sda3",
		"sys/class/block/dm-1":                       "-> ../../devices/virtual/block/dm-1",
		"sys/fs/btrfs/1234/devices/dm-1":             "-> ../../../../devices/virtual/block/dm-1",
		"proc/self/mountinfo":                        "30 1 0:40 / /data rw - btrfs /dev/mapper/vg-data rw,ssd,space_cache=v2,subvolid=5\n",
	},
	"btrfs on two disks": {
		"dev/sda":                       "",
		"sys/devices/block/sda/slaves/": "",
		"sys/class/block/sda":           "-> ../../devices/block/sda",
		"sys/fs/btrfs/1234/devices/sda": "-> ../../../../devices/block/sda",
		"sys/fs/btrfs/1234/devices/sdb": "-> ../../../../devices/block/sdb",
		"proc/self/mountinfo":           "30 1 0:40 / /data rw - btrfs /dev/sda rw\n",
	},
	"tmpfs": {
		"proc/self/mountinfo": "27 1 254:0 / / rw - ext4 /dev/vda rw\n" +
			"31 27 0:23 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=24684092k\n",
	},
	"overlay": {
		"proc/self/mountinfo": "27 1 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/a,upperdir=/b\n",
	},
}

func fixtureMachine(t *testing.T, name string) machine {
	t.Helper()
	root := plant(t, machines[name])
	return machine{
		proc: filepath.Join(root, "proc"), sys: filepath.Join(root, "sys"),
		dev: filepath.Join(root, "dev"), etc: filepath.Join(root, "etc"),
	}
}

func TestFindDevice(t *testing.T) {
	for _, test := range []struct {
		machine      string
		dir          string
		major, minor uint32
		want         Device
		none         string // part of the reason why there is no device
	}{
		{"virtio", "/srv/data", 254, 0, Device{"vda", []string{"vda"}, "/", "ext4", "rw,relatime,discard"}, ""},
		{"nvme partition", "/my data/base", 259, 2, Device{"nvme0n1p2", []string{"nvme0n1"}, "/my data", "xfs", "rw,noatime,attr2"}, ""},
		{"md raid-1", "/data", 9, 0, Device{"md0", []string{"nvme0n1", "nvme1n1"}, "/data", "xfs", "rw"}, ""},
		{"lvm over a partition", "/data/x", 253, 1, Device{"dm-1", []string{"sda"}, "/data", "ext4", "rw"}, ""},
		{"btrfs on lvm", "/data/x", 0, 40, Device{"dm-1", []string{"sda"}, "/data", "btrfs", "rw,ssd,space_cache=v2,subvolid=5"}, ""},
		{"btrfs on two disks", "/data", 0, 40, Device{"", nil, "/data", "btrfs", "rw"}, "spans 2 devices"},
		{"tmpfs", "/dev/shm/x", 0, 23, Device{"", nil, "/dev/shm", "tmpfs", "rw,nosuid,size=24684092k"}, `/dev/shm is a tmpfs, mounted from "tmpfs", which is not a device`},
		{"overlay", "/data", 0, 50, Device{"", nil, "/", "overlay", "rw,relatime,lowerdir=/a,upperdir=/b"}, "overlay"},
	} {
		t.Run(test.machine, func(t *testing.T) {
			got, err := fixtureMachine(t, test.machine).deviceOf(test.dir, test.major, test.minor)
			if test.none == "" {
				expect.NoError(t, err)
			} else if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), test.none) {
				t.Errorf("error %v, want ErrNoDevice because %s", err, test.none)
			}
			expect.Same(t, test.want, got)
		})
	}
}

func TestFindMountHidden(t *testing.T) {
	proc := plant(t, map[string]string{"self/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n" +
		"2 1 8:2 / /data rw - ext4 /dev/sda2 rw\n" +
		"3 1 8:3 / /data rw - xfs /dev/sda3 rw\n" +
		"4 1 8:4 / /data2 rw - xfs /dev/sda4 rw\n"})
	for dir, source := range map[string]string{"/": "/dev/sda1", "/data": "/dev/sda3", "/data/x": "/dev/sda3", "/data2": "/dev/sda4", "/data3": "/dev/sda1"} {
		m, err := findMount(proc, dir)
		expect.NoError(t, err)
		expect.Equal(t, m.source, source, dir)
	}
}

func TestDevice(t *testing.T) {
	m := fixtureMachine(t, "virtio")
	got := collect(t, NewDevice(Device{Name: "vda", Leaves: []string{"vda"}}, m.proc, m.sys))
	want := map[string]float64{
		`device.reads{dev="vda"}`:         73467,
		`device.read_bytes{dev="vda"}`:    7621578 * 512,
		`device.read_ns{dev="vda"}`:       26548e6,
		`device.writes{dev="vda"}`:        30801,
		`device.write_bytes{dev="vda"}`:   6781456 * 512,
		`device.write_ns{dev="vda"}`:      16601e6,
		`device.in_flight{dev="vda"}`:     2,
		`device.busy_ns{dev="vda"}`:       15276e6,
		`device.queue_ns{dev="vda"}`:      43841e6,
		`device.discards{dev="vda"}`:      9746,
		`device.discard_bytes{dev="vda"}`: 1149120 * 512,
		`device.discard_ns{dev="vda"}`:    533e6,
		`device.flushes{dev="vda"}`:       4614,
		`device.flush_ns{dev="vda"}`:      158e6,
	}
	expect.Same(t, want, got)
}

// An array and its members must not be in series of the same name, which would
// invite adding them up.
func TestDeviceNeverAddsParentAndChildren(t *testing.T) {
	for name, want := range map[string]map[string]float64{
		"md raid-1": {
			`device.write_bytes{dev="md0"}`:          2000 * 512,
			`device.leaf.write_bytes{dev="nvme0n1"}`: 2000 * 512,
			`device.leaf.write_bytes{dev="nvme1n1"}`: 2000 * 512,
			`device.leaf.flushes{dev="nvme0n1"}`:     11,
			`device.leaf.flushes{dev="nvme1n1"}`:     12,
		},
		"nvme partition": {
			`device.write_bytes{dev="nvme0n1p2"}`:    700 * 512,
			`device.leaf.write_bytes{dev="nvme0n1"}`: 800 * 512,
			`device.leaf.flushes{dev="nvme0n1"}`:     7,
		},
		"lvm over a partition": {
			`device.write_bytes{dev="dm-1"}`:     16 * 512,
			`device.leaf.write_bytes{dev="sda"}`: 24 * 512,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := fixtureMachine(t, name)
			device := map[string]Device{
				"md raid-1":            {Name: "md0", Leaves: []string{"nvme0n1", "nvme1n1"}},
				"nvme partition":       {Name: "nvme0n1p2", Leaves: []string{"nvme0n1"}},
				"lvm over a partition": {Name: "dm-1", Leaves: []string{"sda"}},
			}[name]
			got := collect(t, NewDevice(device, m.proc, m.sys))
			maps.DeleteFunc(got, func(key string, _ float64) bool {
				return !strings.Contains(key, "write_bytes") && !strings.Contains(key, "flushes")
			})
			expect.Same(t, want, got)
		})
	}
}

func TestDiskstatsOfKernels(t *testing.T) {
	const old, middle, now = " 8 0 sda 1 0 8 0 2 0 16 0 0 1 1\n", " 8 0 sda 1 0 8 0 2 0 16 0 0 1 1 4 0 32 1\n", " 8 0 sda 1 0 8 0 2 0 16 0 0 1 1 4 0 32 1 9 3\n"
	for _, test := range []struct {
		name, line        string
		discards, flushes bool
	}{
		{"14 fields", old, false, false},
		{"18 fields", middle, true, false},
		{"20 fields", now, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			proc := plant(t, map[string]string{"diskstats": " 8 16 sdaa 99 0 8 0 2 0 16 0 0 1 1\n" + test.line})
			c := NewDevice(Device{Name: "sda", Leaves: []string{"sda"}}, proc, proc)
			got := collect(t, c)
			expect.Equal(t, got[`device.reads{dev="sda"}`], 1, "reads of another device", got)
			if _, ok := got[`device.discard_bytes{dev="sda"}`]; ok != test.discards {
				t.Errorf("has discards: %v", ok)
			}
			if _, ok := got[`device.flushes{dev="sda"}`]; ok != test.flushes {
				t.Errorf("has flushes: %v", ok)
			}
			if warned := strings.Contains(strings.Join(c.Warnings(), "\n"), "discards are counted as writes on this kernel"); warned == test.discards {
				t.Errorf("warnings: %v", c.Warnings())
			}
		})
	}
}

func TestDeviceVanished(t *testing.T) {
	m := fixtureMachine(t, "virtio")
	c := NewDevice(Device{Name: "vdb", Leaves: []string{"vdb"}}, m.proc, m.sys)
	expect.Error(t, c.Collect(t.Context(), &engine.Sample{}), "vdb is not in diskstats")
}

func TestDeviceStatisticsOff(t *testing.T) {
	root := plant(t, map[string]string{"class/block/sda/queue/iostats": "0\n", "diskstats": ""})
	c := NewDevice(Device{Name: "sda", Leaves: []string{"sda"}}, root, root)
	expect.True(t, len(c.Warnings()) == 1 && strings.Contains(c.Warnings()[0], "queue/iostats is 0"),
		"warnings", c.Warnings())
}

func TestDeviceOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	d, err := FindDevice(dir)
	if errors.Is(err, ErrNoDevice) {
		t.Skip(err)
	}
	expect.NoError(t, err)
	c := NewDevice(d, "/proc", "/sys")
	before := collect(t, c)
	write(t, filepath.Join(dir, "file"), strings.Repeat("rum", 100_000), false)
	expect.NoError(t, SyncDir(dir))
	after := collect(t, c)
	key := `device.write_bytes{dev="` + d.Name + `"}`
	grown := after[key] - before[key]
	expect.True(t, grown >= 300_000, "grew by after 300000 bytes were synced", key, grown)
}

func TestSyncDirError(t *testing.T) {
	err := SyncDir("/does/not/exist")
	expect.True(t, err != nil, "no error")
}
