package hist

import (
	"math"
	"math/bits"
)

// A client records into buckets that are laid out like those of the
// distributions, so that merging them is exact: bucket i of 0…2047 holds the
// latency i; beyond, each octave has 1024 buckets of equal width. They are
// kept in pages, which are made when they are first needed: an interval of one
// client touches few.
const (
	octaveBits = 10 // 2^10 buckets an octave: three significant digits
	pageBits   = 7
	pageSize   = 1 << pageBits
)

// pageCount is the number of pages up to Longest.
var pageCount = bucketOf(int64(Longest))>>pageBits + 1

// page is counts of neighbouring buckets. An interval has fewer than 2^32 operations.
type page [pageSize]uint32

// bucketOf is the bucket of a latency of at least 0.
func bucketOf(ns int64) int {
	e := bits.Len64(uint64(ns)|(1<<(octaveBits+1)-1)) - octaveBits - 1
	return e<<octaveBits + int(ns>>e)
}

// leastOf is the least latency of a bucket.
func leastOf(bucket int) int64 {
	e := max(bucket>>octaveBits-1, 0)
	return int64(bucket-e<<octaveBits) << e
}

// sheet is what a client recorded in an interval.
type sheet struct {
	kinds []tally
	parts []sketch
	pages []*page  // the first is nobody's
	free  []uint32 // those of pages that are empty
}

// tally is what operations of one kind did.
type tally struct {
	Counts
	service, response, lateness, attempt, failed sketch
}

// sketch is a distribution in pages of a sheet.
type sketch struct {
	table         []uint32 // by place, the page; 0: none
	first, last   int      // places that have pages
	overflow      int64
	min, max, sum int64 // min is above max while there is nothing
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
	s.min, s.max, s.sum = math.MaxInt64, 0, 0
}

// record adds a latency. Negative ones, from a clock that is not ours, count as zero.
func (h *sheet) record(s *sketch, ns int64) {
	ns = max(ns, 0)
	s.min, s.max, s.sum = min(s.min, ns), max(s.max, ns), s.sum+ns
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

// page gives a sketch a page.
func (h *sheet) page(s *sketch, place int) uint32 {
	if len(h.free) == 0 {
		h.free = append(h.free, uint32(len(h.pages)))
		h.pages = append(h.pages, new(page))
	}
	n := h.free[len(h.free)-1]
	h.free = h.free[:len(h.free)-1]
	s.table[place] = n
	s.first, s.last = min(s.first, place), max(s.last, place)
	return n
}

// drain moves what a sketch holds into a distribution.
func (h *sheet) drain(s *sketch, to *Dist) {
	if s.min > s.max {
		return // it is empty
	}
	if to.Count() == 0 || s.min < to.min {
		to.min = s.min
	}
	for place := s.first; place <= s.last; place++ {
		n := s.table[place]
		if n == 0 {
			continue
		}
		for i, c := range h.pages[n] {
			if c > 0 {
				_ = to.h.RecordValues(leastOf(place<<pageBits+i), int64(c)) // in range, so it cannot fail
			}
		}
		*h.pages[n] = page{}
		s.table[place] = 0
		h.free = append(h.free, n)
	}
	to.overflow += s.overflow
	to.max = max(to.max, s.max)
	to.sum += s.sum
	s.reset()
}

// empty moves what the sheet holds into totals, and tells how many operations
// that were.
func (h *sheet) empty(to *Totals) (ops int64) {
	for i := range h.kinds {
		k, sum := &h.kinds[i], &to.Kinds[i]
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
		h.drain(&h.parts[i], to.Parts[i])
	}
	return ops
}
