package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"rumbench/internal/cpuset"
	"rumbench/internal/result"
	"rumbench/internal/trial"
)

// duet runs the two trials of a block at the same time, each on its half of the
// processors.
func (r *runner) duet(ctx context.Context, at span) error {
	block := r.state.Trials[at.from:at.to]
	d := &duet{progress: r.Progress, over: ctx}
	cpus := [2]cpuset.Set{r.halves.First, r.halves.Second}
	for i := range block {
		if err := r.aside(block[i].Dir); err != nil {
			return err
		}
		d.sides[i].name = block[i].Target
		r.Progress.Begin(block[i], at.from+i+1, len(r.state.Trials))
	}
	var trials [2]*result.Trial
	var errs [2]error
	var both sync.WaitGroup
	for i := range block {
		both.Go(func() {
			s := &seat{duet: d, side: i, cpus: cpus[i]}
			defer s.leave() // also if it was never started
			trials[i], errs[i] = r.child(ctx, block[i], s)
		})
	}
	both.Wait()
	for i := range block {
		r.Progress.Note(fmt.Sprintf("%s, on processors %v", block[i].Dir, cpus[i]))
		errs[i] = r.ended(&block[i], trials[i], errs[i])
	}
	return errors.Join(errs[:]...)
}

// duet holds two trials together: each begins a step when both are there. They
// say so by events, and get an answer on their standard input.
type duet struct {
	progress Progress
	over     context.Context // of the campaign

	mu    sync.Mutex
	sides [2]side
}

// side is what is known of one of the two.
type side struct {
	name  string
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
}

// seat is a trial's place in a duet.
type seat struct {
	duet *duet
	side int
	cpus cpuset.Set
}

// sit takes the trial's standard input for answers.
func (s *seat) sit(stdin io.Writer) {
	s.duet.mu.Lock()
	defer s.duet.mu.Unlock()
	s.duet.sides[s.side].stdin = stdin
}

// event takes what the trial says.
func (s *seat) event(e trial.Event) {
	d := s.duet
	d.mu.Lock()
	defer d.mu.Unlock()
	own, other := &d.sides[s.side], &d.sides[1-s.side]
	switch e.Phase {
	case trial.PhaseReady:
		d.ready(own, other)
	case trial.PhaseDone:
		own.ended, own.last = time.Now(), trial.Event{}
		var a answer
		if !other.ended.IsZero() {
			a.Alone = own.ended.Sub(other.ended).Seconds()
		}
		own.answer(a)
	case trial.PhaseBegin, trial.PhaseEnd: // the display has no place for two
	default:
		own.last = e
		d.progress.Event(d.both(e))
	}
}

// ready lets both begin if both are there. What nobody will come to is told at
// once; but not in a campaign that its user has ended, which says so itself.
func (d *duet) ready(own, other *side) {
	own.waits = true
	switch {
	case other.gone && d.over.Err() == nil:
		own.answer(answer{Gone: true})
	case other.waits:
		for _, s := range []*side{own, other} {
			s.waits, s.ended = false, time.Time{}
			s.answer(answer{})
		}
	}
}

// leave says that the trial's process has ended.
func (s *seat) leave() {
	d := s.duet
	d.mu.Lock()
	defer d.mu.Unlock()
	own, other := &d.sides[s.side], &d.sides[1-s.side]
	if own.gone {
		return
	}
	own.gone, own.waits, own.last = true, false, trial.Event{}
	if own.ended.IsZero() {
		own.ended = time.Now()
	}
	if other.waits && d.over.Err() == nil {
		other.answer(answer{Gone: true})
	}
}

// answer writes to the trial. One that has ended does not hear it.
func (s *side) answer(a answer) {
	_ = json.NewEncoder(s.stdin).Encode(a)
}

// both makes one event of what the two said last, of which e is the latest.
func (d *duet) both(e trial.Event) trial.Event {
	a, b := &d.sides[0].last, &d.sides[1].last
	e.CPU, e.Server, e.Stalled = a.CPU+b.CPU, a.Server+b.Server, a.Stalled+b.Stalled
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
