package hist

import "sync"

// Shape is what is recorded of the operations of a group.
type Shape struct {
	Kinds, Parts int
	Paced        bool // operations have an intended start
	Attempts     bool // the attempt that succeeded is timed apart
}

// Counts are what operations of one kind did in a stretch of time.
type Counts struct {
	Ops, Rows, Bytes int64
	// Expected and Found are rows that were looked for.
	Expected, Found int64
	// Reads, Writes and Others are the statements of operations that were done.
	Reads, Writes, Others int64
	// Attempts counts the tries, those that failed included; Retries those that
	// were not an operation's first; GivenUp the operations that were given up;
	// Unfinished those that were neither done nor given up at the end, though an
	// attempt had failed or been cut off; and Wasted the statements of attempts
	// that failed.
	Attempts, Retries, GivenUp, Unfinished, Wasted int64
	// UnfinishedTime is for how long the unfinished ones had been in progress,
	// and KeptTime the time of statements of failed attempts that operations
	// which were done went on behind; in nanoseconds.
	UnfinishedTime, KeptTime int64
}

func (c *Counts) add(o *Counts) {
	c.Ops += o.Ops
	c.Rows += o.Rows
	c.Bytes += o.Bytes
	c.Expected += o.Expected
	c.Found += o.Found
	c.Reads += o.Reads
	c.Writes += o.Writes
	c.Others += o.Others
	c.Attempts += o.Attempts
	c.Retries += o.Retries
	c.GivenUp += o.GivenUp
	c.Unfinished += o.Unfinished
	c.Wasted += o.Wasted
	c.UnfinishedTime += o.UnfinishedTime
	c.KeptTime += o.KeptTime
}

// Statements is the number of statements of operations that were done.
func (c *Counts) Statements() int64 { return c.Reads + c.Writes + c.Others }

// Sums are what one kind of operation did, with its latencies. Service is from
// the beginning of an operation's first attempt to its end. Response and
// Lateness are nil where operations have no intended start. Attempt, the time of
// the attempt that succeeded, and Failed, that from the beginning of the first
// attempt to giving up, are nil where attempts are not timed apart.
type Sums struct {
	Counts
	Service, Response, Lateness, Attempt, Failed *Dist
}

// NewSums makes empty sums of one kind.
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

// Reset empties the sums, keeping their memory.
func (s *Sums) Reset() {
	s.Counts = Counts{}
	for _, d := range s.dists() {
		d.Reset()
	}
}

// Merge adds o, which is of the same shape, to s.
func (s *Sums) Merge(o *Sums) {
	s.Counts.add(&o.Counts)
	from := o.dists()
	for i, d := range s.dists() {
		d.Merge(from[i])
	}
}

// Totals are what a group did: by operation kind, and the times of the
// statements that operations are made of.
type Totals struct {
	Kinds []Sums
	Parts []*Dist
}

// NewTotals makes empty totals.
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

// Reset empties the totals, keeping their memory.
func (t *Totals) Reset() {
	for i := range t.Kinds {
		t.Kinds[i].Reset()
	}
	for _, d := range t.Parts {
		d.Reset()
	}
}

// Merge adds o, which is of the same shape, to t.
func (t *Totals) Merge(o *Totals) {
	for i := range t.Kinds {
		t.Kinds[i].Merge(&o.Kinds[i])
	}
	for i, d := range t.Parts {
		d.Merge(o.Parts[i])
	}
}

// Recorder records the operations of one client. Its lock is taken by the
// client for every operation and by the collector once per interval, so it is
// free almost always.
type Recorder struct {
	mu       sync.Mutex
	sheet    *sheet
	errs     []ErrorCount
	attempts bool
	paced    bool
}

// ErrorCount counts failed attempts of a kind by class, with the first one's words.
type ErrorCount struct {
	Kind  int // -1: it was no operation that failed
	Class string
	Count int64
	First string
}

// NewRecorder makes a recorder.
func NewRecorder(s Shape) *Recorder {
	return &Recorder{sheet: newSheet(s), paced: s.Paced, attempts: s.Attempts}
}

// Op is one completed operation. Times are nanoseconds on the caller's clock;
// Intended is ignored where there is none.
type Op struct {
	Kind                  int
	Rows, Bytes           int64
	Expected, Found       int64
	Reads, Writes, Others int64
	Intended, Start, End  int64
	// Attempt is the start of the attempt that succeeded, and Retried tells
	// that there had been others. Of Laps the first Kept are of those others.
	Attempt int64
	Retried bool
	Laps    []Lap
	Kept    int
}

// Lap is the time of one statement in nanoseconds.
type Lap struct {
	Part int
	Time int64
}

// Record adds a completed operation.
func (r *Recorder) Record(o *Op) {
	r.mu.Lock()
	h := r.sheet
	k := &h.kinds[o.Kind]
	k.Ops++
	k.Rows += o.Rows
	k.Bytes += o.Bytes
	k.Expected += o.Expected
	k.Found += o.Found
	k.Reads += o.Reads
	k.Writes += o.Writes
	k.Others += o.Others
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

// Failure is an attempt that failed.
type Failure struct {
	Kind       int
	Retried    bool  // it was not its operation's first
	Statements int64 // that it executed in vain
	Class      string
	Err        error
	// GivenUp tells that the operation, which was begun so many nanoseconds
	// ago, is given up with it.
	GivenUp bool
	Time    int64
}

// Fail counts an attempt that failed.
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
	r.count(f.Kind, f.Class, f.Err)
}

// Leave counts an operation that is neither done nor given up at the end, and
// was begun so many nanoseconds ago.
func (r *Recorder) Leave(kind int, time int64) {
	r.mu.Lock()
	k := &r.sheet.kinds[kind]
	k.Unfinished++
	k.UnfinishedTime += time
	r.mu.Unlock()
}

// Error counts an error that is of no operation.
func (r *Recorder) Error(class string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(-1, class, err)
}

func (r *Recorder) count(kind int, class string, err error) {
	for i := range r.errs {
		if e := &r.errs[i]; e.Kind == kind && e.Class == class {
			e.Count++
			return
		}
	}
	r.errs = append(r.errs, ErrorCount{kind, class, 1, err.Error()})
}

// Collector empties the recorders of one shape. It belongs to one goroutine.
//
// A recorder's sheet has a fixed part, of 1.1 KB for each distribution, and
// pages of 512 bytes for what an interval touches. Measured with operations of
// ten statements that take 1 ms on average, exponentially: 20 KB for an idle
// client, 70 KB for one that does ten operations in an interval; 72 MB for 1,024.
type Collector struct{ spare *sheet }

// NewCollector makes a collector.
func NewCollector(s Shape) *Collector { return &Collector{newSheet(s)} }

// Take adds what a recorder was given since the last time to totals, and
// returns the operations and errors of that time.
func (c *Collector) Take(r *Recorder, to *Totals) (ops int64, errs []ErrorCount) {
	r.mu.Lock()
	r.sheet, c.spare = c.spare, r.sheet // merging takes too long to hold a client up
	errs, r.errs = r.errs, nil
	r.mu.Unlock()
	return c.spare.empty(to), errs
}
