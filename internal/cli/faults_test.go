package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/server"
)

// processes returns the processes on a machine that have a word among their arguments.
func processes(m *need.Machine, word string) (pids []int) {
	for _, text := range m.Processes() {
		line, _ := os.ReadFile("/proc/" + text + "/cmdline")
		if strings.Contains(string(line), "\x00"+word+"\x00") {
			pid, _ := strconv.Atoi(text)
			pids = append(pids, pid)
		}
	}
	return pids
}

// faults is a fleet whose processes are killed and stopped, and whose network is cut, at random moments.
type faults struct {
	*host
	machines []*need.Machine
	out      string // the directory of the campaign
}

// begin begins a campaign, and waits for a random moment of its trial.
func (f *faults) begin() *campaign {
	f.Helper()
	c := f.start("run", "plan.yaml", "--out", f.out, "--no-preflight")
	wait(f.T, "the trial runs", func() bool { return len(processes(f.machines[0], "trial")) > 0 })
	time.Sleep(time.Duration(rand.Int64N(int64(9 * time.Second))))
	return c
}

// over checks that nothing runs anywhere, and completes the campaign: what it says is what the server counted.
func (f *faults) over(since time.Time) {
	f.Helper()
	for _, m := range f.machines {
		wait(f.T, "nothing runs on "+m.Name, func() bool { return len(workingIn(m.Home)) == 0 && len(m.Processes()) <= 1 })
	}
	f.Logf("nothing ran %.1f s after the fault", time.Since(since).Seconds())
	f.run(0, "fleet", "down", "plan.yaml") // what was killed has left its files
	if !f.exists(f.out + "/campaign.json") {
		return // it had not begun
	}
	f.complete(f.start("run", "--resume", f.out, "--no-preflight"))
	dirs, _ := filepath.Glob(f.path(f.out + "/trials/mariadb.1*"))
	for _, dir := range dirs {
		trial, err := result.ReadTrial(dir)
		if err != nil {
			continue // its machine was lost before it had anything
		}
		for i := range trial.Steps {
			if s := &trial.Steps[i]; s.Name == "point-query" && s.Status == result.Complete {
				if rows := s.Find(metric.Rows, "query", "").Value; rows != found(f.T, s, "mysql.com_select") {
					f.Errorf("%s: the clients have counted %v, and the server %v", dir, rows, found(f.T, s, "mysql.com_select"))
				}
			}
		}
	}
	if trial := f.trial(f.out + "/trials/mariadb.1"); trial.Status != result.Complete {
		f.Errorf("%s: %s", trial.Status, trial.Reason)
	}
}

// asked skips a test that only make faults runs.
func asked(t *testing.T) {
	if os.Getenv("RUMBENCH_FAULTS") == "" {
		t.Skip("make faults runs it, for half an hour")
	}
}

func newFaults(t *testing.T) *faults {
	asked(t)
	_, err := server.Find(t.Context(), server.MariaDB, server.Source{})
	need.Installed(t, err)
	f := &faults{host: newHost(t), machines: need.Machines(t, 3)}
	bring(t, f.machines)
	plan := fmt.Sprintf(dividedPlan, "6", mariadb, f.machines[0].Address) + "calibrate: false\n"
	f.write("plan.yaml", strings.Replace(plan, "fleet: {lost: 8s}", "fleet: {lost: 3s, retries: 0}", 1))
	return f
}

// Whatever process is killed or stopped, and whenever: the campaign ends or goes on, nothing runs afterwards, and it
// can be completed.
func TestKills(t *testing.T) {
	f := newFaults(t)
	for n := range 20 {
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}[n/5%2]
		victim := []string{"clients", "clients' agent", "server's agent", "coordinator", "trial"}[n%5]
		if victim == "trial" {
			signal = syscall.SIGKILL // one that is stopped is waited for, as on one machine
		}
		t.Run(fmt.Sprintf("%d_%v_%s", n, signal, victim), func(t *testing.T) {
			own := &faults{host: &host{t, f.dir}, machines: f.machines, out: fmt.Sprintf("out%d", n)}
			own.kill(victim, signal)
		})
	}
}

