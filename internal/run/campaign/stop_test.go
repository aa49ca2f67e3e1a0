package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// numbered is a script that writes a complete result with the trial's own
// target and number.
const numbered = `echo "{\"format\":2,\"target\":\"${2%.*}\",\"trial\":${2##*.},\"status\":\"complete\",\"ended\":\"2026-01-01T00:00:00Z\"}" > $1/trials/$2/trial.json`

// judge is an Enough that is satisfied with a number of trials, and remembers
// what it was asked.
type judge struct {
	want  int
	asked []string
}

func (j *judge) enough(trials []*result.Trial) (bool, string) {
	var names []string
	for _, t := range trials {
		names = append(names, fmt.Sprintf("%s.%d", t.Target, t.Trial))
	}
	j.asked = append(j.asked, strings.Join(names, " "))
	return len(trials) >= j.want, fmt.Sprintf("there are %d", len(trials))
}

// A campaign ends when its trials are enough: not before the least number, and
// only where every block has had its reverse. That is a success, and to go on
// with it does nothing.
func TestStopWhenPrecise(t *testing.T) {
	c, p := config(t.TempDir(), numbered, "trials=20", "stop={precision: 2%, min_trials: 3}")
	j := &judge{want: 12}
	c.Enough = j.enough
	state, err := Run(context.Background(), c)
	expect.NoError(t, err)
	expect.True(t, len(state.Trials) == 12 && state.Stopped == "there are 12" && complete(state.Trials),
		statuses(state), "stopped", state.Stopped)
	same(t, []string{
		"pebble.1 pebble.2 pebble.3 pebble.4 bbolt.1 bbolt.2 bbolt.3 bbolt.4",
		"pebble.1 pebble.2 pebble.3 pebble.4 pebble.5 pebble.6 bbolt.1 bbolt.2 bbolt.3 bbolt.4 bbolt.5 bbolt.6",
	}, j.asked)
	expect.Equal(t, p.lines[len(p.lines)-1], "note no more trials than these 12: there are 12", "last said")
	stored, err := result.ReadCampaign(c.Dir)
	expect.True(t, err == nil && stored.Stopped == state.Stopped && len(stored.Trials) == 12 && stored.Order == "interleaved", stored, err)

	c.Resume, p.lines = true, nil
	if _, err := Run(context.Background(), c); err != nil || !slices.Equal(p.lines, []string{nothingLeft}) {
		t.Errorf("%v, %q", err, p.lines)
	}
}

// What ended badly is not asked about, and stays on the list.
func TestFailureBeforeStop(t *testing.T) {
	c, _ := config(t.TempDir(), `if [ $2 = bbolt.2 ]; then exit 1; fi; `+numbered, "trials=8", "stop={precision: 2%, min_trials: 2}")
	j := &judge{}
	c.Enough = j.enough
	_, err := Run(context.Background(), c)
	expect.True(t, errors.Is(err, ErrIncomplete) && err.Error() == "1 of 8: not all trials are complete", "error", err)
	same(t, []string{"pebble.1 pebble.2 pebble.3 pebble.4 bbolt.1 bbolt.3 bbolt.4"}, j.asked)
	// To go on with it runs the bad one again, and no more.
	again, p := config("", numbered, "trials=8", "stop={precision: 2%, min_trials: 2}")
	again.Dir, again.LockFile, again.Resume, again.Enough = c.Dir, c.LockFile, true, j.enough
	if state, err := Run(context.Background(), again); err != nil || len(state.Trials) != 8 {
		t.Errorf("%v, %v", statuses(state), err)
	}
	same(t, []string{"begin bbolt.2 3/8", "end bbolt.2 complete"}, p.lines)
}

// All trials may not be enough; that is reported, and is no failure. Where nobody
// can judge, or is asked to, all trials are run.
func TestNeverEnough(t *testing.T) {
	for want, words := range map[int]string{100: "not as precise", 8: "as precise"} {
		c, p := config(t.TempDir(), numbered, "trials=4", "stop={precision: 2%}")
		j := &judge{want: want}
		c.Enough = j.enough
		state, err := Run(context.Background(), c)
		expect.True(t, err == nil && len(state.Trials) == 8 && state.Stopped == "" && len(j.asked) == 1,
			statuses(state), err, "asked", j.asked)
		expect.Equal(t, p.lines[len(p.lines)-1], "note all trials are done, and "+words+" as was wanted: there are 8")
	}

	c, _ := config(t.TempDir(), numbered, "trials=4", "stop={precision: 2%}")
	if state, err := Run(context.Background(), c); err != nil || len(state.Trials) != 8 {
		t.Errorf("without a judge: %v, %v", statuses(state), err)
	}
	c, _ = config(t.TempDir(), numbered, "trials=4")
	c.Enough = func([]*result.Trial) (bool, string) { t.Error("asked"); return true, "" }
	if state, err := Run(context.Background(), c); err != nil || len(state.Trials) != 8 {
		t.Errorf("without precision: %v, %v", statuses(state), err)
	}
}

// clocked is a Progress on whose clock every trial takes ten minutes.
type clocked struct {
	*recorder
	ended int
}

func (p *clocked) End(e result.Entry, t *result.Trial) {
	p.ended++
	p.recorder.End(e, t)
}

func (p *clocked) now() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(p.ended) * 10 * time.Minute)
}

// No block begins that is not expected to end within the budget; a block that
// was begun is ended.
func TestBudget(t *testing.T) {
	dir := t.TempDir()
	run := func(ctx context.Context, resume bool) (*result.Campaign, *clocked, error) {
		c, p := config(dir, numbered, "trials=20", "stop={budget: 65m}")
		progress := &clocked{recorder: p}
		c.Progress, c.now, c.Resume = progress, progress.now, resume
		if !resume {
			ctx, cancel := context.WithCancel(ctx)
			c.Progress = &cancellingAtEnd{progress, cancel}
			state, err := Run(ctx, c)
			return state, progress, err
		}
		state, err := Run(ctx, c)
		return state, progress, err
	}
	// Ended by its user after bbolt.2: thirty minutes, and a block half done.
	state, _, err := run(context.Background(), false)
	expect.Must(t, errors.Is(err, context.Canceled) && state.Spent == 1800 && len(state.Trials) == 40,
		err, "after", state.Spent, "s")
	// Two blocks take forty minutes, and a third ends after sixty.
	state, p, err := run(context.Background(), true)
	expect.True(t, err == nil && len(state.Trials) == 6 && state.Spent == 3600,
		statuses(state), "after", state.Spent, "s", err)
	const reason = "of the budget of 1h5m0s 1h0m0s are spent, and a block takes about 20m0s"
	expect.True(t, state.Stopped == reason && slices.Contains(p.lines, "note no more trials than these 6: "+reason),
		state.Stopped, p.lines)
}

// cancellingAtEnd ends the campaign when its third trial has ended.
type cancellingAtEnd struct {
	*clocked
	cancel func()
}

func (p *cancellingAtEnd) End(e result.Entry, t *result.Trial) {
	p.clocked.End(e, t)
	if p.ended == 3 {
		p.cancel()
	}
}
