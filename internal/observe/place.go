package observe

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/observe/cpuset"
)

// Facts about the file system that vary from trial to trial, and count as different only if far apart.
const (
	UsedFact    = "filesystem used"
	ExtentsFact = "extents per file"
)

// fileSystem returns when a file system was made, by the birth of its root directory, which some kinds lack,
// and how full it is, to 10 %: nearly full ones are slower, and SSDs under them.
func fileSystem(mount string) (out Facts) {
	var birth unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, mount, unix.AT_STATX_DONT_SYNC, unix.STATX_BTIME, &birth)
	made := time.Unix(birth.Btime.Sec, 0).UTC()
	if err == nil && birth.Mask&unix.STATX_BTIME != 0 && made.Year() >= 2000 { // else by a machine without a clock
		out = append(out, Fact{"filesystem made", made.Format(time.DateOnly)})
	}
	var st unix.Statfs_t
	err = unix.Statfs(mount, &st)
	used, all := float64(st.Blocks-st.Bfree), float64(st.Blocks-st.Bfree+st.Bavail) // as df, without what is reserved
	if err == nil && all > 0 {
		out = append(out, Fact{UsedFact, fmt.Sprintf("%.0f %%", 10*math.Round(10*used/all))})
	}
	return out
}

// interrupts returns which processors serve the interrupts of the disks and of the network interfaces.
func interrupts(m machine, disks []string) (out Facts) {
	table := Text(m.proc, "interrupts")
	add := func(name string, device string) {
		driver, err := filepath.EvalSymlinks(device)
		if err != nil {
			return // no hardware
		}
		// Queues are called "virtio1-req.0", "nvme0q3", "eth0-TxRx-1", or "mlx5_comp3@pci:0000:01:00.0".
		word := regexp.QuoteMeta(name) + "|" + regexp.QuoteMeta(filepath.Base(driver))
		queue := regexp.MustCompile(`^(` + word + `)(\D|$)|@pci:(` + word + `)$`)
		var lists []string
		for line := range strings.Lines(table) {
			fields := strings.Fields(line)
			if len(fields) < 3 || !queue.MatchString(fields[len(fields)-1]) || strings.HasSuffix(line, "-config\n") {
				continue
			}
			if list := Text(m.proc, "irq", strings.TrimSuffix(fields[0], ":"), "effective_affinity_list"); list != "" {
				lists = append(lists, list)
			}
		}
		if cpus, err := cpuset.Parse(strings.Join(lists, ",")); err == nil && len(lists) > 0 {
			out = append(out, Fact{"interrupts of " + name, fmt.Sprintf("%d, on processors %v", len(lists), cpus)})
		}
	}
	for _, disk := range disks {
		add(disk, filepath.Join(m.sys, "class/block", disk, "device"))
	}
	cards, _ := filepath.Glob(filepath.Join(m.sys, "class/net/*"))
	for _, card := range cards {
		add(filepath.Base(card), filepath.Join(card, "device"))
	}
	return out
}
