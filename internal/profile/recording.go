package profile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrUnavailable is the error of Start where this machine or user cannot sample.
// What is missing is in the error that wraps it, what helps in its hint.
var ErrUnavailable = errors.New("CPU sampling is not available")

// Recording is what a Sampler recorded, on the clock of Now. It keeps 32 bytes
// for each sample, and each stack once.
type Recording struct {
	OwnOnly   bool          // this process alone, without the kernel
	Used      time.Duration // CPU time of draining the rings; the timers' interrupts are charged to whom they interrupt
	Lost      uint64        // records
	Throttled uint64        // times that the kernel paused a processor's timer

	samples []sample
	stacks  stacks
	events  []event
	symbols symbols
}

func newRecording() *Recording {
	return &Recording{stacks: stacks{ids: make(map[string]uint32)}, symbols: symbols{images: make(map[file]*image)}}
}

type sample struct {
	time, period time.Duration
	pid, tid     int32
	stack        uint32
}

// stacks holds each stack once: its addresses as the kernel wrote them, the leaf
// first, with markers between kernel and user.
type stacks struct {
	ids  map[string]uint32
	list []string
}

func (s *stacks) id(stack []byte) uint32 {
	if id, ok := s.ids[string(stack)]; ok {
		return id
	}
	id := uint32(len(s.list))
	s.list = append(s.list, string(stack))
	s.ids[s.list[id]] = id
	return id
}

// event is a change of a process that samples are attributed by.
type event struct {
	time                           time.Duration
	kind                           eventKind
	exec                           bool // named by a new program
	pid, tid, parent, parentThread int32
	name                           string
	mapping                        mapping
}

type eventKind uint8

const (
	forked eventKind = iota // a process or, if it is its own parent, a thread
	named
	mapped
)

// mapping is a part of a file that a process mapped as code.
type mapping struct {
	pid                int32
	begin, end, offset uint64
	inode              uint64
	path               string
}

// snapshot adds the processes that run: this one, or all. Their events come
// before all others. What ends meanwhile is left out.
func (r *Recording) snapshot(own bool) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range entries {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || own && pid != os.Getpid() {
			continue
		}
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		// The fields after the name, which may have any characters: state, parent.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		r.events = append(r.events, event{kind: forked, pid: int32(pid), tid: int32(pid), parent: int32(parent), parentThread: int32(parent)})
		r.snapshotThreads(int32(pid), dir)
		maps, _ := os.ReadFile(dir + "/maps")
		for line := range strings.Lines(string(maps)) {
			if m, ok := parseMapping(line); ok {
				m.pid = int32(pid)
				r.events = append(r.events, event{kind: mapped, pid: m.pid, mapping: m})
			}
		}
	}
}

func (r *Recording) snapshotThreads(pid int32, dir string) {
	threads, _ := filepath.Glob(dir + "/task/[0-9]*")
	for _, dir := range threads {
		name, err := os.ReadFile(dir + "/comm")
		tid, err2 := strconv.Atoi(filepath.Base(dir))
		if err == nil && err2 == nil {
			r.events = append(r.events, event{kind: named, pid: pid, tid: int32(tid), name: strings.TrimSpace(string(name))})
		}
	}
}

// parseMapping parses a line of /proc/PID/maps; ok if it is code.
func parseMapping(line string) (m mapping, ok bool) {
	var access, device string
	if _, err := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.begin, &m.end, &access, &m.offset, &device, &m.inode); err != nil {
		return mapping{}, false
	}
	if i := strings.IndexAny(line, "/["); i >= 0 {
		m.path = strings.TrimSpace(line[i:])
	}
	return m, len(access) > 2 && access[2] == 'x'
}

// Task is a thread, as it was when it was sampled.
type Task struct {
	PID, TID        int
	Ancestors       []int // processes, the parent first, also those that have ended
	Kernel          bool  // a thread of the kernel
	Process, Thread string
}

// Trees returns the sides of tasks in process trees: of the nearest of a task's
// process and its ancestors that is the client or a server.
func Trees(client int, servers ...int) func(Task) Side {
	return func(t Task) Side {
		for _, pid := range append([]int{t.PID}, t.Ancestors...) {
			switch {
			case slices.Contains(servers, pid):
				return Server
			case pid == client:
				return Client
			}
		}
		if t.Kernel {
			return Kernel
		}
		return Other
	}
}

// Cut returns the profile of the window between two times of the clock of Now. The
// function decides whose CPU time a task is, once for each task and name.
func (r *Recording) Cut(from, to time.Duration, side func(Task) Side) *Profile {
	slices.SortStableFunc(r.events, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	slices.SortStableFunc(r.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	c := newCutter(r, &Profile{Window: to - from, Lost: r.Lost}, side)
	events := r.events
	for _, s := range r.samples {
		if s.time >= to {
			break
		}
		for len(events) > 0 && events[0].time <= s.time {
			c.apply(&events[0])
			events = events[1:]
		}
		if s.time >= from {
			c.profile.Period = s.period
			c.add(s, min(int((s.time-from)/time.Second), c.profile.Seconds()-1))
		}
	}
	c.profile.Images = r.symbols.opened()
	return c.profile
}

// addresses returns the addresses of a stack as the kernel wrote it.
func addresses(stack string) []uint64 {
	out := make([]uint64, 0, len(stack)/8)
	for b := []byte(stack); len(b) >= 8; b = b[8:] {
		out = append(out, binary.NativeEndian.Uint64(b))
	}
	return out
}
