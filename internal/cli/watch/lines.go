package watch

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/text/escape"
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

// lines returns the lines of the chosen series of a frame; the first frame, without
// rates, has none.
func (f *Frame) lines(chosen Filter) (lines []Line) {
	if f.Number == 0 {
		return nil
	}
	for i := range f.Sources {
		s := &f.Sources[i]
		base := Line{Time: s.Time.Format("2006-01-02T15:04:05.000Z07:00"),
			Elapsed: s.Elapsed.Round(time.Microsecond).Seconds(), Source: s.Name}
		if s.Err != nil {
			base.Kind, base.Error = errorKind, oneLine(s.Err)
			lines = append(lines, base)
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
			lines = append(lines, l)
		}
	}
	return lines
}

// CSV returns a function that writes the chosen series of frames as one table in
// long form: a line per number. Series appear and disappear, so a table with one
// column per series would need new columns halfway.
func CSV(w io.Writer, chosen Filter) func(*Frame) error {
	out, begun := csv.NewWriter(w), false
	return func(f *Frame) error {
		if !begun {
			begun = true
			_ = out.Write([]string{"time", "elapsed", "source", "name", "labels", "kind", "unit", "value", "error"})
		}
		for _, l := range f.lines(chosen) {
			value := ""
			if l.Value != nil {
				value = strconv.FormatFloat(*l.Value, 'g', -1, 64)
			}
			record := []string{l.Time, strconv.FormatFloat(l.Elapsed, 'f', -1, 64), l.Source, l.Name, l.labels, l.Kind, l.Unit,
				value, l.Error}
			for i := range record {
				record[i] = escape.Cell(record[i])
			}
			_ = out.Write(record) // its first error stays
		}
		out.Flush() // however this process ends, the file holds only whole frames
		return out.Error()
	}
}

// JSONL returns a function that writes the chosen series of frames as lines of
// JSON, one for each number.
func JSONL(w io.Writer, chosen Filter) func(*Frame) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return func(f *Frame) error {
		for _, l := range f.lines(chosen) {
			if l.labels != "" {
				l.Labels = make(map[string]string)
				for _, label := range observe.ParseLabels(l.labels) {
					l.Labels[label.Name] = label.Value
				}
			}
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
		return out.Flush()
	}
}

// Filter chooses the series that one of its selectors matches, or all if it has
// none.
type Filter []*Selector

// Matches reports whether a series is chosen.
func (f Filter) Matches(r *Row) bool {
	return len(f) == 0 || slices.ContainsFunc(f, func(s *Selector) bool { return s.Matches(r.Name, r.Labels) })
}

// errListed ends a run after its first sample.
var errListed = errors.New("listed")

// List writes the names of all series in a first sample and of all expressions. It
// also passes the sample to see.
func List(ctx context.Context, w io.Writer, c Config, chosen Filter, see func(*Frame)) error {
	var rows [][]string
	err := Run(ctx, c, func(f *Frame) error {
		see(f)
		for s, r := range f.each {
			if s.Name != DerivedSource && chosen.Matches(r) {
				rows = append(rows, []string{s.Name, r.Key(), string(r.Kind), r.Unit, ""})
			}
		}
		return errListed
	})
	if err != nil && !errors.Is(err, errListed) {
		return err
	}
	for _, e := range c.Expressions {
		if chosen.Matches(&Row{Point: engine.Point{Name: e.Name}}) {
			rows = append(rows, []string{DerivedSource, e.Name, string(Derived), e.Unit,
				"= " + strings.ReplaceAll(e.Text, "\n", " ")})
		}
	}
	return page.Text(w, []page.Block{page.WordTable([]string{"source", "series", "kind", "unit", ""}, rows...)},
		page.TextStyle{})
}
