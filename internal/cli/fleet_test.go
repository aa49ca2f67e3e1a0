package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/server"
)

const fleetPlan = `
workload: ibench
params: {rows: 2k, query_seconds: 0.3, steps: [l.i0, l.x, qr100]}
targets: [sqlite, pebble]
trials: %[2]d
machines: [{name: "m[1-%[1]d]", ssh: "m[1-%[1]d]"}]
spread: {over: ["m[1-%[1]d]"]}
`

// Agents by ssh: blocks of trials are spread over machines, and come home whole; then clients are on other machines than
// their server. What is lost, late or ended is tested in virtual time: internal/fleet, internal/run/divided.
func TestMachines(t *testing.T) {
	_, err := server.Find(t.Context(), server.MariaDB, server.Source{})
	need.Installed(t, err)
	machines := need.Machines(t, 3)
	bring(t, machines)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(fleetPlan, 2, 2)+"calibrate: false\n")
	spread(t, h, 2, 2, "--no-preflight")
	nothingStays(t, machines)

	own := newHost(t)
	own.write("plan.yaml", strings.Replace(fmt.Sprintf(dividedPlan, "1", mariadb, machines[0].Address), "update-index, ", "", 1)+
		"calibrate: false\n")
	elsewhere(t, own, machines, []string{"mariadb"}, "--no-preflight")
}

// spread runs a campaign over machines, and returns its summary and notes.
func spread(t *testing.T, h *host, blocks, machines int, flags ...string) (text, notes string) {
	t.Helper()
	text, notes = h.run(0, append([]string{"run", "plan.yaml", "--out", "out"}, flags...)...)
	used := map[string]bool{}
	for n := 1; n <= blocks; n++ {
		a, b := h.trial(fmt.Sprintf("out/trials/sqlite.%d", n)), h.trial(fmt.Sprintf("out/trials/pebble.%d", n))
		expect.True(t, a.Status == result.Complete && b.Status == result.Complete && a.Machine != "" && a.Machine == b.Machine, n, a.Status, a.Machine, b.Status, b.Machine)
		used[a.Machine] = true
	}
	if len(used) != machines && blocks >= 2*machines { // a machine runs a block and its reverse
		t.Errorf("trials ran on %v", used)
	}
	return text, notes
}

// What a fleet says of itself, before a campaign and after.
func TestSpread(t *testing.T) {
	need.Long(t)
	machines := need.Machines(t, 3)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(fleetPlan, 3, 6))
	text, _ := h.run(0, "fleet", "status", "plan.yaml")
	h.contains("fleet status", text, "m1", "free", "nothing")
	text, _ = h.run(0, "fleet", "check", "plan.yaml")
	h.contains("fleet check", text, "they are alike", "null engine", "flushes")
	text, _ = h.run(0, "run", "plan.yaml", "--dry-run")
	h.contains("the dry run", text, "those of one number on one of the machines m1, m2, m3")
	text, stderr := spread(t, h, 6, 3)
	h.contains("the notes", stderr, "m3: preflight: sqlite, pebble: 2 targets ok", "[12/12]")
	h.contains("the summary", text, "machines, differences in", " by machine: m1 ", "between machines.")
	h.contains("the report", h.file("out/report.html"), "The trials ran on 3 machines: each counts once")
	nothingStays(t, machines)
	h.run(0, "fleet", "down", "plan.yaml")
	if _, err := os.Stat(filepath.Join(machines[0].Home, ".cache", "rumbench", "programs")); err == nil {
		t.Error("the programs are still there")
	}
}

// bring puts the program on machines, where rumbench would copy it to by ssh.
func bring(t *testing.T, machines []*need.Machine) {
	t.Helper()
	path, err := exec.LookPath("rumbench")
	expect.NoError(t, err)
	own, err := program.Build{}.Of(path)
	expect.NoError(t, err)
	for _, m := range machines {
		dir := filepath.Join(m.Home, ".cache/rumbench/programs", own.SHA256)
		expect.NoError(t, os.MkdirAll(dir, 0o755))
		expect.NoError(t, exec.Command("cp", "--link", "-L", path, filepath.Join(dir, "rumbench")).Run())
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

// A machine that cannot be used is named before anything starts.
func TestUnusableMachine(t *testing.T) {
	need.Long(t)
	need.Machines(t, 1)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(fleetPlan, 2, 4))
	_, stderr := h.run(1, "run", "plan.yaml", "--out", "out")
	h.contains("the error", stderr, "machine m2: ssh m2:", "must work without a question")
	expect.True(t, !h.exists("out"), "the campaign was begun")
	text, _ := h.run(1, "fleet", "status", "plan.yaml")
	h.contains("fleet status", text, "m1", "free", "cannot be used")
	// Two names of one machine would wait for each other.
	h.write("twice.yaml", strings.Replace(fmt.Sprintf(fleetPlan, 2, 4), `{name: "m[1-2]", ssh: "m[1-2]"}`,
		"{name: m1, ssh: m1}, {name: m2, ssh: root@m1}", 1))
	for _, words := range [][]string{{"run", "twice.yaml", "--out", "out"}, {"fleet", "check", "twice.yaml"}} {
		_, stderr = h.run(1, words...)
		h.contains("the error", stderr, "m1 and m2 are the same machine")
	}
}

// Data that the plan keeps stay on their machine until fleet down, which touches nothing of a campaign
// that runs.
func TestKeptOnMachine(t *testing.T) {
	need.Long(t)
	machines := need.Machines(t, 1)
	h := newHost(t)
	plan := fmt.Sprintf(fleetPlan, 1, 1) + "keep: true\n"
	plan = strings.Replace(plan, "query_seconds: 0.3", "query_seconds: 10", 1) // the second trial outlasts fleet down
	h.write("plan.yaml", plan)
	c := h.start("run", "plan.yaml", "--out", "out")
	wait(t, "m1 runs the second trial", func() bool { return h.ended("out", "m1") == 1 })
	h.run(0, "fleet", "down", "plan.yaml")
	c.complete()
	kept := func() []string {
		dirs, _ := filepath.Glob(filepath.Join(machines[0].Home, "rumbench-fleet", "kept-*", "run", "trials", "*.1", "data"))
		return dirs
	}
	expect.Equal(t, len(kept()), 2, "kept are", kept())
	h.contains("the notes", c.stderr.String(), "the data of its trials are kept in "+machines[0].Home)
	text, _ := h.run(0, "fleet", "status", "plan.yaml")
	h.contains("fleet status", text, "1 campaign in")
	h.run(0, "fleet", "down", "plan.yaml")
	expect.True(t, len(kept()) == 0, "fleet down leaves", kept())
}
