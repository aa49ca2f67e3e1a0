package observe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/observe/cpuset"
)

// Fact is a property of the machine that readers of a result need to know, such as
// its processor or the filesystem under the data.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Facts are facts in display order, those that are known.
type Facts []Fact

// Value returns the value of a fact, several joined; "" if it is unknown.
func (f Facts) Value(name string) string {
	var values []string
	for _, fact := range f {
		if fact.Name == name {
			values = append(values, fact.Value)
		}
	}
	return strings.Join(values, ", ")
}

// Property is what a fact means for numbers. Facts without one affect numbers in ways that no rule knows.
type Property int

// The properties.
const (
	SetsSpeed Property = 1 << iota // it determines how fast the machine is
	SetsKind                       // numbers of machines that differ in it make no series
	NamesHost                      // containers and rented machines get a new one each time
	Varies                         // from trial to trial
	Harmless                       // the data's path, and what rumbench may read
)

var properties = []struct {
	fact string
	has  Property
}{
	{"hostname", NamesHost}, {"load average", Varies},
	{"virtualization", SetsKind}, // the name of a kind begins with it; as a difference it comes later
	{"cpu", SetsSpeed | SetsKind}, {"cpus online", SetsKind}, {"cpus usable", SetsSpeed | SetsKind},
	{"cpu quota", SetsKind}, {"memory", SetsSpeed | SetsKind}, {"memory limit", SetsKind},
	{"kernel", SetsSpeed}, {"virtualization", SetsSpeed},
	{"filesystem", SetsSpeed | SetsKind}, {UsedFact, Varies}, {ExtentsFact, Varies}, {"mount point", Harmless},
	{"device", SetsSpeed}, {"device size", SetsSpeed | SetsKind}, {"device rotational", SetsKind},
	{"kernel.perf_event_paranoid", Harmless}, {"hardware counters", Harmless},
}

// FactsThat returns the names of the facts that have one of some properties.
func FactsThat(have Property) (names []string) {
	for _, p := range properties {
		if p.has&have != 0 {
			names = append(names, p.fact)
		}
	}
	return names
}

// FactsOf returns the facts about the machine, and about the filesystem and device
// under a directory, if there is one.
func FactsOf(dir string) Facts {
	m := thisMachine()
	device, err := Device{}, os.ErrNotExist
	if dir != "" {
		device, err = m.findDevice(dir)
	}
	allowed, _ := cpuset.Allowed()
	return append(m.facts(device, err, len(allowed)), fileSystem(device.Mount)...)
}

// facts returns the facts, also those about the device, or why there is none; usable
// is how many CPUs this process may run on, 0 if that is unknown.
func (m machine) facts(d Device, err error, usable int) Facts {
	cpuinfo, load := Text(m.proc, "cpuinfo"), strings.Fields(Text(m.proc, "loadavg"))
	general := Facts{
		{"hostname", Text(m.proc, "sys/kernel/hostname")},
		{"kernel", Text(m.proc, "sys/kernel/osrelease")},
		{"distribution", strings.Trim(strings.Join(entries(Text(m.etc, "os-release"), "=", "PRETTY_NAME"), ""), `"'`)},
		{"virtualization", m.virtualization(cpuinfo)},
		{"load average", strings.Join(load[:min(3, len(load))], " ")},
	}
	// Kernel settings that affect benchmarks and that are often tuned, so that
	// machines may differ in them.
	settings := Facts{
		{"transparent huge pages", chosen(Text(m.sys, "kernel/mm/transparent_hugepage/enabled"))},
		{"clock source", Text(m.sys, "devices/system/clocksource/clocksource0/current_clocksource")},
		m.dirty("dirty"),
		m.dirty("dirty_background"),
	}
	tuning := Facts{
		{"transparent huge page defrag", chosen(Text(m.sys, "kernel/mm/transparent_hugepage/defrag"))},
		{"vm.swappiness", Text(m.proc, "sys/vm/swappiness")},
		{"vm.dirty_expire_centisecs", Text(m.proc, "sys/vm/dirty_expire_centisecs")},
		{"open files limit", m.openFiles()},
		{"kernel.perf_event_paranoid", Text(m.proc, "sys/kernel/perf_event_paranoid")},
		{"hardware counters", m.hardwareCounters()},
		{"device read-ahead", m.readAhead(d.Name)},
		{"simultaneous multithreading", Text(m.sys, "devices/system/cpu/smt/control")},
		{"NUMA nodes", Text(m.sys, "devices/system/node/online")},
		{"kernel.numa_balancing", Text(m.proc, "sys/kernel/numa_balancing")},
		{"mitigations", m.mitigations()},
		{"deepest idle state", m.deepestIdle()},
		{"kernel same-page merging", Text(m.sys, "kernel/mm/ksm/run")},
		{"microcode", append(entries(cpuinfo, ":", "microcode"), "")[0]},
		{"kernel.randomize_va_space", Text(m.proc, "sys/kernel/randomize_va_space")},
	}
	all := slices.Concat(general, m.processors(cpuinfo, usable), m.memory(), settings, m.storage(d, err),
		interrupts(m, d.Leaves), tuning)
	return slices.DeleteFunc(all, func(f Fact) bool { return f.Value == "" })
}

