package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"rumbench/internal/run/divided"
	"rumbench/internal/run/trial"
	"rumbench/internal/text/hint"
)

// Line is a trial's line to its campaign: its events on the trial's standard
// output, and answers on its standard input. It is the trial.Partner of a trial of a
// duet.
type Line struct {
	mu      sync.Mutex
	events  *json.Encoder
	answers chan answer
	load    *divided.Line
}

// Connect begins to read the campaign's answers, and calls hungUp when there
// will be no more, because the campaign has ended.
func Connect(in io.Reader, out io.Writer, hungUp func()) *Line {
	l := &Line{events: json.NewEncoder(out), answers: make(chan answer, 1)} // one question is open at a time
	l.load = divided.NewLine(func(m divided.Message) { l.Say(trial.Event{Load: &m}) })
	go func() {
		defer hungUp()
		defer l.load.HangUp()
		defer close(l.answers)
		listen(in, func(a answer) {
			if a.Load != nil {
				l.load.Hear(*a.Load)
				return
			}
			l.answers <- a
		})
	}()
	return l
}

// Load is the line about clients on other machines.
func (l *Line) Load() *divided.Line { return l.load }

// Say writes an event. A campaign that no longer reads does not block the
// trial.
func (l *Line) Say(e trial.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.events.Encode(e)
}

// Meet waits until the other trial is about to begin a step, too.
func (l *Line) Meet(ctx context.Context, step string) error {
	l.Say(trial.Event{Step: step, Phase: trial.PhaseReady})
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

// Done reports that this trial's step is over.
func (l *Line) Done(step string) { l.Say(trial.Event{Step: step, Phase: trial.PhaseDone}) }

// Alone returns for how long the other's step had been over before.
func (l *Line) Alone() time.Duration {
	a := <-l.answers
	return time.Duration(a.Alone * float64(time.Second))
}

// errGone reports that there is no other trial any more.
var errGone = hint.With(errors.New("the other trial of the duet has ended"),
	"what a target does alone does not compare with what it does in a duet: look at why the other has ended, then "+
		"rumbench run --resume runs both again")
