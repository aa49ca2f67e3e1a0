package observe

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// disksHere are the devices of a machine with two disks in an array, one of
// them with a partition, a third disk, a drive without a medium, and a loop device.
var disksHere = map[string]string{
	"proc/diskstats": " 8 0 sda 1 0 8 1 2 0 16 2 0 3 4 0 0 0 0 5 6\n 8 1 sda1 1 0 8 1 2 0 16 2 0 3 4 0 0 0 0 0 0\n" +
		" 8 16 sdb 1 0 8 1 2 0 16 2 0 3 4\n 8 32 sdc 7 0 8 1 2 0 16 2 0 3 4\n" +
		" 9 0 md0 1 0 8 1 2 0 16 2 0 3 4\n 11 0 sr0 0 0 0 0 0 0 0 0 0 0 0\n 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n",
	"sys/devices/sda/device/": "", "sys/devices/sda/size": "100\n", "sys/devices/sda/sda1/partition": "1\n", "sys/devices/sda/sda1/device/": "",
	"sys/devices/sdb/device/": "", "sys/devices/sdb/size": "100\n", "sys/devices/sdc/device/": "", "sys/devices/sdc/size": "100\n",
	"sys/devices/sr0/device/": "", "sys/devices/sr0/size": "0\n", "sys/devices/loop0/size": "0\n",
	"sys/devices/md0/slaves/sda1": "-> ../../sda/sda1", "sys/devices/md0/slaves/sdb": "-> ../../sdb",
	"sys/class/block/sda": "-> ../../devices/sda", "sys/class/block/sda1": "-> ../../devices/sda/sda1", "sys/class/block/sdb": "-> ../../devices/sdb",
	"sys/class/block/sdc": "-> ../../devices/sdc", "sys/class/block/sr0": "-> ../../devices/sr0", "sys/class/block/md0": "-> ../../devices/md0",
	"sys/class/block/loop0": "-> ../../devices/loop0",
	"dev/md/data":           "-> ../md0", "dev/md0": "",
}

func disksMachine(t *testing.T) machine {
	t.Helper()
	root := plant(t, disksHere)
	return machine{proc: filepath.Join(root, "proc"), sys: filepath.Join(root, "sys"), dev: filepath.Join(root, "dev")}
}

// reads returns the devices that have a number of reads.
func reads(t *testing.T, c Collector) string {
	t.Helper()
	var names []string
	for key := range maps.Keys(collect(t, c)) {
		if name, ok := strings.CutPrefix(key, `device.reads{dev="`); ok {
			names = append(names, strings.TrimSuffix(name, `"}`))
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestDisks(t *testing.T) {
	m := disksMachine(t)
	expect.Equal(t, reads(t, NewDisks(m.proc, m.sys)), "sda sdb sdc", "disks")
	c := NewDisks(m.proc, m.sys, "sda", "sdb")
	expect.Equal(t, reads(t, c), "sdc", "disks but those beneath the array")
	// Disks come and go.
	write(t, filepath.Join(m.proc, "diskstats"), " 8 48 sdd 7 0 8 1 2 0 16 2 0 3 4\n", false)
	write(t, filepath.Join(m.sys, "class/block/sdd/device"), "", true)
	expect.Equal(t, reads(t, c), "sdd", "after the change")
	write(t, filepath.Join(m.proc, "diskstats"), " 8 48 sdd 7 0 8 1 2 0 x 2 0 3 4\n", false)
	expect.Error(t, c.Collect(t.Context(), &engine.Sample{}), "")
	expect.Error(t, NewDisks(t.TempDir(), m.sys).Collect(t.Context(), &engine.Sample{}), "", "no diskstats, no error")
}

func TestDiskTellsItsFlushes(t *testing.T) {
	m := disksMachine(t)
	got := collect(t, NewDisks(m.proc, m.sys))
	if v, ok := got[`device.flushes{dev="sda"}`]; !ok || v != 5 {
		t.Errorf("flushes of sda: %v", v)
	}
	if _, ok := got[`device.flushes{dev="sdb"}`]; ok {
		t.Error("sdb has flushes, which its kernel does not count")
	}
}

func TestDeviceNamed(t *testing.T) {
	m := disksMachine(t)
	for _, test := range []struct{ name, device, leaves string }{
		{"sda", "sda", "sda"}, {"/dev/sdc", "sdc", "sdc"}, {"sda1", "sda1", "sda"},
		{"md0", "md0", "sda sdb"}, {"/dev/md/data", "md0", "sda sdb"},
		{"sdz", "", ""}, {"", "", ""}, {"..", "", ""}, {"/etc/passwd", "", ""},
	} {
		d, err := m.deviceNamed(test.name)
		if test.device == "" {
			expect.True(t, errors.Is(err, ErrNoDevice), test.name, err)
			continue
		}
		expect.NoError(t, err)
		expect.True(t, d.Name == test.device && strings.Join(d.Leaves, " ") == test.leaves, test.name, d)
	}
}

func TestCommand(t *testing.T) {
	root := plant(t, map[string]string{"12/comm": "my server\n"})
	expect.Equal(t, expect.Value(Command(root, 12))(t), "my server")
	if _, err := Command(root, 13); err == nil || err.Error() != "there is no process 13" {
		t.Error(err)
	}
}
