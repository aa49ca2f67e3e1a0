package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/expect"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// TestMain runs a campaign instead of the tests where a test asks for it.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RUMBENCH_TEST_CAMPAIGN"); dir != "" {
		c, _ := config(dir, "exec sleep 600")
		_, err := Run(context.Background(), c)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// recorder is a Progress that remembers.
type recorder struct{ lines []string }

func (p *recorder) Begin(e result.Entry, at forecast.Place) {
	p.lines = append(p.lines, fmt.Sprintf("begin %s %d/%d", e.Dir, at.Number, at.Of))
}
func (p *recorder) Event(e trial.Event) { p.lines = append(p.lines, "event "+e.Step) }
func (p *recorder) End(e result.Entry, t *result.Trial) {
	p.lines = append(p.lines, fmt.Sprintf("end %s %s", e.Dir, t.Status))
}
func (p *recorder) Note(text string) { p.lines = append(p.lines, "note "+text) }

const source = `
workload: ibench
params: {rows: 1k, steps: [l.i0]}
trials: 2
seed: 5 # by which pebble is the first
calibrate: false
targets: [pebble, bbolt]
`

// config is a campaign whose trials are a shell script; $1 is the campaign's
// directory, $2 the trial's.
func config(dir, script string, sets ...string) (Config, *recorder) {
	p, err := plan.Load("test.yaml", []byte(source), sets, plugins{})
	if err != nil {
		panic(err)
	}
	progress := &recorder{}
	return Config{
		Plan: p, Dir: filepath.Join(dir, "out"), Command: []string{"rumbench", "test"}, Progress: progress,
		Child: childScript(script), LockFile: filepath.Join(dir, "lock"),
		InfoOf:      func(*plan.Target) engine.Info { return engine.Info{SpaceFactor: 1} },
		NoPreflight: true, KeepGoing: true, // the tests of both are in preflight_test.go and stop_test.go
	}, progress
}

// childScript runs a script in place of a trial.
func childScript(script string) func(string) []string {
	return func(string) []string { return []string{"/bin/sh", "-c", script, "trial"} }
}

// missing is a program that does not exist, in place of a trial.
func missing(t *testing.T) func(string) []string {
	return func(string) []string { return []string{filepath.Join(t.TempDir(), "missing")} }
}

// says is the part of a script that writes a trial's result.
func says(status result.Status) string {
	tr := &result.Trial{Format: result.Format, Status: status}
	if status != result.Running {
		now := time.Now()
		tr.Ended = &now
	}
	b, _ := json.Marshal(tr)
	return fmt.Sprintf("echo '%s' > $1/trials/$2/trial.json; ", b)
}

func same[T any](t *testing.T, want, got T) {
	t.Helper()
	expect.Same(t, want, got)
}

func statuses(c *result.Campaign) (out []string) {
	for _, e := range c.Trials {
		out = append(out, fmt.Sprintf("%s %s", e.Dir, e.Status))
	}
	return out
}

func TestAllComplete(t *testing.T) {
	dir := t.TempDir()
	c, p := config(dir, `mkdir $1/trials/$2/data; echo '{"step":"l.i0"}'; echo nonsense; test "$TMPDIR" -ef $1/trials/$2/tmp || exit 9; `+says(result.Complete))
	state := expect.Value(Run(context.Background(), c))(t)
	same(t, []string{"pebble.1 complete", "bbolt.1 complete", "bbolt.2 complete", "pebble.2 complete"}, statuses(state))
	same(t, []string{"begin pebble.1 1/4", "event l.i0", "end pebble.1 complete"}, p.lines[:3])
	stored, err := result.ReadCampaign(c.Dir)
	d := cmp.Diff(statuses(state), statuses(stored))
	expect.True(t, err == nil && d == "", err, d)
	for _, e := range state.Trials {
		for _, name := range []string{"data", "tmp"} {
			if _, err := os.Stat(filepath.Join(result.TrialPath(c.Dir, e.Dir), name)); err == nil {
				t.Errorf("%s of %s was left behind", name, e.Dir)
			}
		}
	}

	// Again in the same place: refused, and nothing changed.
	if state, err := Run(context.Background(), c); err == nil || state != nil || !strings.Contains(err.Error(), "holds a campaign already") {
		t.Errorf("error %v", err)
	}
	// Gone on with: nothing to do.
	c.Resume = true
	p.lines = nil
	if _, err := Run(context.Background(), c); err != nil || !slices.Equal(p.lines, []string{nothingLeft}) {
		t.Errorf("%v, %q", err, p.lines)
	}
}

// nothingLeft is what is noted of a complete campaign that is resumed.
const nothingLeft = "note the campaign is complete: nothing is left to run"

func TestKeep(t *testing.T) {
	c, _ := config(t.TempDir(), "mkdir $1/trials/$2/data; "+says(result.Complete), "keep=true")
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(result.TrialPath(c.Dir, "pebble.2"), "data")); err != nil {
		t.Error(err)
	}
	expect.Refused(os.Stat(filepath.Join(result.TrialPath(c.Dir, "pebble.2"), "tmp")))(t, "", "tmp was left behind")
}

