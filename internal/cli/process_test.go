package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

// wait waits until something is true, as long as the package may take.
func wait(t *testing.T, subject string, done func() bool) {
	t.Helper()
	end, limited := t.Deadline()
	for ; !done(); time.Sleep(5 * time.Millisecond) {
		expect.Must(t, !limited || time.Until(end) >= 10*time.Second, "waited in vain until", subject)
	}
}

// host is a directory in which campaigns run that share a lock.
type host struct {
	*testing.T
	dir string
}

func newHost(t *testing.T) *host { return &host{t, need.TempDir(t)} } // servers run as another user

func (h *host) path(elem ...string) string {
	return filepath.Join(append([]string{h.dir}, elem...)...)
}

func (h *host) command(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("rumbench", args...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "RUMBENCH_LOCK="+h.path("lock"))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	return cmd, &stdout, &stderr
}

// run runs a command to its end.
func (h *host) run(code int, args ...string) (stdout, stderr string) {
	h.Helper()
	cmd, out, talk := h.command(args...)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		h.Fatalf("rumbench %v: exit code %d, want %d\n%s%s", args, got, code, out, talk)
	}
	return out.String(), talk.String()
}

// locked reports whether a trial holds the lock: also one of a killed campaign does, until it has put
// everything in order.
func (h *host) locked() bool {
	f, err := os.Open(h.path("lock"))
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// campaign is a campaign that runs in the background.
type campaign struct {
	*host
	cmd            *exec.Cmd
	stdout, stderr *bytes.Buffer
}

func (h *host) start(args ...string) *campaign {
	h.Helper()
	c := &campaign{host: h}
	c.cmd, c.stdout, c.stderr = h.command(args...)
	expect.NoError(h, c.cmd.Start())
	h.Cleanup(func() { // of a test that failed
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return c
}

// end waits for the campaign's end and returns its exit code, -1 after a signal.
func (c *campaign) end() int {
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

// exits waits for the campaign's end with an exit code.
func (c *campaign) exits(code int) {
	c.Helper()
	if got := c.end(); got != code {
		c.Errorf("exit code %d, want %d\n%s", got, code, c.stderr)
	}
}

// ends sends a signal that ends the campaign with an exit code.
func (c *campaign) ends(signal syscall.Signal, code int) {
	c.Helper()
	send(c.T, c.cmd.Process, signal)
	c.exits(code)
}

// child is the process of the trial that is being run.
func (c *campaign) child() *os.Process { return c.processOf("") }

// processOf is the process that runs a trial, of any if it is "".
func (c *campaign) processOf(trial string) *os.Process {
	c.Helper()
	var pid int
	wait(c.T, "a trial has a process", func() bool {
		pid = childOf(c.cmd.Process.Pid, trial)
		return pid != 0
	})
	p := expect.Value(os.FindProcess(pid))(c)
	c.Cleanup(func() { _ = p.Kill() })
	return p
}

// childOf returns a child of a process whose last argument is the name of a trial, of any if it is "".
func childOf(parent int, trial string) int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		f := processStat(path)
		if len(f) < 2 || f[1] != strconv.Itoa(parent) || f[0] == "Z" {
			continue
		}
		dir := filepath.Dir(path)
		if b, _ := os.ReadFile(dir + "/cmdline"); trial == "" || bytes.HasSuffix(b, []byte("\x00"+trial+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			return pid
		}
	}
	return 0
}

// processStat are the fields of a process from its state on.
func processStat(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
}

// alive reports whether a process runs, or holds its files still; one that only
// nobody has waited for does not.
func alive(p *os.Process) bool {
	f := processStat(fmt.Sprintf("/proc/%d/stat", p.Pid))
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.Pid))
	return len(f) > 0 && (f[0] != "Z" || len(threads) > 1)
}

// during waits until a step of a trial has intervals.
func (c *campaign) during(trial, step string) {
	c.Helper()
	wait(c.T, trial+" is in step "+step, func() bool {
		b, _ := os.ReadFile(c.path(trial, result.SeriesFile))
		return bytes.Count(b, []byte(`{"step":"`+step+`","src":"ops"`)) >= 6
	})
}

func send(t *testing.T, p *os.Process, s syscall.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatalf("%v to process %d: %v", s, p.Pid, err)
	}
}

func (h *host) write(name, text string) {
	h.Helper()
	expect.Write(h, h.path(name), text, 0o644)
}

// replace changes the text of a file.
func (h *host) replace(name, old, text string) {
	h.Helper()
	b, err := os.ReadFile(h.path(name))
	if err != nil || !bytes.Contains(b, []byte(old)) {
		h.Fatalf("%s holds no %q: %v", name, old, err)
	}
	h.write(name, strings.ReplaceAll(string(b), old, text))
}

func (h *host) trial(dir string) *result.Trial {
	h.Helper()
	return expect.Value(result.ReadTrial(h.path(dir)))(h)
}

// unchanged checks that the files of a directory are what they were.
func (h *host) unchanged(dir string, before map[string]string) {
	h.Helper()
	if d := cmp.Diff(before, expect.Value(snapshot(h.path(dir)))(h)); d != "" || len(before) == 0 {
		h.Errorf("%s: (-before +now) %s", dir, d)
	}
}

// resume goes on with the campaign in out, whose query steps take so many seconds and end soon now, in all that is
// recorded of it. It checks that the trials are complete.
func (h *host) resume(seconds string, names ...string) (talk string) {
	h.Helper()
	h.replace("out/plan.yaml", "query_seconds: "+seconds, "query_seconds: 0.3")
	state := h.file("out/campaign.json")
	h.write("out/campaign.json", strings.ReplaceAll(state, `"query_seconds": "`+seconds+`"`, `"query_seconds": "0.3"`))
	_, talk = h.run(0, "run", "--resume", "out", "--no-preflight")
	for _, name := range names {
		if t := h.trial("out/trials/" + name); t.Status != result.Complete {
			h.Errorf("%s is %s: %s", name, t.Status, t.Reason)
		}
	}
	return talk
}

func (h *host) exists(name string) bool {
	_, err := os.Stat(h.path(name))
	return err == nil
}

// removed checks that files and directories are not there.
func (h *host) removed(names ...string) {
	h.Helper()
	for _, name := range names {
		if h.exists(name) {
			h.Errorf("%s was left behind", name)
		}
	}
}

func (h *host) contains(subject, text string, want ...string) {
	h.Helper()
	for _, part := range want {
		expect.Contains(h, text, part, subject)
	}
}

func (h *host) file(name string) string {
	h.Helper()
	return expect.Read(h, h.path(name))
}

// snapshot reads all files below a directory, by their paths in it.
func snapshot(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[rel] = string(b)
		return err
	})
	return out, err
}
