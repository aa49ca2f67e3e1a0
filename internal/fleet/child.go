package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"rumbench/internal/run/divided"
)

// child is the process on a machine whose load is divided: that of a trial, or of clients of one.
type child struct {
	mu     sync.Mutex
	number int64 // of the last
	token  int64 // of the order of the next
	pass   func(divided.Message)
	end    func() // nil: none runs
}

// take passes on a line of the coordinator. One for a process that has ended is dropped.
func (c *child) take(data []byte) {
	var l loadLine
	if json.Unmarshal(data, &l) != nil {
		return
	}
	c.mu.Lock()
	pass, end := c.pass, c.end
	here := end != nil && l.Child == c.number
	c.mu.Unlock()
	switch {
	case !here:
	case l.Over:
		end()
	case l.Message != nil:
		pass(*l.Message)
	}
}

// hangUp ends the process that runs, if one does.
func (c *child) hangUp() {
	c.mu.Lock()
	end := c.end
	c.mu.Unlock()
	if end != nil {
		end()
	}
}

// connect connects a process with the coordinator.
func (a *agent) connect(dir string, pass func(divided.Message), end func()) (hear func(divided.Message), leave func()) {
	c := &a.child
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	c.pass, c.end = pass, end
	number := c.number
	say := func(l loadLine) {
		l.Child = number
		b, _ := json.Marshal(l)                                           // cannot fail
		if a.conn.Publish("from."+isLoad, b) != nil && l.Message != nil { // it is too large
			failure := divided.FailureOf(fmt.Errorf("a message of %d bytes is too large: use a longer interval", len(b)))
			b, _ = json.Marshal(loadLine{Child: number, Message: &divided.Message{Kind: divided.Failed, Failure: failure}})
			_ = a.conn.Publish("from."+isLoad, b) // without a coordinator nobody waits for it
		}
	}
	say(loadLine{Dir: dir, Token: c.token})
	return func(m divided.Message) { say(loadLine{Message: &m}) }, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.end = nil
		say(loadLine{Over: true})
	}
}

// part runs clients of a trial of another machine.
func (a *agent) part(ctx context.Context, data []byte) (any, error) {
	return inCampaign(ctx, a, func(ctx context.Context) (any, error) {
		var o partOrder
		if err := json.Unmarshal(data, &o); err != nil {
			return nil, err
		}
		a.child.mu.Lock()
		a.child.token = o.Token
		a.child.mu.Unlock()
		return nil, a.worker.Part(ctx, o.Dir)
	})
}

// clock returns what the clock of this machine says.
func clock(context.Context, []byte) (any, error) { return divided.Clock(), nil }
