package profile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/observe/perfring"
	"rumbench/internal/text/hint"
)

// ErrNoLooks is the error of Look if it is not permitted to see where threads
// sleep.
var ErrNoLooks = errors.New("where threads sleep is not known")

// Place is a place where threads of one name sleep.
type Place struct {
	Thread  string `json:"thread"`         // without the numbers that distinguish those that do the same
	Syscall string `json:"syscall"`        // PageFault outside of system calls
	Kernel  string `json:"kernel"`         // the kernel's function
	File    string `json:"file,omitempty"` // its purpose, an engine.FileUse; or socket, pipe
}

// Sleep is the time that threads slept in a place, summed over them.
type Sleep struct {
	Place
	Time time.Duration `json:"ns"`
}

// Asleep holds the places where threads slept in a window.
type Asleep struct {
	Sleeps []Sleep       `json:"-"` // each place once, the longest first
	Window time.Duration `json:"window_ns"`
	Looks  int           `json:"looks"`
	Used   time.Duration `json:"used_ns"` // CPU time from Look to Stop
	Ran    time.Duration `json:"ran_ns"`
}

// Looker observes from outside where the threads of processes sleep, some times
// a second. It stops none of them, and sees no thread that runs or waits for a
// processor.
type Looker struct {
	every         time.Duration
	dirs          []string
	uses          engine.FileUses
	processes     *observe.Descendants
	threads       map[int]*thread
	round         int
	refused       error // the reason why a thread cannot be looked at
	places        map[Place]int32
	list          []Place
	looks         []look
	used, ran     time.Duration
	stop, stopped chan struct{}
	buffer        [256]byte
}

// thread is a thread that is looked at. Its files stay open: to find them costs more
// than to read them.
type thread struct {
	pid             int
	name            string
	syscall, kernel int // descriptors
	round           int
}

// look is a sample taken at one time: the place of each thread that slept.
type look struct {
	at     time.Duration
	places []int32
}

// lookShare bounds the CPU time of looks: 0.7 % of a processor. If there are more
// threads there are fewer looks.
const lookShare = 150

// listEvery is how often threads are listed.
const listEvery = time.Second

// Look begins to look at the threads of processes and their descendants, at
// most hertz times a second. uses gives the purpose of the files below the
// directories.
func Look(hertz int, pids []int, dirs []string, uses engine.FileUses) (*Looker, error) {
	l := &Looker{every: time.Second / time.Duration(hertz), dirs: dirs, uses: uses,
		processes: observe.NewDescendants(pids...), threads: make(map[int]*thread), places: make(map[Place]int32),
		stop: make(chan struct{}), stopped: make(chan struct{})}
	if err := l.listThreads(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoLooks, err)
	}
	if len(l.threads) == 0 {
		return nil, hint.With(fmt.Errorf("%w: %w", ErrNoLooks, cmp.Or(l.refused, errors.New("there are no threads"))),
			"run as root or as the user of the server; in a container, with CAP_SYS_PTRACE")
	}
	go l.run()
	return l, nil
}

func (l *Looker) run() {
	defer close(l.stopped)
	runtime.LockOSThread() // its thread's CPU time is its own
	previous, began := perfring.ThreadCPU(), time.Now()
	listed := began
	timer := time.NewTimer(l.every)
	defer timer.Stop()
	for running := true; running; {
		select {
		case <-timer.C:
		case <-l.stop:
			running = false
			continue
		}
		start, used := time.Now(), perfring.ThreadCPU()
		if start.Sub(listed) >= listEvery {
			_ = l.listThreads() // those that are known are looked at
			listed = start
		}
		l.look()
		timer.Reset(max(l.every, lookShare*(perfring.ThreadCPU()-used)) - time.Since(start))
	}
	for tid := range l.threads {
		l.forget(tid)
	}
	l.used, l.ran = perfring.ThreadCPU()-previous, time.Since(began)
}

// Stop ends looking. Cut is called after it.
func (l *Looker) Stop() {
	close(l.stop)
	<-l.stopped
}

// listThreads finds new threads and forgets those that have ended.
func (l *Looker) listThreads() error {
	pids, err := l.processes.Find()
	if err != nil {
		return err
	}
	l.round++
	for _, pid := range pids {
		title := titleOf(pid)
		for _, tid := range numbered(fmt.Sprintf("/proc/%d/task", pid)) {
			dir := fmt.Sprintf("/proc/%d/task/%d/", pid, tid)
			t := l.threads[tid]
			if t == nil {
				if t = l.open(dir); t == nil {
					continue
				}
				t.pid = pid
				l.threads[tid] = t
			}
			name, _ := os.ReadFile(dir + "comm")
			t.name, t.round = cmp.Or(title, family(strings.TrimSpace(string(name)))), l.round
		}
	}
	for tid, t := range l.threads {
		if t.round != l.round {
			l.forget(tid)
		}
	}
	return nil
}

