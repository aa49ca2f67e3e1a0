package hist

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// The buckets are those of the distributions: none is lost, none is moved.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Of every magnitude, not of the greatest only.
		latency := rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64Range(-1, int64(1)<<rapid.IntRange(0, 43).Draw(t, "bits")).Draw(t, "ns")
		})
		values := rapid.SliceOf(latency).Draw(t, "latencies")
		direct, h, got := NewDist(), newSheet(Shape{Parts: 1}), NewDist()
		for range 2 { // a sheet that was used before is as good as a new one
			for _, v := range values {
				direct.Record(v)
				h.record(&h.parts[0], v)
			}
			h.drain(&h.parts[0], got)
		}
		if !slices.Equal(got.h.Export().Counts, direct.h.Export().Counts) {
			t.Fatal("other buckets")
		}
		if got.Least() != direct.Least() || got.Max() != direct.Max() || got.Total() != direct.Total() || got.Overflow() != direct.Overflow() || got.Count() != direct.Count() {
			t.Fatalf("min %d, max %d, sum %v, overflow %d, count %d", got.Least(), got.Max(), got.Total(), got.Overflow(), got.Count())
		}
		if used := len(h.pages) - 1; used != len(h.free) {
			t.Fatalf("of %d pages %d are free", used, len(h.free))
		}
	})
}

// Every bucket is found from its least latency, and the layout ends where the
// library's does.
func TestEveryBucket(t *testing.T) {
	whole := hdr.New(1, int64(Longest), digits).ByteSize()
	for b := range pageCount * pageSize {
		if got := bucketOf(leastOf(b)); got != b {
			t.Fatalf("bucket %d begins at %d, which is in %d", b, leastOf(b), got)
		}
	}
	if n := pageCount * pageSize * 8; n > whole {
		t.Errorf("pages of %d bytes, the library has %d", n, whole)
	}
}

// The collector must lose nothing while clients record.
func TestRecorder(t *testing.T) {
	const n, clients = 100_000, 3
	shape := Shape{Kinds: 2, Parts: 2, Paced: true, Attempts: true}
	c, totals := NewCollector(shape), NewTotals(shape)
	recorders := make([]*Recorder, clients)
	var wg sync.WaitGroup
	for i := range recorders {
		r := NewRecorder(shape)
		recorders[i] = r
		wg.Go(func() {
			for i := range int64(n) {
				r.Record(&Op{Kind: 1, Rows: 2, Reads: 10, Writes: 4, Others: 2, Intended: i, Start: i + 1, Attempt: i + 2, End: i + 3, Retried: true,
					Laps: []Lap{{0, 5}, {1, 7}, {0, 5}}})
			}
			r.Fail(&Failure{Kind: 1, Statements: 9, Class: "conflict", Err: errors.New("words")})
			r.Fail(&Failure{Kind: 1, Retried: true, Statements: 1, Class: "conflict", Err: errors.New("other words"), GivenUp: true, Time: 7})
			r.Error("fatal", errors.New("the end"))
		})
	}
	var errs []ErrorCount
	take := func() {
		for _, r := range recorders {
			_, e := c.Take(r, &totals)
			errs = append(errs, e...)
		}
	}
	for range 50 {
		take()
	}
	wg.Wait()
	take()
	const ops = n * clients
	want := Counts{Ops: ops, Rows: 2 * ops, Reads: 10 * ops, Writes: 4 * ops, Others: 2 * ops,
		Attempts: ops + 2*clients, Retries: ops + clients, GivenUp: clients, Wasted: 10 * clients}
	s := &totals.Kinds[1]
	if s.Counts != want {
		t.Errorf("%+v, want %+v", s.Counts, want)
	}
	for i, d := range []*Dist{s.Service, s.Response, s.Lateness, s.Attempt} {
		if took := []int64{2, 3, 1, 1}[i]; d.Count() != ops || d.Percentile(50) != took || d.Max() != took {
			t.Errorf("distribution %d: %d, median %d", i, d.Count(), d.Percentile(50))
		}
	}
	if a, b := totals.Parts[0], totals.Parts[1]; a.Count() != 2*ops || a.Max() != 5 || b.Count() != ops || b.Max() != 7 {
		t.Errorf("parts: %d, %d", a.Count(), b.Count())
	}
	if totals.Kinds[0].Attempts != 0 {
		t.Error("a kind that nobody did has attempts")
	}
	var conflicts int64
	for _, e := range errs {
		if e.Kind == 1 && e.Class == "conflict" {
			conflicts += e.Count
		}
	}
	if conflicts != 2*clients || errs[len(errs)-1].Class != "fatal" || errs[len(errs)-1].Kind != -1 {
		t.Errorf("errors %+v", errs)
	}
}

