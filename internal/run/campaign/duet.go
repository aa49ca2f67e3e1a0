package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"rumbench/internal/observe/cpuset"
	"rumbench/internal/result"
	"rumbench/internal/run/divided"
	"rumbench/internal/run/trial"
)

// duet runs the two trials of a block at the same time, each on its half of the
// processors.
func (r *local) duet(ctx context.Context, block []result.Entry, start int) error {
	if err := r.pause(ctx, r.ran, block[0].Dir); err != nil {
		return err
	}
	r.ran = true
	d := newDuet(ctx, r.Progress)
	d.sides[0].cpus, d.sides[1].cpus = r.halves.First, r.halves.Second
	place := r.place(start + len(block) - 1)
	place.Trial = place.Trial.Beside(r.Forecast.Trial(block[0].Target, block[0].Trial))
	for i := range block {
		if err := r.aside(block[i].Dir); err != nil {
			return err
		}
		d.sides[i].name = block[i].Target
		place.Number, place.Duet = start+i+1, i == 1
		r.Progress.Begin(block[i], place)
	}
	var trials [2]*result.Trial
	var errs [2]error
	var both sync.WaitGroup
	for i := range block {
		both.Go(func() {
			defer d.sides[i].leave() // also if it was never started
			trials[i], errs[i] = r.runner.trial(ctx, block[i], &d.sides[i])
		})
	}
	both.Wait()
	for i := range block {
		r.Progress.Note(fmt.Sprintf("%s, on processors %v", block[i].Dir, d.sides[i].cpus))
		errs[i] = r.ended(&block[i], trials[i], errs[i])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	for i := range block {
		errs[i] = r.baseless(&block[i], trials[i], start+len(block))
	}
	return errors.Join(errs[:]...)
}

// duet holds two trials together: each begins a step when both are ready. They
// report this by events, and get an answer on their standard input.
type duet struct {
	progress Progress
	over     context.Context // of the campaign

	mu    sync.Mutex
	sides [2]side
}

func newDuet(ctx context.Context, p Progress) *duet {
	d := &duet{progress: p, over: ctx}
	d.sides[0].duet, d.sides[0].opposite = d, &d.sides[1]
	d.sides[1].duet, d.sides[1].opposite = d, &d.sides[0]
	return d
}

// side is one of the two trials.
type side struct {
	duet     *duet
	opposite *side
	name     string
	cpus     cpuset.Set

	// Under the duet's lock.
	stdin io.Writer
	waits bool        // at the beginning of a step
	gone  bool        // its process has ended
	ended time.Time   // when its last step was over; zero before that, and in a step
	last  trial.Event // of the step that it is in
}

// answer is a line of JSON to a trial that waits for one.
type answer struct {
	Gone  bool    `json:"gone,omitempty"`    // to ready: the other has ended
	Alone float64 `json:"alone_s,omitempty"` // to done: seconds since the other's step was over
	// Load is a message about clients on other machines, and no answer.
	Load *divided.Message `json:"load,omitempty"`
}

// join takes the trial's standard input for answers.
func (s *side) join(stdin io.Writer) {
	s.duet.mu.Lock()
	defer s.duet.mu.Unlock()
	s.stdin = stdin
}

// event takes an event of the trial.
func (s *side) event(e trial.Event) {
	s.duet.mu.Lock()
	defer s.duet.mu.Unlock()
	switch e.Phase {
	case trial.PhaseReady:
		s.ready()
	case trial.PhaseDone:
		s.ended, s.last = time.Now(), trial.Event{}
		var a answer
		if !s.opposite.ended.IsZero() {
			a.Alone = s.ended.Sub(s.opposite.ended).Seconds()
		}
		s.answer(a)
	case trial.PhaseBegin, trial.PhaseEnd: // the display has no room for two
	default:
		s.last = e
		s.duet.progress.Event(s.duet.merged(e))
	}
}

// ready lets both begin if both are ready. A trial that waits for one that has
// ended gets that answer at once; but not in a campaign ended by its user,
// which reports that itself.
func (s *side) ready() {
	s.waits = true
	switch {
	case s.opposite.gone && s.duet.over.Err() == nil:
		s.answer(answer{Gone: true})
	case s.opposite.waits:
		for _, s := range []*side{s, s.opposite} {
			s.waits, s.ended = false, time.Time{}
			s.answer(answer{})
		}
	}
}

// leave notes that the trial's process has ended.
func (s *side) leave() {
	s.duet.mu.Lock()
	defer s.duet.mu.Unlock()
	if s.gone {
		return
	}
	s.gone, s.waits, s.last = true, false, trial.Event{}
	if s.ended.IsZero() {
		s.ended = time.Now()
	}
	if s.opposite.waits && s.duet.over.Err() == nil {
		s.opposite.answer(answer{Gone: true})
	}
}

// answer writes to the trial. One that has ended does not hear it.
func (s *side) answer(a answer) {
	_ = json.NewEncoder(s.stdin).Encode(a)
}

// merged merges the last events of the two, of which e is the latest.
func (d *duet) merged(e trial.Event) trial.Event {
	a, b := &d.sides[0].last, &d.sides[1].last
	e.CPU, e.Server, e.Written, e.Stalled = a.CPU+b.CPU, a.Server+b.Server, a.Written+b.Written, a.Stalled+b.Stalled
	if a.Step != b.Step && a.Step != "" && b.Step != "" {
		e.Step = a.Step + "/" + b.Step
	}
	e.Groups = nil
	for i := range d.sides {
		for _, g := range d.sides[i].last.Groups {
			g.Name = d.sides[i].name + " " + g.Name
			e.Groups = append(e.Groups, g)
		}
	}
	return e
}
