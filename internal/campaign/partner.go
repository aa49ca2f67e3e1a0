package campaign

import (
	"context"
	"errors"
	"io"
	"time"

	"rumbench/internal/hint"
	"rumbench/internal/trial"
)

// Line is a trial's line to its campaign: what the campaign answers on the
// trial's standard input. It is the trial.Partner of a trial of a duet.
type Line struct {
	say     func(trial.Event)
	answers chan answer
}

// Listen begins to read what the campaign says, and calls hungUp when it will
// say no more, because it has ended.
func Listen(in io.Reader, say func(trial.Event), hungUp func()) *Line {
	l := &Line{say: say, answers: make(chan answer, 1)} // one question is open at a time
	go func() {
		defer hungUp()
		defer close(l.answers)
		listen(in, func(a answer) { l.answers <- a })
	}()
	return l
}

// Meet waits until the other trial is about to begin a step, too.
func (l *Line) Meet(ctx context.Context, step string) error {
	l.say(trial.Event{Step: step, Phase: trial.PhaseReady})
	select {
	case a, ok := <-l.answers:
		switch {
		case !ok:
			return errors.New("the campaign has ended")
		case a.Gone:
			return errGone
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done says that this trial's step is over.
func (l *Line) Done(step string) { l.say(trial.Event{Step: step, Phase: trial.PhaseDone}) }

// Alone returns for how long the other's step had been over before.
func (l *Line) Alone() time.Duration {
	a := <-l.answers
	return time.Duration(a.Alone * float64(time.Second))
}

// errGone says that there is no other trial any more.
var errGone = hint.With(errors.New("the other trial of the duet has ended"),
	"what a target does alone does not compare with what it does in a duet: look at why the other has ended, then rumbench run --resume runs both again")
