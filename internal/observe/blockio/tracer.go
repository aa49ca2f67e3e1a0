package blockio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/observe/perfring"
)

const (
	drainEvery = 100 * time.Millisecond
	scanEvery  = time.Second
	// scanShare bounds the CPU time of scans: 0.5 % of a processor.
	scanShare = 200
	// budgetAfter is when the use of all is first compared with its budget, see budgetShare.
	budgetAfter = 5 * time.Second
)

// Config selects the files and processes to trace.
type Config struct {
	Dirs []string        // the engine's
	Uses engine.FileUses // the purposes of the files in them
	PIDs []int           // the engine's processes, which their descendants belong to
}

// Tracer traces the requests to a device.
type Tracer struct {
	events         perfring.Group // issue and requeue
	issue, requeue *tracepoint
	region         region
	processes      *observe.Descendants
	scanner        scanner
	ours           map[int32]bool // processes: the engine's or not
	live, ever     []extent       // as of the last scan; of all scans
	pending        []request      // since the last scan
	recording      *Recording
	stop, stopped  chan struct{}
}

// request is a request as the kernel reports it.
type request struct {
	at      time.Duration
	sector  uint64
	sectors uint64
	op      uint8
	back    bool // given back, and to be issued again
	journal bool
	ours    bool
}

// region is the part of a disk that a file system has.
type region struct {
	dev         uint64 // the disk's number, as tracepoints have it
	begin, size uint64 // sectors
}

// Start begins to trace the device under the first of the directories. The
// files of all of them are looked for on it. If that is impossible the error is
// ErrUnavailable.
func Start(c Config) (*Tracer, error) {
	t, err := prepare(c)
	if err != nil {
		return nil, err
	}
	if err = t.scanner.scan(true); err == nil && errors.Is(t.scanner.unread, unix.EOPNOTSUPP) {
		err = fmt.Errorf("%w: %w", ErrUnavailable, t.scanner.unread)
	}
	t.live, t.ever = t.scanner.layer, t.scanner.layer
	if err == nil {
		err = t.events.Enable()
	}
	if err != nil {
		return nil, errors.Join(err, t.events.Close())
	}
	go t.run()
	return t, nil
}

// Available returns the error of a Start in a directory, nil if it would succeed.
func Available(dir string) error {
	t, err := prepare(Config{Dirs: []string{dir}})
	if err != nil {
		return err
	}
	return t.events.Close()
}

// prepare opens the events, disabled.
func prepare(c Config) (*Tracer, error) {
	t := &Tracer{stop: make(chan struct{}), stopped: make(chan struct{}), ours: make(map[int32]bool),
		processes: observe.NewDescendants(c.PIDs...), recording: &Recording{classes: classes{ids: make(map[Class]uint32)}}}
	device, err := observe.FindDevice(c.Dirs[0])
	if errors.Is(err, observe.ErrNoDevice) {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err != nil {
		return nil, err
	}
	if t.region, err = regionOf(device); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if t.issue, err = findTracepoint("block/block_rq_issue", "sector", "nr_sector", "rwbs", "comm",
		"common_type"); err != nil {
		return nil, err
	}
	if t.requeue, err = findTracepoint("block/block_rq_requeue", "sector", "nr_sector", "rwbs",
		"common_type"); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Stat(c.Dirs[0], &st); err != nil {
		return nil, fmt.Errorf("look at %s: %w", c.Dirs[0], err)
	}
	t.scanner = scanner{dirs: c.Dirs, uses: c.Uses, major: unix.Major(st.Dev), minor: unix.Minor(st.Dev),
		start: t.region.begin, classes: &t.recording.classes, files: make(map[uint64]*file)}
	points, filter := []*tracepoint{t.issue, t.requeue}, fmt.Sprintf("dev == %d", t.region.dev)
	open := func(processor, i int) (int, error) { return points[i].open(processor, filter) }
	if err := t.events.Open(ringPages, len(points), open); err != nil {
		return nil, errors.Join(err, t.events.Close())
	}
	return t, nil
}

// regionOf returns the sectors of a file system. Its blocks have to map to fixed
// sectors of one disk, and the disk has to have requests.
func regionOf(d observe.Device) (r region, err error) {
	if !slices.Contains([]string{"ext2", "ext3", "ext4", "xfs"}, d.FSType) {
		return r, fmt.Errorf("the places of files on %s, at %s, are not those on its device", d.FSType, d.Mount)
	}
	dir, err := filepath.EvalSymlinks(filepath.Join("/sys/class/block", d.Name))
	if err != nil {
		return r, err
	}
	disk := dir
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		disk = filepath.Dir(dir)
		if r.begin, err = number(filepath.Join(dir, "start")); err != nil {
			return r, err
		}
	}
	if len(d.Leaves) != 1 || d.Leaves[0] != filepath.Base(disk) {
		return r, fmt.Errorf("%s is made of other devices: %s", d.Name, strings.Join(d.Leaves, ", "))
	}
	if _, err := os.Stat(filepath.Join(disk, "mq")); err != nil {
		return r, fmt.Errorf("the kernel hands no requests to %s, whose driver takes data directly", d.Leaves[0])
	}
	if r.size, err = number(filepath.Join(dir, "size")); err != nil {
		return r, err
	}
	text, err := os.ReadFile(filepath.Join(disk, "dev"))
	if err != nil {
		return r, err
	}
	var major, minor uint64
	if _, err := fmt.Sscanf(string(text), "%d:%d", &major, &minor); err != nil {
		return r, fmt.Errorf("read the number of %s: %w", disk, err)
	}
	r.dev = major<<20 | minor
	return r, nil
}