// Many clients whose operations have many statements can be afforded.
func TestMemory(t *testing.T) {
	const clients, ops = 1024, 10
	shape := Shape{Kinds: 1, Parts: 10, Attempts: true}
	before := heap()
	c, totals := NewCollector(shape), NewTotals(shape)
	recorders := make([]*Recorder, clients)
	for i := range recorders {
		recorders[i] = NewRecorder(shape)
	}
	idle := (heap() - before) / clients
	o := Op{Laps: make([]Lap, shape.Parts)}
	draw := uint64(1)
	for range 5 { // intervals
		for _, r := range recorders {
			for range ops {
				for i := range o.Laps {
					draw = draw*6364136223846793005 + 1442695040888963407
					u := (float64(draw>>11) + 0.5) / (1 << 53)
					o.Laps[i] = Lap{i, int64(-math.Log(u) * 1e6)} // 1 ms on average
				}
				o.End += o.Laps[0].Time
				r.Record(&o)
			}
			c.Take(r, &totals)
		}
	}
	// All at once, before anybody collects.
	for _, r := range recorders {
		for i := range o.Laps {
			o.Laps[i] = Lap{i, int64(i) << 20}
		}
		r.Record(&o)
	}
	used := (heap() - before) / clients
	t.Logf("bytes per client: %d without pages, %d with", idle, used)
	if idle > 32<<10 || used > 80<<10 {
		t.Errorf("a client takes %d bytes, %d with its pages", idle, used)
	}
	runtime.KeepAlive(recorders)
	runtime.KeepAlive(totals)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkRecord(b *testing.B) {
	r := NewRecorder(Shape{Kinds: 1})
	o := Op{Rows: 1}
	b.ReportAllocs()
	for i := range b.N {
		o.End = int64(100 + i&1023)
		r.Record(&o)
	}
}

// BenchmarkRecordParts is the cost of an operation with ten timed statements.
func BenchmarkRecordParts(b *testing.B) {
	r := NewRecorder(Shape{Kinds: 1, Parts: 10, Attempts: true})
	o := Op{Rows: 1, Laps: make([]Lap, 10)}
	for i := range o.Laps {
		o.Laps[i].Part = i
	}
	b.ReportAllocs()
	for i := range b.N {
		o.End = int64(1000000 + i&1023)
		for k := range o.Laps {
			o.Laps[k].Time = int64(100000 + (i+k)&1023)
		}
		r.Record(&o)
	}
}

// BenchmarkTake is the cost of collecting from a client that did ten
// operations of ten statements.
func BenchmarkTake(b *testing.B) {
	shape := Shape{Kinds: 1, Parts: 10, Attempts: true}
	r, c, totals := NewRecorder(shape), NewCollector(shape), NewTotals(shape)
	o := Op{Laps: make([]Lap, 10)}
	for i := range o.Laps {
		o.Laps[i].Part = i
	}
	b.ReportAllocs()
	for i := range b.N {
		for j := range 10 {
			for k := range o.Laps {
				o.Laps[k].Time = int64(100000 + (i+k*j)<<10&0xfffff)
			}
			r.Record(&o)
		}
		c.Take(r, &totals)
	}
}

// What clients leave behind at the end is collected though no attempt ended in
// the last interval.
func TestLeave(t *testing.T) {
	shape := Shape{Kinds: 1, Attempts: true}
	r, c, totals := NewRecorder(shape), NewCollector(shape), NewTotals(shape)
	r.Fail(&Failure{Class: "conflict", Err: errors.New("words"), GivenUp: true, Time: 5000})
	c.Take(r, &totals)
	r.Leave(0, 3000)
	c.Take(r, &totals)
	if k := &totals.Kinds[0]; k.GivenUp != 1 || k.Failed.Count() != 1 || k.Failed.Max() != 5000 || k.Unfinished != 1 || k.UnfinishedTime != 3000 || k.Attempts != 1 {
		t.Errorf("%+v, %d operations given up took %d", k.Counts, k.Failed.Count(), k.Failed.Max())
	}
}
