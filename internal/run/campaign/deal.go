package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

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
func (p *inTurn) finished(e result.Entry, place forecast.Place, t *result.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Progress.Begin(e, place)
	p.Progress.End(e, t)
}

// dealer deals the blocks of a campaign to machines: the next that is free takes the next
// block, so that all trials of a block run on one machine.
type dealer struct {
	*runner
	cancel context.CancelFunc
	shown  *inTurn

	mu        sync.Mutex // of all below, and of the campaign's state
	executors []executor // that are left
	free      *sync.Cond // a block has come back, or all are done
	todo      []job
	open      map[int]bool // the pairs of which a machine has begun one and keeps the other
	busy      int
	took      []float64 // seconds of each block that was run
	err       error     // of the first that ends the campaign
}

// job is a block that is to be run.
type job struct {
	entries []result.Entry
	number  int  // of the block, from 0
	start   int  // place of the first trial in the campaign
	pair    int  // of the block and its reverse: one machine runs both, so that its order favors no target
	needed  bool // whatever the rule of stopping says: a block from here on was begun, or, in a fleet, its reverse
	tries   int  // how often its machine was lost
}

// jobs returns the blocks that are not complete.
func jobs(r *runner) (out []job, err error) {
	for _, list := range [][]result.Entry{r.state.Trials, r.state.Profiled} {
		for i := range list {
			list[i].Machine, list[i].Began = "", time.Time{} // of a coordinator that was killed
		}
	}
	collected := blocks(r.state.Trials)
	last := 0 // that was begun; the first is needed in any case
	for n, block := range collected {
		if err := r.recognize(block); err != nil {
			return nil, err
		}
		if !untouched(block) {
			last = n
		}
	}
	start := 0
	for n, block := range collected {
		if !complete(block) {
			out = append(out, job{entries: block, number: n, start: start, pair: n / 2,
				needed: n <= last || n%2 == 1 && len(r.Machines) > 0})
		}
		start += len(block)
	}
	return out, nil
}

// deal runs the blocks that are not complete, on all machines at a time, and then the trials for profiles.
func deal(ctx context.Context, r *runner) error {
	shown := &inTurn{Progress: r.Progress}
	r.Progress = shown
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &dealer{runner: r, cancel: cancel, shown: shown, open: map[int]bool{}, executors: executors(r)}
	s.free = sync.NewCond(&s.mu)
	var err error
	if s.todo, err = jobs(r); err != nil {
		return err
	}
	ran := len(s.todo) > 0
	profiles := func(e result.Entry) bool { return wantsProfile(r.state, &e) }
	if !ran && !slices.ContainsFunc(r.state.Profiled, profiles) {
		return errors.Join(r.conclude(ctx, ran), dropBases(r))
	}
	if err := s.prepareAll(ctx); err != nil {
		return err
	}
	var group sync.WaitGroup
	for _, w := range slices.Clone(s.executors) {
		group.Go(func() { s.serve(over, w) })
	}
	group.Wait()
	switch {
	case ctx.Err() != nil && !complete(r.state.Trials):
		return r.early(ctx)
	case s.err != nil:
		return s.err
	}
	return errors.Join(r.conclude(ctx, ran), s.profiled(ctx), dropBases(r))
}

// prepareAll prepares all machines at once. One that cannot be used ends the campaign. They are
// claimed one after the other, in the same order by each campaign: none waits for one that waits for it.
func (s *dealer) prepareAll(ctx context.Context) error {
	for _, w := range s.executors {
		err := w.Claim(ctx, s.state)
		if ctx.Err() != nil {
			return s.early(ctx)
		}
		if err != nil {
			return err
		}
	}
	group, over := errgroup.WithContext(ctx)
	for _, w := range s.executors {
		group.Go(func() error { return w.Prepare(over) })
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return s.early(ctx)
	}
	return err
}

