package hist

import "sync"

// Sums are what one kind of operation did in a stretch of time. Response and
// Lateness are nil where operations have no intended start.
type Sums struct {
	Ops, Rows, Bytes, Short     int64
	Service, Response, Lateness *Dist
}

func newSums(paced bool) Sums {
	s := Sums{Service: NewDist()}
	if paced {
		s.Response, s.Lateness = NewDist(), NewDist()
	}
	return s
}

// Reset empties the sums, keeping their memory.
func (s *Sums) Reset() {
	s.Ops, s.Rows, s.Bytes, s.Short = 0, 0, 0, 0
	s.Service.Reset()
	if s.Response != nil {
		s.Response.Reset()
		s.Lateness.Reset()
	}
}

// Merge adds o to s.
func (s *Sums) Merge(o *Sums) {
	s.Ops += o.Ops
	s.Rows += o.Rows
	s.Bytes += o.Bytes
	s.Short += o.Short
	s.Service.Merge(o.Service)
	if s.Response != nil && o.Response != nil {
		s.Response.Merge(o.Response)
		s.Lateness.Merge(o.Lateness)
	}
}

// NewSums makes empty sums, one for each kind.
func NewSums(kinds int, paced bool) []Sums {
	out := make([]Sums, kinds)
	for i := range out {
		out[i] = newSums(paced)
	}
	return out
}

// Recorder records the operations of one client. Its lock is taken by the
// client for every operation and by the collector once per interval, so it is
// free almost always.
type Recorder struct {
	mu    sync.Mutex
	kinds []Sums
	errs  []ErrorCount
	paced bool
	spare []Sums // empty; only the collector touches it
}

// ErrorCount counts failed operations of a class, with the first one's words.
type ErrorCount struct {
	Class string
	Count int64
	First string
}

// NewRecorder makes a recorder for a number of operation kinds.
func NewRecorder(kinds int, paced bool) *Recorder {
	return &Recorder{kinds: NewSums(kinds, paced), spare: NewSums(kinds, paced), paced: paced}
}

// Op is one completed operation. Times are nanoseconds on the caller's clock;
// Intended is ignored where there is none.
type Op struct {
	Kind                 int
	Rows, Bytes, Short   int64
	Intended, Start, End int64
}

// Record adds a completed operation.
func (r *Recorder) Record(o *Op) {
	r.mu.Lock()
	s := &r.kinds[o.Kind]
	s.Ops++
	s.Rows += o.Rows
	s.Bytes += o.Bytes
	s.Short += o.Short
	s.Service.Record(o.End - o.Start)
	if r.paced {
		s.Response.Record(o.End - o.Intended)
		s.Lateness.Record(o.Start - o.Intended)
	}
	r.mu.Unlock()
}

// Error counts a failed operation.
func (r *Recorder) Error(class, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.errs {
		if r.errs[i].Class == class {
			r.errs[i].Count++
			return
		}
	}
	r.errs = append(r.errs, ErrorCount{class, 1, message})
}

// Take adds what was recorded since the last Take to sums, and returns the
// operations and errors of that time. Only one goroutine may take.
func (r *Recorder) Take(sums []Sums) (ops int64, errs []ErrorCount) {
	r.mu.Lock()
	r.kinds, r.spare = r.spare, r.kinds // merging takes too long to hold a client up
	errs, r.errs = r.errs, nil
	r.mu.Unlock()
	for i := range r.spare {
		k := &r.spare[i]
		if k.Ops == 0 {
			continue
		}
		ops += k.Ops
		sums[i].Merge(k)
		k.Reset()
	}
	return ops, errs
}
