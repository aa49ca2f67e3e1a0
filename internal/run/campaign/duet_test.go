package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/result"
	"rumbench/internal/run/trial"
)

// The parts of scripts that are trials of a duet. Each answer goes to a file.
const (
	ready  = `echo '{"step":"s","phase":"ready"}'; read answer; echo "$answer" >> $1/trials/$2/answers; `
	done   = `echo '{"step":"s","phase":"done"}'; read answer; echo "$answer" >> $1/trials/$2/answers; `
	placed = `grep Cpus_allowed_list /proc/self/status > $1/trials/$2/cpus; `
)

// duets is a campaign of duets of which the two targets do what their scripts say.
func duets(t *testing.T, dir, pebble, bbolt string, sets ...string) (Config, *recorder) {
	t.Helper()
	if allowed, err := cpuset.Allowed(); err != nil || len(allowed) < 2 {
		t.Skipf("processors %v, %v", allowed, err)
	}
	return config(dir, `case $2 in pebble.*) `+pebble+` ;; *) `+bbolt+` ;; esac`, append([]string{"order=duet"}, sets...)...)
}

// answers are the lines that a trial was answered.
func answers(t *testing.T, c Config, name string) (out []answer) {
	t.Helper()
	b := expect.Value(os.ReadFile(filepath.Join(result.TrialPath(c.Dir, name), "answers")))(t)
	for line := range strings.Lines(string(b)) {
		var a answer
		err := json.Unmarshal([]byte(line), &a)
		expect.True(t, err == nil, "was answered", name, line)
		out = append(out, a)
	}
	return out
}

// Both are on processors of their own, which they change from block to block,
// and neither begins before the other is there.
func TestDuet(t *testing.T) {
	other := func(name string) string { // begun is there before ready
		return placed + `echo > $1/trials/$2/begun; ` + ready + `test -e $1/trials/` + name + `.${2##*.}/begun || exit 7; ` + done + numbered
	}
	c, p := duets(t, t.TempDir(), other("bbolt"), other("pebble"))
	state := expect.Value(Run(context.Background(), c))(t)
	same(t, []string{"pebble.1 complete", "bbolt.1 complete", "bbolt.2 complete", "pebble.2 complete"}, statuses(state))
	allowed, _ := cpuset.Allowed()
	h := expect.Value(cpuset.Halve(allowed, "/sys"))(t)
	for name, want := range map[string]cpuset.Set{"pebble.1": h.First, "bbolt.1": h.Second, "bbolt.2": h.First, "pebble.2": h.Second} {
		b, err := os.ReadFile(filepath.Join(result.TrialPath(c.Dir, name), "cpus"))
		got := strings.TrimSpace(strings.TrimPrefix(string(b), "Cpus_allowed_list:"))
		expect.True(t, err == nil && got == want.String(), "was on, not", name, got, want, err)
		a := answers(t, c, name)
		expect.True(t, len(a) == 2 && a[0] == (answer{}) && !a[1].Gone, "was answered", name, a)
	}
	same(t, []string{"begin pebble.1 1/4", "begin bbolt.1 2/4", fmt.Sprintf("note pebble.1, on processors %v", h.First), "end pebble.1 complete",
		fmt.Sprintf("note bbolt.1, on processors %v", h.Second), "end bbolt.1 complete", "begin bbolt.2 3/4"}, p.lines[:7])
	if now, err := cpuset.Allowed(); err != nil || !slices.Equal(now, allowed) {
		t.Errorf("the campaign is on %v, %v", now, err)
	}
}

// The one whose step is over later hears for how long it was alone.
func TestAlone(t *testing.T) {
	const later = `while ! test -s $1/trials/pebble.1/ended; do sleep 0.01; done; sleep 0.3; `
	c, _ := duets(t, t.TempDir(), ready+done+`echo x > $1/trials/$2/ended; `+numbered, ready+later+done+numbered, "trials=1")
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if a := answers(t, c, "pebble.1"); len(a) != 2 || a[1].Alone != 0 {
		t.Errorf("the first was answered %+v", a)
	}
	if a := answers(t, c, "bbolt.1"); len(a) != 2 || a[1].Alone < 0.3 {
		t.Errorf("the second was answered %+v", a)
	}
}

// However one ends, the other hears it at its next step and does not wait.
func TestOneOfDuetEnds(t *testing.T) {
	// What a trial does when nobody is there any more.
	const alone = `case "$answer" in *gone*) ` + `echo "{\"format\":2,\"status\":\"failed\",\"reason\":\"alone\",\"ended\":\"2026-01-01T00:00:00Z\"}" > $1/trials/$2/trial.json; exit 1;; esac; `
	for _, c := range []struct{ name, pebble, bbolt string }{
		{"before it is ready", "exit 3", ready + alone + numbered},
		{"while the other waits", "while ! test -e $1/trials/bbolt.1/waits; do sleep 0.01; done; sleep 0.1; exit 3", "echo > $1/trials/$2/waits; " + ready + alone + numbered},
		{"in a step", ready + "kill -9 $$", ready + done + ready + alone + numbered},
		{"after a step", ready + done + "kill -9 $$", ready + done + ready + alone + numbered},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, _ := duets(t, t.TempDir(), c.pebble, c.bbolt, "trials=1")
			state, err := Run(context.Background(), config)
			expect.True(t, errors.Is(err, ErrIncomplete), err)
			same(t, []string{"pebble.1 failed", "bbolt.1 failed"}, statuses(state))
			if tr, err := result.ReadTrial(result.TrialPath(config.Dir, "bbolt.1")); err != nil || tr.Reason != "alone" {
				t.Errorf("%+v, %v", tr, err)
			}
		})
	}
	t.Run("without a program", func(t *testing.T) {
		c, _ := duets(t, t.TempDir(), "", "")
		c.Child = missing(t)
		if state, err := Run(context.Background(), c); !errors.Is(err, ErrIncomplete) || len(state.Trials) != 4 {
			t.Errorf("error %v", err)
		}
	})
	t.Run("at the end", func(t *testing.T) { // the other's last step goes on
		c, _ := duets(t, t.TempDir(), ready+done+numbered, ready+`while ! test -e $1/trials/pebble.1/trial.json; do sleep 0.01; done; `+done+numbered, "trials=1")
		if state, err := Run(context.Background(), c); err != nil {
			t.Errorf("%v, %v", statuses(state), err)
		}
	})
}

