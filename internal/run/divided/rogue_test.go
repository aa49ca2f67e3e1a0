package divided

import (
	"testing"
	"testing/synctest"

	"rumbench/internal/expect"
)

// What no rumbench sends fails the load, and not the program that conducts it.
func TestForged(t *testing.T) {
	for _, kind := range []Kind{Open, Arm} {
		synctest.Test(t, func(t *testing.T) {
			var said []Message
			line := NewLine(func(m Message) { said = append(said, m) })
			c := &Conductor{Head: Peer{Line: line}, Parts: []Peer{{Machine: "m1", Line: NewLine(func(Message) {})}}}
			done := make(chan struct{})
			go func() { c.Run(t.Context()); close(done) }()
			line.Hear(Message{Kind: kind})
			synctest.Wait()
			expect.True(t, len(said) > 0 && said[0].Kind == Failed, kind, said)
			line.HangUp()
			<-done
		})
	}
}