// serve runs blocks on a machine until none is left, or the machine is lost.
func (s *dealer) serve(ctx context.Context, w executor) {
	pair := noPair
	for {
		j, ok := s.next(ctx, &pair)
		if !ok {
			return
		}
		began := time.Now()
		err := s.block(ctx, w, &j)
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
			err = s.giveBack(j, lost)
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

// noPair is the pair of a machine that keeps no block.
const noPair = -1

// next takes a block. It waits while blocks of other machines may come back. pair is the one of which the
// machine has begun a block.
func (s *dealer) next(ctx context.Context, pair *int) (j job, ok bool) {
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
		index := s.choose(*pair)
		j = s.todo[index]
		stopped, err := false, error(nil)
		if !j.needed {
			stopped, err = s.stop(j.start, s.length(&j))
		}
		if err == nil && !stopped && len(s.Machines) > 0 {
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
		s.todo = slices.Delete(s.todo, index, index+1)
		s.busy++
		s.keep(&j, pair)
		return j, true
	}
}

// choose returns the block for a machine: the other of its pair, else the first that no machine keeps,
// else the first.
func (s *dealer) choose(pair int) int {
	position := slices.IndexFunc(s.todo, func(j job) bool { return j.pair == pair })
	if position < 0 {
		position = slices.IndexFunc(s.todo, func(j job) bool { return !s.open[j.pair] })
	}
	return max(position, 0)
}

// keep notes that a machine has taken a block, and keeps the other of its pair.
func (s *dealer) keep(j *job, pair *int) {
	delete(s.open, *pair)
	*pair = noPair
	if slices.ContainsFunc(s.todo, func(o job) bool { return o.pair == j.pair }) {
		s.open[j.pair], *pair = true, j.pair
	}
}

// length returns how long a block takes: a machine of a fleet as long as others have taken.
func (s *dealer) length(j *job) time.Duration {
	switch {
	case len(s.Machines) == 0:
		return s.spent() / time.Duration(j.number)
	case len(s.took) == 0:
		return 0
	}
	return time.Duration(stat.Mean(s.took) * float64(time.Second))
}

// giveBack gives a block back whose machine was lost: all of it is run on another, or there if it can go on. What
// it has measured is kept aside.
func (s *dealer) giveBack(j job, lost *LostError) error {
	s.leaveOut(lost)
	dirs := quantity.Texts(j.entries, func(e result.Entry) string { return e.Dir })
	then := "run again with --resume"
	if j.tries++; j.tries <= s.Plan.Fleet.Retries && len(s.executors) > 0 {
		if then = "run on another machine"; lost.Remains {
			then = "run again"
		}
		j.needed = true
		s.todo = slices.Insert(s.todo, 0, j)
	}
	if !lost.Remains {
		then += fmt.Sprintf("; %d of %d places for trials are left", len(s.executors), len(s.Plan.Fleet.Cells))
	}
	s.Progress.Note(strings.Join(dirs, ", ") + ": " + then)
	return s.save()
}

// leaveOut goes on without a machine that cannot.
func (s *dealer) leaveOut(lost *LostError) {
	s.Progress.Note(lost.Error())
	if !lost.Remains {
		s.executors = slices.DeleteFunc(s.executors, func(w executor) bool { return w.Name() == lost.Machine })
	}
}

// renew puts the trials of a block that was begun aside: all of it is run on one machine.
func (s *dealer) renew(block []result.Entry) error {
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

// block runs the trials of a block on a machine. Those that are complete stay, but not in a duet, whose trials are
// nothing without each other.
func (s *dealer) block(ctx context.Context, w executor, j *job) error {
	if s.Plan.Order == plan.Duet { // which runs on one machine
		return w.(*local).duet(ctx, j.entries, j.start)
	}
	for i := range j.entries {
		e := &j.entries[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.Status == result.Complete {
			continue
		}
		t, err := w.trial(ctx, s, e, j.start+i)
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

// profiled runs the trials that are run for their profiles alone, on the first machine that is left: their
// measurements are compared with nothing. A target without a complete trial has none.
func (s *dealer) profiled(ctx context.Context) error {
	failed := 0
	for i := range s.state.Profiled {
		e := &s.state.Profiled[i]
		for wantsProfile(s.state, e) {
			if len(s.executors) == 0 {
				return fmt.Errorf("no machine is left to profile %s: %w", e.Target, ErrIncomplete)
			}
			_, err := s.executors[0].trial(ctx, s, e, len(s.state.Trials)+i)
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
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d trials for profiles: %w", failed, len(s.state.Profiled), ErrIncomplete)
}
