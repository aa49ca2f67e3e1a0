package profile

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// Cut returns the profile of the window between two times of the clock of Now.
// The function decides which side a task's CPU time belongs to, once for each
// task and name.
func (r *Recording) Cut(start, end time.Duration, side func(Task) Side) *Profile {
	opened.Lock()
	defer opened.Unlock()
	slices.SortStableFunc(r.events, func(a, b event) int { return cmp.Compare(a.time, b.time) })
	slices.SortStableFunc(r.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	c := newCutter(r, &Profile{Window: end - start, Lost: r.Lost}, side)
	events := r.events
	for _, s := range r.samples {
		if s.time >= end {
			break
		}
		for len(events) > 0 && events[0].time <= s.time {
			c.apply(&events[0])
			events = events[1:]
		}
		if s.time >= start {
			c.profile.Period = s.period
			c.add(s, min(int((s.time-start)/time.Second), c.profile.Seconds()-1))
		}
	}
	c.profile.Images = r.symbols.needed()
	return c.profile
}

// cutter follows the processes of a recording and sums its samples.
type cutter struct {
	recording *Recording
	profile   *Profile
	side      func(Task) Side
	processes map[int32]*process
	frames    map[Frame]int32 // indices into the profile's
	sums      map[sumKey]int  // indices into its samples
}

// sumKey is the key by which samples are summed.
type sumKey struct {
	owner
	stack string
}

// owner is the owner of a sample, as profiles show it.
type owner struct {
	side            Side
	process, thread string
}

// process is a process at one time.
type process struct {
	pid    int32
	parent *process
	names  map[int32]string // of threads; of the process itself by its own id
	owners map[int32]owner  // of threads, as decided
	space  *space
	met    bool // as a parent or by a sample only: the event that began it is still to come
}

// space is the code that a process has mapped, not changed once it is used.
// Children share it.
type space struct {
	mappings []mapping
	stacks   map[uint32]string // of addresses: their frames, see cutter.pack
}

func newSpace(mappings []mapping) *space {
	return &space{mappings: mappings, stacks: make(map[uint32]string)}
}

func newCutter(r *Recording, p *Profile, side func(Task) Side) *cutter {
	return &cutter{recording: r, profile: p, side: side, processes: make(map[int32]*process),
		frames: make(map[Frame]int32), sums: make(map[sumKey]int)}
}

// subject returns a process; an unknown one is new.
func (c *cutter) subject(pid int32) *process {
	p := c.processes[pid]
	if p == nil {
		p = newProcess(pid, newSpace(nil))
		p.met = true
		c.processes[pid] = p
	}
	return p
}

func newProcess(pid int32, s *space) *process {
	return &process{pid: pid, names: make(map[int32]string), owners: make(map[int32]owner), space: s}
}

func (c *cutter) apply(e *event) {
	switch e.kind {
	case forked:
		parent := c.subject(e.parent)
		if e.pid == e.parent {
			parent.names[e.tid] = parent.names[e.parentThread]
			delete(parent.owners, e.tid)
			return
		}
		p := c.processes[e.pid]
		if p == nil || !p.met {
			p = newProcess(e.pid, parent.space)
			c.processes[e.pid] = p
		}
		p.parent, p.space, p.met = parent, parent.space, false // its children know it already, if it was met
		p.names[e.tid] = parent.names[e.parentThread]
		clear(p.owners)
	case named:
		p := c.subject(e.pid)
		p.names[e.tid] = e.name
		clear(p.owners)
		if e.exec {
			p.space = newSpace(nil)
		}
	case mapped:
		p := c.subject(e.pid)
		mappings := p.space.mappings
		p.space = newSpace(append(mappings[:len(mappings):len(mappings)], e.mapping))
	}
}

// find returns the mapping of an address: the latest, because mappings replace
// older ones in their place.
func (s *space) find(address uint64) *mapping {
	for i := len(s.mappings) - 1; i >= 0; i-- {
		if m := &s.mappings[i]; m.begin <= address && address < m.end {
			return m
		}
	}
	return nil
}

// add adds a sample. Processes outside the trial keep their functions private:
// their stacks are empty.
func (c *cutter) add(s sample, second int) {
	p := c.subject(s.pid)
	o := c.owner(p, s.tid)
	if o.side == Other {
		c.sum(o, "", second, s.period)
		return
	}
	stack, ok := p.space.stacks[s.stack]
	if !ok {
		stack = c.resolve(p.space, c.recording.stacks.list[s.stack])
		p.space.stacks[s.stack] = stack
	}
	c.sum(o, stack, second, s.period)
}

// sum adds CPU time of a second that is not before those of the same stack.
func (c *cutter) sum(o owner, stack string, second int, cpu time.Duration) {
	key := sumKey{o, stack}
	index, ok := c.sums[key]
	if !ok {
		index = len(c.profile.Samples)
		c.sums[key] = index
		c.profile.Samples = append(c.profile.Samples,
			Sample{Side: o.side, Process: o.process, Thread: o.thread, Stack: unpack(stack)})
	}
	s := &c.profile.Samples[index]
	if n := len(s.Parts); n > 0 && s.Parts[n-1].Second == second {
		s.Parts[n-1].CPU += cpu
		return
	}
	s.Parts = append(s.Parts, Part{second, cpu})
}

func (c *cutter) owner(p *process, tid int32) owner {
	if o, ok := p.owners[tid]; ok {
		return o
	}
	t := Task{PID: int(p.pid), TID: int(tid), Process: family(p.names[p.pid]), Thread: family(p.names[tid])}
	const kthreadd = 2 // the parent of all threads of the kernel
	t.Kernel = p.pid == kthreadd && t.Process == "kthreadd"
	for a := p.parent; a != nil; a = a.parent {
		t.Ancestors = append(t.Ancestors, int(a.pid))
		t.Kernel = t.Kernel || a.pid == kthreadd && a.names[kthreadd] == "kthreadd"
	}
	o := owner{c.side(t), t.Process, t.Thread}
	p.owners[tid] = o
	return o
}

// family returns a name without the numbers at its end, which distinguish
// threads with the same task.
func family(name string) string {
	return cmp.Or(strings.TrimRight(name, "0123456789-:/_#. "), name, "?")
}

// resolve returns the packed frames of a stack of addresses.
func (c *cutter) resolve(s *space, raw string) string {
	const (
		markers    = ^uint64(4095) // from here on they are no addresses
		kernelNext = ^uint64(128 - 1)
		userNext   = ^uint64(512 - 1)
	)
	var frames []Frame // the leaf first
	var kernel, caller bool
	for _, address := range addresses(raw) {
		if address >= markers {
			kernel, caller = address == kernelNext, false
			continue
		}
		if caller {
			address-- // a return address may be the next function's
		}
		caller = true
		if kernel {
			frames = append(frames, c.recording.symbols.kernelFrame(address))
			continue
		}
		m := s.find(address)
		if m == nil && len(frames) > 0 {
			break // the chain of frame pointers is broken: no frames follow
		}
		frames = append(frames, c.recording.symbols.frame(m, address))
	}
	return c.pack(tidy(frames))
}

// pack returns a stack, the root first, as indices in a string.
func (c *cutter) pack(frames []Frame) string {
	packed := make([]byte, 0, 4*len(frames))
	for _, f := range frames {
		id, ok := c.frames[f]
		if !ok {
			id = int32(len(c.profile.Frames))
			c.frames[f] = id
			c.profile.Frames = append(c.profile.Frames, f)
		}
		packed = binary.NativeEndian.AppendUint32(packed, uint32(id))
	}
	return string(packed)
}

func unpack(packed string) []int32 {
	stack := make([]int32, 0, len(packed)/4)
	for b := []byte(packed); len(b) >= 4; b = b[4:] {
		stack = append(stack, int32(binary.NativeEndian.Uint32(b)))
	}
	return stack
}
