package watch

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// vector is the value of a node: numbers with labels. It is empty if the
// number is missing. One number without labels is a number like any other.
type vector []element

type element struct {
	labels string
	value  float64
}

func (v vector) isNumber() bool { return len(v) == 1 && v[0].labels == "" }

// node is a part of an expression.
type node interface {
	eval(s *scope) vector
}

// scope is what expressions are computed from.
type scope struct {
	rows  map[string][]*Row // by name
	names []string          // in the order of the frame
	// trial gives every series the value 1, whether it is known or not, to see
	// which series would be combined. What cannot be is told in mismatch.
	trial    bool
	mismatch []*binary
}

func (f *Frame) scope() *scope {
	s := &scope{rows: make(map[string][]*Row)}
	for src, r := range f.each {
		if src.Name == DerivedSource {
			continue
		}
		if s.rows[r.Name] == nil {
			s.names = append(s.names, r.Name)
		}
		s.rows[r.Name] = append(s.rows[r.Name], r)
	}
	return s
}

type number float64

func (n number) eval(*scope) vector { return vector{{"", float64(n)}} }

// fetch is rate, delta or value of what a selector matches.
type fetch struct {
	function string
	selector *Selector
}

func (f *fetch) eval(s *scope) (out vector) {
	for name, r := range f.selected(s) {
		v, ok := f.of(r)
		if s.trial {
			v, ok = 1, true
		}
		if !ok {
			continue
		}
		labels := r.Labels
		if f.selector.pattern != nil { // series of several names may have the same labels
			labels = observe.ParseLabels(labels).With("series", name).String()
		}
		out = append(out, element{labels, v})
	}
	return out
}

// selected calls yield for each series that the selector matches.
func (f *fetch) selected(s *scope) func(yield func(string, *Row) bool) {
	names := []string{f.selector.name}
	if f.selector.pattern != nil {
		names = s.names
	}
	return func(yield func(string, *Row) bool) {
		for _, name := range names {
			if f.selector.pattern != nil && !f.selector.matchesName(name) {
				continue
			}
			for _, r := range s.rows[name] {
				if f.selector.matchesLabels(r.Labels) && !yield(name, r) {
					return
				}
			}
		}
	}
}

// of returns the function's value of a series. Gauges have no rate.
func (f *fetch) of(r *Row) (float64, bool) {
	switch f.function {
	case "value":
		return r.Value, true
	case "delta":
		return r.Delta, r.Known && r.Kind == engine.Counter
	}
	return r.Rate, r.Known && r.Kind == engine.Counter
}

// aggregate makes one number of all its arguments have.
type aggregate struct {
	function string
	args     []node
}

func (a *aggregate) eval(s *scope) vector {
	var all []float64
	for _, arg := range a.args {
		for _, e := range arg.eval(s) {
			all = append(all, e.value)
		}
	}
	if len(all) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	switch a.function {
	case "min":
		return vector{{"", slices.Min(all)}}
	case "max":
		return vector{{"", slices.Max(all)}}
	case "avg":
		return vector{{"", sum / float64(len(all))}}
	}
	return vector{{"", sum}}
}

// binary combines two values: numbers with each other, a number with all
// series, and series with those of the same labels.
type binary struct {
	op          string
	left, right node
	at          int // place of the operator, in characters
}

func (b *binary) eval(s *scope) vector {
	left, right := b.left.eval(s), b.right.eval(s)
	var out vector
	switch {
	case len(left) == 0 || len(right) == 0:
		return nil
	case right.isNumber():
		for _, l := range left {
			out = b.add(out, l.labels, l.value, right[0].value)
		}
	case left.isNumber():
		for _, r := range right {
			out = b.add(out, r.labels, left[0].value, r.value)
		}
	default:
		var pairs int
		if out, pairs = b.pairs(left, right); pairs == 0 {
			s.mismatch = append(s.mismatch, b)
		}
	}
	return out
}

// pairs combines elements of the same labels, and tells how many there were.
func (b *binary) pairs(left, right vector) (out vector, n int) {
	byLabels := make(map[string]float64, len(right))
	for _, r := range right {
		byLabels[r.labels] = r.value
	}
	for _, l := range left {
		if r, ok := byLabels[l.labels]; ok {
			n++
			out = b.add(out, l.labels, l.value, r)
		}
	}
	return out, n
}

// add appends the result, unless there is none.
func (b *binary) add(out vector, labels string, l, r float64) vector {
	switch b.op {
	case "+":
		l += r
	case "-":
		l -= r
	case "*":
		l *= r
	default:
		l /= r
	}
	if !finite(l) {
		return out
	}
	return append(out, element{labels, l})
}

// derive adds what the expressions make of the frame.
func (f *Frame) derive(list []*Expression) {
	if len(list) == 0 {
		return
	}
	s := f.scope()
	d := Source{Name: DerivedSource, Time: f.Time}
	for i := range f.Sources {
		d.Elapsed = max(d.Elapsed, f.Sources[i].Elapsed)
	}
	for _, e := range list {
		for _, v := range e.root.eval(s) {
			d.Rows = append(d.Rows, Row{Known: true, Point: engine.Point{
				Name: e.Name, Labels: v.labels, Kind: Derived, Unit: e.Unit, Value: v.value,
			}})
		}
	}
	f.Sources = append(f.Sources, d)
}

// Doubts tells what of the expressions cannot be computed from a frame, and
// most likely from none: selectors that match nothing, rates of gauges, and
// series that have nothing to do with each other.
func Doubts(f *Frame, list []*Expression) (doubts []string) {
	for _, e := range list {
		if e.builtin {
			continue
		}
		s := f.scope()
		for _, fetch := range e.fetches {
			if doubt := fetch.doubt(s); doubt != "" {
				doubts = append(doubts, fmt.Sprintf("expression %s: %s", e.Name, doubt))
			}
		}
		s.trial = true
		e.root.eval(s)
		for _, b := range s.mismatch {
			doubts = append(doubts, fmt.Sprintf("expression %s: at column %d, no series on the left of %s has the labels of one on the right; make a number of either side with sum, avg, min or max", e.Name, b.at+1, b.op))
		}
	}
	return doubts
}

func (f *fetch) doubt(s *scope) string {
	counters, gauges := 0, 0
	for _, r := range f.selected(s) {
		if r.Kind == engine.Counter {
			counters++
		} else {
			gauges++
		}
	}
	switch {
	case counters+gauges == 0:
		return fmt.Sprintf("%s matches no series yet%s", f.selector, f.near(s))
	case counters == 0 && f.function != "value":
		return fmt.Sprintf("%s is a gauge, which has no %s; use value", f.selector, f.function)
	}
	return ""
}

// near names a series that the user may have meant.
func (f *fetch) near(s *scope) string {
	for _, name := range s.names {
		if f.selector.matchesName(name) {
			return "; there is " + s.rows[name][0].Key()
		}
	}
	last := f.selector.name[strings.LastIndexByte(f.selector.name, '.')+1:]
	for _, name := range s.names {
		if strings.HasSuffix(name, "."+last) {
			return "; there is " + s.rows[name][0].Key()
		}
	}
	return "; rumbench stat --list tells the names"
}