// mitigations returns the kernel's mitigations of faults of the processor, each with its first word.
func (m machine) mitigations() string {
	files, _ := filepath.Glob(filepath.Join(m.sys, "devices/system/cpu/vulnerabilities/*")) // well-formed
	var out []string
	for _, f := range files {
		if text := Text(f); text != "" && text != "Not affected" {
			word, _, _ := strings.Cut(text, ":")
			out = append(out, filepath.Base(f)+" "+strings.ToLower(word))
		}
	}
	return strings.Join(out, ", ")
}

// deepestIdle returns the deepest idle state of the processors, with the time to leave it.
func (m machine) deepestIdle() (deepest string) {
	states, _ := filepath.Glob(filepath.Join(m.sys, "devices/system/cpu/cpu0/cpuidle/state[0-9]*")) // in order
	for _, dir := range states {
		if Text(dir, "disable") != "1" {
			deepest = Text(dir, "name") + ", " + Text(dir, "latency") + " µs to leave"
		}
	}
	return deepest
}

// entries returns the values of the lines with a name before the separator.
func entries(text, separator, name string) (values []string) {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(line, separator); strings.TrimSpace(key) == name {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
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

// virtualization returns a sign that the machine is virtual; "" if there is none.
func (m machine) virtualization(cpuinfo string) string {
	flags := entries(cpuinfo, ":", "flags")
	if len(flags) == 0 || !slices.Contains(strings.Fields(flags[0]), "hypervisor") {
		return ""
	}
	product := strings.TrimSpace(Text(m.sys, "class/dmi/id/sys_vendor") + " " + Text(m.sys, "class/dmi/id/product_name"))
	if product == "" {
		return "virtual machine"
	}
	return "virtual machine: " + product
}

// Running returns on how many processors this process runs at a time.
func Running() float64 { return min(float64(runtime.GOMAXPROCS(0)), Processors()) }

// Processors returns how many processors this process may use, by its affinity and by the
// quotas of its control groups.
func Processors() float64 {
	n := float64(runtime.NumCPU())
	if quota := thisMachine().cpuQuota(); quota > 0 {
		return min(n, quota)
	}
	return n
}

func (m machine) processors(cpuinfo string, usable int) Facts {
	model := ""
	if models := entries(cpuinfo, ":", "model name"); len(models) > 0 {
		model = models[len(models)-1]
	}
	cpus, quota := float64(usable), m.cpuQuota()
	if quota > 0 && (cpus == 0 || quota < cpus) {
		cpus = quota
	} else {
		quota = 0
	}
	number := func(n float64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatFloat(n, 'g', 4, 64)
	}
	return Facts{
		{"cpu", model},
		{"cpus online", number(float64(len(entries(cpuinfo, ":", "processor"))))},
		{"cpu quota", number(quota)},
		{"cpus usable", number(cpus)},
		{"cpu governor", m.governors()},
		{"cpu turbo", m.turbo()},
	}
}

// governors returns the distinct frequency governors of all CPUs.
func (m machine) governors() string {
	files, _ := filepath.Glob(filepath.Join(m.sys, "devices/system/cpu/cpu*/cpufreq/scaling_governor"))
	var names []string
	for _, f := range files {
		if name := Text(f); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func (m machine) turbo() string {
	off, boost := Text(m.sys, "devices/system/cpu/intel_pstate/no_turbo"), Text(m.sys, "devices/system/cpu/cpufreq/boost")
	switch {
	case off == "1" || boost == "0":
		return "off"
	case off == "0" || boost == "1":
		return "on"
	}
	return ""
}

func (m machine) memory() Facts {
	info := Text(m.proc, "meminfo")
	total, _ := valueOf(info, "MemTotal:")
	limit := m.memoryLimit()
	if limit >= total*1024 {
		limit = 0
	}
	facts := Facts{{"memory", size(total * 1024)}, {"memory limit", size(limit)}, {"swap", ""}}
	if swap, ok := valueOf(info, "SwapTotal:"); ok {
		facts[2].Value = cmp.Or(size(swap*1024), "off")
	}
	return facts
}

// dirty returns a limit of dirty pages: the ratio is ignored while a number of bytes
// is set.
func (m machine) dirty(name string) Fact {
	if bytes := Text(m.proc, "sys/vm", name+"_bytes"); bytes != "" && bytes != "0" {
		return Fact{"vm." + name + "_bytes", bytes}
	}
	return Fact{"vm." + name + "_ratio", Text(m.proc, "sys/vm", name+"_ratio")}
}

// storage returns the facts about the filesystem and device found under a directory.
func (m machine) storage(d Device, err error) Facts {
	facts := Facts{{"filesystem", d.FSType}, {"mount point", d.Mount}, {"mount options", d.MountOptions},
		{"device", d.Name}}
	if err != nil {
		if errors.Is(err, ErrNoDevice) {
			facts[3].Value = err.Error()
		}
		return facts
	}
	sectors, _ := strconv.ParseFloat(Text(m.sys, "class/block", d.Name, "size"), 64)
	facts = append(facts, Fact{"device size", size(sectors * sector)})
	if !slices.Contains(d.Leaves, d.Name) {
		facts = append(facts, Fact{"device leaves", strings.Join(d.Leaves, ", ")})
	}
	for _, leaf := range d.Leaves {
		prefix := "device " // one disk needs no name; several may differ
		if len(d.Leaves) > 1 {
			prefix = "device " + leaf + " "
		}
		dir := filepath.Join(m.sys, "class/block", leaf)
		facts = append(facts,
			Fact{prefix + "model", Text(dir, "device/model")},
			Fact{prefix + "rotational", map[string]string{"0": "no", "1": "yes"}[Text(dir, "queue/rotational")]},
			Fact{prefix + "scheduler", chosen(Text(dir, "queue/scheduler"))},
			Fact{prefix + "write cache", Text(dir, "queue/write_cache")},
			Fact{prefix + "discard", discards(Text(dir, "queue/discard_max_bytes"))})
	}
	return append(facts, Fact{"discard accounting", m.discardWarning(d.Name)})
}

func discards(largest string) string {
	switch largest {
	case "":
		return ""
	case "0":
		return "no"
	}
	return "yes"
}

// openFiles returns the hard limit of open files: Go raises the soft limit to just
// below it, and servers that need many files do the same.
func (m machine) openFiles() string {
	if limits := fieldsOf(Text(m.proc, "self/limits"), "Max open files"); len(limits) > 1 {
		return limits[1]
	}
	return ""
}

// hardwareCounters returns whether the processor's event counters, such as cycles
// and cache misses, are available: most virtual machines have none.
func (m machine) hardwareCounters() string {
	sources, err := os.ReadDir(filepath.Join(m.sys, "bus/event_source/devices"))
	if err != nil {
		return ""
	}
	for _, s := range sources {
		switch name := s.Name(); {
		case name == "cpu", name == "cpu_core", name == "cpu_atom", name == "cpum_cf", strings.HasPrefix(name, "armv8_"):
			return "yes"
		}
	}
	return "no"
}

// readAhead returns the kernel's read-ahead on the device that holds the
// filesystem, not of the disks beneath an array. A partition has the setting of
// its disk.
func (m machine) readAhead(name string) string {
	dir, err := m.block(name)
	if err != nil || name == "" {
		return ""
	}
	if isPartition(dir) {
		dir = filepath.Dir(dir)
	}
	if kib := Text(dir, "queue/read_ahead_kb"); kib != "" {
		return kib + " KiB"
	}
	return ""
}

// size formats a number of bytes with four digits; "" if it is 0.
func size(bytes float64) string {
	if bytes == 0 {
		return ""
	}
	units := []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB"}
	for bytes >= 1024 && len(units) > 1 {
		bytes, units = bytes/1024, units[1:]
	}
	return strconv.FormatFloat(bytes, 'g', 4, 64) + units[0]
}

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
