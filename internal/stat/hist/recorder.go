package hist

import (
	"sync"

	"rumbench/model"
)

// Shape determines what is recorded about the operations of a group.
type Shape struct {
	Kinds, Parts int
	Paced        bool // operations have an intended start
	Attempts     bool // the successful attempt is timed separately
}

// Counts counts the work of operations of one kind in an interval.
type Counts struct {
	Ops        int64
	model.Work // of completed operations
	// Attempts counts attempts, failed ones included; Retries those that were not
	// an operation's first; GivenUp operations that were given up; Unfinished
	// operations that were neither completed nor given up at the end, after an
	// attempt had failed or been interrupted; and Wasted the statements of failed
	// attempts.
	Attempts, Retries, GivenUp, Unfinished, Wasted int64
	// UnfinishedTime is the time since unfinished operations began, and KeptTime
	// the time of those statements of failed attempts that completed operations
	// did not repeat; in nanoseconds.
	UnfinishedTime, KeptTime int64
}

func (c *Counts) add(o *Counts) {
	c.Ops += o.Ops
	c.Work.Add(&o.Work)
	c.Attempts += o.Attempts
	c.Retries += o.Retries
	c.GivenUp += o.GivenUp
	c.Unfinished += o.Unfinished
	c.Wasted += o.Wasted
	c.UnfinishedTime += o.UnfinishedTime
	c.KeptTime += o.KeptTime
}

// Sums are the counts and latencies of one kind of operation. Service is from
// the start of an operation's first attempt to its end. Response and Lateness
// are nil unless operations have an intended start. Attempt, the time of the
// successful attempt, and Failed, from the start of the first attempt to giving
// up, are nil unless attempts are timed separately.
type Sums struct {
	Counts
	Service, Response, Lateness, Attempt, Failed *Dist
}

// NewSums returns empty sums.
func NewSums(s Shape) Sums {
	sums := Sums{Service: NewDist()}
	if s.Paced {
		sums.Response, sums.Lateness = NewDist(), NewDist()
	}
	if s.Attempts {
		sums.Attempt, sums.Failed = NewDist(), NewDist()
	}
	return sums
}

func (s *Sums) dists() [5]*Dist {
	return [5]*Dist{s.Service, s.Response, s.Lateness, s.Attempt, s.Failed}
}

// Merge adds o, of the same shape, to s.
func (s *Sums) Merge(o *Sums) {
	s.Counts.add(&o.Counts)
	others := o.dists()
	for i, d := range s.dists() {
		d.Merge(others[i])
	}
}

// Totals are the sums of a group by operation kind, and the times of the
// statements of its operations.
type Totals struct {
	Kinds []Sums
	Parts []*Dist
}

// NewTotals returns empty totals.
func NewTotals(s Shape) Totals {
	t := Totals{Kinds: make([]Sums, s.Kinds), Parts: make([]*Dist, s.Parts)}
	for i := range t.Kinds {
		t.Kinds[i] = NewSums(s)
	}
	for i := range t.Parts {
		t.Parts[i] = NewDist()
	}
	return t
}

// Reset clears the totals and keeps their memory.
func (t *Totals) Reset() {
	for i := range t.Kinds {
		t.Kinds[i].Counts = Counts{}
		for _, d := range t.Kinds[i].dists() {
			d.Reset()
		}
	}
	for _, d := range t.Parts {
		d.Reset()
	}
}

// Merge adds o, of the same shape, to t.
func (t *Totals) Merge(o *Totals) {
	for i := range t.Kinds {
		t.Kinds[i].Merge(&o.Kinds[i])
	}
	for i, d := range t.Parts {
		d.Merge(o.Parts[i])
	}
}

// Recorder records the operations of one client. Its lock is taken by the client
// for every operation and by the collector once per interval, so it is almost
// always free.
type Recorder struct {
	mu       sync.Mutex
	sheet    *sheet
	errs     Errors
	attempts bool
	paced    bool
}

// ErrorCount counts failed attempts of a kind by class, with the first message.
type ErrorCount struct {
	Kind  int // -1: the error belongs to no operation
	Class string
	Count int64
	First string
}

