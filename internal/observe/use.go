package observe

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"rumbench/engine"
)

// Use is what a load needs of the machine of its clients, in a window.
type Use struct {
	CPU time.Duration `json:"cpu"` // of this process
	// Busy is the share of the machine's processors that were at work, of this process's quota if it has
	// one; Net the share of a network interface's speed, of the busiest; 0 if that is unknown.
	Busy float64 `json:"busy"`
	Net  float64 `json:"net,omitempty"`
	// Queue is how long this process's threads were runnable and waited for a CPU.
	Queue time.Duration `json:"queue"`
}

// UseWatch measures the use of a machine by this process's clients. It begins with Begin.
type UseWatch struct {
	delays      func() ClientDelay
	first, last useCounts
}

// useCounts are counters at an instant.
type useCounts struct {
	at        time.Time
	cpu       time.Duration
	busy      float64 // ns of processors; 0: unknown
	queue     RunQueue
	nets      map[string]float64 // seconds that interfaces have needed at their speed
	sent, got int64              // bytes, of all interfaces
}

// Begin begins the window.
func (u *UseWatch) Begin() {
	u.delays = WatchClient()
	u.first = readUse()
	u.last = u.first
}

// Interval returns the use since the previous call, or the beginning.
func (u *UseWatch) Interval() Use {
	now := readUse()
	defer func() { u.last = now }()
	return now.since(&u.last)
}

// UseTotal is the use in a whole window.
type UseTotal struct {
	Use
	Delay      ClientDelay `json:"delay"`
	Processors float64     `json:"processors"` // that this process may use
	Sent, Got  int64       // bytes, of all network interfaces
	// MinTrip and Trip are the least and the median of the least round trips of this process's TCP
	// connections, as the kernel has measured them; 0: there are none. Resent are their segments that were
	// sent again.
	MinTrip, Trip time.Duration
	Resent        int64
}

// End returns the use since the beginning. The connections must still be open.
func (u *UseWatch) End() (t UseTotal) {
	now := readUse()
	t.Use, t.Delay = now.since(&u.first), u.delays()
	t.Processors = Running()
	t.Sent, t.Got = now.sent-u.first.sent, now.got-u.first.got
	t.MinTrip, t.Trip, t.Resent = trips()
	return t
}

func readUse() (c useCounts) {
	c.at = time.Now()
	c.cpu, _ = cpuClock(os.Getpid())
	c.queue, _ = ReadRunQueue("/proc", os.Getpid())
	c.nets = map[string]float64{}
	kernel, err := procfs.NewFS("/proc")
	if err != nil {
		return c
	}
	if stat, err := kernel.Stat(); err == nil {
		t := stat.CPUTotal
		c.busy = (t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ) * 1e9
	}
	c.readNets(kernel)
	return c
}

// interfaces returns the counters of the network interfaces, but that of the machine to itself. If some are of
// hardware, they are all: bridges and the like count the same bytes once more, and come and go with containers.
func interfaces(kernel procfs.FS) (procfs.NetDev, error) {
	devices, err := kernel.NetDev()
	delete(devices, "lo")
	hardware := procfs.NetDev{}
	for name, d := range devices {
		if _, err := os.Stat(filepath.Join("/sys/class/net", name, "device")); err == nil {
			hardware[name] = d
		}
	}
	if len(hardware) > 0 {
		devices = hardware
	}
	return devices, err
}

// The counters of bytes of all network interfaces.
const (
	NetSent = "host.net.sent_bytes"
	NetGot  = "host.net.received_bytes"
)

// traffic adds up what network interfaces have sent and received, also of those that are gone.
type traffic struct {
	last      procfs.NetDev // nil: nothing was read yet
	sent, got float64
}

// read adds the bytes. A machine may have no interface, or hide them.
func (t *traffic) read(kernel procfs.FS, s *engine.Sample) {
	devices, err := interfaces(kernel)
	if err != nil || len(devices) == 0 && t.last == nil {
		return
	}
	for name, now := range devices {
		previousLine := t.last[name] // 0 of one that is new
		if now.TxBytes < previousLine.TxBytes || now.RxBytes < previousLine.RxBytes {
			previousLine = procfs.NetDevLine{} // it was made again
		}
		t.sent, t.got = t.sent+float64(now.TxBytes-previousLine.TxBytes), t.got+float64(now.RxBytes-previousLine.RxBytes)
	}
	t.last = devices
	s.Counter(NetSent, "bytes", t.sent)
	s.Counter(NetGot, "bytes", t.got)
}

// readNets reads the interfaces' counters.
func (c *useCounts) readNets(kernel procfs.FS) {
	devices, err := interfaces(kernel)
	if err != nil {
		return
	}
	for name, d := range devices {
		c.sent, c.got = c.sent+int64(d.TxBytes), c.got+int64(d.RxBytes)
		b, err := os.ReadFile(filepath.Join("/sys/class/net", name, "speed"))
		mbit, perr := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
		if err == nil && perr == nil && mbit > 0 {
			c.nets[name] = float64(max(d.TxBytes, d.RxBytes)) * 8 / (mbit * 1e6)
		}
	}
}

func (c *useCounts) since(o *useCounts) (u Use) {
	passed := c.at.Sub(o.at)
	if passed <= 0 {
		return u
	}
	u.CPU, u.Queue = c.cpu-o.cpu, c.queue.Since(o.queue)
	all, own := (c.busy-o.busy)/float64(runtime.NumCPU()), float64(u.CPU)/Processors()
	u.Busy = min(1, max(all, own)/float64(passed))
	for name, seconds := range c.nets {
		u.Net = max(u.Net, (seconds-o.nets[name])/passed.Seconds())
	}
	return u
}

// trips reads what the kernel knows of this process's TCP connections.
func trips() (lowest, median time.Duration, resent int64) {
	entries, _ := os.ReadDir("/proc/self/fd")
	var durations []time.Duration
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil || info.Min_rtt == 0 || info.Min_rtt == 1<<32-1 {
			continue // it is no TCP connection, or nothing was sent on it
		}
		durations = append(durations, time.Duration(info.Min_rtt)*time.Microsecond)
		resent += int64(info.Total_retrans)
	}
	if len(durations) == 0 {
		return 0, 0, resent
	}
	slices.Sort(durations)
	return durations[0], durations[len(durations)/2], resent
}
