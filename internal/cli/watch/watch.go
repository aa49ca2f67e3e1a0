package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// Config selects the sources to watch.
type Config struct {
	Interval time.Duration // from tick to tick
	Count    int           // number of intervals; 0: until the context is done
	// Collectors are the collectors of this machine. They are sampled one after
	// another.
	Collectors []observe.Collector
	// Targets are sampled concurrently with everything else, so that a target that
	// hangs does not delay others.
	Targets     []*Target
	Expressions []*Expression
}

// timeout returns how long a tick waits for an answer. A later answer is part of
// the next frame.
func (c *Config) timeout() time.Duration { return min(c.Interval*9/10, 5*time.Second) }

// Run samples all sources, at once and then at each tick, until the context is
// done or emit fails. The first frame, number 0, has no rates.
//
// Ticks do not drift. A source that fails appears with its error; the others
// continue. When it recovers, growth is counted from its last good sample, unless
// it had to reconnect.
func Run(ctx context.Context, c Config, emit func(*Frame) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	probes := c.probes()
	tick := func(n int, at time.Time, timeout time.Duration) error {
		f := &Frame{Number: n, Time: at}
		ask(ctx, &wg, probes, timeout, f)
		if ctx.Err() != nil {
			return nil // the sources failed because the context ended
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
			if err := tick(n, at, c.timeout()); err != nil {
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

// ask adds the answers of the probes to a frame.
func ask(ctx context.Context, wg *sync.WaitGroup, probes []*probe, timeout time.Duration, f *Frame) {
	late, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, p := range probes {
		p.ask(ctx, wg)
	}
	for _, p := range probes {
		f.Sources = append(f.Sources, p.sources(late)...)
	}
}

// probe samples some sources in a separate goroutine.
type probe struct {
	sampler *observe.Sampler
	target  *Target // nil for the machine's own sources
	answers chan answer

	asked time.Time        // when the pending request was made; zero: none is pending
	got   *answer          // not used yet: it may have arrived too late for its tick
	last  observe.Snapshot // the last good sample of each source
	epoch int              // of the target's connection at that time
}

type answer struct {
	snapshot observe.Snapshot
	epoch    int
}

func newProbe(t *Target, collectors ...observe.Collector) *probe {
	return &probe{sampler: &observe.Sampler{Collectors: collectors}, target: t, answers: make(chan answer, 1)}
}

// ask starts a request, unless the previous one is still pending.
func (p *probe) ask(ctx context.Context, wg *sync.WaitGroup) {
	p.poll()
	if !p.asked.IsZero() {
		return
	}
	p.asked = time.Now()
	wg.Go(func() {
		a := answer{snapshot: p.sampler.Snapshot(ctx)}
		if p.target != nil {
			a.epoch = p.target.current().epoch
		}
		p.answers <- a
	})
}

// poll takes the answer if it has arrived.
func (p *probe) poll() {
	select {
	case a := <-p.answers:
		p.got, p.asked = &a, time.Time{}
	default:
	}
}

// sources waits for the answer, until late is done, and returns the changes of the
// sources since their last good samples.
func (p *probe) sources(late context.Context) []Source {
	select {
	case a := <-p.answers:
		p.got, p.asked = &a, time.Time{}
	case <-late.Done():
		p.poll() // it may have arrived at the same time
	}
	a := p.got
	if p.got = nil; a == nil {
		return p.unanswered()
	}
	if a.epoch != p.epoch {
		p.last, p.epoch = observe.Snapshot{}, a.epoch
	}
	return p.changes(a.snapshot)
}

func (p *probe) unanswered() []Source {
	waiting := time.Since(p.asked)
	var sources []Source
	for _, c := range p.sampler.Collectors {
		err := fmt.Errorf("no answer for %v", waiting.Round(100*time.Millisecond))
		sources = append(sources, Source{Name: c.Name(), Time: time.Now(), Took: waiting, Err: err})
	}
	return sources
}

// changes returns the changes since the last good sample, which cur replaces.
func (p *probe) changes(cur observe.Snapshot) []Source {
	intervals := observe.Diff(p.last, cur)
	sources := make([]Source, len(intervals))
	for i := range intervals {
		sources[i] = source(&intervals[i], &cur.Sources[i])
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
	return sources
}

// addCost adds the sampling time of each source to the rows of this process.
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