func number(path string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// run drains the rings and looks at the files until Stop. It has a separate
// thread, so that its CPU time is known, and ends with it.
func (t *Tracer) run() {
	defer close(t.stopped)
	runtime.LockOSThread()
	previous, began := perfring.ThreadCPU(), time.Now() // of goroutines that had the thread earlier
	ticker := time.NewTicker(drainEvery)
	defer ticker.Stop()
	next := began.Add(scanEvery)
	for running := true; running; {
		select {
		case <-ticker.C:
		case <-t.stop:
			running = false
		}
		t.events.Drain(t.take)
		if now := time.Now(); !running || now.After(next) {
			used := perfring.ThreadCPU()
			t.attribute(!running)
			next = now.Add(max(scanEvery, scanShare*(perfring.ThreadCPU()-used)))
		}
		if ran := time.Since(began); running && ran > budgetAfter && budgetShare*(perfring.ThreadCPU()-previous) > ran {
			t.recording.over = errors.Join(errors.New("it took more than 1 % of a processor, and was stopped"),
				t.events.Disable())
			<-t.stop
			running = false
		}
	}
	t.recording.used, t.recording.ran = perfring.ThreadCPU()-previous, time.Since(began)
}

// Stop ends tracing and returns the recording.
func (t *Tracer) Stop() (*Recording, error) {
	err := t.events.Disable()
	close(t.stop)
	<-t.stopped
	if err = errors.Join(err, t.events.Close()); err != nil {
		return nil, fmt.Errorf("end tracing: %w", err)
	}
	return t.recording, nil
}

// take adds a record of the kernel, see perf_event_open(2).
func (t *Tracer) take(kind uint32, _ uint16, body []byte) {
	f := perfring.Fields(body)
	switch kind {
	case unix.PERF_RECORD_LOST:
		f.U64() // the event's id
		t.recording.lost += f.U64()
	case unix.PERF_RECORD_SAMPLE:
		pid := f.I32()
		f.I32() // the thread
		at := time.Duration(f.U64())
		if size := f.I32(); int(size) <= len(f) {
			t.takeRequest(pid, at, f[:size])
		}
	}
}

func (t *Tracer) takeRequest(pid int32, at time.Duration, record []byte) {
	point := t.issue
	back := t.requeue.number(record, "common_type") == t.requeue.id
	if back {
		point = t.requeue
	}
	rwbs := point.text(record, "rwbs")
	r := request{at: at, sector: point.number(record, "sector"), sectors: point.number(record, "nr_sector"), back: back}
	r.op = uint8(slices.Index(ops, opOf(rwbs)))
	switch {
	case ops[r.op] == Flush:
		r.sectors = 0
	case r.sectors == 0, r.sector < t.region.begin, r.sector >= t.region.begin+t.region.size:
		return // a command to the disk, or another partition
	}
	r.journal = strings.Contains(rwbs, "M") || !back && strings.HasPrefix(point.text(record, "comm"), "jbd2/")
	r.ours = t.isOurs(pid)
	t.pending = append(t.pending, r)
}

// isOurs reports whether a process is the engine's.
func (t *Tracer) isOurs(pid int32) bool {
	own, ok := t.ours[pid]
	if ok {
		return own
	}
	t.ours[pid] = false
	found, err := t.processes.Find()
	if err == nil {
		for _, p := range found {
			t.ours[int32(p)] = true
		}
	}
	return t.ours[pid]
}

// attribute looks up the current places of files and attributes the requests
// since the last time. Sectors that belong to a file now belonged to it when
// they were written; sectors that belong to none may be those of a file deleted
// in the meantime. Discards come after that, some seconds later.
func (t *Tracer) attribute(all bool) {
	if err := t.scanner.scan(all); err != nil {
		t.scanner.unread = err
	}
	recent := t.live
	if t.scanner.changed {
		recent = overlay(t.live, t.scanner.layer)
		t.ever = overlay(t.ever, t.scanner.layer)
	}
	t.live = t.scanner.layer
	for i := range t.pending {
		if r := &t.pending[i]; ops[r.op] == Discard {
			t.recording.add(r, t.ever)
		} else {
			t.recording.add(r, recent)
		}
	}
	t.pending = t.pending[:0]
	t.recording.unread = t.scanner.unread
}

// add adds a request to the classes of its sectors. It counts once, for the first.
func (r *Recording) add(q *request, files []extent) {
	sign := int8(1)
	if q.back {
		sign = -1
	}
	count := sign
	put := func(sectors uint64, class uint32) {
		r.requests = append(r.requests, attributed{q.at, int64(sign) * int64(sectors), class, q.op, count})
		count = 0
	}
	remaining := each(files, q.sector, q.sector+q.sectors, put)
	if remaining == 0 && ops[q.op] != Flush {
		return
	}
	use := Others
	switch {
	case ops[q.op] == Flush:
		use = ""
	case q.journal:
		use = Journal
	case q.ours && ops[q.op] != Discard:
		use = Unmapped
	}
	put(remaining, r.classes.index(Class{Use: use}))
}
