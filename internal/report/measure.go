package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// measure is a number that can be looked up in every step: a row of the numbers,
// or a column of another table.
type measure struct {
	name   string // "": the metric's label
	metric string // the glossary's entry
	beside bool   // of the writes next to the primary operation
	// each: it is a count ÷ the operations completed. without is its value if nothing
	// failed and it was not recorded.
	each    bool
	without float64
}

// measuresOf returns the measures of metrics, under their own names.
func measuresOf(metrics ...string) (out []measure) {
	for _, name := range metrics {
		out = append(out, measure{metric: name})
	}
	return out
}

// in reports whether a step has the measure.
func (m measure) in(s *step) bool { _, ok := m.key(s); return ok }

// measuresIn returns the measures that any of some steps has.
func measuresIn(measures []measure, steps ...*step) []measure {
	return slices.DeleteFunc(slices.Clone(measures), func(m measure) bool { return !slices.ContainsFunc(steps, m.in) })
}

// targetTable returns the measures that a step has, with a row of cells for each target.
func targetTable(s *step, measures []measure, cell func(t *target, m measure) page.Cell) page.Table {
	t := page.Table{Head: "target"}
	shown := measuresIn(measures, s)
	for _, m := range shown {
		c := m.column()
		c.Sub = m.unit(s)
		t.Columns = append(t.Columns, c)
	}
	if len(shown) > 0 {
		t.Add(targetRows(s.c.Targets, shown, cell)...)
	}
	return t
}

// key returns the key of the measure in a step: that of the reads or writes of the
// engine's own processes if other programs used the device.
func (m measure) key(s *step) (key, bool) {
	switch {
	case !m.beside:
		k, ok := s.Own(m.metric)
		k, _ = compare.Undisturbed(s.Step, k, s.c.Targets...)
		return k, ok
	case s.WritesPer == s.Primary:
		return key{}, false // the writes are the primary operation, shown as such
	}
	return s.Key(m.metric, s.WritesPer)
}

// label returns the name of the measure in tables.
func (m measure) label() string { return cmp.Or(m.name, metric.Label(m.metric)) }

// column returns the heading of the measure's column.
func (m measure) column() page.Column {
	c := page.Column{Name: m.label(), Link: "m-" + m.metric}
	if m.each {
		c.Title = metricDoc(m.metric) + " Here ÷ operations completed."
	}
	return c
}

func columnsOf(measures []measure) (out []page.Column) {
	for _, m := range measures {
		out = append(out, m.column())
	}
	return out
}

// unit returns the unit or denominator of the measure in a step.
func (m measure) unit(s *step) string {
	if m.each {
		return "per operation"
	}
	k, _ := m.key(s)
	return s.unitOf(k)
}

// cell returns the measure of a target in a step, next to the base's.
func (m measure) cell(s *step, t *target, n *page.Notes) page.Cell {
	switch k, ok := m.key(s); {
	case m.each:
		return m.perOperation(s, t)
	case ok:
		return s.cell(t, s.c.Targets[0], k, n)
	}
	return page.Absent("nothing of this kind in " + s.Name)
}

