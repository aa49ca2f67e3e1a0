package observe

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Imposed returns what the host imposes on processes: priority, quotas and limits. What is not limited is "none".
func Imposed(pids []int) Facts { return imposed(thisMachine(), pids) }

func imposed(m machine, pids []int) (out Facts) {
	add := func(name string, read func(pid string) string) {
		var found []string
		for _, pid := range pids {
			found = append(found, read(strconv.Itoa(pid)))
		}
		slices.Sort(found)
		if found = slices.Compact(found); len(found) > 0 && found[0] != "" {
			out = append(out, Fact{name, strings.Join(found, " and ")})
		}
	}
	add("server’s nice value", func(pid string) string {
		_, stat, _ := strings.Cut(Text(m.proc, pid, "stat"), ") ")
		const nice = 16 // the nineteenth field
		if f := strings.Fields(stat); len(f) > nice {
			return f[nice]
		}
		return ""
	})
	add("server’s processors", func(pid string) string {
		return strings.Join(fieldsOf(Text(m.proc, pid, "status"), "Cpus_allowed_list:"), "")
	})
	add("server’s CPU quota", func(pid string) string {
		if quota := quotaOf(m.cgroups(pid, "cpu")); quota > 0 {
			return strconv.FormatFloat(quota, 'g', 4, 64) + " CPUs"
		}
		return "none"
	})
	add("server’s I/O limits", func(pid string) string {
		var limits []string
		for _, dir := range append(m.cgroups(pid, "blkio"), m.cgroups(pid, "io")...) {
			files, _ := filepath.Glob(filepath.Join(dir, "blkio.throttle.*_device")) // well-formed
			for _, file := range append(files, filepath.Join(dir, "io.max")) {
				kind := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "blkio.throttle."), "_device")
				if text := Text(file); text != "" {
					limits = append(limits, kind+" "+strings.Join(strings.Fields(text), " "))
				}
			}
		}
		return cmp.Or(strings.Join(limits, ", "), "none")
	})
	return out
}

// throttled returns for how long the quotas of their control groups have kept processes off the processors, in ns.
func throttled(m machine, pids []int) (ns float64) {
	var groups []string
	for _, pid := range pids {
		groups = append(groups, m.cgroups(strconv.Itoa(pid), "cpu")...)
	}
	slices.Sort(groups)
	for _, dir := range slices.Compact(groups) {
		stat := Text(dir, "cpu.stat")
		v2, _ := valueOf(stat, "throttled_usec")
		v1, _ := valueOf(stat, "throttled_time")
		ns += v2*1e3 + v1
	}
	return ns
}