// However a process ends without a result, the trial is failed with what is
// known of it, and the campaign goes on.
func TestBadEnds(t *testing.T) {
	for _, c := range []struct{ name, script, reason, hint string }{
		{"silent", "exit 0", "its process ended without a result", ""},
		{"words", "echo one >&2; echo two >&2; exit 3", "its process ended with: exit status 3; end of its log: one | two", ""},
		{"killed", "kill -9 $$", "its process ended with: signal: killed", "out of memory"},
		{"panic", "echo 'panic: boom' >&2; echo goroutine 1 >&2; for i in 1 2 3 4 5; do echo at $i; done >&2; exit 2", "its process ended with: exit status 2; end of its log: panic: boom", ""},
		{"full disk", "echo 'panic: write x: no space left on device' >&2; exit 2", "panic: write x: no space left on device", "the disk is full"},
		{"running", says(result.Running) + "exit 1", "its process ended with: exit status 1", ""},
		{"cut", "echo '{' > $1/trials/$2/trial.json; exit 1", "its process ended with: exit status 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, p := config(t.TempDir(), `if [ $2 = pebble.1 ]; then mkdir $1/trials/$2/data; `+c.script+`; else `+says(result.Complete)+`fi`)
			state, err := Run(context.Background(), config)
			expect.True(t, errors.Is(err, ErrIncomplete) && err.Error() == "1 of 4: not all trials are complete", err)
			same(t, []string{"pebble.1 failed", "bbolt.1 complete", "bbolt.2 complete", "pebble.2 complete"}, statuses(state))
			dir := result.TrialPath(config.Dir, "pebble.1")
			tr := expect.Value(result.ReadTrial(dir))(t)
			if tr.Status != result.Failed || !strings.Contains(tr.Reason, c.reason) || !strings.Contains(tr.Hint, c.hint) || c.hint == "" && tr.Hint != "" || tr.Ended == nil {
				t.Errorf("%s: %q, hint %q", tr.Status, tr.Reason, tr.Hint)
			}
			expect.Refused(os.Stat(filepath.Join(dir, "data")))(t, "", "data was left behind")
			expect.Equal(t, len(p.lines), 8, p.lines)
		})
	}
}

func TestNoProgram(t *testing.T) {
	c, _ := config(t.TempDir(), "")
	c.Child = missing(t)
	if _, err := Run(context.Background(), c); !errors.Is(err, ErrIncomplete) {
		t.Errorf("error %v", err)
	}
	tr, err := result.ReadTrial(result.TrialPath(c.Dir, "pebble.1"))
	expect.True(t, err == nil && strings.Contains(tr.Reason, "start the trial: ") && tr.Target == "pebble", tr, err)
}

// A campaign does not go on with other versions of servers than it began with.
func TestResumedWithAnotherVersion(t *testing.T) {
	c, p := config(t.TempDir(), says(result.Failed))
	c.Programs = []server.Found{{Kind: "mariadb", Path: "/usr/sbin/mariadbd", Version: "10.11.6"}}
	state, err := Run(t.Context(), c)
	expect.Must(t, errors.Is(err, ErrIncomplete) && len(state.Programs) == 1, state.Programs, err)
	c.Resume = true
	c.Programs = []server.Found{{Kind: "mariadb", Path: "/usr/sbin/mariadbd", Version: "10.11.7"}}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "is mariadb 10.11.7 now, and was 10.11.6") || !strings.Contains(hint.Of(err), "new campaign") {
		t.Errorf("error %v", err)
	}
	c.Programs[0].Path, c.Programs[0].Version = "/opt/mariadbd", "10.11.6"
	if state, err = Run(t.Context(), c); !errors.Is(err, ErrIncomplete) || state.Programs[0].Path != "/opt/mariadbd" {
		t.Errorf("%+v, %v", state.Programs, err)
	}
	state.Params["rows"] = "7" // of an older rumbench, whose default was another one
	expect.NoError(t, result.WriteJSON(filepath.Join(c.Dir, result.CampaignFile), state))
	c.Progress = p
	if _, err := Run(t.Context(), c); !errors.Is(err, ErrIncomplete) || !strings.Contains(strings.Join(p.lines, "\n"), "now, and was 7 when the campaign began") {
		t.Errorf("error %v, said %q", err, p.lines)
	}
}

