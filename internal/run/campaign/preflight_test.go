package campaign

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// preflown is a campaign with a preflight. In its script, preflight is what a
// preflight runs, and $3 is what it notes the trials in, in their order.
func preflown(dir, preflight string, sets ...string) (Config, *recorder) {
	c, p := config(dir, `echo $2 >> `+filepath.Join(dir, "ran")+`
case $2 in _preflight/*) mkdir $1/trials/$2/data; `+preflight+`;; *) `+says(result.Complete)+` ;; esac`, sets...)
	c.NoPreflight = false
	return c, p
}

// ran returns the trials that were begun since the last call, preflights included.
func ran(t *testing.T, dir string) []string {
	t.Helper()
	path := filepath.Join(dir, "ran")
	b, err := os.ReadFile(path)
	expect.Must(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
	_ = os.Remove(path)
	return strings.Fields(string(b))
}

// files lists what is below a directory.
func files(dir string) (out []string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return nil
	})
	return out
}

// Every target is tried before the first trial, and nothing of that is left.
func TestPreflight(t *testing.T) {
	dir := t.TempDir()
	c, p := preflown(dir, says(result.Complete))
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want := []string{"_preflight/pebble", "_preflight/bbolt", "pebble.1", "bbolt.1", "bbolt.2", "pebble.2"}
	same(t, want, ran(t, dir))
	expect.True(t, strings.HasPrefix(p.lines[0], "note preflight: pebble, bbolt: 2 targets ok in ") && strings.HasPrefix(p.lines[1], "begin pebble.1"), p.lines)
	expect.Refused(os.Stat(result.TrialPath(c.Dir, PreflightDir)))(t, "", "something is left of it")
}

// All that fails is reported together. The campaign leaves nothing but what servers
// and crashes have logged, which does not hinder the next one in the same place.
func TestPreflightFails(t *testing.T) {
	dir := t.TempDir()
	c, p := preflown(dir, `echo "cannot bind" > $1/trials/$2/server.log; echo "it is $2" >&2; exit 3`)
	state, err := Run(t.Context(), c)
	failed, ok := errors.AsType[*PreflightError](err)
	expect.Must(t, ok && state == nil && len(failed.Failed) == 2 && strings.Contains(hint.Of(err), "--no-preflight"),
		state, "error", err)
	for _, want := range []string{"2 of 2 targets", "\n  pebble: its process ended with: exit status 3", "it is _preflight/bbolt", "\n    log: " + c.Dir + "/_preflight/bbolt/server.log"} {
		expect.Contains(t, err.Error(), want, err)
	}
	d := cmp.Diff([]string{"_preflight/pebble", "_preflight/bbolt"}, ran(t, dir))
	expect.True(t, d == "" && len(p.lines) == 0, d, p.lines)
	same(t, []string{"_preflight/bbolt/server.log", "_preflight/pebble/server.log"}, files(c.Dir))

	// A crash is worth reading, and where it was; a result that says it all is not.
	c, _ = preflown(dir, `case $2 in *pebble) echo "panic: boom

goroutine 1 [running]:" >&2; echo '{"format":2,"status":"running","steps":[{"name":"l.i0","status":"running"}]}' > $1/trials/$2/trial.json; exit 2;; esac; `+says(result.Failed))
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "pebble: its process ended in step l.i0 with: exit status 2; end of its log: panic: boom") {
		t.Fatalf("error %v", err)
	}
	same(t, []string{"_preflight/pebble/trial.log"}, files(c.Dir))
	c, _ = preflown(dir, says(result.Failed))
	c.Plan.Declared = []byte("name: mine\n") // the file of a workload is stored, too
	if _, err := Run(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	expect.Refused(os.Stat(c.Dir))(t, "", "there is", files(c.Dir))
	expect.NoError(t, os.Mkdir(c.Dir, 0o755))
	if _, err := Run(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(c.Dir); err != nil || len(files(c.Dir)) > 0 {
		t.Errorf("of the user's directory there is %q, %v", files(c.Dir), err)
	}
	c, _ = preflown(dir, says(result.Complete))
	if _, err := Run(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// A campaign that goes on tries only targets of which it has nothing, and is left as
// it is if they fail.
func TestPreflightResumed(t *testing.T) {
	dir := t.TempDir()
	c, _ := preflown(dir, says(result.Complete))
	c.Child = childScript(strings.Replace(c.Child("")[2], ";; *) ", ";; bbolt*) "+says(result.Failed)+";; *) ", 1))
	if _, err := Run(t.Context(), c); !errors.Is(err, ErrIncomplete) {
		t.Fatal(err)
	}
	ran(t, dir)
	// As if killed in a preflight.
	left := filepath.Join(result.TrialPath(c.Dir, PreflightDir), "bbolt", "data")
	expect.NoError(t, os.MkdirAll(left, 0o755))
	c, _ = preflown(dir, `echo words > $1/trials/$2/server.log; `+says(result.Failed))
	c.Resume = true
	state, err := Run(t.Context(), c)
	if _, failed := errors.AsType[*PreflightError](err); !failed || state == nil {
		t.Fatalf("error %v", err)
	}
	same(t, []string{"_preflight/bbolt"}, ran(t, dir))
	for _, name := range []string{"campaign.json", "plan.yaml", "trials/pebble.1/trial.json", "trials/bbolt.1/trial.json", "_preflight/bbolt/server.log"} {
		expect.True(t, slices.Contains(files(c.Dir), name), name)
	}
	c.NoPreflight = true
	if _, err := Run(t.Context(), c); err != nil {
		t.Error(err)
	}
	same(t, []string{"bbolt.1", "bbolt.2"}, ran(t, dir))
}

// What is not ours is not tried on.
func TestPreflightInPlace(t *testing.T) {
	dir := t.TempDir()
	c, p := preflown(dir, says(result.Complete))
	c.Plan.Targets[0].Data = t.TempDir()
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	expect.Equal(t, ran(t, dir)[0], "_preflight/bbolt", "was tried")
	expect.Equal(t, p.lines[0], "note preflight: pebble is not tried: it works on data in place", p.lines)
	c.Plan.Targets[0].Data, c.Plan.Targets[0].Config.Server.DSN = "", "host"
	expect.Equal(t, untouchable(c.Plan, &c.Plan.Targets[0]), "", "a schema of its own is not tried")
	c, _ = preflown(dir, "", "params.steps=[qr100]")
	c.Plan.Targets[0].Config.Server.DSN = "host"
	expect.True(t, untouchable(c.Plan, &c.Plan.Targets[0]) != "", "tables that are there would be changed")
	expect.Equal(t, untouchable(c.Plan, &c.Plan.Targets[1]), "", "a private target is always tried")
}

// Ctrl-C in a preflight: the campaign can be gone on with, and is tried again.
func TestPreflightEndedEarly(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, p := preflown(dir, `echo '{"step":"here"}'; exec sleep 600`)
	c.Progress = &cancelling{p, cancel}
	if _, err := Run(ctx, c); !strings.Contains(hint.Of(err), "--resume "+c.Dir) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	same(t, []string{".lock", "campaign.json", "plan.yaml"}, files(c.Dir))
	ran(t, dir)
	c, _ = preflown(dir, says(result.Complete))
	c.Resume = true
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	expect.Equal(t, len(ran(t, dir)), 6, "were run")
}
