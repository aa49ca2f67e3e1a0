package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/remark"
	"rumbench/internal/result"
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

// faults is a fleet whose processes are killed and stopped, and whose network is cut, at random moments. What must
// follow is tested in virtual time in internal/fleet; here real processes and a real network do what is assumed there.
type faults struct {
	*host
	machines []*need.Machine
}

func newFaults(t *testing.T) *faults {
	need.Long(t)
	f := &faults{host: newHost(t), machines: need.Machines(t, 3)}
	bring(t, f.machines)
	plan := fmt.Sprintf(dividedPlan, "6", mariadb, f.machines[0].Address) + "calibrate: false\n"
	f.write("plan.yaml", strings.Replace(plan, "fleet: {lost: 8s}", "fleet: {lost: 3s}", 1))
	return f
}

// try begins a campaign, has a fault at a random moment of its trial, and waits for the end. Nothing runs then anywhere,
// and the campaign can be completed: what it says is what the server counted.
func (f *faults) try(t *testing.T, fault func(c *campaign) (end func())) {
	h := &host{t, f.dir}
	out := regexp.MustCompile(`\W`).ReplaceAllString(t.Name(), "_")
	c := h.start("run", "plan.yaml", "--out", out, "--no-preflight")
	wait(t, "the trial runs", func() bool { return len(processes(f.machines[0], "trial")) > 0 })
	time.Sleep(time.Duration(rand.Int64N(int64(9 * time.Second))))
	end := fault(c)
	c.end()
	end()
	for _, m := range f.machines {
		wait(t, "nothing runs on "+m.Name, func() bool { return len(workingIn(m.Home)) == 0 && len(m.Processes()) <= 1 })
	}
	h.run(0, "fleet", "down", "plan.yaml") // what was killed has left its files
	h.run(0, "run", "--resume", out, "--no-preflight")
	dirs, _ := filepath.Glob(h.path(out + "/trials/mariadb.1*"))
	for _, dir := range dirs {
		trial, err := result.ReadTrial(dir)
		for i := 0; err == nil && i < len(trial.Steps); i++ { // else its machine was lost before it had anything
			if s := &trial.Steps[i]; s.Name == "point-query" && s.Status == result.Complete {
				expect.Equal(t, s.Find(metric.Rows, "query", "").Value, found(t, s, "mysql.com_select"),
					dir, "the clients have counted", "and the server")
			}
		}
	}
	if trial := h.trial(out + "/trials/mariadb.1"); trial.Status != result.Complete {
		t.Errorf("%s: %s", trial.Status, trial.Reason)
	}
}

// Whatever process is killed or stopped, and whichever network is cut: the campaign ends or goes on, and can be completed.
func TestKills(t *testing.T) {
	f := newFaults(t)
	for _, c := range []struct {
		victim  string
		signals []syscall.Signal
	}{
		{"clients' agent", both}, {"server's agent", both}, {"coordinator", both},
		// One that is stopped is waited for: as on one machine, and five minutes while clients open their sessions.
		{"trial", both[:1]}, {"clients", both[:1]},
	} {
		for _, signal := range c.signals {
			t.Run(fmt.Sprintf("%s_%v", c.victim, signal), func(t *testing.T) {
				f.try(t, func(running *campaign) (end func()) {
					pids := map[string][]int{"clients": processes(f.machines[1], "trial"),
						"clients' agent": processes(f.machines[2], "agent"), "server's agent": processes(f.machines[0], "agent"),
						"coordinator": {running.cmd.Process.Pid}, "trial": processes(f.machines[0], "trial")}[c.victim]
					send := func(s syscall.Signal) {
						for _, pid := range pids {
							_ = syscall.Kill(pid, s) // it may have ended
						}
					}
					if send(signal); c.victim == "coordinator" && signal == syscall.SIGSTOP {
						wait(t, "the agents have noticed it", func() bool { return len(processes(f.machines[0], "agent")) == 0 })
						send(syscall.SIGCONT)
					}
					return func() { send(syscall.SIGCONT) } // a stopped agent cannot end what it has started
				})
			})
		}
	}
	for n, length := range []time.Duration{time.Second, 4 * time.Second, 70 * time.Second} {
		t.Run(fmt.Sprint("cut for ", length), func(t *testing.T) {
			f.try(t, func(*campaign) func() {
				f.machines[n].Cut()
				time.Sleep(length)
				f.machines[n].Heal()
				return func() {}
			})
		})
	}
}

var both = []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}

// A trial that runs whole on one machine goes on through a cut of a minute: ssh and TCP stand it.
func TestCutOfMinute(t *testing.T) {
	need.Long(t)
	machines := need.Machines(t, 1)
	h := newHost(t)
	h.write("plan.yaml", strings.Replace(fmt.Sprintf(fleetPlan, 1, 1), "query_seconds: 0.3", "query_seconds: 10", 1))
	c := h.start("run", "plan.yaml", "--out", "out", "--no-preflight")
	wait(t, "a trial runs", func() bool { return len(processes(machines[0], "trial")) > 0 })
	machines[0].Cut()
	time.Sleep(time.Minute)
	machines[0].Heal()
	if c.complete(); strings.Contains(c.stderr.String(), "lost") {
		t.Errorf("%s", c.stderr)
	}
}

// A machine with a thin network is named as the one that was slow, and only it.
func TestThinNetwork(t *testing.T) {
	f := newFaults(t)
	m := f.machines[2]
	expect.NoError(t, exec.Command("tc", "-n", m.Space(), "qdisc", "add", "dev", m.Space()+"m", "root", "tbf", "rate", "1mbit", "burst",
		"8kb", "latency", "200ms").Run())
	f.start("run", "plan.yaml", "--out", "out", "--no-preflight").complete()
	for _, s := range f.trial("out/trials/mariadb.1").Steps {
		var slow []any
		for _, w := range s.Warnings {
			if w.Code == remark.MachineSlow {
				slow = append(slow, w.Values["machine"])
			}
		}
		if s.Name == "point-query" && !slices.Equal(slow, []any{"c3"}) {
			t.Errorf("slow: %v, %v", slow, s.Warnings)
		}
	}
}
