package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"rumbench/internal/observe"
)

// machine is where the kernel shows itself, and what was read there. Tests
// point it at fixtures.
type machine struct {
	proc, sys string
	uid       int
	dir, lock string
	facts     []observe.Fact
	device    observe.Device
	deviceErr error // why there is no device
	// space tells how much a filesystem has free and in all, in bytes.
	space         func(dir string) (free, total float64, err error)
	before, after sample
}

func thisMachine(o Options) (*machine, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, unix.ENOTDIR
	}
	m := &machine{proc: "/proc", sys: "/sys", uid: os.Geteuid(), dir: dir, lock: o.Lock, facts: observe.Facts(dir), space: space}
	m.device, m.deviceErr = observe.FindDevice(dir)
	return m, nil
}

func space(dir string) (free, total float64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return float64(st.Bavail) * float64(st.Bsize), float64(st.Blocks) * float64(st.Bsize), nil
}

// text reads a small file whole, without the space around; "" if it cannot.
func text(elem ...string) string {
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func exists(elem ...string) bool {
	_, err := os.Stat(filepath.Join(elem...))
	return err == nil
}

// root is a command that only root may do, as this user has to type it.
func (m *machine) root(command string) string {
	if m.uid == 0 {
		return command
	}
	return "sudo " + command
}

// set is the command that writes a value into files of the kernel. tee takes
// many files, and sudo.
func (m *machine) set(value, files string) string {
	return "echo " + value + " | " + m.root("tee "+files)
}

// meminfo reads /proc/meminfo. What it does not tell is nil.
func (m *machine) meminfo() procfs.Meminfo {
	kernel, err := procfs.NewFS(m.proc)
	if err != nil {
		return procfs.Meminfo{}
	}
	info, err := kernel.Meminfo()
	if err != nil {
		return procfs.Meminfo{}
	}
	return info
}

// sample is what grows while others work.
type sample struct {
	at       time.Time
	cpu      *procfs.CPUStat    // of all CPUs; nil: unknown
	pressure map[string]float64 // seconds in which some task waited, by resource
	swapped  *float64           // pages moved to and from swap; nil: unknown
	procs    map[int]process
}

// process is another process with the CPU time it has used.
type process struct {
	name    string
	started uint64
	seconds float64
}

func (m *machine) sample() sample {
	s := sample{at: time.Now(), pressure: map[string]float64{}, procs: map[int]process{}}
	kernel, err := procfs.NewFS(m.proc)
	if err != nil {
		return s
	}
	if stat, err := kernel.Stat(); err == nil {
		s.cpu = &stat.CPUTotal
	}
	for _, resource := range resources {
		if psi, err := kernel.PSIStatsForResource(resource); err == nil && psi.Some != nil {
			s.pressure[resource] = float64(psi.Some.Total) / 1e6
		}
	}
	s.swapped = m.swapped()
	all, err := kernel.AllProcs()
	if err != nil {
		return s
	}
	for _, p := range all {
		if stat, err := p.Stat(); err == nil { // else it has ended
			s.procs[p.PID] = process{stat.Comm, stat.Starttime, stat.CPUTime()}
		}
	}
	return s
}

// swapped is how many pages have moved to and from swap since the start.
func (m *machine) swapped() *float64 {
	sum, found := 0.0, 0
	for line := range strings.Lines(text(m.proc, "vmstat")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "pswpin" && name != "pswpout" {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			sum += n
			found++
		}
	}
	if found < 2 {
		return nil
	}
	return &sum
}
