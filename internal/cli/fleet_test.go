package cli_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/need"
	"rumbench/internal/result"
)

const fleetPlan = `
workload: ibench
params: {rows: 2k, query_seconds: 0.3, steps: [l.i0, l.x, qr100]}
targets: [sqlite, pebble]
trials: 4
machines: [{name: "m[1-%d]", ssh: "m[1-%[1]d]"}]
spread: {over: ["m[1-%[1]d]"]}
`

// Blocks of trials run on the machines of a fleet, the two of a block on one of them, and come home
// whole. Nothing of the campaign stays on the machines.
func TestSpread(t *testing.T) {
	machines := need.Machines(t, 3)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(fleetPlan, 3))
	text, _ := h.run(0, "fleet", "status", "plan.yaml")
	h.contains("fleet status", text, "m1", "free", "nothing")
	text, _ = h.run(0, "fleet", "check", "plan.yaml")
	h.contains("fleet check", text, "they are alike", "null engine", "flushes")
	text, _ = h.run(0, "run", "plan.yaml", "--dry-run")
	h.contains("the dry run", text, "those of one number on one of the machines m1, m2, m3")
	text, stderr := h.run(0, "run", "plan.yaml", "--out", "out")
	h.contains("the notes", stderr, "m3: preflight: sqlite, pebble: 2 targets ok", "[8/8]")
	h.contains("the summary", text, "machines, differences in", " by machine: m1 ", "between machines.")
	used := map[string]bool{}
	for n := 1; n <= 4; n++ {
		a, b := h.trial(fmt.Sprintf("out/trials/sqlite.%d", n)), h.trial(fmt.Sprintf("out/trials/pebble.%d", n))
		if a.Status != result.Complete || b.Status != result.Complete || a.Machine == "" || a.Machine != b.Machine {
			t.Errorf("block %d: %s on %q, %s on %q", n, a.Status, a.Machine, b.Status, b.Machine)
		}
		used[a.Machine] = true
	}
	if len(used) != 3 {
		t.Errorf("trials ran on %v", used)
	}
	h.contains("the report", h.file("out/report.html"), "The trials ran on 3 machines: each counts once")
	for _, m := range machines {
		left, _ := filepath.Glob(filepath.Join(m.Home, "rumbench-fleet", "*"))
		if len(left) > 0 {
			t.Errorf("%s has %v", m.Name, left)
		}
		wait(t, "no agent runs", func() bool { return len(m.Processes()) <= 1 }) // of sshd
	}
	h.run(0, "fleet", "down", "plan.yaml")
	if _, err := os.Stat(filepath.Join(machines[0].Home, ".cache", "rumbench", "programs")); err == nil {
		t.Error("the programs are still there")
	}
}

// bring puts the program on machines, where rumbench would copy it to by ssh.
func bring(t *testing.T, machines []*need.Machine) {
	t.Helper()
	path, err := exec.LookPath("rumbench")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range machines {
		dir := filepath.Join(m.Home, ".cache/rumbench/programs", fmt.Sprintf("%x", sha256.Sum256(program)))
		must(t, os.MkdirAll(dir, 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "rumbench"), program, 0o700))
	}
}

// A block whose machine is lost is run again, whole, on another; what it had measured is kept aside.
// Without another try the campaign says what was lost, and can be resumed.
func TestLostMachine(t *testing.T) {
	machines := need.Machines(t, 2)
	bring(t, machines)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(fleetPlan, 2)+"between: {rest: 1s}\n")
	c := h.start("run", "plan.yaml", "--out", "out")
	wait(t, "m1 runs the second trial of a block", func() bool { return h.ended("out", "m1") == 1 })
	machines[0].Kill()
	if code := c.end(); code != 0 {
		t.Fatalf("exit code %d: %s", code, c.stderr)
	}
	h.contains("the notes", c.stderr.String(), "machine m1 was lost: its agent has ended")
	again := 0
	for n := 1; n <= 4; n++ {
		a, b := h.trial(fmt.Sprintf("out/trials/sqlite.%d", n)), h.trial(fmt.Sprintf("out/trials/pebble.%d", n))
		if a.Status != result.Complete || b.Status != result.Complete || a.Machine != b.Machine {
			t.Errorf("block %d: %s on %q, %s on %q", n, a.Status, a.Machine, b.Status, b.Machine)
		}
		for _, name := range []string{"sqlite", "pebble"} {
			path := fmt.Sprintf("out/trials/%s.%d.partial1", name, n)
			if !h.exists(path) {
				continue
			}
			again++
			if old := h.trial(path); old.Lost && (old.Status != result.Failed || !strings.Contains(old.Reason, "machine m1 was lost")) {
				t.Errorf("the lost trial is %s: %s", old.Status, old.Reason)
			}
		}
	}
	if again != 2 {
		t.Errorf("%d trials are kept aside, not those of one block", again)
	}
}