func (f *faults) kill(victim string, signal syscall.Signal) {
	c := f.begin()
	var pids []int
	switch client := f.machines[1+rand.IntN(2)]; victim {
	case "clients":
		pids = processes(client, "trial")
	case "clients' agent":
		pids = processes(client, "agent")
	case "server's agent":
		pids = processes(f.machines[0], "agent")
	case "coordinator":
		pids = []int{c.cmd.Process.Pid}
	case "trial":
		pids = processes(f.machines[0], "trial")
	}
	since := time.Now()
	for _, pid := range pids {
		_ = syscall.Kill(pid, signal) // it may have ended
	}
	if victim == "coordinator" && signal == syscall.SIGSTOP {
		wait(f.T, "the agents have noticed it", func() bool { return len(processes(f.machines[0], "agent")) == 0 })
		_ = syscall.Kill(pids[0], syscall.SIGCONT)
	}
	c.end()
	f.Logf("the campaign ended %.1f s after the fault", time.Since(since).Seconds())
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped agent cannot end what it has started
	}
	f.over(since)
}

// unheard cuts one way of a machine's network: what is sent to an address goes to a machine that is not there.
func unheard(t *testing.T, space, device, address string) (heal func()) {
	t.Helper()
	ip := func(args ...string) {
		if space != "" {
			args = append([]string{"-n", space}, args...)
		}
		must(t, exec.Command("ip", args...).Run())
	}
	ip("neigh", "replace", address, "lladdr", "02:00:00:00:00:99", "dev", device, "nud", "permanent")
	return func() { ip("neigh", "del", address, "dev", device) }
}

// cut cuts a machine's network, in both ways or in one, and returns what mends it.
func cut(t *testing.T, m *need.Machine, way string) (heal func()) {
	t.Helper()
	if way == "both" {
		m.Cut()
		return m.Heal
	}
	if way == "up" {
		return unheard(t, m.Space(), m.Space()+"m", m.Gateway())
	}
	bridge, err := os.Readlink("/sys/class/net/" + m.Space() + "h/master")
	must(t, err)
	return unheard(t, "", filepath.Base(bridge), m.Address)
}

// A cut of the network voids a step or does nothing; what is called complete is what the server counted.
func TestCuts(t *testing.T) {
	f := newFaults(t)
	for n, c := range []struct {
		way    string
		length time.Duration
	}{
		{"both", time.Second}, {"up", time.Second}, {"down", time.Second}, {"both", 2900 * time.Millisecond},
		{"up", 2900 * time.Millisecond}, {"down", 2900 * time.Millisecond}, {"both", 4 * time.Second}, {"up", 4 * time.Second},
		{"down", 4 * time.Second}, {"both", 70 * time.Second}, {"up", 70 * time.Second}, {"down", 70 * time.Second},
	} {
		t.Run(fmt.Sprintf("%s_%v", c.way, c.length), func(t *testing.T) {
			own := &faults{host: &host{t, f.dir}, machines: f.machines, out: fmt.Sprintf("out%d", n)}
			campaign := own.begin()
			heal := cut(t, f.machines[n%3], c.way)
			since := time.Now()
			time.Sleep(c.length)
			heal()
			campaign.end()
			t.Logf("the campaign ended %.1f s after the cut", time.Since(since).Seconds())
			own.over(since)
		})
	}
}

// A trial that runs whole on one machine goes on through a cut of a minute.
func TestCutOfMinute(t *testing.T) {
	asked(t)
	machines := need.Machines(t, 2)
	bring(t, machines)
	h := newHost(t)
	h.write("plan.yaml", strings.Replace(fmt.Sprintf(fleetPlan, 2), "query_seconds: 0.3", "query_seconds: 10", 1))
	c := h.start("run", "plan.yaml", "--out", "out", "--no-preflight")
	wait(t, "a trial runs", func() bool { return len(processes(machines[0], "trial")) > 0 })
	machines[0].Cut()
	time.Sleep(time.Minute)
	machines[0].Heal()
	if code := c.end(); code != 0 {
		t.Fatalf("exit code %d: %s", code, c.stderr)
	}
	if text := c.stderr.String(); strings.Contains(text, "lost") {
		t.Error(text)
	}
}

// A machine with a thin network is named as the one that was slow, and only it.
func TestThinNetwork(t *testing.T) {
	f := newFaults(t)
	m := f.machines[2]
	must(t, exec.Command("tc", "-n", m.Space(), "qdisc", "add", "dev", m.Space()+"m", "root", "tbf", "rate", "1mbit", "burst",
		"8kb", "latency", "200ms").Run())
	f.complete(f.start("run", "plan.yaml", "--out", "out", "--no-preflight"))
	for _, s := range f.trial("out/trials/mariadb.1").Steps {
		if s.Name == "point-query" && (s.Clients[0].Straggler || !s.Clients[1].Straggler) {
			t.Errorf("%+v", s.Clients)
		}
	}
}
