package observe

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Fact is a property of the machine that readers of a result need to know, such as
// its processor or the filesystem under the data.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Facts returns the facts about the machine, and about the filesystem and device
// under a directory. Unknown ones are left out.
func Facts(dir string) []Fact {
	m := thisMachine()
	var list factList
	m.system(&list)
	m.processors(&list, affinity())
	m.memory(&list)
	m.kernelSettings(&list)
	device, err := m.findDevice(dir)
	m.storage(&list, device, err)
	m.tuning(&list, device, err)
	return list
}

// factList collects known facts.
type factList []Fact

// add appends a fact unless its value is empty, which means unknown.
func (l *factList) add(name, value string) {
	if value != "" {
		*l = append(*l, Fact{name, value})
	}
}

// text returns the content of a small file, trimmed; "" if it cannot be read.
func text(elem ...string) string {
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// chosen returns the word in brackets of a kernel's list of choices, such as
// "always [madvise] never"; the whole text if there are no brackets.
func chosen(choices string) string {
	_, after, found := strings.Cut(choices, "[")
	if !found {
		return choices
	}
	word, _, _ := strings.Cut(after, "]")
	return word
}

func (m machine) system(l *factList) {
	l.add("hostname", text(m.proc, "sys", "kernel", "hostname"))
	l.add("kernel", text(m.proc, "sys", "kernel", "osrelease"))
	for line := range strings.Lines(text(m.etc, "os-release")) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			l.add("distribution", strings.Trim(strings.TrimSpace(name), `"'`))
		}
	}
	l.add("virtualization", m.virtualization())
	if load := strings.Fields(text(m.proc, "loadavg")); len(load) >= 3 {
		l.add("load average", strings.Join(load[:3], " "))
	}
}

// virtualization returns a sign that the machine is virtual; "" if there is none.
func (m machine) virtualization() string {
	product := strings.TrimSpace(text(m.sys, "class", "dmi", "id", "sys_vendor") + " " +
		text(m.sys, "class", "dmi", "id", "product_name"))
	for line := range strings.Lines(text(m.proc, "cpuinfo")) {
		name, flags, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) != "flags" {
			continue
		}
		if !slices.Contains(strings.Fields(flags), "hypervisor") {
			return ""
		}
		if product == "" {
			return "virtual machine"
		}
		return "virtual machine: " + product
	}
	return ""
}

func (m machine) processors(l *factList, usable int) {
	online := 0
	model := ""
	for line := range strings.Lines(text(m.proc, "cpuinfo")) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "processor":
			online++
		case "model name":
			model = strings.TrimSpace(value)
		}
	}
	l.add("cpu", model)
	if online > 0 {
		l.add("cpus online", strconv.Itoa(online))
	}
	cpus := float64(usable)
	if quota := m.cpuQuota(); quota > 0 && (cpus == 0 || quota < cpus) {
		cpus = quota
		l.add("cpu quota", strconv.FormatFloat(quota, 'g', 4, 64))
	}
	if cpus > 0 {
		l.add("cpus usable", strconv.FormatFloat(cpus, 'g', 4, 64))
	}
	l.add("cpu governor", m.governors())
	l.add("cpu turbo", m.turbo())
}

// affinity returns how many CPUs this process may run on, 0 if unknown.
func affinity() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return 0
	}
	return set.Count()
}

// governors returns the distinct frequency governors of all CPUs.
func (m machine) governors() string {
	files, err := filepath.Glob(filepath.Join(m.sys, "devices", "system", "cpu", "cpu*", "cpufreq", "scaling_governor"))
	if err != nil {
		return ""
	}
	var names []string
	for _, f := range files {
		if name := text(f); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func (m machine) turbo() string {
	cpu := filepath.Join(m.sys, "devices", "system", "cpu")
	switch {
	case text(cpu, "intel_pstate", "no_turbo") == "1", text(cpu, "cpufreq", "boost") == "0":
		return "off"
	case text(cpu, "intel_pstate", "no_turbo") == "0", text(cpu, "cpufreq", "boost") == "1":
		return "on"
	}
	return ""
}

func (m machine) memory(l *factList) {
	info := text(m.proc, "meminfo")
	total, ok := valueOf(info, "MemTotal:")
	if ok {
		l.add("memory", size(total*1024))
	}
	if limit := m.memoryLimit(); limit > 0 && limit < total*1024 {
		l.add("memory limit", size(limit))
	}
	if swap, ok := valueOf(info, "SwapTotal:"); ok {
		if swap == 0 {
			l.add("swap", "off")
		} else {
			l.add("swap", size(swap*1024))
		}
	}
	l.add("transparent huge pages", chosen(text(m.sys, "kernel", "mm", "transparent_hugepage", "enabled")))
}

func (m machine) kernelSettings(l *factList) {
	l.add("clock source", text(m.sys, "devices", "system", "clocksource", "clocksource0", "current_clocksource"))
	for _, name := range []string{"dirty", "dirty_background"} {
		// The ratio is ignored while a number of bytes is set.
		if bytes := text(m.proc, "sys", "vm", name+"_bytes"); bytes != "" && bytes != "0" {
			l.add("vm."+name+"_bytes", bytes)
		} else {
			l.add("vm."+name+"_ratio", text(m.proc, "sys", "vm", name+"_ratio"))
		}
	}
}

// size formats a number of bytes with four digits.
func size(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	unit := 0
	for bytes >= 1024 && unit < len(units)-1 {
		bytes /= 1024
		unit++
	}
	decimals := max(0, 3-int(math.Log10(max(bytes, 1))))
	number := strconv.FormatFloat(bytes, 'f', decimals, 64)
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return fmt.Sprintf("%s %s", number, units[unit])
}
