// Package blockio attributes a device's reads and writes to the files that they belong
// to. The kernel reports each request (the tracepoint block:block_rq_issue), and the
// file systems the places of files (FS_IOC_FIEMAP). The package reports transfers; it
// judges nothing and knows no engine.
//
// A request is known by its sectors alone, so buffered writes count for the file,
// whichever thread of the kernel issues them. Files that come and go between two looks,
// at most a second apart, are not seen. The duration of requests is unknown: they
// complete in interrupts, and perf counts those that meet an idle processor
// (block_rq_complete) but records nothing (20 counted, 1 recorded; Linux 6.18).
package blockio

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"rumbench/engine"
)

// ErrUnavailable is the error of Start if requests cannot be traced, or not
// attributed to files. The error that wraps it gives the reason, and its hint
// the remedy.
var ErrUnavailable = errors.New("which files a device reads and writes is not known")

// Class is the purpose of files.
type Class struct {
	Use  string `json:"class"`          // as engine.FileUse, or one of those below
	Name string `json:"name,omitempty"` // of a table, if each has its own file
}

// The classes of requests outside the engine's files.
const (
	Journal  = "journal" // the file system's journal and metadata
	Others   = engine.UseOther
	Unmapped = "unmapped" // issued by the engine, but of no file that was seen
)

// Op is the kind of a request.
type Op string

// The kinds of requests, as the kernel counts them in /proc/diskstats.
const (
	Read    Op = "read"
	Write   Op = "write"
	Discard Op = "discard"
	Flush   Op = "flush" // it has no file
)

// opOf returns the kind of a request by its letters: F for a flush before it,
// one for the kind, then others. Requests without a letter write zeroes.
func opOf(rwbs string) Op {
	if tail, flushes := strings.CutPrefix(rwbs, "F"); flushes {
		if tail == "" || !strings.ContainsRune("RWDN", rune(tail[0])) {
			return Flush
		}
		rwbs = tail
	}
	switch {
	case strings.HasPrefix(rwbs, "R"):
		return Read
	case strings.HasPrefix(rwbs, "D"):
		return Discard
	}
	return Write
}

// Row is the requests to a device for files of a class.
type Row struct {
	Class
	Op       Op      `json:"op"`
	KB       float64 `json:"kb"`
	Requests int64   `json:"requests"`
}

// Files are the requests to a device in a window.
type Files struct {
	Rows   []Row         `json:"-"` // each class and kind once, sorted
	Window time.Duration `json:"window_ns"`
	Lost   uint64        `json:"lost"` // requests that the kernel could not report, from Start to Stop
	// CPU time of the tracer from Start to Stop, without the kernel's overhead per request
	Used   time.Duration `json:"used_ns"`
	Ran    time.Duration `json:"ran_ns"`           // from Start to Stop
	Unread string        `json:"unread,omitempty"` // files with unknown places, and the reason
	Over   string        `json:"over,omitempty"`   // why tracing ended early
}

// mostLost is the share of requests that may be lost.
const mostLost = 0.01

// Check returns an error if too many requests were lost, or tracing ended early.
func (f *Files) Check() error {
	if f.Over != "" {
		return fmt.Errorf("tracing requests: %s", f.Over)
	}
	n := int64(0)
	for _, r := range f.Rows {
		n += r.Requests
	}
	if all := float64(f.Lost) + float64(n); float64(f.Lost) > mostLost*all {
		return fmt.Errorf("%d of %.0f requests were lost, more than %.0f %%", f.Lost, all, 100*mostLost)
	}
	return nil
}

// Agrees compares the traced requests with the kernel's counts for the same device
// in the same window. Requests in flight at its ends, and some that other programs
// issue between the two readings, may differ: by 2 %, or a MiB.
func (f *Files) Agrees(op Op, counted float64) error {
	const share, minimum = 0.02, 1024
	if sum := f.KB(op); math.Abs(sum-counted) > max(minimum, share*counted) {
		return fmt.Errorf("the requests that %s sum to %.0f KB, the kernel counted %.0f KB", op, sum, counted)
	}
	return nil
}

// KB returns the KB of a kind.
func (f *Files) KB(op Op) (sum float64) {
	for _, r := range f.Rows {
		if r.Op == op {
			sum += r.KB
		}
	}
	return sum
}

// Recording holds the requests recorded by a Tracer. It keeps 24 bytes for a
// request.
type Recording struct {
	lost     uint64
	used     time.Duration
	ran      time.Duration
	unread   error
	over     error
	requests []attributed
	classes  classes
}

// attributed is a request, or the part of one that is in files of a class.
type attributed struct {
	at       time.Duration
	sectors  int64 // negative for one that was given back
	class    uint32
	op       uint8 // an index of ops
	requests int8
}

var ops = []Op{Read, Write, Discard, Flush}

// classes numbers classes.
type classes struct {
	ids  map[Class]uint32
	list []Class
}

func (c *classes) index(class Class) uint32 {
	id, ok := c.ids[class]
	if !ok {
		id = uint32(len(c.list))
		c.list = append(c.list, class)
		c.ids[class] = id
	}
	return id
}

// Cut returns the requests issued between two times of perfring.Now.
func (r *Recording) Cut(start, end time.Duration) *Files {
	type key struct {
		class uint32
		op    uint8
	}
	sums := make(map[key]*Row)
	out := &Files{Window: end - start, Lost: r.lost, Used: r.used, Ran: r.ran}
	if r.unread != nil {
		out.Unread = r.unread.Error()
	}
	if r.over != nil {
		out.Over = r.over.Error()
	}
	for _, q := range r.requests {
		if q.at < start || q.at >= end {
			continue
		}
		k := key{q.class, q.op}
		if sums[k] == nil {
			sums[k] = &Row{Class: r.classes.list[q.class], Op: ops[q.op]}
		}
		sums[k].KB += float64(q.sectors) * sector / 1024
		sums[k].Requests += int64(q.requests)
	}
	for _, row := range sums {
		out.Rows = append(out.Rows, *row)
	}
	slices.SortFunc(out.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Use, b.Use), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Op, b.Op))
	})
	return out
}
