package doctor

import (
	"strconv"

	"rumbench/internal/text/quantity"
)

// Limits on memory.
const (
	calmSwappiness   = 10      // the kernel swaps only in an emergency
	swapTraffic      = 1 << 20 // bytes moved during the check
	swapFull         = 0.5     // share of the swap in use
	maxDirty         = 1 << 30 // bytes
	fewFree, lowFree = 0.5, 0.1
)

const hugePages = "/sys/kernel/mm/transparent_hugepage/enabled"

func madvise(m *machine) string { return m.set("madvise", hugePages) }

func swap(m *machine) Finding {
	info := m.meminfo()
	if info.SwapTotalBytes == nil || info.SwapFreeBytes == nil {
		return notShown("swapon --show")
	}
	total, used := *info.SwapTotalBytes, *info.SwapTotalBytes-*info.SwapFreeBytes
	if total == 0 {
		return ok("off")
	}
	swappiness, err := strconv.Atoi(m.facts.Value("vm.swappiness"))
	found := quantity.Bytes(used) + " of " + quantity.Bytes(total) + " in use, vm.swappiness " + m.factOr("vm.swappiness",
		"unknown")
	off := m.root("swapoff -a")
	if info.MemAvailableBytes != nil && used > *info.MemAvailableBytes {
		off = "end what uses the memory (ps -eo rss,comm --sort=-rss | head), then: " + off
	}
	switch moved, _ := m.grown("host.swap.in_bytes", "host.swap.out_bytes"); {
	case moved >= swapTraffic:
		return bad(found+"; "+quantity.Bytes(moved)+" moved while looking", off)
	case float64(used) >= swapFull*float64(total):
		return bad(found, off)
	case used > 0:
		return warn(found, off)
	case err != nil:
		return unknown(found, off)
	case swappiness > calmSwappiness:
		return warn(found, off+"\n"+m.root("sysctl -w vm.swappiness=1")+"    # or, if it has to stay")
	}
	return ok(found)
}

// dirtyPages judges the limit at which writeback begins, and also reports the
// limit at which writers have to wait.
func dirtyPages(m *machine) Finding {
	begin, valid := m.dirtyLimit("dirty_background")
	wait, alsoValid := m.dirtyLimit("dirty")
	if !valid || !alsoValid {
		return notShown("sysctl -a --pattern vm.dirty")
	}
	found := "writing begins at " + quantity.Bytes(begin) + ", and writers wait from " + quantity.Bytes(wait) + " on"
	return grade(false, begin > maxDirty, found,
		m.root("sysctl -w vm.dirty_background_bytes=268435456 vm.dirty_bytes=1073741824"))
}

// dirtyLimit returns a limit in bytes. A ratio applies to the available memory.
func (m *machine) dirtyLimit(name string) (bytes float64, found bool) {
	available := m.meminfo().MemAvailableBytes
	if available == nil {
		return 0, false
	}
	if n, err := strconv.ParseFloat(m.facts.Value("vm."+name+"_bytes"), 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseFloat(m.facts.Value("vm."+name+"_ratio"), 64)
	return n / 100 * float64(*available), err == nil
}

func freeMemory(m *machine) Finding {
	info := m.meminfo()
	if info.MemAvailableBytes == nil || info.MemTotalBytes == nil || *info.MemTotalBytes == 0 {
		return notShown("free -h")
	}
	share := float64(*info.MemAvailableBytes) / float64(*info.MemTotalBytes)
	found := quantity.Bytes(*info.MemAvailableBytes) + " of " + quantity.Bytes(*info.MemTotalBytes) + " available"
	return grade(share < lowFree, share < fewFree, found, "end what uses it: ps -eo rss,comm --sort=-rss | head")
}

func memoryLimit(m *machine) Finding {
	if limit := m.facts.Value("memory limit"); limit != "" {
		return warn(limit, "leave it if it is meant; else lift it from the container or service (memory.max)")
	}
	if !m.showsLimits() {
		return unknown("control groups cannot be read", "mount /sys/fs/cgroup in the container, or run outside of it")
	}
	return ok("none")
}