func TestChangedParams(t *testing.T) {
	was := map[string]string{"rows": "5", "mode": "append", "few.rows": "1", "gone.rows": "2"}
	now := map[string]string{"rows": "5", "mode": "append", "few.rows": "3", "new.mode": "random", "new.rows": "5", "added": "1"}
	want := []string{
		"parameter few.rows is 3 now, and was 1 when the campaign began",
		"parameter gone.rows is 5 now, and was 2 when the campaign began",
		"parameter new.mode is random now, and was append when the campaign began",
	}
	expect.List(t, changedParams(was, now), want)
}

// Ctrl-C: the trial is asked to end, those after it are not begun, and going on
// runs it anew and keeps what there was.
func TestEndedEarlyAndResumed(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, p := config(dir, `mkdir $1/trials/$2/data
if [ $2 = bbolt.1 ]; then
	trap '`+strings.ReplaceAll(says(result.Partial), "'", `'\''`)+` exit 1' TERM
	echo '{"step":"here"}'
	while :; do sleep 0.05; done
fi
`+says(result.Complete))
	c.Progress = &cancelling{p, cancel}
	state, err := Run(ctx, c)
	expect.True(t, strings.Contains(hint.Of(err), "--resume "+c.Dir) && errors.Is(err, context.Canceled), err)
	same(t, []string{"pebble.1 complete", "bbolt.1 partial", "bbolt.2 ", "pebble.2 "}, statuses(state))
	for _, name := range []string{"bbolt.1/data", "pebble.2"} {
		expect.Refused(os.Stat(filepath.Join(c.Dir, "trials", name)))(t, "", "there is", name)
	}

	// The campaign was killed before it could write that pebble.2 is complete.
	done := result.TrialPath(c.Dir, "pebble.2")
	expect.NoError(t, os.Mkdir(done, 0o755))
	if err := result.WriteJSON(filepath.Join(done, result.TrialFile), &result.Trial{Format: result.Format, Status: result.Complete, Seed: 77}); err != nil {
		t.Fatal(err)
	}
	again, p := config(dir, says(result.Complete))
	again.Resume = true
	state = expect.Value(Run(context.Background(), again))(t)
	same(t, []string{"pebble.1 complete", "bbolt.1 complete", "bbolt.2 complete", "pebble.2 complete"}, statuses(state))
	same(t, []string{"begin bbolt.1 2/4", "end bbolt.1 complete", "begin bbolt.2 3/4", "end bbolt.2 complete"}, p.lines)
	if old, err := result.ReadTrial(result.TrialPath(c.Dir, "bbolt.1.partial1")); err != nil || old.Status != result.Partial {
		t.Errorf("%+v, %v", old, err)
	}
	if kept, err := result.ReadTrial(done); err != nil || kept.Seed != 77 {
		t.Errorf("%+v, %v", kept, err)
	}
}

// cancelling ends the campaign at the first event of the step "here".
type cancelling struct {
	*recorder
	cancel func()
}

func (p *cancelling) Event(e trial.Event) {
	if e.Step == "here" {
		p.cancel()
	}
}

// A trial that dies of the request to end was ended early, too.
func TestEndedWithoutAWord(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, p := config(t.TempDir(), `echo '{"step":"here"}'; exec sleep 600`)
	c.Progress = &cancelling{p, cancel}
	state, err := Run(ctx, c)
	expect.True(t, err != nil && state.Trials[0].Status == result.Partial, statuses(state), err)
	if tr, err := result.ReadTrial(result.TrialPath(c.Dir, "pebble.1")); err != nil || tr.Reason != "it was interrupted" {
		t.Errorf("%+v, %v", tr, err)
	}
}

// A second partial result does not take the place of the first.
func TestTwoPartials(t *testing.T) {
	dir := t.TempDir()
	for n := range 3 {
		c, _ := config(dir, fmt.Sprintf("echo %d > $1/trials/$2/note; mkdir $1/trials/$2/data; ", n)+says(result.Failed), "targets=[bbolt]", "trials=1")
		c.Resume = n > 0
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrIncomplete) {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"bbolt.1.partial1": "0\n", "bbolt.1.partial2": "1\n", "bbolt.1": "2\n"} {
		path := result.TrialPath(filepath.Join(dir, "out"), name)
		if b, err := os.ReadFile(filepath.Join(path, "note")); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		expect.Refused(os.Stat(filepath.Join(path, "data")))(t, "", name, "has data")
	}
}

