package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/observe"
	"rumbench/internal/text/quantity"
)

// Limits on storage.
const (
	maxReadAheadKiB       = 128 // KiB, the kernel's default
	minFreeDisk           = 1 << 30
	lowFreeDisk, lowShare = 10 << 30, 0.15
)

func freeDisk(m *machine) Finding {
	free, total, err := m.space(m.dir)
	if err != nil || total <= 0 {
		return unknown(fmt.Sprintf("the filesystem does not show it: %v", err), "df -h "+m.dir)
	}
	found := quantity.Bytes(free) + " of " + quantity.Bytes(total)
	return grade(free < minFreeDisk, free < lowFreeDisk || free/total < lowShare, found,
		"free space, or measure elsewhere: --dir")
}

// option reports whether the filesystem is mounted with an option, whatever its value.
func (m *machine) option(name string) bool {
	return slices.ContainsFunc(strings.Split(m.device.MountOptions, ","), func(o string) bool {
		key, _, _ := strings.Cut(o, "=")
		return key == name || o == name
	})
}

func mountOptions(m *machine) Finding {
	d := m.device
	if d.MountOptions == "" {
		return unknown(fmt.Sprintf("the mount cannot be found: %v", m.deviceErr), "findmnt -T "+m.dir)
	}
	var worst, blurs, remount []string
	for _, o := range []struct {
		wrong         bool
		list          *[]string
		text, remount string
	}{
		{m.option("ro"), &worst, "mounted read-only", "rw"},
		{m.option("sync"), &worst, "sync: every write waits for the device", "async"},
		{m.option("nobarrier") || m.option("barrier=0"), &worst, "no barriers: what was synced can be lost", "barrier=1"},
		{!m.option("noatime") && !m.option("relatime"), &blurs, "every read writes the time of access", "noatime"},
		{m.option("data=journal"), &blurs, "data=journal writes everything twice", ""},
		{m.option("compress") || m.option("compress-force"), &blurs, "the filesystem compresses", ""},
		{errors.Is(m.deviceErr, observe.ErrNoDevice), &blurs, "no single block device, so its traffic is not counted", ""},
	} {
		if o.wrong {
			*o.list = append(*o.list, o.text)
		}
		if o.wrong && o.remount != "" {
			remount = append(remount, o.remount)
		}
	}
	found := d.FSType
	for _, atime := range []string{"noatime", "relatime"} {
		if m.option(atime) {
			found += " with " + atime
			break
		}
	}
	found = strings.Join(slices.Concat([]string{found}, worst, blurs), "; ")
	fix := "measure in another place: --dir"
	if len(remount) > 0 {
		fix = m.root("mount -o remount," + strings.Join(remount, ",") + " " + d.Mount)
	}
	return grade(len(worst) > 0, len(blurs) > 0, found, fix)
}

// diskFacts lists a fact for each disk under the data.
func (m *machine) diskFacts(subject string) (disks, values []string) {
	for _, leaf := range m.device.Leaves {
		name := "device " + subject
		if len(m.device.Leaves) > 1 {
			name = "device " + leaf + " " + subject
		}
		if v := m.facts.Value(name); v != "" {
			disks, values = append(disks, leaf), append(values, v)
		}
	}
	return disks, values
}

const noDisk = "there is no single block device under the data"

func discard(m *machine) Finding {
	if m.deviceErr != nil || m.device.MountOptions == "" {
		return unknown(noDisk, "findmnt -T "+m.dir)
	}
	_, can := m.diskFacts("discard")
	switch {
	case !m.option("discard"):
		return ok("not at each delete")
	case len(can) == len(m.device.Leaves) && !slices.Contains(can, "yes"):
		return ok("the device knows none")
	}
	return warn("mounted with discard", m.root("mount -o remount,nodiscard "+m.device.Mount)+"\n"+
		m.root("fstrim "+m.device.Mount)+"    # now and between campaigns")
}

func readAhead(m *machine) Finding {
	var kib int
	if _, err := fmt.Sscanf(m.facts.Value("device read-ahead"), "%d KiB", &kib); err != nil {
		return unknown(noDisk+", or it does not show it", "lsblk -o NAME,RA,MOUNTPOINT")
	}
	found := fmt.Sprintf("%d KiB on %s", kib, m.device.Name)
	fix := m.root(fmt.Sprintf("blockdev --setra %d /dev/%s", 2*maxReadAheadKiB, m.device.Name)) +
		"    # in sectors of 512 bytes"
	return grade(false, kib > maxReadAheadKiB, found, fix)
}

func scheduler(m *machine) Finding {
	disks, names := m.diskFacts("scheduler")
	if len(disks) == 0 || len(disks) < len(m.device.Leaves) {
		return unknown(noDisk+", or it does not show it", "lsblk -o NAME,SCHED,MOUNTPOINT")
	}
	var found, fixes []string
	for i, name := range names {
		found = append(found, name+" on "+disks[i])
		switch name {
		case "none", "mq-deadline", "noop", "deadline":
		default:
			fixes = append(fixes, m.set("mq-deadline", "/sys/block/"+disks[i]+"/queue/scheduler"))
		}
	}
	return grade(false, len(fixes) > 0, strings.Join(found, ", "), strings.Join(fixes, "\n"))
}
