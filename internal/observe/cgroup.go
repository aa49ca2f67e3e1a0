package observe

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cpuQuota returns how many CPUs the control groups of this process grant it,
// 0 if there is no limit.
func (m machine) cpuQuota() float64 { return quotaOf(m.cgroups("self", "cpu")) }

// quotaOf returns the lowest quota of some control groups.
func quotaOf(dirs []string) (lowest float64) {
	for _, dir := range dirs {
		limit := strings.Fields(Text(dir, "cpu.max")) // version 2: "150000 100000"
		limit = append(limit, Text(dir, "cpu.cfs_quota_us"), Text(dir, "cpu.cfs_period_us"))
		quota, _ := strconv.ParseFloat(limit[0], 64) // "max" or -1: none
		period, _ := strconv.ParseFloat(limit[1], 64)
		if quota > 0 && period > 0 {
			lowest = lower(lowest, quota/period)
		}
	}
	return lowest
}

// memoryLimit returns how many bytes the control groups of this process grant
// it, 0 if there is no limit.
func (m machine) memoryLimit() (lowest float64) {
	for _, dir := range m.cgroups("self", "memory") {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			if limit, err := strconv.ParseFloat(Text(dir, file), 64); err == nil && limit > 0 {
				lowest = lower(lowest, limit)
			}
		}
	}
	return lowest
}

// lower returns the lower of two limits; a is no limit if it is 0.
func lower(a, b float64) float64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// ControlGroups returns the directories of the control groups that hold this process and limit the
// resource, from its own up to the root.
func ControlGroups(controller string) []string { return thisMachine().cgroups("self", controller) }

// cgroups returns the directories of the control groups that hold a process and limit the
// resource, from its own up to the root: each may set a limit.
func (m machine) cgroups(pid, controller string) []string {
	root := filepath.Join(m.sys, "fs", "cgroup")
	var dirs []string
	for line := range strings.Lines(Text(m.proc, pid, "cgroup")) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		base := root // version 2 is "0::/path"
		if fields[1] != "" {
			if !slices.Contains(strings.Split(fields[1], ","), controller) {
				continue
			}
			base = filepath.Join(root, fields[1])
		}
		for path := filepath.Clean(fields[2]); ; path = filepath.Dir(path) {
			dirs = append(dirs, filepath.Join(base, path))
			if path == "/" || path == "." {
				break
			}
		}
	}
	return dirs
}
