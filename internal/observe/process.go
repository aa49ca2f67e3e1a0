package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"rumbench/engine"
)

// Process collects the resource use of some processes and all their descendants,
// as one sum that never falls, even when processes exit.
//
// Voluntary context switches are not included: the kernel counts them per thread
// and forgets threads that ended.
type Process struct {
	// All: each root is a server of its own. If one is not alive, nothing is known of all.
	All     bool
	roots   func() []int
	machine machine

	mu sync.Mutex
	tree
	memoryNext time.Time // when the proportional set size may be read again
	warnings   []string
}

// NewProcess returns a collector of the processes that roots returns at each
// sample, with all their descendants; procRoot is "/proc".
func NewProcess(procRoot string, roots func() []int) *Process {
	return &Process{roots: roots, machine: machine{proc: procRoot, sys: "/sys"}, tree: newTree(procRoot)}
}

// Name returns "process".
func (p *Process) Name() string { return "process" }

// Warnings returns warnings about the figures so far.
func (p *Process) Warnings() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.warnings)
}

// Collect adds the points of the process tree. It is an error if no process of
// the tree is alive.
func (p *Process) Collect(ctx context.Context, s *engine.Sample) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.update(); err != nil {
		return fmt.Errorf("sample processes: %w", err)
	}
	var threads, rss float64
	storage := true
	for _, m := range p.members {
		threads += m.threads
		rss += m.rss
		storage = storage && m.storage
	}
	p.addUsage(s, storage)
	s.Gauge("process.processes", "count", float64(len(p.members)))
	s.Gauge("process.threads", "count", threads)
	s.Gauge("process.rss_bytes", "bytes", rss)
	s.Counter("process.throttled_ns", "ns", throttled(p.machine, p.roots()))
	// Reading the proportional set size walks all pages: milliseconds, or seconds for thousands of processes that
	// share a cache. It may take a hundredth of one core.
	const every, share = 5 * time.Second, 100
	begun := time.Now()
	if begun.Before(p.memoryNext) {
		return nil
	}
	pss, err := p.pss(ctx)
	p.memoryNext = begun.Add(max(every, share*time.Since(begun)))
	if errors.Is(err, errNoPSS) {
		return nil // Memory returns the source, a series cannot
	}
	if err != nil {
		return fmt.Errorf("sample processes: %w", err)
	}
	s.Gauge("process.pss_bytes", "bytes", float64(pss))
	return nil
}

// usageSeries are the series of a usage; those of storage begin at readBytes.
var usageSeries = [usages]struct{ name, unit string }{
	{"process.cpu_ns", "ns"}, {"process.system_ns", "ns"}, {"process.minor_faults", "count"},
	{"process.major_faults", "count"},
	{"process.read_bytes", "bytes"}, {"process.write_bytes", "bytes"}, {"process.cancelled_write_bytes", "bytes"},
	{"process.syscall_reads", "count"}, {"process.syscall_writes", "count"},
}

func (p *Process) addUsage(s *engine.Sample, storage bool) {
	total := p.total()
	for i, c := range usageSeries {
		if storage || i < readBytes { // the I/O of some processes would pass for that of all
			s.Counter(c.name, c.unit, total[i])
		}
	}
	const warning = "no permission to read the I/O of all processes of the server: run as its user or as root"
	if !storage && len(p.warnings) == 0 {
		p.warnings = append(p.warnings, warning)
	}
}

// update brings the tree up to date.
func (p *Process) update() error {
	roots := p.roots()
	pids, err := p.find(roots)
	if err != nil {
		return err
	}
	alive, err := p.read(slices.Values(pids))
	if err != nil {
		return err
	}
	p.succeed(alive)
	for _, root := range roots {
		if p.All && !slices.Contains(pids, root) {
			return fmt.Errorf("process %d of the servers' %v is not alive, or not visible", root, roots)
		}
	}
	if len(alive) == 0 {
		return fmt.Errorf("none of the processes %v, nor a descendant, is alive and visible", roots)
	}
	return nil
}

// Sources of Memory.
const (
	// MemoryPSS divides shared pages among the processes that share them.
	MemoryPSS = "PSS"
	// MemoryRSS counts shared pages in each process.
	MemoryRSS = "RSS"
)

// Memory returns the current memory of the process tree, in bytes, and the kind of
// figure: MemoryPSS, or MemoryRSS if that is not readable.
func (p *Process) Memory(ctx context.Context) (bytes int64, source string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.update(); err != nil {
		return 0, "", fmt.Errorf("read memory of processes: %w", err)
	}
	bytes, err = p.pss(ctx)
	if err == nil {
		return bytes, MemoryPSS, nil
	}
	if !errors.Is(err, errNoPSS) {
		return 0, "", fmt.Errorf("read memory of processes: %w", err)
	}
	for _, m := range p.members {
		bytes += int64(m.rss)
	}
	return bytes, MemoryRSS, nil
}

var errNoPSS = errors.New("proportional set size is not readable")

// pss returns the sum of the proportional set sizes of all members, in bytes.
func (p *Process) pss(ctx context.Context) (int64, error) {
	var sum int64
	for pid := range p.members {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		dir := filepath.Join(p.procRoot, strconv.Itoa(pid))
		data, err := os.ReadFile(filepath.Join(dir, "smaps_rollup"))
		if err != nil {
			if err = ended(dir, err); errors.Is(err, errEnded) {
				continue // it has no memory any more
			}
			return 0, fmt.Errorf("%w: %w", errNoPSS, err)
		}
		kb, ok := valueOf(string(data), "Pss:")
		if !ok {
			return 0, errNoPSS
		}
		sum += int64(kb) * 1024
	}
	return sum, nil
}
