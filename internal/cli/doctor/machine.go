package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// machine is where the kernel shows itself, and what was read there. Tests
// point it at fixtures.
type machine struct {
	proc, sys string
	uid       int
	dir, lock string
	facts     observe.Facts
	device    observe.Device
	deviceErr error // why there is no device
	// space returns how much a filesystem has free and in all, in bytes.
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
	m := &machine{proc: "/proc", sys: "/sys", uid: os.Geteuid(), dir: dir, lock: o.Lock, facts: observe.FactsOf(dir),
		space: space}
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

// text returns a small file whole, without the space around; "" if it cannot.
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

// root returns a command that only root may do, as this user has to type it.
func (m *machine) root(command string) string {
	if m.uid == 0 {
		return command
	}
	return "sudo " + command
}

// set returns the command that writes a value into files of the kernel. tee takes
// many files, and sudo.
func (m *machine) set(value, files string) string {
	return "echo " + value + " | " + m.root("tee "+files)
}

// meminfo returns /proc/meminfo. What is not in it is nil.
func (m *machine) meminfo() procfs.Meminfo {
	info := procfs.Meminfo{}
	if kernel, err := procfs.NewFS(m.proc); err == nil {
		info, _ = kernel.Meminfo()
	}
	return info
}

// processes returns those that can be seen.
func (m *machine) processes() (all procfs.Procs) {
	if kernel, err := procfs.NewFS(m.proc); err == nil {
		all, _ = kernel.AllProcs()
	}
	return all
}

// sample is what grows while others work.
type sample struct {
	at    time.Time
	host  map[string]float64 // the counters of observe.Host, those that are known
	procs map[int]process
}

// grown returns by how much counters have grown meanwhile, together; false if one of
// them is not known.
func (m *machine) grown(names ...string) (sum float64, known bool) {
	for _, name := range names {
		start, before := m.before.host[name]
		end, after := m.after.host[name]
		if !before || !after {
			return 0, false
		}
		sum += end - start
	}
	return sum, true
}

// process is another process with the CPU time it has used.
type process struct {
	name    string
	started uint64
	seconds float64
}

func (m *machine) sample() sample {
	s := sample{at: time.Now(), host: map[string]float64{}, procs: map[int]process{}}
	var counters engine.Sample
	_ = observe.NewHost(m.proc).Collect(context.Background(), &counters) // what it does not have is not known
	for _, p := range counters.Points {
		s.host[p.Name] = p.Value
	}
	for _, p := range m.processes() {
		if stat, err := p.Stat(); err == nil { // else it has ended
			s.procs[p.PID] = process{stat.Comm, stat.Starttime, stat.CPUTime()}
		}
	}
	return s
}
