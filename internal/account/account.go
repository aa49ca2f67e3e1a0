// Package account derives numbers: it makes the rows of a step's result from
// counts, times and counters, for running trials, interrupted trials and
// imported logs. It reads no file and no clock, and knows no engine.
package account

import (
	"fmt"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/text/quantity"
)

// Sheet holds the figures derived from a step.
type Sheet struct {
	Rows   []metric.Row
	Curves []metric.Curve
	Stalls []metric.Span
	// Counters are the counts, as stored.
	Counters []observe.Change
	Alone    float64          // see Observed.Alone; seconds
	Notes    []metric.Warning // remarks
	Warnings []metric.Warning
	Invalid  bool // the numbers must not be used
}

// Builder makes the rows of a step. The zero Builder is ready.
type Builder struct {
	// All holds the fields common to all rows: target, trial, step, and
	// warnings.
	All metric.Row
	// Unknown are metrics that cannot be derived from the available data: their
	// rows are left out.
	Unknown map[string]bool
	Sheet
}

// With sets fields of a row that is added.
type With = func(*metric.Row)

// Of sets a row's group and operation, "" for the whole of either.
func Of(group, op string) With {
	return func(row *metric.Row) { row.Group, row.Op = group, op }
}

// Labelled sets what part of the step the number is of.
func Labelled(l metric.Labels) With { return func(row *metric.Row) { row.Labels = l } }

// Count sets the number of samples.
func Count(n int64) With { return func(row *metric.Row) { row.N = n } }

// Source sets the source of the number.
func Source(s string) With { return func(row *metric.Row) { row.Source = s } }

// Per sets the denominator of a cost.
func Per(per string) With { return func(row *metric.Row) { row.Per = per } }

// Warned adds warnings to the row.
func Warned(w ...metric.Warning) With {
	return func(row *metric.Row) { row.Warnings = append(row.Warnings, w...) }
}

// Put adds a row, with the unit of its metric, unless the value is unknown.
func (b *Builder) Put(name string, value float64, extra ...With) {
	if !quantity.Finite(value) || b.Unknown[name] {
		return
	}
	m := metric.ByName(name)
	if m == nil {
		panic("metric " + name + " is not in the list of metrics") // a bug that any test finds
	}
	row := b.All
	row.Warnings = append([]metric.Warning(nil), b.All.Warnings...)
	row.Metric, row.Value, row.Unit = name, value, m.Unit
	for _, f := range extra {
		f(&row)
	}
	b.Rows = append(b.Rows, row)
}

// Rate adds the rate of n, which are its samples, over a window in seconds.
func (b *Builder) Rate(name string, n, seconds float64, extra ...With) {
	b.Put(name, PerSecond(n, seconds), append([]With{Count(int64(n))}, extra...)...)
}

// Warn adds a warning about the step, and returns it.
func (b *Builder) Warn(code metric.Code, values metric.Values) metric.Warning {
	w := metric.Warn(code, values)
	b.Warnings = append(b.Warnings, w)
	return w
}

// Refuse marks the step as one whose numbers must not be used. The reason comes
// before all other warnings.
func (b *Builder) Refuse(w metric.Warning) {
	b.Invalid = true
	b.Warnings = append([]metric.Warning{w}, b.Warnings...)
}

func (b *Builder) note(format string, args ...any) {
	b.Notes = append(b.Notes, metric.Untyped(fmt.Sprintf(format, args...)))
}

const (
	perMicro = 1e3 // nanoseconds in a microsecond
	kb       = 1024
	mb       = 1024 * kb
)

func micros(ns int64) float64 { return float64(ns) / perMicro }

func yesNo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
