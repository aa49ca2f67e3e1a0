package campaign

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// fakeFleet is the machines of a test: they write results, or what trial says.
type fakeFleet struct {
	dir, campaign string
	steps         []result.Step                                                   // of each trial
	trial         func(ctx context.Context, machine string, e result.Entry) error // nil: complete

	claimed []string
}

type fakeMachine struct {
	*fakeFleet
	name string
}

func (m fakeMachine) Name() string { return m.name }

func (m fakeMachine) Claim(context.Context, *result.Campaign) error {
	m.claimed = append(m.claimed, m.name) // one after the other
	return nil
}

func (m fakeMachine) Prepare(context.Context) error { return nil }

func (m fakeMachine) Trial(ctx context.Context, e result.Entry) error {
	if m.trial != nil {
		if err := m.trial(ctx, m.name, e); err != nil {
			return err
		}
	}
	now := time.Now()
	dir := result.TrialPath(m.dir, e.Dir)
	return errors.Join(os.MkdirAll(dir, 0o755), result.WriteJSON(dir+"/"+result.TrialFile,
		&result.Trial{Format: result.Format, Campaign: m.campaign, Target: e.Target, Trial: e.Trial, Machine: m.name, Status: result.Complete,
			Started: now, Ended: &now, Order: "interleaved", Steps: m.steps}))
}

// on gives a campaign machines.
func (f *fakeFleet) on(c *Config, names ...string) {
	f.dir, f.campaign, c.Plan.Fleet.Retries = c.Dir, c.Plan.Name, 1
	f.steps = []result.Step{{Name: c.Plan.Steps()[0].Name, Status: result.Complete}}
	c.Machines = nil
	for _, name := range names {
		c.Machines = append(c.Machines, fakeMachine{f, name})
	}
}

func machineOf(t *testing.T, dir string, e result.Entry) string {
	t.Helper()
	tr, err := result.ReadTrial(result.TrialPath(dir, e.Dir))
	expect.NoError(t, err)
	return tr.Machine
}

// A block and its reverse run on one machine, so that neither target is favored there. To go on with
// what is complete claims none.
func TestPairsStayTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a machine that waits takes half a pair at the end: both have to be as fast
		c, p := config(t.TempDir(), "", "trials=8")
		f := &fakeFleet{trial: func(context.Context, string, result.Entry) error { time.Sleep(5 * time.Millisecond); return nil }}
		f.on(&c, "m1", "m2")
		state, err := Run(t.Context(), c)
		expect.Must(t, err == nil && complete(state.Trials), err, statuses(state))
		used := map[string]bool{}
		for i, block := range blocks(state.Trials) {
			first, second := machineOf(t, c.Dir, block[0]), machineOf(t, c.Dir, block[1])
			used[first] = true
			if reverse := blocks(state.Trials)[i^1]; first != second || machineOf(t, c.Dir, reverse[0]) != first {
				t.Errorf("block %d is on %s and %s, its reverse on %s", i, first, second, machineOf(t, c.Dir, reverse[0]))
			}
		}
		expect.Equal(t, len(used), 2, "used", used)
		f.claimed, p.lines, c.Resume = nil, nil, true
		if _, err := Run(t.Context(), c); err != nil || len(f.claimed) > 0 || !slices.Equal(p.lines, []string{nothingLeft}) {
			t.Errorf("%v, claimed %v, %q", err, f.claimed, p.lines)
		}
	})
}

// A block whose machine is lost after the campaign was to stop is run all the same: what was begun is
// completed.
func TestLostAfterStop(t *testing.T) {
	c, _ := config(t.TempDir(), "", "trials=20", "stop={precision: 2%, min_trials: 2}")
	j := &judge{want: 4}
	stopped := make(chan struct{})
	c.Enough = func(trials []*result.Trial) (bool, string) {
		enough, reason := j.enough(trials)
		if enough {
			close(stopped)
		}
		return enough, reason
	}
	f := &fakeFleet{trial: func(_ context.Context, machine string, _ result.Entry) error {
		if machine == "m2" {
			<-stopped
			return &LostError{Machine: machine, Reason: "the test ends it"}
		}
		return nil
	}}
	f.on(&c, "m1", "m2")
	state, err := Run(t.Context(), c)
	expect.True(t, err == nil && complete(state.Trials) && len(state.Trials) != 0 && state.Stopped != "",
		err, statuses(state), "stopped", state.Stopped)
}
