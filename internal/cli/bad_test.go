package cli_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// planFor is a plan whose query step does not end before the test is done with it.
func planFor(targets ...string) string {
	return `
name: bad day
workload: ibench
params: {rows: 1k, steps: [l.i0, l.x, qr100], rates: [100], query_seconds: 600, settle_floor: 0s}
interval: 100ms
calibrate: false
order: sequential
targets: [` + strings.Join(targets, ", ") + "]\n"
}

// checkPartial checks a trial that was interrupted in its query step: what it
// had measured is there, and is marked.
func (h *host) checkPartial(dir string, status result.Status, reason string) *result.Trial {
	h.Helper()
	t := h.trial(dir)
	if t.Status != status || !strings.Contains(t.Reason, reason) {
		h.Errorf("%s is %s: %s; want %s: %s", dir, t.Status, t.Reason, status, reason)
	}
	if len(t.Steps) != 3 || t.Steps[2].Name != "qr100" {
		h.Fatalf("%s has %d steps, not 3", dir, len(t.Steps))
	}
	for i, want := range []result.Status{result.Complete, result.Complete, result.Partial} {
		if s := t.Steps[i]; s.Status != want {
			h.Errorf("%s: step %s is %s, not %s", dir, s.Name, s.Status, want)
		}
	}
	s := &t.Steps[2]
	rate := s.Find("rows_per_s", "query", "")
	if rate == nil || rate.Value <= 0 || s.Seconds <= 0 || s.Primary != "query" || len(s.Warnings) == 0 {
		h.Errorf("%s: the step in progress reports too little: %+v, %v s, %v", dir, rate, s.Seconds, s.Warnings)
	}
	out, _ := h.run(0, "show", dir)
	h.contains("show", out, string(status), "qr100  query", "rows_per_s", "! qr100: the step did not end")
	return t
}

// A trial that is killed costs one trial.
func TestTrialKilled(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("plan.yaml", planFor("pebble", "bbolt"))
	c := h.start("run", "plan.yaml", "--out", "out", "--keep-going", "--no-preflight")
	c.during("out/trials/pebble.1", "qr100")
	first := c.child()
	send(t, first, syscall.SIGKILL)
	c.during("out/trials/bbolt.1", "qr100")
	h.checkPartial("out/trials/pebble.1", result.Failed, "signal: killed")
	if hint := h.trial("out/trials/pebble.1").Hint; !strings.Contains(hint, "out of memory") {
		t.Errorf("hint %q", hint)
	}
	h.removed("out/trials/pebble.1/data", "out/trials/pebble.1/tmp")

	// Ctrl-C in the second trial.
	second := c.child()
	c.ends(syscall.SIGINT, 1)
	h.contains("standard error", c.stderr.String(),
		"[1/2] pebble.1", "failed in ", "signal: killed", "hint: it was killed from outside",
		"[2/2] bbolt.1", "partial in ", "it was interrupted",
		"rumbench: the campaign was interrupted", "hint: go on with it: rumbench run --resume out\n")
	h.contains("standard output", c.stdout.String(), "qr100", "partial; not comparable", "report: ")
	h.contains("report.md", h.file("out/report.md"), "signal: killed", "partial")
	expect.True(t, !alive(first) && !alive(second), "a process is left")
	bbolt := h.checkPartial("out/trials/bbolt.1", result.Partial, "it was interrupted")
	if s := bbolt.Steps[2]; s.Find("service_p99_us", "query", "") == nil || s.Find("server_cpu_us", "", "query") == nil || s.Promise(s.Groups[0].Name) == nil {
		t.Error("a step that was ended in good order is measured to its end")
	}
	h.removed("out/trials/bbolt.1/data")

	// Both are run again; what there was is kept.
	talk := h.resume("600", "pebble.1", "bbolt.1")
	h.contains("standard error", talk, "[1/2] pebble.1", "[2/2] bbolt.1", "complete in ")
	h.checkPartial("out/trials/pebble.1.partial1", result.Failed, "signal: killed")
	h.checkPartial("out/trials/bbolt.1.partial1", result.Partial, "it was interrupted")
}

// A campaign that is killed takes its trial with it, and goes on where it was.
func TestCampaignKilled(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("plan.yaml", planFor("{engine: bbolt, params: {query_seconds: 0.3}}", "sqlite"))
	c := h.start("run", "plan.yaml", "--out", "out", "--no-preflight")
	c.during("out/trials/sqlite.1", "qr100")
	kept := expect.Value(snapshot(h.path("out/trials/bbolt.1")))(t)

	child := c.child()
	send(t, c.cmd.Process, syscall.SIGKILL)
	c.end()
	wait(t, "the trial has ended by itself", func() bool { return !alive(child) })
	partial := h.checkPartial("out/trials/sqlite.1", result.Partial, "it was interrupted")
	expect.True(t, partial.Ended != nil && partial.Steps[2].Find("server_cpu_us", "", "query") != nil,
		"the trial did not end in good order")
	h.removed("out/trials/sqlite.1/data")

	if talk := h.resume("600", "sqlite.1"); strings.Contains(talk, "bbolt.1") {
		t.Errorf("a complete trial was run again:\n%s", talk)
	}
	h.unchanged("out/trials/bbolt.1", kept)
	h.checkPartial("out/trials/sqlite.1.partial1", result.Partial, "it was interrupted")
	state := expect.Value(result.ReadCampaign(h.path("out")))(t)
	for _, e := range state.Trials {
		expect.Equal(t, e.Status, result.Complete, "campaign.json", e.Dir)
	}
}

// A campaign that is ended while the client is calibrated begins no trial.
func TestInterruptedCalibration(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	var rates []string
	for i := range 60 { // so many steps that calibrating takes a while
		rates = append(rates, fmt.Sprint(100+i))
	}
	h.write("plan.yaml", "workload: ibench\nparams: {rows: 2k, rates: ["+strings.Join(rates, ", ")+"]}\ntargets: [bbolt]\n")
	c := h.start("run", "plan.yaml", "--out", "out", "--no-preflight")
	wait(t, "the client is calibrated", func() bool { return h.exists("out/trials/_client/trial.json") })
	c.ends(syscall.SIGINT, 1)
	h.contains("standard error", c.stderr.String(), "the campaign was interrupted", "--resume out")
	expect.True(t, !h.exists("out/trials/bbolt.1"), "a trial was begun", c.stderr)
}

// A command that computes ends with the first signal, though it looks at no context.
func TestSignalEnds(t *testing.T) {
	r, w, err := os.Pipe()
	expect.NoError(t, err)
	c := exec.Command(expect.Value(exec.LookPath("rumbench"))(t), "schema") // more than a pipe holds
	c.Stdout = w
	expect.NoError(t, c.Start())
	expect.NoError(t, w.Close())
	expect.Value(io.ReadFull(r, make([]byte, 1)))(t) // it has begun
	expect.NoError(t, c.Process.Signal(syscall.SIGTERM))
	exit, ok := errors.AsType[*exec.ExitError](c.Wait())
	expect.True(t, ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGTERM, exit)
	expect.NoError(t, r.Close())
}