// ended returns how many trials of a campaign have ended on a machine.
func (h *host) ended(dir, machine string) (n int) {
	trials, _ := filepath.Glob(h.path(dir, "trials", "*.*"))
	for _, path := range trials {
		if t, err := result.ReadTrial(path); err == nil && t.Machine == machine && t.Status == result.Complete {
			n++
		}
	}
	return n
}

// When the coordinator is killed, the agents end what they have started, and with it themselves. A
// resumed campaign is then completed.
func TestCoordinatorKilled(t *testing.T) {
	machines := need.Machines(t, 2)
	bring(t, machines)
	h := newHost(t)
	plan := strings.Replace(fmt.Sprintf(fleetPlan, 2), "[sqlite, pebble]", "[{name: postgres, engine: postgres, cache: 16MiB}]", 1)
	h.write("plan.yaml", strings.Replace(plan, "query_seconds: 0.3", "query_seconds: 5", 1))
	c := h.start("run", "plan.yaml", "--out", "out")
	running := func(m *need.Machine) bool { return len(workingIn(m.Home)) > 0 }
	wait(t, "m2 runs a trial", func() bool { return h.ended("out", "m1") > 0 && running(machines[1]) })
	send(t, c.cmd.Process, syscall.SIGKILL)
	c.end()
	for _, m := range machines {
		wait(t, "no server and no agent runs on "+m.Name, func() bool { return !running(m) && len(m.Processes()) <= 1 })
	}
	machines[1].Kill() // also its SSH server: the campaign is completed without it
	_, said := h.run(0, "run", "--resume", "out")
	h.contains("the notes", said, "m2: the campaign goes on without it: ")
	state, err := result.ReadCampaign(h.path("out"))
	if err != nil || slices.ContainsFunc(state.Trials, func(e result.Entry) bool { return e.Status != result.Complete }) {
		t.Errorf("%+v, %v", state.Trials, err)
	}
}

// A machine that cannot be used is named before anything starts.
func TestUnusableMachine(t *testing.T) {
	need.Machines(t, 1)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(fleetPlan, 2))
	_, stderr := h.run(1, "run", "plan.yaml", "--out", "out")
	h.contains("the error", stderr, "machine m2: ssh m2:", "must work without a question")
	if h.exists("out") {
		t.Error("the campaign was begun")
	}
	text, _ := h.run(1, "fleet", "status", "plan.yaml")
	h.contains("fleet status", text, "m1", "free", "cannot be used")
	// Two names of one machine would wait for each other.
	h.write("twice.yaml", strings.Replace(fmt.Sprintf(fleetPlan, 2), `{name: "m[1-2]", ssh: "m[1-2]"}`,
		"{name: m1, ssh: m1}, {name: m2, ssh: root@m1}", 1))
	_, stderr = h.run(1, "run", "twice.yaml", "--out", "out")
	h.contains("the error", stderr, "m1 and m2 are the same machine")
}

// Data that the plan keeps stay on their machine until fleet down, which touches nothing of a campaign
// that runs.
func TestKeptOnMachine(t *testing.T) {
	machines := need.Machines(t, 1)
	h := newHost(t)
	plan := strings.Replace(fmt.Sprintf(fleetPlan, 1), "trials: 4", "trials: 1\nkeep: true", 1)
	plan = strings.Replace(plan, "query_seconds: 0.3", "query_seconds: 10", 1) // the second trial outlasts fleet down
	h.write("plan.yaml", plan)
	c := h.start("run", "plan.yaml", "--out", "out")
	wait(t, "m1 runs the second trial", func() bool { return h.ended("out", "m1") == 1 })
	h.run(0, "fleet", "down", "plan.yaml")
	if code := c.end(); code != 0 {
		t.Fatalf("exit code %d: %s", code, c.stderr)
	}
	kept := func() []string {
		dirs, _ := filepath.Glob(filepath.Join(machines[0].Home, "rumbench-fleet", "kept-*", "run", "trials", "*.1", "data"))
		return dirs
	}
	if len(kept()) != 2 {
		t.Errorf("kept are %v", kept())
	}
	h.contains("the notes", c.stderr.String(), "the data of its trials are kept in "+machines[0].Home)
	text, _ := h.run(0, "fleet", "status", "plan.yaml")
	h.contains("fleet status", text, "1 campaign in")
	h.run(0, "fleet", "down", "plan.yaml")
	if len(kept()) > 0 {
		t.Errorf("fleet down leaves %v", kept())
	}
}
