package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/result"
)

// duetOf is a plan of a duet whose query step does not end before the test is
// done with it.
func duetOf(targets ...string) string {
	return strings.Replace(planFor(targets...), "order: sequential", "order: duet", 1)
}

// twoProcessors skips a test that needs them.
func twoProcessors(t *testing.T) cpuset.Halves {
	t.Helper()
	allowed, err := cpuset.Allowed()
	if err != nil || len(allowed) < 2 {
		t.Skipf("processors %v, %v", allowed, err)
	}
	h := expect.Value(cpuset.Halve(allowed, "/sys"))(t)
	return h
}

// processors are those that every thread of a process may run on.
func processors(t *testing.T, p *os.Process) string {
	t.Helper()
	var all []string
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.Pid))
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		_, rest, _ := strings.Cut(string(b), "Cpus_allowed_list:")
		line, _, _ := strings.Cut(rest, "\n")
		if all = append(all, strings.TrimSpace(line)); all[0] != all[len(all)-1] {
			t.Errorf("threads of one process are on %q", all)
		}
	}
	expect.Must(t, len(all) != 0, "process", p.Pid, "is gone")
	return all[0]
}

// Both trials are bound, one that is killed ends the other at its next step,
// and going on runs both again.
func TestDuetTrialKilled(t *testing.T) {
	need.Setup(t)
	t.Parallel()
	halves := twoProcessors(t)
	h := newHost(t)
	// Another step follows the one in which it is killed, before which the other waits.
	h.write("plan.yaml", duetOf("pebble", "bbolt"))
	h.replace("plan.yaml", "query_seconds: 600", "query_seconds: 8")
	h.replace("plan.yaml", "qr100], rates: [100]", "qr100, qr200], rates: [100, 200]")
	c := h.start("run", "plan.yaml", "--out", "out", "--no-preflight")
	c.during("out/trials/pebble.1", "qr100")
	c.during("out/trials/bbolt.1", "qr100")
	first, second := c.processOf("pebble.1"), c.processOf("bbolt.1")
	if a, b := processors(t, first), processors(t, second); a != halves.First.String() || b != halves.Second.String() {
		t.Errorf("the trials are on %s and %s, not %v and %v", a, b, halves.First, halves.Second)
	}
	send(t, first, syscall.SIGKILL)
	c.exits(1)
	expect.True(t, !alive(first) && !alive(second), "a process is left")
	h.checkPartial("out/trials/pebble.1", result.Failed, "signal: killed")
	bbolt := h.trial("out/trials/bbolt.1")
	expect.True(t, bbolt.Status == result.Failed && strings.Contains(bbolt.Reason, "step qr200: the other trial of the duet has ended") && bbolt.Hint != "", bbolt.Status, bbolt.Reason, bbolt.Hint)
	q := &bbolt.Steps[2]
	expect.True(t, q.Status == result.Complete && q.Alone > 0 && q.Alone <= q.Seconds,
		"step", q.Name, "is", q.Status, "alone for", q.Alone, "of", q.Seconds, "s")
	if r := q.Find("rows_per_s", "query", ""); q.Alone > 0.1*q.Seconds && (r == nil || !strings.Contains(strings.Join(metric.Texts(r.Warnings), " "), "it ran alone for the last")) {
		t.Errorf("%+v", r)
	}

	h.resume("8", "pebble.1", "bbolt.1")
	for _, name := range []string{"pebble.1", "bbolt.1"} {
		if n := len(h.trial("out/trials/" + name).Steps); n != 4 || !h.exists("out/trials/"+name+".partial1") {
			t.Errorf("%s has %d steps, or the first attempt is gone", name, n)
		}
	}
}

// Ctrl-C, and a kill of the campaign, end both trials in good order.
func TestDuetEnded(t *testing.T) {
	t.Parallel()
	twoProcessors(t)
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 1, syscall.SIGKILL: -1} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("plan.yaml", duetOf("sqlite", "bbolt"))
			c := h.start("run", "plan.yaml", "--out", "out", "--no-preflight")
			names := []string{"sqlite.1", "bbolt.1"}
			var processes []*os.Process
			for _, name := range names {
				c.during("out/trials/"+name, "qr100")
				processes = append(processes, c.processOf(name))
			}
			c.ends(signal, code)
			wait(t, "both trials have ended", func() bool { return !slices.ContainsFunc(processes, alive) })
			for _, name := range names {
				tr := h.checkPartial("out/trials/"+name, result.Partial, "it was interrupted")
				expect.True(t, tr.Ended != nil && tr.Steps[2].Find("server_cpu_us", "", "query") != nil,
					name, "did not end in good order")
				h.removed("out/trials/" + name + "/data")
			}
			h.resume("600", names...)
		})
	}
}
