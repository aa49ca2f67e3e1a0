package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
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

// inTurn is a progress that several trials make at a time.
type inTurn struct {
	Progress
	mu sync.Mutex
}

func (p *inTurn) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Progress.Note(text)
}

// finished shows a trial that has ended, and how it went.
func (p *inTurn) finished(e result.Entry, at forecast.Place, t *result.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Progress.Begin(e, at)
	p.Progress.End(e, t)
}

// spread is a campaign whose blocks are dealt to machines: the next that is free takes the next
// block, so that all trials of a block run on one machine.
type spread struct {
	*runner
	cancel context.CancelFunc
	shown  *inTurn

	mu   sync.Mutex // of all below, and of the campaign's state
	free *sync.Cond // a block has come back, or all are done
	todo []job
	open map[int]bool // the pairs of which a machine has begun one and keeps the other
	busy int
	took []float64 // seconds of each block that was run
	err  error     // of the first that ends the campaign
}

// job is a block that is to be run.
type job struct {
	entries []result.Entry
	start   int  // place of the first trial in the campaign
	pair    int  // of the block and its reverse: one machine runs both, so that its order favors no target
	needed  bool // whatever the rule of stopping says: a block from here on was begun, or its reverse
	tries   int  // how often its machine was lost
}

// jobs returns the blocks that are not complete.
func jobs(r *runner) (out []job, err error) {
	for _, list := range [][]result.Entry{r.state.Trials, r.state.Profiled} {
		for i := range list {
			list[i].Machine, list[i].Began = "", time.Time{} // of a coordinator that was killed
		}
	}
	all := blocks(r.state.Trials)
	last := 0 // that was begun; the first is needed in any case
	for n, block := range all {
		if err := r.recognize(block); err != nil {
			return nil, err
		}
		if !untouched(block) {
			last = n
		}
	}
	start := 0
	for n, block := range all {
		if !complete(block) {
			out = append(out, job{entries: block, start: start, pair: n / 2, needed: n <= last || n%2 == 1})
		}
		start += len(block)
	}
	return out, nil
}

// spreadOut runs the blocks that are not complete, on all machines at a time.
func spreadOut(ctx context.Context, r *runner) error {
	shown := &inTurn{Progress: r.Progress}
	r.Progress = shown
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &spread{runner: r, cancel: cancel, shown: shown, open: map[int]bool{}}
	s.free = sync.NewCond(&s.mu)
	var err error
	if s.todo, err = jobs(r); err != nil {
		return err
	}
	ran := len(s.todo) > 0
	profiles := func(e result.Entry) bool { return wantsProfile(r.state, &e) }
	if !ran && !slices.ContainsFunc(r.state.Profiled, profiles) {
		return r.conclude(ctx, ran)
	}
	if err := prepareMachines(ctx, r); err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, m := range slices.Clone(r.Machines) {
		all.Go(func() { s.serve(over, m) })
	}
	all.Wait()
	switch {
	case ctx.Err() != nil:
		return r.early(ctx)
	case s.err != nil:
		return s.err
	}
	return errors.Join(r.conclude(ctx, ran), s.profiled(ctx))
}

// prepareMachines prepares all machines at once. One that cannot be used ends the campaign. They are
// claimed one after the other, in the same order by each campaign: none waits for one that waits for it.
func prepareMachines(ctx context.Context, r *runner) error {
	for _, m := range r.Machines {
		err := m.Claim(ctx, r.state)
		if ctx.Err() != nil {
			return r.early(ctx)
		}
		if err != nil {
			return err
		}
	}
	all, over := errgroup.WithContext(ctx)
	for _, m := range r.Machines {
		all.Go(func() error { return m.Prepare(over) })
	}
	err := all.Wait()
	if ctx.Err() != nil {
		return r.early(ctx)
	}
	return err
}

