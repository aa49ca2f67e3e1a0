package watch

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// Table writes frames for people. On a terminal each is drawn over the last one;
// otherwise they follow each other.
type Table struct {
	Out io.Writer
	// Size returns the width and height of the terminal; nil if Out is none.
	Size func() (width, height int)
	// All shows everything instead of the most important series first.
	All bool
	// Top is the number of series shown per source, the most active ones; 0: all.
	Top int
	// Filter, if there is one, replaces the usual selection.
	Filter Filter
	// Expressions are shown even while they have no value.
	Expressions []*Expression

	drawn   int // lines on the terminal
	written bool
}

// Frame writes a frame. The first one, without rates, is left out.
func (t *Table) Frame(f *Frame) error {
	if f.Number == 0 {
		return nil
	}
	var text strings.Builder
	if err := page.Text(&text, t.blocks(f), page.TextStyle{Steady: true}); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if t.Size != nil {
		return t.draw(lines)
	}
	if t.written {
		lines = slices.Insert(lines, 0, "")
	}
	t.written = true
	_, err := io.WriteString(t.Out, strings.Join(lines, "\n")+"\n")
	return err
}

// draw replaces the lines on the terminal. Excess lines are cut: lines that have
// scrolled away cannot be overwritten.
func (t *Table) draw(lines []string) error {
	width, height := t.Size()
	if height > 2 && len(lines) > height-1 {
		hidden := len(lines) - (height - 2)
		lines = append(lines[:height-2], fmt.Sprintf("… %d more lines: a higher terminal, --top or --filter", hidden))
	}
	var b strings.Builder
	if t.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", t.drawn)
	}
	b.WriteString("\r\x1b[J")
	for _, line := range lines {
		b.WriteString(escape.Clip(line, width) + "\n")
	}
	t.drawn = len(lines)
	_, err := io.WriteString(t.Out, b.String())
	return err
}

func (t *Table) blocks(f *Frame) []page.Block {
	blocks := []page.Block{page.Prose("",
		fmt.Sprintf("%s   sample %d   over %s", f.Time.Format("2006-01-02 15:04:05.000"), f.Number, f.span()))}
	for i := range f.Sources {
		switch s := &f.Sources[i]; {
		case s.Err != nil:
			blocks = append(blocks, page.Prose("", fmt.Sprintf("! %s: %s", s.Name, oneLine(s.Err))))
		case s.Note != "":
			blocks = append(blocks, page.Prose("", fmt.Sprintf("! %s: %s", s.Name, s.Note)))
		}
	}
	if len(t.Filter) > 0 {
		return append(blocks, t.lists(f, t.Filter.Matches)...)
	}
	shown, listed := defaults.Leads, func(r *Row) bool { return r.Kind == Derived && isActive(r) }
	if t.All {
		shown, listed = defaults.Views, isActive
	}
	for i := range shown {
		blocks = append(blocks, shown[i].table(f))
	}
	return append(blocks, t.lists(f, listed)...)
}

// span returns the time over which most of the frame's rates were taken.
func (f *Frame) span() string {
	for i := range f.Sources {
		if s := &f.Sources[i]; s.Err == nil && s.Elapsed > 0 {
			return fmt.Sprintf("%.3f s", s.Elapsed.Seconds())
		}
	}
	return "an unknown time"
}

// isActive reports whether a series that is in no view is shown: engine counters that
// change, and custom expressions.
func isActive(r *Row) bool {
	if inView[r.Name] || isMachineSeries(r.Name) {
		return false
	}
	return r.Kind == Derived || r.Kind == engine.Counter && r.Known && r.Rate != 0
}

// isMachineSeries reports whether a name exists on every machine; the views show the
// most important of these.
func isMachineSeries(name string) bool {
	source, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"host", "device", "process", "client", "engine"}, source)
}

// lists returns, for each source, its most active series among those chosen.
func (t *Table) lists(f *Frame, chosen func(*Row) bool) (blocks []page.Block) {
	for i := range f.Sources {
		s := &f.Sources[i]
		var rows []*Row
		for k := range s.Rows {
			if chosen(&s.Rows[k]) {
				rows = append(rows, &s.Rows[k])
			}
		}
		all := len(rows)
		if s.Name == DerivedSource {
			rows = append(rows, t.missing(s, chosen)...)
		} else {
			rows = mostActive(rows, t.Top)
		}
		list := page.Table{Head: s.Name, Columns: []page.Column{{}}, Groups: []page.Group{{}}}
		g := &list.Groups[0]
		for _, r := range rows {
			value := quantity.Unknown
			if v, ok := r.Shown(); ok && r.Known {
				value = quantity.In(v, r.ShownUnit())
			}
			g.Rows = append(g.Rows, page.Row{Head: "  " + s.short(r), Cells: []page.Cell{{Text: value, Number: true}}})
		}
		if hidden := all - len(rows); hidden > 0 {
			g.Foot = []string{fmt.Sprintf("… and %d more: --top %d shows all, --filter 'NAME*' chooses", hidden, all)}
		}
		blocks = append(blocks, list)
	}
	return blocks
}

// missing returns rows for the expressions that have no value.
func (t *Table) missing(derived *Source, chosen func(*Row) bool) (rows []*Row) {
	for _, e := range t.Expressions {
		r := &Row{Point: engine.Point{Name: e.Name, Kind: Derived, Unit: e.Unit}}
		has := func(r Row) bool { return r.Name == e.Name }
		if !e.builtin && !slices.ContainsFunc(derived.Rows, has) && chosen(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// short returns the key of a row without the parts that repeat the name of its
// source.
func (s *Source) short(r *Row) string {
	labels := observe.ParseLabels(r.Labels)
	target, _, _ := strings.Cut(s.Name, "/")
	p := r.Point
	p.Labels = slices.DeleteFunc(labels,
		func(l observe.Label) bool { return l.Name == "target" && l.Value == target }).String()
	return escape.Line(p.Key())
}

// mostActive returns the n most active rows in their original order, so that lines
// stay in place.
func mostActive(rows []*Row, n int) []*Row {
	if n <= 0 || len(rows) <= n {
		return rows
	}
	ranked := slices.Clone(rows)
	slices.SortStableFunc(ranked, func(a, b *Row) int { return cmp.Compare(b.activity(), a.activity()) })
	ranked = ranked[:n]
	return slices.DeleteFunc(rows, func(r *Row) bool { return !slices.Contains(ranked, r) })
}

// activity makes rates of different units comparable: about one for an event, a
// page of bytes, or a millisecond. Gauges come last.
func (r *Row) activity() float64 {
	if r.Kind != engine.Counter || !r.Known {
		return -1
	}
	switch r.Unit {
	case "bytes":
		return r.Rate / 4096
	case "ns":
		return r.Rate / 1e6
	case "us":
		return r.Rate / 1e3
	}
	return r.Rate
}