// perOperation returns a count ÷ the operations completed, such as retries: the
// median over the trials.
func (m measure) perOperation(s *step, t *target) page.Cell {
	rate, found := s.Rate(s.Primary)
	count, _ := m.key(s)
	done, errors := key{Group: rate.Group, Op: rate.Op, Metric: metric.OpsPerS},
		key{Group: rate.Group, Metric: metric.Errors}
	var values []float64
	for _, run := range s.Used(t) {
		if v, ok := account.PerOperation(run.Row(count), run.Row(done), run.Row(errors), m.without); ok && found {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return page.Absent(s.Absence(t, key{Metric: m.metric}))
	}
	c := page.Cell{Text: quantity.Digits(stat.Median(values)), Number: true, Value: stat.Median(values)}
	if c.Title = fmt.Sprintf("%s ÷ operations completed = %s", m.metric, quantity.Full(c.Value)); len(values) > 1 {
		c.Title += fmt.Sprintf("; median of %d trials, from %s to %s", len(values), quantity.Full(slices.Min(values)),
			quantity.Full(slices.Max(values)))
	}
	return c
}

// cell shows a number of a target next to that of the base.
func (s *step) cell(t, base *target, k key, n *page.Notes) page.Cell {
	num := s.number(t, k)
	if num.Missing != "" {
		return page.Absent(num.Missing)
	}
	c := s.c.plainCell(num, n)
	if len(num.Rows) < len(t.Trials) {
		c.Title += fmt.Sprintf("; from %d of %d trials", len(num.Rows), len(t.Trials))
	}
	if reason := s.Unlike(base, t); reason != "" {
		c.Tag = "not compared"
		c.Title += "; not compared: " + reason
		n.Mark(t.Name + " in " + s.Name + ": " + reason + ". It is not compared with " + base.Name + " there.")
	}
	refusals := s.Refusals(t)
	if len(refusals) > 0 {
		c.Tag = tagOf(num, refusals)
		c.Title += "; not comparable: " + strings.Join(refusals, ", ")
		n.Mark(t.Name + " in " + s.Name + ": " + strings.Join(refusals, ", ") + ". Its numbers are not comparable there.")
	}
	switch e := s.effect(t, base, k); {
	case e == nil:
	case e.For != "": // a ratio of other numbers than these
		c.Title += "; compared by " + verdict.Name(e.New.Key) + ", as other programs used the device"
	default:
		compareCell(&c, e, base.Name)
	}
	return c
}

// tagOf labels a number as the maximum of few samples, and with the first reason why it is not compared.
func tagOf(n number, refusals []string) string {
	return strings.Join(nonEmpty(append([]string{n.Few()}, refusals[:min(1, len(refusals))]...)...), ", ")
}

// compareCell shows in a cell the difference between its number and the base's.
func compareCell(c *page.Cell, e *compare.Effect, base string) {
	m := verdict.MarkOf(e)
	c.Class = m.Class
	if e.Verdict == "" && e.Why != "" {
		if e.New.Missing == "" && c.Tag == "" { // otherwise the cell has a reason already
			c.Title += "; not compared: " + e.Why
		}
		return
	}
	if !math.IsNaN(e.Ratio) {
		c.Ratio, c.Sign = quantity.Times(e.Ratio), m.Sign
	} else if e.New.Value != 0 && c.Class != "" {
		c.Ratio, c.Sign = "from 0", m.Sign // no ratio, but still a difference
	}
	if words := verdict.InWords(e, base); words != "" {
		c.Title += "; " + words
	}
}

// plainCell shows a number without comparing it.
func (c *campaign) plainCell(num number, n *page.Notes) page.Cell {
	if num.Missing != "" {
		return page.Absent(num.Missing)
	}
	cell := page.Cell{Text: num.String(), Title: num.Hover(), Number: true, Value: num.Value, Data: c.data(num),
		Tag: num.Few()}
	for _, w := range num.Warnings {
		cell.Note(n.Mark(w))
	}
	return cell
}

// sharedTags moves the reason why no number of a column is compared to its head.
func sharedTags(t *page.Table) {
	for i := range t.Columns {
		var tags []string
		var cells []*page.Cell
		for _, g := range t.Groups {
			for _, r := range g.Rows {
				if c := &r.Cells[i]; !c.Absent {
					tags, cells = compare.AppendNew(tags, c.Tag), append(cells, c)
				}
			}
		}
		if len(cells) < 2 || len(tags) != 1 || tags[0] == "" {
			continue
		}
		for _, c := range cells {
			c.Tag, c.Class = "", strings.TrimSpace(c.Class+" hatch")
		}
		t.Columns[i].Sub = strings.TrimPrefix(t.Columns[i].Sub+", "+tags[0], ", ")
	}
}

// metricColumn returns the heading of a metric's column, which the glossary explains.
func metricColumn(k key) page.Column {
	c := page.Column{Name: metric.Label(k.Metric), Link: "m-" + k.Metric}
	if k.Per != "" {
		c.Sub = "per " + k.Per
	}
	return c
}

// metricDoc returns the meaning of a metric.
func metricDoc(name string) string {
	if m := metric.ByName(name); m != nil {
		return m.Name + ", " + unitName(m.Unit) + ": " + m.Meaning()
	}
	return name
}

func unitName(u string) string {
	if u == "1/s" {
		return "per second"
	}
	return u
}

// withBlocks adds the non-empty blocks.
func withBlocks(sec page.Section, folds page.Folds, n *page.Notes) page.Section {
	if len(folds) > 0 {
		sec.Blocks = append(sec.Blocks, folds)
	}
	sec.Blocks = append(sec.Blocks, n)
	return sec
}

// folded returns a collapsed section with a table and what belongs to it; none if the table is empty.
func folded(sec page.Section, t page.Table, extra ...page.Block) []page.Section {
	if t.Empty() {
		return nil
	}
	sec.Folded, sec.Blocks = true, append([]page.Block{t}, extra...)
	return []page.Section{sec}
}

// filledGroups returns the groups that have rows.
func filledGroups(groups ...page.Group) []page.Group {
	return slices.DeleteFunc(groups, func(g page.Group) bool { return len(g.Rows) == 0 })
}

// targetRows returns a row of cells for each target.
func targetRows[C any](targets []*target, columns []C, cell func(*target, C) page.Cell) []page.Row {
	return view.Rows(targets, func(t *target) page.Row { return targetRow(t) }, columns, cell)
}

// targetColumns returns a column per target.
func targetColumns(targets []*target) (out []page.Column) {
	for _, t := range targets {
		out = append(out, page.Column{Name: t.Name, Title: cmp.Or(describe(t), t.Name)})
	}
	return out
}

// byTarget is a table with a column per target and rows by name.
type byTarget map[string]map[*target]page.Cell

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// ranked returns names, those with the highest score first.
func ranked[V any](names map[string]V, score map[string]float64) []string {
	out := sortedKeys(names)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return out
}

func (b byTarget) set(row string, t *target, c page.Cell) {
	if b[row] == nil {
		b[row] = map[*target]page.Cell{}
	}
	b[row][t] = c
}

// rows returns the rows sorted by name.
func (b byTarget) rows(targets []*target, absent string) []page.Row {
	var rows []page.Row
	for _, name := range sortedKeys(b) {
		row := plainRow(name)
		for _, t := range targets {
			cell, ok := b[name][t]
			if !ok {
				cell = page.Absent(absent)
			}
			row.Cells = append(row.Cells, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// span returns the least and the greatest of the targets' numbers.
func (s *step) span(metric string) (low, high float64, ok bool) {
	k, found := s.Own(metric)
	low = math.Inf(1)
	for _, t := range s.c.Targets {
		if n := s.number(t, k); found && n.Missing == "" {
			low, high, ok = min(low, n.Value), max(high, n.Value), true
		}
	}
	return low, high, ok
}

// length is the duration of a target's window in a step.
type length struct {
	target  *target
	seconds float64
}

// lengths returns the shortest and the longest of the step's windows.
func (s *step) lengths() (short, long length) {
	short.seconds = math.Inf(1)
	for _, t := range s.c.Targets {
		for _, r := range s.Used(t) {
			if r.Step.Seconds < short.seconds {
				short = length{t, r.Step.Seconds}
			}
			if r.Step.Seconds > long.seconds {
				long = length{t, r.Step.Seconds}
			}
		}
	}
	return short, long
}

// dataText returns an amount of data of the targets, which end a run with the amount that they
// inserted.
func dataText(low, high float64) string {
	return rangeText(quantity.BytesAs(low, quantity.Digits), quantity.BytesAs(high, quantity.Digits))
}

// plainValue formats a value of a plan. Numbers read from JSON are floats, and
// a million must not become 1e+06.
func plainValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return quantity.Amount(float64(v))
	case int64:
		return quantity.Amount(float64(v))
	case float64:
		return quantity.Amount(v)
	case fmt.Stringer:
		return v.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