// Ctrl-C ends both, also the one that waits for the other.
func TestDuetEndedEarly(t *testing.T) {
	trap := `trap '` + strings.ReplaceAll(says(result.Partial), "'", `'\''`) + ` exit 1' TERM; `
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, p := duets(t, dir, trap+`echo '{"step":"s","phase":"ready"}'; while :; do sleep 0.05; done`, trap+`echo '{"step":"here"}'; while :; do sleep 0.05; done`)
	c.Progress = &cancelling{p, cancel}
	state, err := Run(ctx, c)
	expect.True(t, errors.Is(err, context.Canceled), err)
	same(t, []string{"pebble.1 partial", "bbolt.1 partial", "bbolt.2 ", "pebble.2 "}, statuses(state))
}

// A duet of which one is complete is run again as a whole: what the other would
// do alone is not comparable.
func TestResumeWithinDuet(t *testing.T) {
	dir := t.TempDir()
	whole := ready + done + numbered
	c, _ := duets(t, dir, whole, `if [ $2 = bbolt.2 ]; then `+ready+done+`exit 1; fi; `+whole)
	state, err := Run(context.Background(), c)
	if d := cmp.Diff([]string{"pebble.1 complete", "bbolt.1 complete", "bbolt.2 failed", "pebble.2 complete"}, statuses(state)); d != "" || !errors.Is(err, ErrIncomplete) {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	again, p := duets(t, dir, whole, whole)
	again.Resume = true
	if state, err = Run(context.Background(), again); err != nil || !complete(state.Trials) {
		t.Errorf("%v, %v", statuses(state), err)
	}
	expect.True(t, len(p.lines) == 6 && p.lines[0] == "begin bbolt.2 3/4" && p.lines[1] == "begin pebble.2 4/4",
		p.lines)
	for name, want := range map[string]result.Status{"pebble.2.partial1": result.Complete, "bbolt.2.partial1": result.Failed} {
		if old, err := result.ReadTrial(result.TrialPath(c.Dir, name)); err != nil || old.Status != want {
			t.Errorf("%s: %+v, %v", name, old, err)
		}
	}
}

// What the two say becomes one line for who looks on.
func TestEventsOfDuet(t *testing.T) {
	d := newDuet(context.Background(), &recorder{})
	d.sides[0].name, d.sides[1].name = "a", "b"
	group := func(n string) []trial.EventGroup { return []trial.EventGroup{{Name: n}} }
	d.sides[0].last = trial.Event{Step: "l", CPU: 1, Stalled: 1, Groups: group("insert")}
	if e := d.merged(d.sides[0].last); e.Step != "l" || e.CPU != 1 || len(e.Groups) != 1 || e.Groups[0].Name != "a insert" {
		t.Errorf("%+v", e)
	}
	d.sides[1].last = trial.Event{Step: "q", CPU: 0.5, Elapsed: 7, Groups: group("query")}
	e := d.merged(d.sides[1].last)
	expect.True(t, e.Step == "l/q" && e.Elapsed == 7 && e.CPU == 1.5 && e.Stalled == 1 && len(e.Groups) == 2 && e.Groups[1].Name == "b query", e)
}

// A trial's side of the line.
func TestLine(t *testing.T) {
	in, campaign := io.Pipe()
	events, out := io.Pipe()
	said := make(chan trial.Event, 1)
	go listen(events, func(e trial.Event) { said <- e })
	hungUp := make(chan struct{})
	l := Connect(in, out, func() { close(hungUp) })
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(campaign, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	met := make(chan error)
	meet := func(ctx context.Context) {
		go func() { met <- l.Meet(ctx, "s") }()
		if e := <-said; e.Phase != trial.PhaseReady || e.Step != "s" {
			t.Errorf("said %+v", e)
		}
	}
	meet(context.Background())
	say("not for it")
	say("{}")
	expect.NoError(t, <-met)
	l.Done("s")
	if e := <-said; e.Phase != trial.PhaseDone {
		t.Errorf("said %+v", e)
	}
	say(`{"alone_s":1.5}`)
	expect.Equal(t, l.Alone(), 1500*time.Millisecond, "alone for")
	meet(context.Background())
	say(`{"gone":true}`)
	expect.Is(t, <-met, errGone, "error")
	ctx, cancel := context.WithCancel(context.Background())
	meet(ctx)
	cancel()
	expect.Is(t, <-met, context.Canceled, "error")
	meet(context.Background())
	campaign.Close()
	expect.Error(t, <-met, "", "the campaign has ended, and no error")
	<-hungUp
	out.Close()
	expect.Equal(t, l.Alone(), 0, "alone for")
}