// serve runs blocks on a machine until none is left, or the machine is lost.
func (s *spread) serve(ctx context.Context, m Machine) {
	pair := none
	for {
		j, ok := s.next(ctx, &pair)
		if !ok {
			return
		}
		began := time.Now()
		err := s.block(ctx, m, &j)
		lost, is := errors.AsType[*LostError](err)
		s.mu.Lock()
		s.busy--
		switch {
		case ctx.Err() != nil:
			err = nil // reported by the campaign
		case is:
			if !lost.Remains {
				delete(s.open, pair)
			}
			err = s.again(j, lost)
		default:
			s.took = append(s.took, time.Since(began).Seconds())
		}
		if s.err = errors.Join(s.err, err); s.err != nil {
			s.cancel()
		}
		s.free.Broadcast()
		s.mu.Unlock()
		if is && !lost.Remains {
			return
		}
	}
}

// none is the pair of a machine that keeps no block.
const none = -1

// next takes a block. It waits while blocks of other machines may come back. pair is the one of which the
// machine has begun a block.
func (s *spread) next(ctx context.Context, pair *int) (j job, ok bool) {
	stop := context.AfterFunc(ctx, s.free.Broadcast)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.todo) == 0 && s.busy > 0 && ctx.Err() == nil {
			s.free.Wait()
		}
		if len(s.todo) == 0 || ctx.Err() != nil {
			return j, false
		}
		at := s.choose(*pair)
		j = s.todo[at]
		stopped, err := false, error(nil)
		if !j.needed {
			stopped, err = s.stop(j.start, seconds(s.took))
		}
		if err == nil && !stopped {
			err = s.renew(j.entries)
		}
		switch {
		case err != nil:
			s.err, s.todo = errors.Join(s.err, err), nil
			return j, false
		case stopped: // what was begun is still completed
			s.todo = slices.DeleteFunc(s.todo, func(o job) bool { return o.start >= j.start })
			continue
		}
		s.todo = slices.Delete(s.todo, at, at+1)
		s.busy++
		s.keep(&j, pair)
		return j, true
	}
}

// choose returns the block for a machine: the other of its pair, else the first that no machine keeps,
// else the first.
func (s *spread) choose(pair int) int {
	at := slices.IndexFunc(s.todo, func(j job) bool { return j.pair == pair })
	if at < 0 {
		at = slices.IndexFunc(s.todo, func(j job) bool { return !s.open[j.pair] })
	}
	return max(at, 0)
}

// keep notes that a machine has taken a block, and keeps the other of its pair.
func (s *spread) keep(j *job, pair *int) {
	delete(s.open, *pair)
	*pair = none
	if slices.ContainsFunc(s.todo, func(o job) bool { return o.pair == j.pair }) {
		s.open[j.pair], *pair = true, j.pair
	}
}

// seconds returns the mean of some seconds; 0: there are none.
func seconds(took []float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	return time.Duration(stat.Mean(took) * float64(time.Second))
}

// again gives a block back whose machine was lost: all of it is run on another, or there if it can go on. What
// it has measured is kept aside.
func (s *spread) again(j job, lost *LostError) error {
	s.leaveOut(lost)
	dirs := quantity.Texts(j.entries, func(e result.Entry) string { return e.Dir })
	then := "run again with --resume"
	if j.tries++; j.tries <= s.Plan.Fleet.Retries && len(s.Machines) > 0 {
		if then = "run on another machine"; lost.Remains {
			then = "run again"
		}
		j.needed = true
		s.todo = slices.Insert(s.todo, 0, j)
	}
	if !lost.Remains {
		then += fmt.Sprintf("; %d of %d places for trials are left", len(s.Machines), len(s.Plan.Fleet.Cells))
	}
	s.Progress.Note(strings.Join(dirs, ", ") + ": " + then)
	return s.save()
}

// leaveOut goes on without a machine that cannot.
func (s *spread) leaveOut(lost *LostError) {
	s.Progress.Note(lost.Error())
	s.Machines = slices.DeleteFunc(s.Machines, func(m Machine) bool { return m.Name() == lost.Machine && !lost.Remains })
}

