package cli_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/server"
)

// link is a network of its own between a machine and the others: this kernel has no netem.
type link struct {
	delay, jitter time.Duration // of a frame, on each way
	losses        float64       // the share of frames that are lost
}

// slow replaces the network of a machine.
func (l link) slow(t *testing.T, m *need.Machine) {
	t.Helper()
	ip := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	here, there := m.Space()+"t", m.Space()+"u"
	outer, inner := tap(t, "", here), tap(t, m.Space(), there)
	bridge, err := os.Readlink("/sys/class/net/" + m.Space() + "h/master")
	if err != nil {
		t.Fatal(err)
	}
	hardware, err := m.Command("cat", "/sys/class/net/"+m.Space()+"m/address").Output() // the others know it
	if err != nil {
		t.Fatal(err)
	}
	ip("link", "del", m.Space()+"h")
	ip("link", "set", here, "master", bridge[len("../"):], "up")
	ip("-n", m.Space(), "link", "set", there, "address", strings.TrimSpace(string(hardware)))
	ip("-n", m.Space(), "addr", "add", m.Address+"/24", "dev", there)
	ip("-n", m.Space(), "link", "set", there, "up")
	go l.carry(outer, inner)
	go l.carry(inner, outer)
}

// tap opens a network device in a namespace; "": here. It ends with the test.
func tap(t *testing.T, space, name string) *os.File {
	t.Helper()
	var fd int
	open := func() error {
		var err error
		if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return err
		}
		request, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		return unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	inside := func() error {
		runtime.LockOSThread() // its thread goes back: servers of the test end with the thread that has started them
		defer runtime.UnlockOSThread()
		own, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			return err
		}
		defer own.Close()
		other, err := os.Open("/run/netns/" + space)
		if err != nil {
			return err
		}
		defer other.Close()
		if err := unix.Setns(int(other.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return errors.Join(open(), unix.Setns(int(own.Fd()), unix.CLONE_NEWNET))
	}
	if space == "" {
		inside = open
	}
	if err := inside(); err != nil {
		t.Fatalf("make a network device: %v", err)
	}
	f := os.NewFile(uintptr(fd), name)
	t.Cleanup(func() { f.Close() })
	return f
}

// carry carries frames one way, in their order, until a device is closed.
func (l link) carry(in, out *os.File) {
	type frame struct {
		due  time.Time
		data []byte
	}
	frames := make(chan frame, 10_000)
	go func() {
		for f := range frames {
			time.Sleep(time.Until(f.due))
			_, _ = out.Write(f.data)
		}
	}()
	defer close(frames)
	for b := make([]byte, 65536); ; {
		n, err := in.Read(b)
		if err != nil {
			return
		}
		if rand.Float64() >= l.losses {
			frames <- frame{time.Now().Add(l.delay + rand.N(l.jitter)), slices.Clone(b[:n])}
		}
	}
}

const slowPlan = `
workload: sysbench
params: {clients: [6], table_size: 2k, tables: [1], load_clients: 3, read_seconds: 4, settle_floor: 1s, tests: [point-query]}
targets: [%s]
machines: [{name: db, ssh: m1, listen: %s}, {name: "c[2-4]", ssh: "m[2-4]"}]
server_on: db
clients_on: ["c[2-4]"]
fleet: {lost: 20s}
rate: 60/s
`

// A machine behind a slow network is named, and only it. The network is not its server's: the report has the
// round trip that no operation is faster than.
func TestSlowMachine(t *testing.T) {
	_, err := server.Find(t.Context(), server.MariaDB, server.Source{})
	need.Installed(t, err)
	machines := need.Machines(t, 4)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(slowPlan, mariadb, machines[0].Address))
	bring(t, machines)
	link{delay: 10 * time.Millisecond, jitter: 2 * time.Millisecond, losses: 0.005}.slow(t, machines[2])
	h.complete(h.start("run", "plan.yaml", "--out", "out", "--no-preflight"))
	trial := h.trial("out/trials/mariadb.1")
	i := slices.IndexFunc(trial.Steps, func(s result.Step) bool { return strings.HasPrefix(s.Name, "point-query") })
	if trial.Status != result.Complete || i < 0 {
		t.Fatalf("%s: %s", trial.Status, trial.Reason)
	}
	step := &trial.Steps[i]
	for _, c := range step.Clients {
		slow := c.Name == "c3"
		if c.Straggler != slow {
			t.Errorf("%s is slower than the others: %v", c.Name, c.Straggler)
		}
		if (c.MinTrip >= 20_000) != slow || (c.P50 >= 20_000) != slow {
			t.Errorf("%s: an operation takes %v µs, and the network %v", c.Name, c.P50, c.MinTrip)
		}
		// Its clock is known as well as its network allows, and nobody began late for it.
		if (c.ClockBound >= 10) != slow || c.ClockBound > 50 || c.Late > 50 {
			t.Errorf("%s: its clock is known to %v ms, and it began %v ms late", c.Name, c.ClockBound, c.Late)
		}
	}
	if named := machinesWith(step, metric.MachineSlow); !slices.Equal(named, []string{"c3"}) {
		t.Errorf("the result names %v: %v", named, step.Warnings)
	}
}

// machinesWith returns the machines that warnings of a step name.
func machinesWith(s *result.Step, code metric.Code) (names []string) {
	for _, w := range s.Warnings {
		if w.Code == code {
			names = append(names, fmt.Sprint(w.Values["machine"]))
		}
	}
	return names
}
