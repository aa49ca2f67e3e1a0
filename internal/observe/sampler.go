package observe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"rumbench/engine"
)

// Sampler samples its collectors at each tick, one after the other. A slow
// source delays the later ones, which shows in their times and falsifies no
// rate; a source that may block for long belongs in a separate sampler.
type Sampler struct {
	Collectors []Collector
	Interval   time.Duration // from tick to tick of Run; 0 is one second

	mu      sync.Mutex // collectors keep their last sample: one set at a time
	layouts []*layout  // of each collector's last good sample
}

// Snapshot is one set of samples.
type Snapshot struct {
	Time    time.Time // the tick that it was taken for
	Sources []Source  // in the order of the collectors
}

// Source is the sample of one collector.
type Source struct {
	Name    string
	Machine string // "": this one
	// Time is when the points were read: halfway between call and return, which
	// is never wrong by more than half of Took.
	Time   time.Time
	Took   time.Duration  // duration of the call: the cost of sampling
	Points []engine.Point // none after an error
	Err    error

	layout *layout // shared by samples of the same series; nil if made by hand
}

// Snapshot samples all collectors now. It may be called while Run runs.
func (s *Sampler) Snapshot(ctx context.Context) Snapshot {
	var set Snapshot
	s.take(ctx, time.Now(), &set)
	return set
}

// Run takes a first set of samples and then one at each tick, until ctx is done.
// Each is passed to emit together with the previous one, see Diff. For a source
// that failed before, prev holds its last good sample, so that no growth is lost.
//
// Ticks do not drift; a set that takes longer than the interval skips ticks.
// Both snapshots are overwritten after emit has returned.
func (s *Sampler) Run(ctx context.Context, emit func(prev, cur Snapshot)) {
	interval := s.Interval
	if interval <= 0 {
		interval = time.Second
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var prev, cur Snapshot
	s.take(ctx, time.Now(), &prev)
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-ticker.C:
			s.take(ctx, at, &cur)
			if ctx.Err() != nil {
				return // the sources failed because the context ended
			}
			emit(prev, cur)
			prev.succeed(&cur)
		}
	}
}

// succeed makes the next set the previous one. Sources that failed keep their
// last good sample.
func (prev *Snapshot) succeed(cur *Snapshot) {
	prev.Time = cur.Time
	for i := range cur.Sources {
		if cur.Sources[i].Err == nil {
			prev.Sources[i], cur.Sources[i] = cur.Sources[i], prev.Sources[i]
		}
	}
}

// take samples all collectors into a snapshot and reuses its memory.
func (s *Sampler) take(ctx context.Context, at time.Time, set *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.layouts = slices.Grow(s.layouts, len(s.Collectors))[:len(s.Collectors)]
	set.Sources = slices.Grow(set.Sources, len(s.Collectors))[:len(s.Collectors)]
	set.Time = at
	for i, c := range s.Collectors {
		sample(ctx, c, &s.layouts[i], &set.Sources[i])
	}
}

func sample(ctx context.Context, c Collector, known **layout, into *Source) {
	points := engine.Sample{Points: into.Points[:0]}
	begin := time.Now()
	err := c.Collect(ctx, &points)
	took := time.Since(begin)
	*into = Source{Name: c.Name(), Time: begin.Add(took / 2), Took: took, Points: points.Points, Err: err}
	if p, is := c.(Placed); is {
		into.Machine = p.Machine()
	}
	if err == nil {
		into.layout, into.Err = (*known).matching(into.Points)
	}
	if into.Err != nil {
		into.Points = into.Points[:0]
		return
	}
	*known = into.layout
}

// layout is the list of series of a source, in order. Samples with the same series
// share one layout, so that keys are neither built nor looked up.
type layout struct {
	names, labels, keys []string
	index               map[string]int // position by key
}

// series returns the layout of the source's points.
func (s *Source) series() *layout {
	if s.layout != nil {
		return s.layout
	}
	l, _ := newLayout(s.Points) // of a snapshot made by hand
	return l
}

// matching returns the layout of the points: l itself if the series are the
// same.
func (l *layout) matching(points []engine.Point) (*layout, error) {
	if l == nil || len(l.keys) != len(points) {
		return newLayout(points)
	}
	for i := range points {
		p := &points[i]
		if p.Name != l.names[i] || p.Labels != l.labels[i] {
			return newLayout(points)
		}
		p.Name, p.Labels = l.names[i], l.labels[i] // releases the collector's own copies
	}
	return l, nil
}

func newLayout(points []engine.Point) (*layout, error) {
	l := &layout{index: make(map[string]int, len(points))}
	for i, p := range points {
		key := p.Key()
		if _, twice := l.index[key]; twice {
			return l, fmt.Errorf("series %s was sampled twice", key)
		}
		l.index[key] = i
		l.names = append(l.names, p.Name)
		l.labels = append(l.labels, p.Labels)
		l.keys = append(l.keys, key)
	}
	return l, nil
}
