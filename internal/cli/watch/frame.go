package watch

import (
	"slices"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/text/quantity"
)

// Derived is the kind of metrics that are computed from samples.
const Derived engine.CounterKind = "derived"

// DerivedSource is the name of the source of derived metrics.
const DerivedSource = "derived"

// Frame holds the numbers of all sources at one tick.
type Frame struct {
	Number  int       // 0 is the first sample, which has no rates yet
	Time    time.Time // of the tick
	Sources []Source
}

// Source holds the numbers of one source.
type Source struct {
	Name    string
	Time    time.Time     // when the numbers were read
	Elapsed time.Duration // since the sample from which growth is counted
	Took    time.Duration // the cost of sampling
	Rows    []Row
	Err     error  // why there are no rows
	Note    string // why there are no rates
}

// Row is one series in a frame. Its point holds the sampled value.
type Row struct {
	engine.Point
	Delta float64 // growth of a counter over the source's Elapsed
	Rate  float64 // the same per second
	// Known is set if there is a rate. Gauges and derived metrics are always
	// known; a counter is unknown in its first sample and after a reset.
	Known bool
	Reset bool // the counter fell, as it does when a server restarts
}

// Shown returns the number to show: the rate of a counter, otherwise the value. ok
// is false if it is unknown.
func (r *Row) Shown() (v float64, ok bool) {
	if r.Kind == engine.Counter {
		return r.Rate, r.Known
	}
	return r.Value, true
}

// ShownUnit returns the unit of Shown.
func (r *Row) ShownUnit() string {
	if r.Kind == engine.Counter {
		return r.Unit + "/s"
	}
	return r.Unit
}

const resetNote = "counters began anew: no rates until the next sample"

// source returns the source of a frame, from an interval and the sample at its end.
func source(iv *observe.Interval, cur *observe.Source) Source {
	s := Source{Name: cur.Name, Time: cur.Time, Elapsed: iv.Elapsed, Took: cur.Took, Err: cur.Err}
	if cur.Err != nil {
		return s
	}
	if iv.Err != nil {
		s.Note = "no earlier sample: rates from the next one on"
	}
	s.Rows = make([]Row, 0, len(cur.Points))
	changes := iv.Changes // a subsequence of the points
	resets, could := 0, 0
	for _, p := range cur.Points {
		r := Row{Point: p, Known: p.Kind != engine.Counter}
		if len(changes) > 0 && changes[0].Name == p.Name && changes[0].Labels == p.Labels {
			r.grow(&changes[0], iv.Elapsed)
			changes = changes[1:]
		} else if !quantity.Finite(p.Value) {
			continue
		}
		if r.Reset {
			resets++
		}
		if r.Reset || r.Known && r.Kind == engine.Counter && r.Value != r.Delta {
			could++ // it was not zero before
		}
		s.Rows = append(s.Rows, r)
	}
	// When a server restarts, most of its counters fall. The others were reset
	// too, but have passed their old values since.
	if resets > 0 && 2*resets >= could {
		s.forget()
	}
	return s
}

func (r *Row) grow(c *observe.Change, elapsed time.Duration) {
	if r.Kind != engine.Counter {
		return
	}
	if r.Reset = c.Reset; r.Reset || elapsed <= 0 {
		return
	}
	r.Known, r.Delta, r.Rate = true, c.Value, c.Value/elapsed.Seconds()
}

func (s *Source) forget() {
	s.Note = resetNote
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Kind == engine.Counter {
			r.Known, r.Reset, r.Delta, r.Rate = false, true, 0, 0
		}
	}
}

// Find returns the source with this name, nil if there is none.
func (f *Frame) Find(name string) *Source {
	if i := slices.IndexFunc(f.Sources, func(s Source) bool { return s.Name == name }); i >= 0 {
		return &f.Sources[i]
	}
	return nil
}

func (f *Frame) each(yield func(*Source, *Row) bool) {
	for i := range f.Sources {
		s := &f.Sources[i]
		for k := range s.Rows {
			if !yield(s, &s.Rows[k]) {
				return
			}
		}
	}
}

// oneLine returns the text of an error on one line, for a cell of a table.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