// Data of the user, even below a trial's directory by a link, is not removed.
func TestLinkedData(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	expect.NoError(t, os.WriteFile(precious, []byte("x"), 0o644))
	c, _ := config(dir, fmt.Sprintf("ln -s %s $1/trials/$2/data; ", dir)+says(result.Complete))
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

// The lock of the host is held as long as a trial lives, also when its
// campaign was killed.
func TestLockOutlivesCampaign(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	expect.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "RUMBENCH_TEST_CAMPAIGN="+dir)
	expect.NoError(t, cmd.Start())
	var child int
	for ; child == 0; time.Sleep(10 * time.Millisecond) {
		child = sleeper(cmd.Process.Pid)
	}
	defer syscall.Kill(child, syscall.SIGKILL)
	expect.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	path := filepath.Join(dir, "lock")
	_, err = lock(path, "second")
	var unfit *UnfitError
	if !errors.As(err, &unfit) || hint.Of(err) == "" || !strings.Contains(err.Error(), fmt.Sprintf("another benchmark runs on this host: process %d, campaign %s", cmd.Process.Pid, filepath.Join(dir, "out"))) {
		t.Fatalf("error %v", err)
	}
	expect.Contains(t, err.Error(), "(the process has ended, but its trial has not)", err)
	again, _ := config(dir, "exit 0")
	again.Resume, again.LockFile = true, filepath.Join(dir, "another lock")
	expect.Refused(Run(t.Context(), again))(t, "is running: process", "it is gone on with while its trial runs")
	expect.NoError(t, syscall.Kill(child, syscall.SIGKILL))
	f, err := lock(path, "third")
	for ; err != nil; f, err = lock(path, "third") {
		time.Sleep(10 * time.Millisecond)
	}
	unlock(f)
	if b, err := os.ReadFile(path); err != nil || len(b) > 0 {
		t.Errorf("the lock's file still holds %q, %v", b, err)
	}
}

// sleeper finds the child of a process that sleeps, whichever of its threads
// began it. Go's own look at what the kernel can do is a child for a moment, too.
func sleeper(parent int) int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(b)) {
			comm, _ := os.ReadFile(filepath.Join("/proc", word, "comm"))
			if pid, err := strconv.Atoi(word); err == nil && string(comm) == "sleep\n" {
				return pid
			}
		}
	}
	return 0
}

func TestNeed(t *testing.T) {
	c, _ := config(t.TempDir(), "")
	c.InfoOf = func(t *plan.Target) engine.Info {
		return engine.Info{SpaceFactor: map[string]float64{"pebble": 2, "bbolt": 3}[t.Engine]}
	}
	live := c.Plan.Run.Estimate(c.Plan.Steps()).Bytes
	peak, per := Need(c)
	d := cmp.Diff([]int64{2 * live, 3 * live}, per)
	expect.True(t, d == "" && peak == 3*live, "peak", peak, d)
	c.Plan.Keep = true // two trials of each
	if peak, _ := Need(c); peak != 10*live {
		t.Errorf("peak %d, want %d", peak, 10*live)
	}
	c.Plan.Targets[1].Data = "/somewhere/else"
	if peak, _ := Need(c); peak != 4*live {
		t.Errorf("peak %d, want %d", peak, 4*live)
	}
	for _, f := range []float64{1e15, math.Inf(1)} {
		c.InfoOf = func(*plan.Target) engine.Info { return engine.Info{SpaceFactor: f} }
		if peak, per := Need(c); peak < 1<<61 || per[0] < 1<<60 {
			t.Errorf("factor %g: %d, %v", f, peak, per)
		}
	}
	c.InfoOf = func(*plan.Target) engine.Info { return engine.Info{SpaceFactor: 0} } // nothing on disk
	err := CheckSpace(c)
	expect.NoError(t, err)
}

