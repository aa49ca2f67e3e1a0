package profile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrUnavailable is the error of Start if this machine or user cannot sample.
// The error that wraps it names the missing part, and its hint the remedy.
var ErrUnavailable = errors.New("CPU sampling is not available")

// Budget is the share of a processor that may be used to drain its samples.
const Budget = 0.005

// Recording holds the samples of a Sampler, on the clock of Now. It keeps 32
// bytes for each sample, and each stack once.
type Recording struct {
	OwnOnly   bool          // this process and those it starts while sampled, without the kernel
	Used      time.Duration // CPU time of draining the rings; the timers' interrupts are charged to whom they interrupt
	Lost      uint64        // records
	Throttled uint64        // times that the kernel paused a processor's timer
	// OverBudget is whether the sampler stopped itself: later events are not sampled.
	OverBudget bool

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

// numbered returns the entries of a directory of /proc that are numbers, none if it
// cannot be read.
func numbered(dir string) (ids []int) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// snapshot adds processes that run. Their events come before all others.
// Processes that end during the snapshot are left out.
func (r *Recording) snapshot(pids []int) {
	for _, id := range pids {
		pid, dir := int32(id), fmt.Sprintf("/proc/%d/", id)
		stat, err := os.ReadFile(dir + "stat")
		if err != nil {
			continue
		}
		// After the name, which may have any characters, come state and parent.
		var state string
		e := event{kind: forked, pid: pid, tid: pid}
		fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &e.parent)
		e.parentThread = e.parent
		r.events = append(r.events, e)
		for _, tid := range numbered(dir + "task") {
			name, _ := os.ReadFile(fmt.Sprintf("%stask/%d/comm", dir, tid))
			r.events = append(r.events, event{kind: named, pid: pid, tid: int32(tid), name: strings.TrimSpace(string(name))})
		}
		maps, _ := os.ReadFile(dir + "maps")
		for line := range strings.Lines(string(maps)) {
			if m, ok := parseMapping(line); ok {
				m.pid = pid
				r.events = append(r.events, event{kind: mapped, pid: pid, mapping: m})
			}
		}
	}
}

// parseMapping parses a line of /proc/PID/maps; ok if it is code.
func parseMapping(line string) (m mapping, ok bool) {
	var access, device string
	if _, err := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.begin, &m.end, &access, &m.offset, &device,
		&m.inode); err != nil {
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

// Trees returns the sides of tasks in process trees: the side of the client or
// server that is nearest among a task's process and its ancestors.
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

// addresses returns the addresses of a stack as the kernel wrote it.
func addresses(stack string) []uint64 {
	out := make([]uint64, 0, len(stack)/8)
	for b := []byte(stack); len(b) >= 8; b = b[8:] {
		out = append(out, binary.NativeEndian.Uint64(b))
	}
	return out
}
