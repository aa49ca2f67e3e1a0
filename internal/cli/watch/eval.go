package watch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/file"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/text/quantity"
)

// vector is the value of a subexpression: numbers with labels, none if the value is
// missing. A scalar is a vector of one number without labels.
type vector []element

type element struct {
	labels string
	value  float64
}

func (v vector) isNumber() bool { return len(v) == 1 && v[0].labels == "" }

// extended returns the vector with value appended, unless it is NaN or infinite.
func (v vector) extended(labels string, value float64) vector {
	if !quantity.Finite(value) {
		return v
	}
	return append(v, element{labels, value})
}

// scope holds the data that expressions are evaluated on.
type scope struct {
	rows  map[string][]*Row // by name
	names []string          // in the order of the frame
	// trial gives every series the value 1, known or not, and makes it an error
	// to combine series that have no labels in common.
	trial bool
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

// functions returns the functions and operators of expressions.
func (s *scope) functions() map[string]any {
	env := make(map[string]any)
	for name := range fetchers {
		env[name] = func(f *fetch) vector { return f.eval(s) }
	}
	for name, reduce := range aggregates {
		env[name] = func(first vector, more ...vector) vector {
			var all []float64
			for _, e := range slices.Concat(first, slices.Concat(more...)) {
				all = append(all, e.value)
			}
			if len(all) == 0 {
				return nil
			}
			return vector{{"", reduce(all)}}
		}
	}
	for name, value := range operators {
		env[name] = func(l, r vector) (vector, error) { return combine(name, value, l, r, s) }
	}
	return env
}

// fetchers are the functions of a series. Gauges have no growth.
var fetchers = map[string]func(*Row) (v float64, known bool){
	"value": func(r *Row) (float64, bool) { return r.Value, true },
	"delta": func(r *Row) (float64, bool) { return r.Delta, r.Known && r.Kind == engine.Counter },
	"rate":  func(r *Row) (float64, bool) { return r.Rate, r.Known && r.Kind == engine.Counter },
}

// fetch is a call of a function on the series that a selector matches.
type fetch struct {
	function string
	selector *Selector
}

func (f *fetch) eval(s *scope) (out vector) {
	for name, r := range f.selected(s) {
		v, ok := fetchers[f.function](r)
		if s.trial {
			v, ok = 1, true
		}
		if !ok {
			continue
		}
		labels := r.Labels
		if f.selector.pattern != nil { // series with different names may have the same labels
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
			for _, r := range s.rows[name] {
				if f.selector.Matches(name, r.Labels) && !yield(name, r) {
					return
				}
			}
		}
	}
}

// aggregates are the functions that reduce many numbers to one.
var aggregates = map[string]func([]float64) float64{
	"sum": sum,
	"avg": func(all []float64) float64 { return sum(all) / float64(len(all)) },
	"min": slices.Min[[]float64],
	"max": slices.Max[[]float64],
}

func sum(all []float64) (sum float64) {
	for _, v := range all {
		sum += v
	}
	return sum
}

var operators = map[string]func(l, r float64) float64{
	"+": func(l, r float64) float64 { return l + r },
	"-": func(l, r float64) float64 { return l - r },
	"*": func(l, r float64) float64 { return l * r },
	"/": func(l, r float64) float64 { return l / r },
}

// combine combines scalars, a scalar with all series, and series with series that
// have the same labels.
func combine(operator string, value func(l, r float64) float64, left, right vector, s *scope) (out vector, err error) {
	switch {
	case len(left) == 0 || len(right) == 0:
		return nil, nil
	case right.isNumber():
		for _, l := range left {
			out = out.extended(l.labels, value(l.value, right[0].value))
		}
		return out, nil
	case left.isNumber():
		for _, r := range right {
			out = out.extended(r.labels, value(left[0].value, r.value))
		}
		return out, nil
	}
	byLabels := make(map[string]float64, len(right))
	for _, r := range right {
		byLabels[r.labels] = r.value
	}
	pairs := 0
	for _, l := range left {
		if r, ok := byLabels[l.labels]; ok {
			pairs++
			out = out.extended(l.labels, value(l.value, r))
		}
	}
	if pairs == 0 && s.trial {
		return nil, fmt.Errorf("no series on the left of %s has the labels of one on the right; make a number of either "+
			"side with sum, avg, min or max", operator)
	}
	return out, nil
}

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
		values, _ := e.eval(s) // only a trial has errors
		for _, v := range values {
			d.Rows = append(d.Rows, Row{Known: true, Point: engine.Point{
				Name: e.Name, Labels: v.labels, Kind: Derived, Unit: e.Unit, Value: v.value,
			}})
		}
	}
	f.Sources = append(f.Sources, d)
}

// Warnings returns warnings about a first frame: failed sources, no disk, and
// expressions that cannot be evaluated on it and most likely never will: selectors
// that match nothing, rates of gauges, and series without common labels.
func Warnings(f *Frame, list []*Expression) (warnings []string) {
	disks := false
	for i := range f.Sources {
		s := &f.Sources[i]
		if s.Err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: %v", s.Name, s.Err))
		}
		disks = disks || strings.HasPrefix(s.Name, "device/") || s.Name == "device" && (s.Err != nil || len(s.Rows) > 0)
	}
	if !disks && f.Find("device") != nil {
		warnings = append(warnings, "no physical disk was found: choose a device with --device or --dir")
	}
	for _, e := range list {
		if e.builtin {
			continue
		}
		s := f.scope()
		for _, fetch := range e.fetches {
			if text := fetch.warning(s); text != "" {
				warnings = append(warnings, fmt.Sprintf("expression %s: %s", e.Name, text))
			}
		}
		s.trial = true
		_, err := e.eval(s)
		if at, ok := errors.AsType[*file.Error](err); ok {
			warnings = append(warnings, fmt.Sprintf("expression %s: at column %d, %s", e.Name, at.From+1, at.Message))
		}
	}
	return warnings
}

func (f *fetch) warning(s *scope) string {
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
		return fmt.Sprintf("%s matches no series yet%s", f.selector, f.nearHint(s))
	case counters == 0 && f.function != "value":
		return fmt.Sprintf("%s is a gauge, which has no %s; use value", f.selector, f.function)
	}
	return ""
}

// nearHint returns a hint naming a series that the user may have meant.
func (f *fetch) nearHint(s *scope) string {
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
	return "; rumbench stat --list shows the names"
}
