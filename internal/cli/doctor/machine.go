package doctor

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// machine holds the locations of the kernel's files and the values read from them.
// Tests point it at fixtures.
type machine struct {
	proc, sys string
	uid       int
	dir, lock string
	facts     observe.Facts
	timers    []observe.Timer
	scheduled bool // systemd runs here
	device    observe.Device
	deviceErr error // why there is no device
	// space returns the free and the total space of a filesystem, in bytes.
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
	m.timers, m.scheduled = observe.Timers(context.Background(), time.Now().Add(timersWithin))
	return m, nil
}

func space(dir string) (free, total float64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return float64(st.Bavail) * float64(st.Bsize), float64(st.Blocks) * float64(st.Bsize), nil
}

func exists(elem ...string) bool {
	_, err := os.Stat(filepath.Join(elem...))
	return err == nil
}

// root returns a command that only root may run, as this user has to type it.
func (m *machine) root(command string) string {
	if m.uid == 0 {
		return command
	}
	return "sudo " + command
}

// set returns the command that writes a value into files of the kernel. tee accepts
// several files, and works with sudo.
func (m *machine) set(value, files string) string {
	return "echo " + value + " | " + m.root("tee "+files)
}

// kernel returns the files of /proc. Those that are missing are unknown.
func (m *machine) kernel() procfs.FS {
	files, _ := procfs.NewFS(m.proc)
	return files
}

// meminfo returns /proc/meminfo. Missing fields are nil.
func (m *machine) meminfo() procfs.Meminfo {
	info, _ := m.kernel().Meminfo()
	return info
}

func (m *machine) processes() procfs.Procs {
	procs, _ := m.kernel().AllProcs()
	return procs
}

// sample holds the counters that grow while other processes run.
type sample struct {
	at    time.Time
	host  map[string]float64 // the known counters of observe.Host
	procs map[int]process
}

// grown returns the total growth of counters during the check; false if one of them
// is unknown.
func (m *machine) grown(names ...string) (sum float64, found bool) {
	for _, name := range names {
		first, before := m.before.host[name]
		last, after := m.after.host[name]
		if !before || !after {
			return 0, false
		}
		sum += last - first
	}
	return sum, true
}

type process struct {
	name    string
	started uint64
	seconds float64
}

func (m *machine) sample() sample {
	s := sample{at: time.Now(), host: map[string]float64{}, procs: map[int]process{}}
	var counters engine.Sample
	_ = observe.NewHost(m.proc).Collect(context.Background(), &counters) // missing counters are unknown
	for _, p := range counters.Points {
		s.host[p.Name] = p.Value
	}
	for _, p := range m.processes() {
		if stat, err := p.Stat(); err == nil { // otherwise it has ended
			s.procs[p.PID] = process{stat.Comm, stat.Starttime, stat.CPUTime()}
		}
	}
	return s
}
