package profile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rumbench/internal/observe/perfring"
	"rumbench/internal/text/hint"
)

const (
	drainEvery = 100 * time.Millisecond
	ringPages  = 64
	// settled is when the use of a sampler is first compared with its budget.
	settled = 2 * time.Second
)

// Sampler samples the code that processors execute, hertz times per second of
// CPU time, by timers of the kernel (the event cpu-clock). Idle processors are
// not sampled. A sampler that uses more than its budget of 0.5 % of each
// processor stops itself, see Recording.OverBudget.
type Sampler struct {
	events    perfring.Group
	recording *Recording
	stop      chan struct{}
	stopped   chan struct{}
}

// Start begins to sample all processes on all processors. Without the permission for
// that it samples this process alone, without the kernel, see Recording.OwnOnly;
// events of threads cost more than those of processors, up to a µs at each switch.
// If neither is possible the error is ErrUnavailable. A frequency of 99 Hz has no
// beat with timers.
//
// Linux 6.17 could hang permanently while sampling; Start refuses it unless forced.
func Start(hertz int, force bool) (*Sampler, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return nil, fmt.Errorf("read the kernel's release: %w", err)
	}
	if err := refuse(unix.ByteSliceToString(name.Release[:]), force); err != nil {
		return nil, err
	}
	s, err := start(hertz, false)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		s, err = start(hertz, true)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return s, nil
}

// refuse returns an error for kernels on which the timer of cpu-clock may hang:
// the fix (commit eb3182ef0405) came with 6.18.
func refuse(release string, force bool) error {
	if force || !regexp.MustCompile(`^6\.17([.-]|$)`).MatchString(release) {
		return nil
	}
	return hint.With(fmt.Errorf("%w: Linux %s may hang while it samples (cpu-clock, fixed in 6.18)", ErrUnavailable,
		release), "use another kernel, or force the sampler if yours has the fix")
}

func unavailable(err error) error {
	var advice string
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		advice = fmt.Sprintf("run as root or with CAP_PERFMON, or lower kernel.perf_event_paranoid (now %s) with sysctl; "+
			"in a container, allow the system call perf_event_open", bytes.TrimSpace(level))
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		advice = "use a kernel with CONFIG_PERF_EVENTS"
	}
	return hint.With(fmt.Errorf("%w: %w", ErrUnavailable, err), advice)
}

func start(hertz int, own bool) (*Sampler, error) {
	s := &Sampler{recording: newRecording(), stop: make(chan struct{}), stopped: make(chan struct{})}
	s.recording.OwnOnly = own
	if err := s.open(hertz, own); err != nil {
		return nil, errors.Join(err, s.events.Close())
	}
	if err := s.events.Enable(); err != nil {
		return nil, errors.Join(fmt.Errorf("enable sampling: %w", err), s.events.Close())
	}
	// Processes that began after the events were enabled are in the records
	// too.
	pids := []int{os.Getpid()}
	if !own {
		pids = numbered("/proc")
	}
	s.recording.snapshot(pids)
	go s.run()
	return s, nil
}

// open opens the events of each processor, disabled.
func (s *Sampler) open(hertz int, own bool) error {
	threads, attr := []int{-1}, attributes(hertz, own) // -1: all threads
	if own {
		threads = numbered("/proc/self/task/")
	}
	return s.events.Open(ringPages, len(threads), func(processor, i int) (int, error) {
		event, err := unix.PerfEventOpen(attr, threads[i], processor, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil && (threads[i] < 0 || err != unix.ESRCH) {
			err = fmt.Errorf("sample processor %d: perf_event_open: %w", processor, err)
		}
		return event, err
	})
}

// attributes returns the event: samples, and records of new processes, names
// and mapped code, all with the thread and the time at the end. Events of this
// process's threads are inherited by the threads that they create.
func attributes(hertz int, own bool) *unix.PerfEventAttr {
	attr := &unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(hertz),
		Sample_type: unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME |
			unix.PERF_SAMPLE_CALLCHAIN | unix.PERF_SAMPLE_PERIOD,
		Bits: unix.PerfBitDisabled | unix.PerfBitFreq | unix.PerfBitExcludeIdle | unix.PerfBitMmap | unix.PerfBitMmap2 |
			unix.PerfBitComm | unix.PerfBitCommExec | unix.PerfBitTask | unix.PerfBitSampleIDAll | unix.PerfBitUseClockID,
		Clockid: unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(*attr))
	if own {
		attr.Bits |= unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
	}
	return attr
}