// Loaded data need room next to a copy, on whichever disk; those that are there already none.
func TestNeedOnce(t *testing.T) {
	c, _ := config(t.TempDir(), "", "params.steps=[l.i0, qr500]", "start={copy: l.i0, loads: 2}")
	all, load := c.Plan.Run.Estimate(c.Plan.Steps()).Bytes, c.Plan.Run.Estimate(c.Plan.Loading()).Bytes
	need := func(want int64) {
		t.Helper()
		peak, _ := Need(c)
		expect.True(t, peak == want, "peak", peak, want)
	}
	need(all + 4*load) // two loads of each target
	c.Plan.Start.Bases = filepath.Join(t.TempDir(), "kept", "here")
	need(all + 4*load)
	c.Plan.Start.Bases = "/dev/shm/kept"
	need(all)
	expect.NoError(t, CheckSpace(c))
	c.Plan.Start.Bases = "/proc/kept"
	expect.Error(t, CheckSpace(c), "cannot be kept in /proc/kept", "not writable")
	c.Plan.Start.Bases = ""
	expect.NoError(t, os.MkdirAll(filepath.Join(c.Dir, result.BasesDir), 0o755))
	there := make([]byte, 64<<20)
	if err := os.WriteFile(filepath.Join(c.Dir, result.BasesDir, "x"), there[:min(int64(len(there)), 4*load+1<<20)], 0o644); err != nil {
		t.Fatal(err)
	}
	need(all)
}

// The plan's rate limits how much the data can grow.
func TestNeedAtRate(t *testing.T) {
	rows := func(sets ...string) int64 {
		c, _ := config(t.TempDir(), "", append([]string{"workload=sysbench",
			"params={tests: [oltp_insert], table_size: 100, write_seconds: 70, settle_floor: 0s}"}, sets...)...)
		return c.Plan.Run.Estimate(c.Plan.Steps()).Rows
	}
	for set, want := range map[string]int64{
		"rate=80": 100 + 5600, "rate=[80, 100]": 100 + 5600 + 7000, "rate={ramp: [50, 150]}": 100 + 7000,
		"rate={at: 80, lead_in: 10s}": 100 + 5600 + 800, "trials=1": 100 + 70*30_000, "params.events=50": 150,
	} {
		expect.Equal(t, rows(set), want, set)
	}
}

func TestCheckSpace(t *testing.T) {
	dir := t.TempDir()
	free, err := fsize.Free(dir)
	expect.NoError(t, err)
	c, _ := config(dir, says(result.Complete))
	live := float64(c.Plan.Run.Estimate(c.Plan.Steps()).Bytes)
	// Almost all that is free, without the reserve.
	c.InfoOf = func(*plan.Target) engine.Info { return engine.Info{SpaceFactor: (float64(free) - reserve/2) / live} }
	_, err = Run(context.Background(), c)
	var unfit *UnfitError
	expect.True(t, errors.As(err, &unfit) && strings.Contains(err.Error(), "would fill"), err)
	expect.Refused(os.Stat(c.Dir))(t, "", "a directory was made")
	// Data that is in place needs no room a second time.
	data := t.TempDir()
	for i := range c.Plan.Targets {
		c.Plan.Targets[i].Data = data
	}
	c.Plan.Targets = c.Plan.Targets[:1]
	if err := CheckSpace(c); !errors.As(err, &unfit) {
		t.Errorf("empty data: error %v", err)
	}
	const there = 8 << 20
	expect.NoError(t, os.WriteFile(filepath.Join(data, "x"), []byte(strings.Repeat("x", there)), 0o644))
	c.InfoOf = func(*plan.Target) engine.Info { return engine.Info{SpaceFactor: there / live} }
	if err := CheckSpace(c); err != nil {
		t.Errorf("data in place: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	c, _ := config(dir, "", "params.steps=[l.i0, settle, qr500]", "params.settle_floor=3s", "params.query_seconds=7")
	var b strings.Builder
	expect.NoError(t, Describe(&b, c))
	for _, want := range []string{
		"campaign test: workload ibench\n",
		"  l.i0     1 × insert, 10 operations of 100 rows each\n",
		"  settle   settle, at least 3s\n",
		"  qr500    1 × insert, 70 operations of 50 rows each at 10/s; 1 × delete, 70 operations of 50 rows each at 10/s; 1 × query\n",
		"\ntakes at least 40 s (2 targets × 2 trials of at least 10 s, measured steps only); l.i0 takes as long as the engine needs\n",
		"  pebble.1             engine pebble   up to ",
		"free under " + dir,
	} {
		expect.Contains(t, b.String(), want)
	}
}

// A cache that is larger than the memory is refused before anything is made.
func TestCacheLargerThanMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	c, _ := config(dir, "exit 0")
	c.Plan.Targets[1].Config.Cache = 1 << 50
	err := Fits(c)
	var unfit *UnfitError
	expect.True(t, errors.As(err, &unfit) && hint.Of(err) != "" && strings.Contains(err.Error(), "target bbolt has a cache of 1 PiB, and this host has "), err)
	if err := checkCaches(c.Plan, 1<<50); err != nil {
		t.Errorf("one that fits: %v", err)
	}
}
