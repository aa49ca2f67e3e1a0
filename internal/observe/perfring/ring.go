// Package perfring reads the kernel's records of events that are opened by
// perf_event_open(2): a ring of memory for each processor. It knows no event.
package perfring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rumbench/internal/observe/cpuset"
)

// ring is the memory through which the kernel hands over the records of a processor.
type ring struct {
	memory []byte
	header *unix.PerfEventMmapPage
	data   []byte
	joined []byte // a record that wraps around the end
}

// newRing maps the ring of an event: pages, and one more for its header.
func newRing(event, pages int) (*ring, error) {
	page := os.Getpagesize()
	memory, err := unix.Mmap(event, 0, (1+pages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map ring of records: %w", err)
	}
	return &ring{memory: memory, header: (*unix.PerfEventMmapPage)(unsafe.Pointer(&memory[0])), data: memory[page:]}, nil
}

func (r *ring) drain(each func(kind uint32, misc uint16, body []byte)) {
	const header = 8
	head := atomic.LoadUint64(&r.header.Data_head)
	tail := r.header.Data_tail // only this side writes it
	size := uint64(len(r.data))
	for tail < head {
		at := tail % size // records are aligned to 8 bytes: their headers do not wrap
		kind := binary.NativeEndian.Uint32(r.data[at:])
		misc := binary.NativeEndian.Uint16(r.data[at+4:])
		length := uint64(binary.NativeEndian.Uint16(r.data[at+6:]))
		if length < header {
			break
		}
		record := r.data[at:min(at+length, size)]
		if at+length > size {
			r.joined = append(append(r.joined[:0], record...), r.data[:at+length-size]...)
			record = r.joined
		}
		each(kind, misc, record[header:])
		tail += length
	}
	atomic.StoreUint64(&r.header.Data_tail, head)
}

// Fields reads the numbers of a record one after the other. Numbers beyond the
// end of the record are zero.
type Fields []byte

// U64 reads 8 bytes.
func (f *Fields) U64() uint64 {
	if len(*f) < 8 {
		*f = nil
		return 0
	}
	v := binary.NativeEndian.Uint64(*f)
	*f = (*f)[8:]
	return v
}

// I32 reads 4 bytes.
func (f *Fields) I32() int32 {
	if len(*f) < 4 {
		*f = nil
		return 0
	}
	v := binary.NativeEndian.Uint32(*f)
	*f = (*f)[4:]
	return int32(v)
}

// processors returns the processors that are online.
func processors() (cpuset.Set, error) {
	online, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("list processors: %w", err)
	}
	set, err := cpuset.Parse(strings.TrimSpace(string(online)))
	if err != nil {
		return nil, fmt.Errorf("list processors: %w", err)
	}
	return set, nil
}

// Now returns the time of the clock that records are stamped with,
// CLOCK_MONOTONIC.
func Now() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0, fmt.Errorf("read monotonic clock: %w", err)
	}
	return time.Duration(t.Nano()), nil
}

// ThreadCPU returns the CPU time of this thread, 0 if it is unknown.
func ThreadCPU() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

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
