package perfring

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Group is events on all processors. The events of a processor share its ring.
type Group struct {
	events []int
	rings  []*ring
}

// Open opens events on each processor, whose ring has the given number of pages, a power of two. The
// function opens event i of n, disabled; it may return ESRCH if the thread of an event has ended.
func (g *Group) Open(pages, n int, open func(processor, i int) (event int, err error)) error {
	processors, err := processors()
	if err != nil {
		return err
	}
	for _, processor := range processors {
		first := -1
		for i := range n {
			event, err := open(processor, i)
			if err == unix.ESRCH {
				continue
			}
			if err != nil {
				return err
			}
			g.events = append(g.events, event)
			if first >= 0 {
				if err := unix.IoctlSetInt(event, unix.PERF_EVENT_IOC_SET_OUTPUT, first); err != nil {
					return fmt.Errorf("processor %d: share the ring of an event: %w", processor, err)
				}
				continue
			}
			first = event
			r, err := newRing(event, pages)
			if err != nil {
				return err
			}
			g.rings = append(g.rings, r)
		}
	}
	return nil
}

// Processors returns the number of processors with a ring.
func (g *Group) Processors() int { return len(g.rings) }

// Enable enables all events.
func (g *Group) Enable() error { return g.set(unix.PERF_EVENT_IOC_ENABLE) }

// Disable disables all events.
func (g *Group) Disable() error { return g.set(unix.PERF_EVENT_IOC_DISABLE) }

func (g *Group) set(request uint) (err error) {
	for _, event := range g.events {
		err = errors.Join(err, unix.IoctlSetInt(event, request, 0))
	}
	return err
}

// Drain passes on the records that arrived since the last call, in the order of processors. A record is
// overwritten after each has returned.
func (g *Group) Drain(each func(kind uint32, misc uint16, body []byte)) {
	for _, r := range g.rings {
		r.drain(each)
	}
}

// Close closes the events and their rings.
func (g *Group) Close() (err error) {
	for _, r := range g.rings {
		err = errors.Join(err, unix.Munmap(r.memory))
	}
	for _, event := range g.events {
		err = errors.Join(err, unix.Close(event))
	}
	return err
}
