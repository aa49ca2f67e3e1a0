package observe

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
)

// Interval holds the changes of one source between two of its samples.
type Interval struct {
	Source  string
	Machine string        // "": this one
	Time    time.Time     // of the later sample
	Elapsed time.Duration // between the two samples; rates are growth divided by it
	Late    time.Duration // from the tick of the later sample to its response
	Changes []Change      // in the order of the later sample
	Err     error         // why there are no changes, or only gauges
}

// Change is the change of one series over an interval.
type Change struct {
	Name   string `json:"name"` // this and the following as in engine.Point
	Labels string `json:"labels,omitempty"`
	// Machine is that of the source; "": this one.
	Machine string             `json:"machine,omitempty"`
	Kind    engine.CounterKind `json:"kind"`
	Unit    string             `json:"unit"`
	// Value is the growth of a counter, or the last value of a gauge.
	Value float64 `json:"value"`
	// Reset is set if the counter fell, as it does when a server restarts. The
	// growth is then counted from zero: the growth before that is unknown.
	Reset  bool   `json:"reset,omitempty"`
	Series string `json:"-"` // the key of the series, see engine.Point
}

var errNoStart = errors.New("no earlier sample")

// Diff returns, for each source of b, its changes since a.
//
// Unknown changes are left out: the growth of counters that are not in both
// samples, and values that are not finite.
func Diff(a, b Snapshot) []Interval {
	intervals := make([]Interval, len(b.Sources))
	for i := range b.Sources {
		cur := &b.Sources[i]
		v := &intervals[i]
		v.Source, v.Machine, v.Time, v.Err = cur.Name, cur.Machine, cur.Time, cur.Err
		v.Late = cur.Time.Add(cur.Took / 2).Sub(b.Time)
		prev, reason := &Source{}, errNoStart
		if k := slices.IndexFunc(a.Sources, func(s Source) bool {
			return s.Name == cur.Name && s.Machine == cur.Machine
		}); k >= 0 {
			v.Elapsed = cur.Time.Sub(a.Sources[k].Time)
			if reason = a.Sources[k].Err; reason == nil {
				prev = &a.Sources[k]
			} else {
				reason = fmt.Errorf("%w: %w", errNoStart, reason)
			}
		}
		if cur.Err != nil {
			continue
		}
		if reason != nil {
			v.Err = fmt.Errorf("growth of %s: %w", cur.Name, reason)
		}
		v.Changes = changes(prev, cur)
	}
	return intervals
}

func changes(prev, cur *Source) []Change {
	previousLayout, now := prev.series(), cur.series()
	all := make([]Change, 0, len(cur.Points))
	for i := range cur.Points {
		p := &cur.Points[i]
		c := Change{Name: p.Name, Labels: p.Labels, Machine: cur.Machine, Kind: p.Kind, Unit: p.Unit, Value: p.Value,
			Series: now.keys[i]}
		if c.Kind == engine.Counter {
			j, found := i, true
			if previousLayout != now {
				j, found = previousLayout.index[c.Series]
			}
			if !found {
				continue
			}
			c.Value -= prev.Points[j].Value
			if c.Reset = c.Value < 0; c.Reset {
				c.Value = p.Value
			}
		}
		if quantity.Finite(c.Value) {
			all = append(all, c)
		}
	}
	return all
}
