// Package pmu counts events of the processors, such as instructions, while the threads of some processes
// run, by perf_event_open(2). It opens events and never lists them: a machine without a PMU has none.
package pmu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// Event is an event with the name of its counter.
type Event struct {
	Name   string
	Type   uint32
	Config uint64
}

// Hardware returns groups of events of the hardware, each small enough for the counters of a processor,
// and of one kind: the kernel loses counts in groups of several.
func Hardware() [][]Event {
	const readMisses = unix.PERF_COUNT_HW_CACHE_DTLB | unix.PERF_COUNT_HW_CACHE_OP_READ<<8 |
		unix.PERF_COUNT_HW_CACHE_RESULT_MISS<<16
	return [][]Event{
		{{"pmu.cycles", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
			{"pmu.instructions", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS}},
		{{"pmu.llc_misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
			{"pmu.dtlb_misses", unix.PERF_TYPE_HW_CACHE, readMisses}},
	}
}

// Counter counts groups of events in processes: in the threads that they have when it is opened, and in
// all threads and processes that these begin later. Those that begin just then may be missed.
type Counter struct{ groups []*group }

// group is events that are counted at the same time. Of those of a thread the first leads the others.
type group struct {
	events []Event
	opened []int
}

// Open begins to count the groups that can be counted; nil if there are none.
func Open(pids []int, groups [][]Event) *Counter {
	all, err := observe.NewDescendants(pids...).Find()
	if err != nil {
		return nil
	}
	c := &Counter{}
	for _, events := range groups {
		g := &group{events: events}
		if err := g.open(all); err != nil || len(g.opened) == 0 {
			g.close()
			continue
		}
		c.groups = append(c.groups, g)
	}
	if len(c.groups) == 0 {
		return nil
	}
	return c
}

func (g *group) open(pids []int) error {
	for _, pid := range pids {
		threads, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
		if err != nil {
			continue // it has ended
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			if err := g.openThread(id); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}

func (g *group) openThread(id int) error {
	leader, start := -1, len(g.opened)
	for i, e := range g.events {
		attr := &unix.PerfEventAttr{Type: e.Type, Config: e.Config, Bits: unix.PerfBitInherit,
			Read_format: unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING}
		attr.Size = uint32(unsafe.Sizeof(*attr))
		event, err := unix.PerfEventOpen(attr, id, -1, leader, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			(&group{opened: g.opened[start:]}).close()
			g.opened = g.opened[:start]
			return err
		}
		if g.opened = append(g.opened, event); i == 0 {
			leader = event
		}
	}
	return nil
}

// Name returns "pmu".
func (c *Counter) Name() string { return "pmu" }

// Collect adds the counts, and for how long each was to be counted and was, in ns: the processor takes
// turns if it has too few counters.
func (c *Counter) Collect(_ context.Context, s *engine.Sample) error {
	for _, g := range c.groups {
		enabled, running, counts, err := g.read()
		if err != nil {
			return fmt.Errorf("read events of processors: %w", err)
		}
		for i, e := range g.events {
			s.Counter(e.Name, "count", counts[i])
			s.Counter(e.Name+"_enabled_ns", "ns", enabled)
			s.Counter(e.Name+"_running_ns", "ns", running)
		}
	}
	return nil
}

// read sums the counts of all threads: three numbers, and one for each event.
func (g *group) read() (enabled, running float64, counts []float64, err error) {
	counts = make([]float64, len(g.events))
	buffer := make([]byte, 8*(3+len(g.events)))
	for i := 0; i < len(g.opened); i += len(g.events) {
		n, err := unix.Read(g.opened[i], buffer)
		if err != nil {
			return 0, 0, nil, err
		}
		e, r, values, err := parse(buffer[:n], len(g.events))
		if err != nil {
			return 0, 0, nil, err
		}
		enabled, running = enabled+e, running+r
		for i, v := range values {
			counts[i] += v
		}
	}
	return enabled, running, counts, nil
}

// parse parses what the kernel returns for a group: the number of events, the times, and the counts.
func parse(b []byte, events int) (enabled, running float64, counts []float64, err error) {
	if len(b) != 8*(3+events) || binary.NativeEndian.Uint64(b) != uint64(events) {
		return 0, 0, nil, fmt.Errorf("%d bytes for a group of %d events", len(b), events)
	}
	at := func(i int) float64 { return float64(binary.NativeEndian.Uint64(b[8*i:])) }
	for i := range events {
		counts = append(counts, at(3+i))
	}
	return at(1), at(2), counts, nil
}

// Close ends the counting.
func (c *Counter) Close() {
	for _, g := range c.groups {
		g.close()
	}
}

func (g *group) close() {
	for _, fd := range g.opened {
		_ = unix.Close(fd)
	}
}