// Errors are failed attempts by kind and class.
type Errors []ErrorCount

// Add adds failed attempts.
func (l *Errors) Add(e ErrorCount) {
	for i := range *l {
		if own := &(*l)[i]; own.Kind == e.Kind && own.Class == e.Class {
			own.Count += e.Count
			return
		}
	}
	*l = append(*l, e)
}

// NewRecorder returns a recorder.
func NewRecorder(s Shape) *Recorder {
	return &Recorder{sheet: newSheet(s), paced: s.Paced, attempts: s.Attempts}
}

// Op is a completed operation. Times are nanoseconds on the caller's clock;
// Intended is ignored unless the shape is paced.
type Op struct {
	Kind                 int
	Work                 *model.Work // not copied, which would take longer than to add it up
	Intended, Start, End int64
	// Attempt is the start of the successful attempt, and Retried is whether
	// others failed before. The first Kept of Laps belong to those.
	Attempt int64
	Retried bool
	Laps    []model.Lap
	Kept    int
}

// Record adds a completed operation.
func (r *Recorder) Record(o *Op) {
	r.mu.Lock()
	h := r.sheet
	k := &h.kinds[o.Kind]
	k.Ops++
	k.Work.Add(o.Work)
	k.Attempts++
	if o.Retried {
		k.Retries++
	}
	h.record(&k.service, o.End-o.Start)
	if r.paced {
		h.record(&k.response, o.End-o.Intended)
		h.record(&k.lateness, o.Start-o.Intended)
	}
	if r.attempts {
		h.record(&k.attempt, o.End-o.Attempt)
	}
	for i, l := range o.Laps {
		h.record(&h.parts[l.Part], l.Time)
		if i < o.Kept {
			k.KeptTime += l.Time
		}
	}
	r.mu.Unlock()
}

// Failure is a failed attempt.
type Failure struct {
	Kind       int
	Retried    bool  // it was not the operation's first
	Statements int64 // executed in vain
	Class      string
	Err        error
	// GivenUp is whether the operation, which began Time nanoseconds ago, is
	// given up.
	GivenUp bool
	Time    int64
}

// Fail counts a failed attempt.
func (r *Recorder) Fail(f *Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := &r.sheet.kinds[f.Kind]
	k.Attempts++
	if f.Retried {
		k.Retries++
	}
	k.Wasted += f.Statements
	if f.GivenUp {
		k.GivenUp++
		if r.attempts {
			r.sheet.record(&k.failed, f.Time)
		}
	}
	r.errs.Add(ErrorCount{f.Kind, f.Class, 1, f.Err.Error()})
}

// Leave counts an operation that began time nanoseconds ago and is neither
// completed nor given up at the end.
func (r *Recorder) Leave(kind int, time int64) {
	r.mu.Lock()
	k := &r.sheet.kinds[kind]
	k.Unfinished++
	k.UnfinishedTime += time
	r.mu.Unlock()
}

// Error counts an error that belongs to no operation.
func (r *Recorder) Error(class string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs.Add(ErrorCount{-1, class, 1, err.Error()})
}

// Collector drains the recorders of one shape. It is for one goroutine.
//
// A recorder's sheet has a fixed part, of 1.1 KB per distribution, and pages of
// 512 bytes for the buckets that an interval uses. Measured with operations of
// ten statements of 1 ms on average, exponentially distributed: 20 KB for an
// idle client, 70 KB for one with ten operations per interval; 72 MB for 1,024.
type Collector struct{ spare *sheet }

// NewCollector returns a collector.
func NewCollector(s Shape) *Collector { return &Collector{newSheet(s)} }

// Take moves the contents of a recorder since the last call into totals, and
// returns the number of operations and the errors.
func (c *Collector) Take(r *Recorder, dst *Totals) (ops int64, errs Errors) {
	r.mu.Lock()
	r.sheet, c.spare = c.spare, r.sheet // swap, as merging would block the client too long
	errs, r.errs = r.errs, nil
	r.mu.Unlock()
	return c.spare.empty(dst), errs
}
