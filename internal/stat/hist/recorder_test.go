package hist_test

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/stat/hist"
	"rumbench/model"
)

// The collector loses nothing while clients record.
func TestRecorder(t *testing.T) {
	const n, clients = 100_000, 3
	shape := hist.Shape{Kinds: 2, Parts: 2, Paced: true, Attempts: true}
	c, totals := hist.NewCollector(shape), hist.NewTotals(shape)
	recorders := make([]*hist.Recorder, clients)
	var wg sync.WaitGroup
	for i := range recorders {
		r := hist.NewRecorder(shape)
		recorders[i] = r
		wg.Go(func() {
			for i := range int64(n) {
				r.Record(&hist.Op{Kind: 1, Work: &model.Work{Rows: 2, Reads: 10, Writes: 4, Others: 2}, Intended: i, Start: i + 1, Attempt: i + 2, End: i + 3, Retried: true,
					Laps: []model.Lap{{Part: 0, Time: 5}, {Part: 1, Time: 7}, {Part: 0, Time: 5}}})
			}
			r.Fail(&hist.Failure{Kind: 1, Statements: 9, Class: "conflict", Err: errors.New("words")})
			r.Fail(&hist.Failure{Kind: 1, Retried: true, Statements: 1, Class: "conflict", Err: errors.New("other words"), GivenUp: true, Time: 7})
			r.Error("fatal", errors.New("the end"))
		})
	}
	var errs []hist.ErrorCount
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
	want := hist.Counts{Ops: ops, Work: model.Work{Rows: 2 * ops, Reads: 10 * ops, Writes: 4 * ops, Others: 2 * ops},
		Attempts: ops + 2*clients, Retries: ops + clients, GivenUp: clients, Wasted: 10 * clients}
	s := &totals.Kinds[1]
	expect.Equal(t, s.Counts, want)
	for i, d := range []*hist.Dist{s.Service, s.Response, s.Lateness, s.Attempt} {
		if took := []int64{2, 3, 1, 1}[i]; d.Count() != ops || d.Percentile(50) != took || d.Max() != took {
			t.Errorf("distribution %d: %d, median %d", i, d.Count(), d.Percentile(50))
		}
	}
	if a, b := totals.Parts[0], totals.Parts[1]; a.Count() != 2*ops || a.Max() != 5 || b.Count() != ops || b.Max() != 7 {
		t.Errorf("parts: %d, %d", a.Count(), b.Count())
	}
	expect.Equal(t, totals.Kinds[0].Attempts, 0, "an unused kind has attempts")
	var conflicts int64
	for _, e := range errs {
		if e.Kind == 1 && e.Class == "conflict" {
			conflicts += e.Count
		}
	}
	expect.True(t, conflicts == 2*clients && errs[len(errs)-1].Class == "fatal" && errs[len(errs)-1].Kind == -1,
		"errors", errs)
}

// Recording allocates nothing once the pages of an interval are there.
func TestRecordingAllocatesNothing(t *testing.T) {
	r := hist.NewRecorder(hist.Shape{Kinds: 1, Parts: 1, Paced: true, Attempts: true})
	o := hist.Op{Work: &model.Work{Rows: 1}, Laps: []model.Lap{{Time: 100}}, End: 1000}
	expect.Equal(t, testing.AllocsPerRun(100, func() { r.Record(&o) }), 0)
}

// Many clients whose operations have many statements take little memory.
func TestMemory(t *testing.T) {
	const clients, ops = 1024, 10
	shape := hist.Shape{Kinds: 1, Parts: 10, Attempts: true}
	before := heap()
	c, totals := hist.NewCollector(shape), hist.NewTotals(shape)
	recorders := make([]*hist.Recorder, clients)
	for i := range recorders {
		recorders[i] = hist.NewRecorder(shape)
	}
	idle := (heap() - before) / clients
	o := hist.Op{Work: &model.Work{}, Laps: make([]model.Lap, shape.Parts)}
	draw := uint64(1)
	for range 5 { // intervals
		for _, r := range recorders {
			for range ops {
				for i := range o.Laps {
					draw = draw*6364136223846793005 + 1442695040888963407
					u := (float64(draw>>11) + 0.5) / (1 << 53)
					o.Laps[i] = model.Lap{Part: i, Time: int64(-math.Log(u) * 1e6)} // 1 ms on average
				}
				o.End += o.Laps[0].Time
				r.Record(&o)
			}
			c.Take(r, &totals)
		}
	}
	// All clients, before the next collection.
	for _, r := range recorders {
		for i := range o.Laps {
			o.Laps[i] = model.Lap{Part: i, Time: int64(i) << 20}
		}
		r.Record(&o)
	}
	used := (heap() - before) / clients
	t.Logf("bytes per client: %d without pages, %d with", idle, used)
	expect.True(t, idle <= 32<<10 && used <= 80<<10, "a client takes bytes, with its pages", idle, used)
	runtime.KeepAlive(recorders)
	runtime.KeepAlive(totals)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Unfinished operations are collected even if no attempt ended in the last
// interval.
func TestLeave(t *testing.T) {
	shape := hist.Shape{Kinds: 1, Attempts: true}
	r, c, totals := hist.NewRecorder(shape), hist.NewCollector(shape), hist.NewTotals(shape)
	r.Fail(&hist.Failure{Class: "conflict", Err: errors.New("words"), GivenUp: true, Time: 5000})
	c.Take(r, &totals)
	r.Leave(0, 3000)
	c.Take(r, &totals)
	if k := &totals.Kinds[0]; k.GivenUp != 1 || k.Failed.Count() != 1 || k.Failed.Max() != 5000 ||
		k.Unfinished != 1 || k.UnfinishedTime != 3000 || k.Attempts != 1 {
		t.Errorf("%+v, %d operations given up took %d", k.Counts, k.Failed.Count(), k.Failed.Max())
	}
}