// OwnOnly reports whether it samples this process alone, see Recording.OwnOnly.
func (s *Sampler) OwnOnly() bool { return s.recording.OwnOnly }

// run drains the rings until Stop. It has a separate thread, so that its CPU
// time is known, and ends with it.
func (s *Sampler) run() {
	defer close(s.stopped)
	runtime.LockOSThread()
	previous, began := perfring.ThreadCPU(), time.Now() // of goroutines that had the thread earlier
	ticker := time.NewTicker(drainEvery)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case <-ticker.C:
		case <-s.stop:
			running = false
		}
		s.events.Drain(s.recording.take)
		used, lasted := perfring.ThreadCPU()-previous, time.Since(began)
		s.recording.Used = used
		if lasted > settled && !s.recording.OverBudget && overBudget(used, lasted, s.events.Processors()) {
			s.recording.OverBudget = s.events.Disable() == nil
		}
	}
}

// overBudget reports whether draining the samples of processors used too much CPU time.
func overBudget(used, lasted time.Duration, processors int) bool {
	return float64(used) > Budget*float64(processors)*float64(lasted)
}

// Stop ends sampling and returns the recording.
func (s *Sampler) Stop() (*Recording, error) {
	err := s.events.Disable()
	close(s.stop)
	<-s.stopped
	if err = errors.Join(err, s.events.Close()); err != nil {
		return nil, fmt.Errorf("end sampling: %w", err)
	}
	return s.recording, nil
}

// Now returns the time of the clock that samples are stamped with,
// CLOCK_MONOTONIC.
func Now() (time.Duration, error) { return perfring.Now() }

// take adds a record of the kernel, see perf_event_open(2).
func (r *Recording) take(kind uint32, misc uint16, body []byte) {
	const (
		exec    = 1 << 13 // PERF_RECORD_MISC_COMM_EXEC
		trailer = 16      // pid, tid, time
	)
	if kind == unix.PERF_RECORD_SAMPLE {
		r.takeSample(body)
		return
	}
	if len(body) < trailer {
		return
	}
	e := event{time: time.Duration(binary.NativeEndian.Uint64(body[len(body)-8:]))}
	remaining := body[:len(body)-trailer]
	f := perfring.Fields(remaining)
	switch kind {
	case unix.PERF_RECORD_LOST:
		f.U64() // the event's id
		r.Lost += f.U64()
		return
	case unix.PERF_RECORD_THROTTLE:
		r.Throttled++
		return
	case unix.PERF_RECORD_FORK:
		e.kind = forked
		e.pid, e.parent, e.tid, e.parentThread = f.I32(), f.I32(), f.I32(), f.I32()
	case unix.PERF_RECORD_COMM:
		e.kind, e.exec = named, misc&exec != 0
		e.pid, e.tid = f.I32(), f.I32()
		e.name = unix.ByteSliceToString(remaining[min(8, len(remaining)):])
	case unix.PERF_RECORD_MMAP2:
		const names = 64 // offset of the file's name
		if len(remaining) < names {
			return
		}
		e.kind = mapped
		e.pid, e.tid = f.I32(), f.I32()
		begin, length, offset := f.U64(), f.U64(), f.U64()
		f.U64() // device
		e.mapping = mapping{pid: e.pid, begin: begin, end: begin + length, offset: offset, inode: f.U64(),
			path: unix.ByteSliceToString(remaining[names:])}
	default:
		return
	}
	r.events = append(r.events, e)
}

// takeSample reads instruction pointer, thread, time, period and stack.
func (r *Recording) takeSample(f perfring.Fields) {
	f.U64() // the instruction pointer, which the stack begins with
	s := sample{pid: f.I32(), tid: f.I32(), time: time.Duration(f.U64()), period: time.Duration(f.U64())}
	depth := f.U64()
	if depth > uint64(len(f))/8 {
		r.Lost++
		return
	}
	s.stack = r.stacks.id(f[:8*depth])
	r.samples = append(r.samples, s)
}
