package watch

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// Config says what is watched.
type Config struct {
	Interval time.Duration // from tick to tick
	Count    int           // of intervals; 0: until the context is done
	// Collectors are those of this machine. They are asked one after the other.
	Collectors []observe.Collector
	// Targets are asked at the same time as all others, each on its own: one
	// that hangs holds up nobody.
	Targets     []*Target
	Expressions []*Expression
}

// patience is how long a tick waits for an answer. One that comes later is
// part of the next frame.
func (c *Config) patience() time.Duration { return min(c.Interval*9/10, 5*time.Second) }

// Run samples all sources, at once and then at each tick, until the context is
// done or emit fails. The first frame, number 0, has no rates.
//
// Ticks do not drift. A source that fails is told with its error; the others
// go on. When it is back its growth is counted from its last good sample,
// unless its connection had to be made anew.
func Run(ctx context.Context, c Config, emit func(*Frame) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	probes := c.probes()
	tick := func(n int, at time.Time, patience time.Duration) error {
		f := &Frame{Number: n, Time: at}
		ask(ctx, &wg, probes, patience, f)
		if ctx.Err() != nil {
			return nil // the sources failed because they were told to end
		}
		f.addCost()
		f.derive(c.Expressions)
		return emit(f)
	}
	ticker := time.NewTicker(c.Interval)
	defer ticker.Stop()
	if err := tick(0, time.Now(), 2*answerTime); err != nil {
		return err
	}
	for n := 1; c.Count == 0 || n <= c.Count; n++ {
		select {
		case <-ctx.Done():
			return nil
		case at := <-ticker.C:
			if err := tick(n, at, c.patience()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Config) probes() []*probe {
	var all []*probe
	if len(c.Collectors) > 0 {
		all = append(all, newProbe(nil, c.Collectors...))
	}
	for _, t := range c.Targets {
		all = append(all, newProbe(t, t.engine()))
	}
	return all
}

// ask adds to a frame what the probes answer.
func ask(ctx context.Context, wg *sync.WaitGroup, probes []*probe, patience time.Duration, f *Frame) {
	late, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, p := range probes {
		p.ask(ctx, wg)
	}
	for _, p := range probes {
		f.Sources = append(f.Sources, p.sources(late)...)
	}
}

// probe asks some sources in a goroutine of its own.
type probe struct {
	sampler *observe.Sampler
	target  *Target // nil for the machine's own sources
	answers chan answer

	asked  time.Time        // when the question was put that is not answered yet; zero: there is none
	missed *answer          // came too late for its tick
	last   observe.Snapshot // of each source the last good sample
	epoch  int              // of the target's connection at that time
}

type answer struct {
	snapshot observe.Snapshot
	epoch    int
}

func newProbe(t *Target, collectors ...observe.Collector) *probe {
	return &probe{sampler: &observe.Sampler{Collectors: collectors}, target: t, answers: make(chan answer, 1)}
}

// ask puts a question, unless the former one is still unanswered.
func (p *probe) ask(ctx context.Context, wg *sync.WaitGroup) {
	select {
	case a := <-p.answers:
		p.missed, p.asked = &a, time.Time{}
	default:
	}
	if !p.asked.IsZero() {
		return
	}
	p.asked = time.Now()
	wg.Go(func() {
		a := answer{snapshot: p.sampler.Snapshot(ctx)}
		if p.target != nil {
			a.epoch = p.target.currentEpoch()
		}
		p.answers <- a
	})
}

// sources waits for the answer, not longer than a context lasts, and returns
// what the sources did since their last good samples.
func (p *probe) sources(late context.Context) []Source {
	var a *answer
	select {
	case got := <-p.answers:
		a = &got
	case <-late.Done():
		select { // it may have come at the same time
		case got := <-p.answers:
			a = &got
		default:
		}
	}
	if a != nil {
		p.asked = time.Time{}
	} else {
		a = p.missed
	}
	p.missed = nil
	if a == nil {
		return p.silence()
	}
	if a.epoch != p.epoch {
		p.last, p.epoch = observe.Snapshot{}, a.epoch
	}
	return p.since(a.snapshot)
}

// silence is what is told of sources that do not answer.
func (p *probe) silence() []Source {
	waiting := time.Since(p.asked)
	var all []Source
	for _, c := range p.sampler.Collectors {
		err := fmt.Errorf("no answer for %v", waiting.Round(100*time.Millisecond))
		all = append(all, Source{Name: c.Name(), Time: time.Now(), Took: waiting, Err: err})
	}
	return all
}

// since compares a sample with the last good one, and makes it the last.
func (p *probe) since(cur observe.Snapshot) []Source {
	intervals := observe.Diff(p.last, cur)
	all := make([]Source, len(intervals))
	for i := range intervals {
		all[i] = source(&intervals[i], &cur.Sources[i])
	}
	if p.last.Sources == nil {
		p.last.Sources = make([]observe.Source, len(cur.Sources))
	}
	p.last.Time = cur.Time
	for i, s := range cur.Sources {
		if s.Err == nil {
			p.last.Sources[i] = s
		}
	}
	return all
}

// addCost adds how long each source took to the rows of this process itself.
func (f *Frame) addCost() {
	own := f.Find("client")
	if own == nil || own.Err != nil {
		return
	}
	for i := range f.Sources {
		s := &f.Sources[i]
		own.Rows = append(own.Rows, Row{Known: true, Point: engine.Point{
			Name: "client.sample_ns", Labels: `source="` + s.Name + `"`, Kind: engine.Gauge, Unit: "ns", Value: float64(s.Took),
		}})
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
