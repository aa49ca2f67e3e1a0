package divided

import (
	"context"
	"errors"
	"sync"
)

// Line carries messages between a process and its conductor, in both directions.
type Line struct {
	say func(Message)

	mu        sync.Mutex
	waiting   []Message
	closed    bool
	heard     chan struct{} // has room for one: something is waiting, or the line is closed
	snapshots chan Message  // the last Observed; the head asks once at a time, also while it waits for something else
	over      chan struct{} // closed when the line is
}

// NewLine returns a line that sends by say. What comes in is given to Hear.
func NewLine(say func(Message)) *Line {
	return &Line{say: say, heard: make(chan struct{}, 1), snapshots: make(chan Message, 1),
		over: make(chan struct{})}
}

// Say sends a message.
func (l *Line) Say(m Message) { l.say(m) }

// Hear takes a message that has come in. It never waits.
func (l *Line) Hear(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Kind == Observed {
		select {
		case <-l.snapshots: // nobody waits for it any more
		default:
		}
		l.snapshots <- m
		return
	}
	l.waiting = append(l.waiting, m)
	l.wake()
}

// HangUp says that nothing more comes in.
func (l *Line) HangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.over)
	}
	l.wake()
}

func (l *Line) wake() {
	select {
	case l.heard <- struct{}{}:
	default:
	}
}

// ErrHungUp is the error of a line whose other end is gone.
var ErrHungUp = errors.New("the campaign has ended")

// Next waits for the next message. One goroutine calls it at a time.
func (l *Line) Next(ctx context.Context) (Message, error) {
	for {
		l.mu.Lock()
		if len(l.waiting) > 0 {
			m := l.waiting[0]
			l.waiting = l.waiting[1:]
			l.mu.Unlock()
			return m, nil
		}
		closed := l.closed
		l.mu.Unlock()
		if closed {
			return Message{}, ErrHungUp
		}
		select {
		case <-l.heard:
		case <-ctx.Done():
			return Message{}, context.Cause(ctx)
		}
	}
}
