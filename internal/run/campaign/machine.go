package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
)

// Machine is another machine that runs trials of the campaign.
type Machine interface {
	Name() string
	// Claim begins the campaign there, as soon as no other benchmark runs there.
	Claim(ctx context.Context, state *result.Campaign) error
	// Prepare tries the targets there and measures the client.
	Prepare(ctx context.Context) error
	// Trial runs a trial; its files are in the campaign's directory afterwards. The error is a
	// *LostError if the machine cannot go on, and otherwise about the campaign's own files.
	Trial(ctx context.Context, e result.Entry) error
}

// LostError is a machine that does not answer, whose agent has ended, or that has no room on its disk.
type LostError struct {
	Machine string
	Reason  string
	// Trial is what a trial says of the loss of one of its clients' machines; "": Machine itself was lost.
	Trial string
	// Remains: Machine can go on; the trial alone was lost, as one of its machines was overloaded.
	Remains bool
}

func (e *LostError) Error() string {
	if e.Trial != "" {
		return e.Trial
	}
	return fmt.Sprintf("machine %s was lost: %s", e.Machine, e.Reason)
}

// executor is a machine of the campaign: this one, or one of its fleet.
type executor interface {
	Name() string // "": this one
	Claim(ctx context.Context, state *result.Campaign) error
	Prepare(ctx context.Context) error
	// trial runs a trial, by its place in the campaign, shows it and notes its end. The errors are those of Machine.
	trial(ctx context.Context, s *dealer, e *result.Entry, at int) (*result.Trial, error)
}

// executors are the machines of the fleet or, without one, this machine.
func executors(r *runner) (out []executor) {
	for _, m := range r.Machines {
		out = append(out, remote{m})
	}
	if len(out) == 0 {
		out = append(out, &local{runner: r})
	}
	return out
}

// local is this machine, which is claimed as long as the campaign runs.
type local struct {
	*runner
	ran bool // a trial
}

func (*local) Name() string                                  { return "" }
func (*local) Claim(context.Context, *result.Campaign) error { return nil }

// Prepare tries every target that has no complete trial, and measures the client.
func (l *local) Prepare(ctx context.Context) error {
	if err := l.preflight(ctx); err != nil {
		return err
	}
	return l.calibrate(ctx)
}

// run runs a trial after a pause, and puts aside what an earlier try has left.
func (l *local) run(ctx context.Context, e result.Entry, begin func()) (*result.Trial, error) {
	if err := l.pause(ctx, l.ran, e.Dir); err != nil {
		return nil, err
	}
	if err := l.aside(e.Dir); err != nil {
		return nil, err
	}
	l.ran = true
	begin()
	return l.runner.trial(ctx, e, nil)
}

func (l *local) trial(ctx context.Context, s *dealer, e *result.Entry, position int) (*result.Trial, error) {
	t, err := l.run(ctx, *e, func() { l.Progress.Begin(*e, l.place(position)) })
	s.mu.Lock()
	defer s.mu.Unlock()
	return t, l.ended(e, t, err)
}

// remote is a machine of a fleet.
type remote struct{ Machine }

func (m remote) trial(ctx context.Context, s *dealer, e *result.Entry, position int) (*result.Trial, error) {
	if err := s.aside(e.Dir); err != nil {
		return nil, err
	}
	s.Progress.Note(fmt.Sprintf("%s begins %s", m.Name(), e.Dir))
	began := time.Now()
	if err := s.runsOn(e, m.Name(), began); err != nil {
		return nil, err
	}
	var t *result.Trial
	err := m.Trial(ctx, *e)
	if err == nil {
		if t, err = result.ReadTrial(result.TrialPath(s.Dir, e.Dir)); err != nil {
			err = &LostError{Machine: m.Name(), Reason: err.Error()}
		} else if reason := s.ordered(e, m.Name(), time.Since(began)).Doubt(t); reason != "" {
			err = &LostError{Machine: m.Name(), Reason: "its result of " + e.Dir + " cannot be true: " + reason}
		}
	}
	if rerr := s.runsOn(e, "", time.Time{}); rerr != nil {
		return nil, rerr
	}
	if lost, is := errors.AsType[*LostError](err); is && ctx.Err() == nil { // else the user has ended it: it is no loss
		return nil, errors.Join(s.recordLoss(e, lost, began), err)
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Status = t.Status
	s.Forecast.Add(t)
	total := len(s.state.Trials) + len(s.state.Profiled)
	s.shown.finished(*e, forecast.Place{Number: position + 1, Of: total}, t)
	return t, s.save()
}

// ordered returns what a machine was asked for.
func (s *dealer) ordered(e *result.Entry, machine string, took time.Duration) *result.Order {
	o := &result.Order{Campaign: s.Plan.Name, Machine: machine, Entry: e, Took: took}
	for i := range s.Plan.Targets {
		if t := &s.Plan.Targets[i]; t.Name == e.Target {
			o.Steps = s.Plan.For(t).Steps()
		}
	}
	return o
}

// runsOn notes which machine runs a trial now; "": none.
func (s *dealer) runsOn(e *result.Entry, machine string, since time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Machine, e.Began = machine, since
	return s.save()
}

// recordLoss writes what is known of a trial whose machine was lost. If it was one of clients, the trial
// says so itself.
func (s *dealer) recordLoss(e *result.Entry, lost *LostError, began time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Status = result.Failed
	if t, err := result.ReadTrial(result.TrialPath(s.Dir, e.Dir)); err == nil && t.Lost && lost.Trial != "" {
		return nil
	}
	now := time.Now()
	t := &result.Trial{Format: result.Format, Campaign: s.Plan.Name, Target: e.Target, Trial: e.Trial,
		Machine: lost.Machine, Status: result.Failed, Lost: true, Started: began, Ended: &now,
		Reason: fmt.Sprintf("machine %s was lost %.1f s after the trial began: %s", lost.Machine,
			now.Sub(began).Seconds(), lost.Reason)}
	dir := result.TrialPath(s.Dir, e.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return s.spare.writeJSON(filepath.Join(dir, result.TrialFile), t)
}
