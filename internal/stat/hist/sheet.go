package hist

import (
	"math"
	"math/bits"
)

// A client records into buckets with the same layout as those of distributions,
// so that merging is exact: bucket i of 0…2047 holds latency i; above, each
// octave has 1024 buckets of equal width. They are kept in pages, allocated on
// first use: an interval of one client uses few.
const (
	octaveBits = 10 // 2^10 buckets per octave: three significant digits
	pageBits   = 7
	pageSize   = 1 << pageBits
)

// pageCount is the number of pages up to Longest.
var pageCount = bucketOf(int64(Longest))>>pageBits + 1

// page holds the counts of adjacent buckets. An interval has fewer than 2^32
// operations.
type page [pageSize]uint32

// bucketOf returns the bucket of a non-negative latency.
func bucketOf(ns int64) int {
	e := bits.Len64(uint64(ns)|(1<<(octaveBits+1)-1)) - octaveBits - 1
	return e<<octaveBits + int(ns>>e)
}

// leastOf returns the least latency of a bucket.
func leastOf(bucket int) int64 {
	e := max(bucket>>octaveBits-1, 0)
	return int64(bucket-e<<octaveBits) << e
}

// sheet is the record of a client in an interval.
type sheet struct {
	kinds []tally
	parts []sketch
	pages []*page  // the first is unused
	free  []uint32 // the empty pages
}

// tally holds the counts and latencies of one kind of operation.
type tally struct {
	Counts
	service, response, lateness, attempt, failed sketch
}

// sketch is a distribution in the pages of a sheet.
type sketch struct {
	table          []uint32 // page numbers; 0: none
	first, last    int      // the range of the table that has pages
	overflow       int64
	low, high, sum int64 // min is above max if it is empty
}

func newSheet(s Shape) *sheet {
	h := &sheet{kinds: make([]tally, s.Kinds), parts: make([]sketch, s.Parts), pages: make([]*page, 1)}
	for i := range h.kinds {
		k := &h.kinds[i]
		k.service = newSketch()
		if s.Paced {
			k.response, k.lateness = newSketch(), newSketch()
		}
		if s.Attempts {
			k.attempt, k.failed = newSketch(), newSketch()
		}
	}
	for i := range h.parts {
		h.parts[i] = newSketch()
	}
	return h
}

func newSketch() sketch {
	s := sketch{table: make([]uint32, pageCount)}
	s.reset()
	return s
}

func (s *sketch) reset() {
	s.first, s.last, s.overflow = len(s.table), -1, 0
	s.low, s.high, s.sum = math.MaxInt64, 0, 0
}

// record adds a latency. Negative ones, which a foreign clock may give, count as
// zero.
func (h *sheet) record(s *sketch, ns int64) {
	ns = max(ns, 0)
	s.low, s.high, s.sum = min(s.low, ns), max(s.high, ns), s.sum+ns
	if ns > int64(Longest) {
		s.overflow++
		return
	}
	b := bucketOf(ns)
	n := s.table[b>>pageBits]
	if n == 0 {
		n = h.page(s, b>>pageBits)
	}
	h.pages[n][b&(pageSize-1)]++
}

func (h *sheet) page(s *sketch, index int) uint32 {
	if len(h.free) == 0 {
		h.free = append(h.free, uint32(len(h.pages)))
		h.pages = append(h.pages, new(page))
	}
	n := h.free[len(h.free)-1]
	h.free = h.free[:len(h.free)-1]
	s.table[index] = n
	s.first, s.last = min(s.first, index), max(s.last, index)
	return n
}

// drain moves the contents of a sketch into a distribution.
func (h *sheet) drain(s *sketch, dst *Dist) {
	if s.low > s.high {
		return // empty
	}
	if dst.Count() == 0 || s.low < dst.low {
		dst.low = s.low
	}
	for index := s.first; index <= s.last; index++ {
		n := s.table[index]
		if n == 0 {
			continue
		}
		for i, c := range h.pages[n] {
			if c > 0 {
				_ = dst.held().RecordValues(leastOf(index<<pageBits+i), int64(c)) // in range, so it does not fail
			}
		}
		*h.pages[n] = page{}
		s.table[index] = 0
		h.free = append(h.free, n)
	}
	dst.overflow += s.overflow
	dst.high = max(dst.high, s.high)
	dst.sum += s.sum
	s.reset()
}

// empty moves the contents of the sheet into totals and returns the number of
// operations.
func (h *sheet) empty(dst *Totals) (ops int64) {
	for i := range h.kinds {
		k, sum := &h.kinds[i], &dst.Kinds[i]
		if k.Counts == (Counts{}) {
			continue
		}
		ops += k.Ops
		sum.Counts.add(&k.Counts)
		k.Counts = Counts{}
		h.drain(&k.service, sum.Service)
		if sum.Response != nil {
			h.drain(&k.response, sum.Response)
			h.drain(&k.lateness, sum.Lateness)
		}
		if sum.Attempt != nil {
			h.drain(&k.attempt, sum.Attempt)
			h.drain(&k.failed, sum.Failed)
		}
	}
	for i := range h.parts {
		h.drain(&h.parts[i], dst.Parts[i])
	}
	return ops
}
