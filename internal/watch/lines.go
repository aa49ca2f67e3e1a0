package watch

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
)

// Line is one number, or one error, as written to files.
type Line struct {
	Time    string            `json:"time"`    // when it was read, RFC 3339
	Elapsed float64           `json:"elapsed"` // seconds since the sample from which growth is counted
	Source  string            `json:"source"`
	Name    string            `json:"name,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Kind    string            `json:"kind"` // rate, gauge, derived or error
	Unit    string            `json:"unit,omitempty"`
	Value   *float64          `json:"value,omitempty"`
	Error   string            `json:"error,omitempty"` // why there is no value

	labels string // as written in points
}

// The kinds of lines that are not kinds of points.
const (
	rateKind  = "rate"
	errorKind = "error"
)

const resetError = "counter reset"

// lines yields the lines of the chosen series of a frame.
func (f *Frame) lines(chosen Filter, yield func(*Line) error) error {
	for i := range f.Sources {
		s := &f.Sources[i]
		base := Line{Time: s.Time.Format("2006-01-02T15:04:05.000Z07:00"), Elapsed: roundTo(s.Elapsed, time.Microsecond), Source: s.Name}
		if s.Err != nil {
			base.Kind, base.Error = errorKind, oneLine(s.Err)
			if err := yield(&base); err != nil {
				return err
			}
			continue
		}
		for k := range s.Rows {
			r := &s.Rows[k]
			v, ok := r.Shown()
			if !ok && !r.Reset || !chosen.Matches(r) {
				continue
			}
			l := base
			l.Name, l.labels, l.Kind, l.Unit = r.Name, r.Labels, string(r.Kind), r.ShownUnit()
			if r.Kind == engine.Counter {
				l.Kind = rateKind
			}
			if ok {
				l.Value = &v
			} else {
				l.Error = resetError
			}
			if err := yield(&l); err != nil {
				return err
			}
		}
	}
	return nil
}

func roundTo(d, unit time.Duration) float64 { return d.Round(unit).Seconds() }

// CSV writes frames as one table in long form: a line per number. Series come and
// go, so that a table with a column for each would need new columns halfway.
type CSV struct {
	Filter Filter
	w      *csv.Writer
	begun  bool
}

// NewCSV returns a writer of CSV.
func NewCSV(w io.Writer) *CSV { return &CSV{w: csv.NewWriter(w)} }

// Frame writes a frame. The first one, without rates, is left out.
func (c *CSV) Frame(f *Frame) error {
	if !c.begun {
		c.begun = true
		if err := c.w.Write([]string{"time", "elapsed", "source", "name", "labels", "kind", "unit", "value", "error"}); err != nil {
			return err
		}
	}
	if f.Number > 0 {
		if err := f.lines(c.Filter, c.line); err != nil {
			return err
		}
	}
	c.w.Flush() // however this process ends, the file holds only whole frames
	return c.w.Error()
}

func (c *CSV) line(l *Line) error {
	value := ""
	if l.Value != nil {
		value = strconv.FormatFloat(*l.Value, 'g', -1, 64)
	}
	return c.w.Write([]string{l.Time, strconv.FormatFloat(l.Elapsed, 'f', -1, 64), l.Source, l.Name, l.labels, l.Kind, l.Unit, value, l.Error})
}

// JSONL writes frames as lines of JSON, one for each number.
type JSONL struct {
	Filter Filter
	w      *bufio.Writer
}

// NewJSONL returns a writer of JSON lines.
func NewJSONL(w io.Writer) *JSONL { return &JSONL{w: bufio.NewWriter(w)} }

// Frame writes a frame. The first one, without rates, is left out.
func (j *JSONL) Frame(f *Frame) error {
	if f.Number == 0 {
		return nil
	}
	enc := json.NewEncoder(j.w)
	enc.SetEscapeHTML(false)
	err := f.lines(j.Filter, func(l *Line) error {
		if l.labels != "" {
			l.Labels = make(map[string]string)
			for _, label := range observe.ParseLabels(l.labels) {
				l.Labels[label.Name] = label.Value
			}
		}
		return enc.Encode(l)
	})
	if err != nil {
		return err
	}
	return j.w.Flush()
}

// Filter chooses the series that one of its selectors matches, or all if it has
// none.
type Filter []*Selector

// Matches reports whether a series is chosen.
func (f Filter) Matches(r *Row) bool {
	for _, s := range f {
		if s.Matches(r.Name, r.Labels) {
			return true
		}
	}
	return len(f) == 0
}

// errListed ends a run after its first sample.
var errListed = errors.New("listed")

// List writes the names of all series of a first sample and of all expressions. It
// also passes the sample to see.
func List(ctx context.Context, w io.Writer, c Config, chosen Filter, see func(*Frame)) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	err := Run(ctx, c, func(f *Frame) error {
		see(f)
		fmt.Fprintln(table, "source\tseries\tkind\tunit")
		for s, r := range f.each {
			if s.Name != DerivedSource && chosen.Matches(r) {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Name, r.Key(), r.Kind, r.Unit)
			}
		}
		return errListed
	})
	if err != nil && !errors.Is(err, errListed) {
		return err
	}
	for _, e := range c.Expressions {
		if chosen.Matches(&Row{Point: engine.Point{Name: e.Name}}) {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t= %s\n", DerivedSource, e.Name, Derived, e.Unit, strings.ReplaceAll(e.Text, "\n", " "))
		}
	}
	return table.Flush()
}