// renew puts the trials of a block that was begun aside: all of it is run on one machine.
func (s *spread) renew(block []result.Entry) error {
	if untouched(block) {
		return nil
	}
	for i := range block {
		if err := s.aside(block[i].Dir); err != nil {
			return err
		}
		block[i].Status = result.Partial
	}
	return s.save()
}

// block runs the trials of a block on a machine.
func (s *spread) block(ctx context.Context, m Machine, j *job) error {
	for i := range j.entries {
		e := &j.entries[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t, err := s.trialOn(ctx, m, e, j.start+i)
		if err != nil {
			return err
		}
		s.mu.Lock()
		err = s.baseless(e, t, j.start+i+1)
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// trialOn runs a trial, by its place in the campaign, on a machine.
func (s *spread) trialOn(ctx context.Context, m Machine, e *result.Entry, at int) (*result.Trial, error) {
	if err := s.aside(e.Dir); err != nil {
		return nil, err
	}
	s.Progress.Note(fmt.Sprintf("%s begins %s", m.Name(), e.Dir))
	began := time.Now()
	if err := s.runsOn(e, m.Name(), began); err != nil {
		return nil, err
	}
	err := m.Trial(ctx, *e)
	var t *result.Trial
	if err == nil {
		if t, err = result.ReadTrial(result.TrialPath(s.Dir, e.Dir)); err != nil {
			err = &LostError{Machine: m.Name(), Reason: err.Error()}
		} else if reason := s.ordered(e, m, time.Since(began)).Doubt(t); reason != "" {
			err = &LostError{Machine: m.Name(), Reason: "its result of " + e.Dir + " cannot be true: " + reason}
		}
	}
	if err := s.runsOn(e, "", time.Time{}); err != nil {
		return nil, err
	}
	lost, is := errors.AsType[*LostError](err)
	switch {
	case ctx.Err() != nil && err != nil: // the user has ended it: it is no loss
		return nil, ctx.Err()
	case is:
		s.mu.Lock()
		defer s.mu.Unlock()
		e.Status = result.Failed
		return nil, errors.Join(s.recordLoss(e, lost, began), err)
	case err != nil:
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Status = t.Status
	s.Forecast.Add(t)
	whole := slices.Concat(s.state.Trials, s.state.Profiled)
	s.shown.finished(*e, forecast.Place{Number: at + 1, Of: len(whole)}, t)
	return t, s.save()
}

// ordered returns what a machine was asked for.
func (s *spread) ordered(e *result.Entry, m Machine, took time.Duration) *result.Order {
	o := &result.Order{Campaign: s.Plan.Name, Machine: m.Name(), Entry: e, Took: took}
	for i := range s.Plan.Targets {
		if t := &s.Plan.Targets[i]; t.Name == e.Target {
			o.Steps = s.Plan.For(t).Steps()
		}
	}
	return o
}

// runsOn notes which machine runs a trial now; "": none.
func (s *spread) runsOn(e *result.Entry, machine string, since time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Machine, e.Began = machine, since
	return s.save()
}

// recordLoss writes what is known of a trial whose machine was lost. If it was one of clients, the trial
// says so itself.
func (s *spread) recordLoss(e *result.Entry, lost *LostError, began time.Time) error {
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

// profiled runs the trials that are run for their profiles alone, on the first machine that is left.
func (s *spread) profiled(ctx context.Context) error {
	failed := 0
	for i := range s.state.Profiled {
		e := &s.state.Profiled[i]
		for wantsProfile(s.state, e) {
			if len(s.Machines) == 0 {
				return fmt.Errorf("no machine is left to profile %s: %w", e.Target, ErrIncomplete)
			}
			_, err := s.trialOn(ctx, s.Machines[0], e, len(s.state.Trials)+i)
			lost, is := errors.AsType[*LostError](err)
			switch {
			case ctx.Err() != nil:
				return s.early(ctx)
			case is:
				if s.leaveOut(lost); !lost.Remains {
					continue
				}
				failed++
			case err != nil:
				return err
			case e.Status != result.Complete:
				failed++
			}
			break
		}
	}
	return unprofiled(failed, len(s.state.Profiled))
}