// titleOf returns the name of a process that shows its activity instead of its
// arguments, as in "postgres: walwriter": the part before the changing text, ""
// for other processes.
func titleOf(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	name := strings.TrimSpace(string(comm)) + ":"
	text := string(bytes.TrimRight(line, "\x00 "))
	tail, ok := strings.CutPrefix(text, name+" ")
	if !ok || strings.Contains(text, "\x00") {
		return ""
	}
	for _, word := range strings.Fields(tail) {
		if strings.ContainsAny(word, "0123456789[(") {
			break
		}
		name += " " + word
	}
	return name
}

// open opens the files of a thread, nil if that is impossible.
func (l *Looker) open(dir string) *thread {
	call, err := unix.Open(dir+"syscall", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		l.refuse(dir+"syscall", err)
		return nil
	}
	kernel, err := unix.Open(dir+"wchan", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = unix.Pread(call, l.buffer[:], 0)
	}
	if err != nil {
		l.refuse(dir, err)
		_ = unix.Close(call)
		_ = unix.Close(kernel)
		return nil
	}
	return &thread{syscall: call, kernel: kernel}
}

func (l *Looker) refuse(path string, err error) {
	if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ESRCH) {
		l.refused = &os.PathError{Op: "read", Path: path, Err: err}
	}
}

func (l *Looker) forget(tid int) {
	_ = unix.Close(l.threads[tid].syscall)
	_ = unix.Close(l.threads[tid].kernel)
	delete(l.threads, tid)
}

// look notes where each thread sleeps.
func (l *Looker) look() {
	at, err := perfring.Now()
	if err != nil {
		return
	}
	seen := look{at: at}
	for _, t := range l.threads {
		if p, ok := l.placeOf(t); ok {
			id, valid := l.places[p]
			if !valid {
				id = int32(len(l.list))
				l.places[p] = id
				l.list = append(l.list, p)
			}
			seen.places = append(seen.places, id)
		}
	}
	l.looks = append(l.looks, seen)
}

// placeOf returns where a thread sleeps; ok is false if it does not sleep, or
// has ended.
func (l *Looker) placeOf(t *thread) (p Place, ok bool) {
	n, err := unix.Pread(t.syscall, l.buffer[:], 0)
	if err != nil || n == 0 || bytes.HasPrefix(l.buffer[:n], []byte("running")) {
		return p, false
	}
	number, tail, _ := strings.Cut(string(l.buffer[:n]), " ")
	first, _, _ := strings.Cut(tail, " ")
	if n, err = unix.Pread(t.kernel, l.buffer[:], 0); err != nil {
		return p, false
	}
	p.Thread, p.Kernel = t.name, kernelName(string(l.buffer[:n]))
	call, err := strconv.Atoi(number)
	if err != nil || p.Kernel == "0" { // it runs again
		return p, false
	}
	name, onFile := callName(call)
	if p.Syscall = name; onFile {
		if fd, err := strconv.ParseUint(strings.TrimSpace(first), 0, 32); err == nil {
			p.File = l.fileOf(t.pid, fd)
		}
	}
	return p, true
}

// kernelName returns the name of a kernel's function without the compiler's suffixes.
func kernelName(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), ".")
	return name
}

// fileOf returns the purpose of an open file.
func (l *Looker) fileOf(pid int, fd uint64) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	if err != nil {
		return ""
	}
	if !strings.HasPrefix(path, "/") {
		kind, _, _ := strings.Cut(path, ":")
		return kind
	}
	path = strings.TrimSuffix(path, " (deleted)")
	if !slices.ContainsFunc(l.dirs, func(dir string) bool { return strings.HasPrefix(path, dir+"/") }) {
		return engine.UseOther
	}
	uses := l.uses.Of(path)
	return uses[len(uses)-1].Use
}

// Cut returns where threads slept between two times of Now: the share of the looks
// that found a thread there is its share of the window.
func (l *Looker) Cut(start, end time.Duration) *Asleep {
	out := &Asleep{Window: end - start, Used: l.used, Ran: l.ran}
	counts := make([]int64, len(l.list))
	for _, seen := range l.looks {
		if seen.at < start || seen.at >= end {
			continue
		}
		out.Looks++
		for _, id := range seen.places {
			counts[id]++
		}
	}
	for id, n := range counts {
		if n > 0 {
			slept := time.Duration(float64(n) * float64(out.Window) / float64(out.Looks))
			out.Sleeps = append(out.Sleeps, Sleep{l.list[id], slept})
		}
	}
	slices.SortFunc(out.Sleeps, func(a, b Sleep) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Syscall, b.Syscall),
			cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.File, b.File))
	})
	return out
}
