package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/page"
	"rumbench/internal/report/published"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// RelativeStyle is how a relative table is shown.
type RelativeStyle struct {
	Absolute bool              // the values themselves, not their ratios to the base
	Notes    map[string]string // remarks by the names of tests, for a separate column
}

// relativeTables returns the ratios of all tests to the base's; none for a
// single target.
func relativeTables(v *campaign) []page.Section {
	if len(v.Targets) < 2 {
		return nil
	}
	r := v.Relative(compare.RelativeOptions{})
	n := page.NewNotes("relative")
	sec := page.Section{ID: "relative", Title: "Relative table", Nav: "Relative table"}
	sec.Blocks = append(view.Paragraphs("caution", relativeCautions(r)...),
		relativeTable(r, RelativeStyle{Notes: v.in.Notes}, n, v.data), n)
	return []page.Section{sec}
}

// relativeTable returns the table for display. data returns a number's indexes
// in the page's data; nil without a page.
func relativeTable(r *compare.Relative, style RelativeStyle, n *page.Notes, data func(number) []int) page.Table {
	t := page.Table{Title: "Ratios to " + r.Base().Name, Head: "test", Signed: true, Note: relativeCaption(r, style),
		Columns: relativeColumns(r)}
	if len(style.Notes) > 0 {
		t.Columns = append(t.Columns, page.Column{Name: "note", Title: "Remarks on the tests, from a file"})
	}
	for _, g := range r.Groups {
		group := page.Group{Name: string(g.Group)}
		for i := range g.Rows {
			group.Rows = append(group.Rows, relativeRow(r, &g.Rows[i], style, data))
		}
		if !style.Absolute {
			group.Rows = append(group.Rows, meanRows(r, &g, len(t.Columns), n)...)
		}
		t.Groups = append(t.Groups, group)
	}
	return t
}

// relativeColumns returns the columns of the targets.
func relativeColumns(r *compare.Relative) (out []page.Column) {
	for _, t := range r.Targets {
		out = append(out, page.Column{Name: t.Name, Title: strings.TrimSuffix("target "+t.Name+": "+describe(t), ": ")})
	}
	return out
}

func relativeRow(r *compare.Relative, row *compare.RelativeRow, style RelativeStyle, data func(number) []int) page.Row {
	out := page.Row{Head: row.Step.Name, Series: -1}
	for i := range row.Cells {
		cell := relativeCell(&row.Cells[i], r, style.Absolute)
		if data != nil && !cell.Absent {
			cell.Data, cell.Value = data(number{Number: row.Cells[i].Number}), row.Cells[i].Value
		}
		out.Cells = append(out.Cells, cell)
	}
	if len(style.Notes) > 0 {
		out.Cells = append(out.Cells, page.Words(style.Notes[row.Step.Name]))
	}
	return out
}

// relativeCell returns a ratio, or its value, with the verdict.
func relativeCell(c *compare.RelativeCell, r *compare.Relative, absolute bool) page.Cell {
	if c.Missing != "" {
		return page.Absent(c.Missing)
	}
	cell := page.Cell{Text: twoDecimals(c.Ratio), Title: number{Number: c.Number}.Hover(), Number: true}
	if absolute {
		cell.Text = absoluteText(c.Number, r.Compatible)
	} else if math.IsNaN(c.Ratio) {
		cell.Title += "; no ratio: " + c.Why
	}
	if c.Effect != nil {
		if words := verdict.InWords(c.Effect, r.Base().Name); words != "" {
			cell.Title += "; " + words
		}
	}
	if len(c.Refusals) > 0 {
		cell.Tag = c.Refusals[0]
		cell.Title += "; not comparable: " + strings.Join(c.Reasons(), ", ")
	}
	if m := verdict.SureMark(c.Verdict()); m.Sign != "" {
		cell.Class, cell.Sign = m.Class, m.Sign
	}
	return cell
}

// absoluteText formats a number: as published tables print it, or, if it was
// measured several times, as the mean with its standard deviation.
func absoluteText(n compare.Number, compatible bool) string {
	if compatible {
		return published.Number(n).Text
	}
	values := n.Values()
	if len(values) < 2 {
		return number{Number: n}.String()
	}
	n.Value = stat.Mean(values)
	text := number{Number: n}.String()
	if n.Value != 0 {
		text += fmt.Sprintf(" ±%.1f %%", 100*stat.Deviation(values)/math.Abs(n.Value))
	}
	return text
}

// twoDecimals formats a ratio for relative tables.
func twoDecimals(r float64) string {
	if math.IsNaN(r) {
		return quantity.Unknown
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// meanRows returns the geometric means of a group with their intervals.
func meanRows(r *compare.Relative, g *compare.RelativeGroup, columns int, n *page.Notes) []page.Row {
	if len(g.Means) == 0 {
		return nil
	}
	mean, interval := plainRow(meanHead), plainRow(intervalHead)
	enough := leastTrials(r) >= compare.LeastTrials
	for i, m := range g.Means {
		bounds := page.Absent(m.Why)
		if m.Why == "" {
			bounds = page.Cell{Text: boundsText(m), Number: true}
		} else if i > 0 && m.Tests > 0 && enough { // otherwise a caution reports it
			bounds.Note(n.Mark(fmt.Sprintf("%s, %s: no interval: %s.", r.Targets[i].Name, g.Group, m.Why)))
		}
		mean.Cells, interval.Cells = append(mean.Cells, meanCell(r.Targets[i], g, &m, n)), append(interval.Cells, bounds)
	}
	for len(mean.Cells) < columns { // the notes
		mean.Cells, interval.Cells = append(mean.Cells, page.Words("")), append(interval.Cells, page.Words(""))
	}
	return []page.Row{mean, interval}
}

func meanCell(t *target, g *compare.RelativeGroup, m *compare.Mean, n *page.Notes) page.Cell {
	if m.Tests == 0 {
		return page.Absent(m.Why)
	}
	cell := page.Cell{Text: twoDecimals(m.Ratio), Title: fmt.Sprintf("of %d of %d tests", m.Tests, len(g.Rows)),
		Number: true}
	if len(m.Left) > 0 {
		cell.Note(n.Mark(t.Name, ", ", g.Group, ": the mean is of ", m.Tests, " of ", len(g.Rows),
			" tests, without "+quantity.Joined(m.Left)+"."))
	}
	return cell
}

// leastTrials returns the least number of trials of any target.
func leastTrials(r *compare.Relative) int {
	lowest := len(r.Base().Trials)
	for _, t := range r.Targets {
		lowest = min(lowest, len(t.Trials))
	}
	return lowest
}

func boundsText(m compare.Mean) string { return twoDecimals(m.Low) + "…" + twoDecimals(m.High) }

const (
	meanHead     = "geometric mean"
	intervalHead = "95 % interval"
)

// relativeCaption returns the description of the numbers.
func relativeCaption(r *compare.Relative, style RelativeStyle) string {
	name, better := "throughput of the primary operation", "higher"
	if m := r.Metric; m != nil {
		name, better = m.Name, string(m.Better)
		if m.Unit != "" && m.Unit != "ratio" && m.Unit != "bool" && style.Absolute {
			name += " in " + unitName(m.Unit)
		}
		var pers []string // the denominators
		r.Any(func(c *compare.RelativeCell) bool { pers = compare.AppendNew(pers, c.Per); return false })
		if pers = nonEmpty(pers...); len(pers) > 0 {
			name += " per " + strings.Join(pers, ", ")
		}
	}
	if !style.Absolute {
		name += " relative to " + r.Base().Name + ", the base"
	}
	switch {
	case r.Compatible && !style.Absolute:
		name += ", of numbers as they are printed"
	case !r.Compatible && style.Absolute && r.Any(func(c *compare.RelativeCell) bool { return len(c.Rows) > 1 }):
		name += ", mean ± standard deviation over the trials"
	}
	if better != "" {
		name += "; " + better + " is better"
	}
	return name
}

// relativeCautions returns the cautions to read before the ratios.
func relativeCautions(r *compare.Relative) []string {
	var out []string
	lowest := leastTrials(r)
	for i, t := range r.Targets {
		if len(r.Unlike[i]) > 0 {
			out = append(out, fmt.Sprintf("⚠ %s did other work than %s: %s.", t.Name, r.Base().Name,
				strings.Join(r.Unlike[i], "; ")))
		}
	}
	for _, w := range ranApart(r.Base(), r.Targets) {
		out = append(out, "⚠ "+w.Text)
	}
	switch {
	case len(r.Targets) < 2:
	case lowest < compare.LeastTrials:
		out = append(out, "? "+verdict.TooFew(lowest)+": nothing is known about noise, so no difference is proven.")
	default:
		out = append(out, verdict.HowProven())
	}
	return out
}

// RelativeText writes a relative table as text. Columns that do not fit into
// the width are placed below; a width of 0 is unlimited.
func RelativeText(w io.Writer, r *compare.Relative, style RelativeStyle, width int) error {
	t := relativeTable(r, style, &page.Notes{}, nil)
	blocks := []page.Block{page.Prose("", t.Note)}
	if r.Durability != "" {
		blocks = append([]page.Block{page.Banner(verdict.DurabilityDiffers(r.Durability).Text)}, blocks...)
	}
	if common := shorten(t.Columns[:len(r.Targets)]); common != "" {
		blocks = append(blocks, page.Prose("", "names of targets: "+common))
	}
	n := &page.Notes{} // numbered in the order of reading
	for _, g := range t.Groups {
		for _, row := range g.Rows {
			for i := range row.Cells {
				c := &row.Cells[i]
				notes := c.Notes
				c.Notes = nil
				for _, note := range notes {
					c.Note(n.Mark(note.Text))
				}
				if c.Tag != "" {
					c.Note(n.Mark(fmt.Sprintf("%s in %s: %s; not comparable, and in no mean.", t.Columns[i].Name, row.Head, c.Tag)))
				}
			}
		}
	}
	t.Title = ""
	blocks = append(append(blocks, t), view.Paragraphs("", relativeCautions(r)...)...)
	return page.Text(w, append(blocks, n), page.TextStyle{Width: width, Wrap: true})
}

// leastCommon is the number of characters that names must share to be
// shortened.
const leastCommon = 6

// shorten removes the common beginning and end of names, whole words only, and
// returns how to complete a name; "" if that would save nothing.
func shorten(columns []page.Column) (common string) {
	if len(columns) < 2 {
		return ""
	}
	first := columns[0].Name
	prefix, suffix := len(first), len(first)
	shares := func(shared func(name string) bool) bool {
		return !slices.ContainsFunc(columns, func(c page.Column) bool { return !shared(c.Name) })
	}
	for prefix > 0 && (!separates(first, prefix-1) ||
		!shares(func(name string) bool { return strings.HasPrefix(name, first[:prefix]) })) {
		prefix--
	}
	for suffix > 0 && (!separates(first, len(first)-suffix) ||
		!shares(func(name string) bool { return strings.HasSuffix(name, first[len(first)-suffix:]) })) {
		suffix--
	}
	if prefix+suffix < leastCommon || !shares(func(name string) bool { return len(name) > prefix+suffix }) {
		return ""
	}
	for i := range columns {
		columns[i].Name = columns[i].Name[prefix : len(columns[i].Name)-suffix]
	}
	return first[:prefix] + "…" + first[len(first)-suffix:]
}

// separates reports whether a character separates words; a point within a
// number does not.
func separates(s string, i int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	return strings.ContainsRune("._-/ ", rune(s[i])) && !(s[i] == '.' && digit(i-1) && digit(i+1))
}

// RelativeMarkdown writes a relative table as Markdown.
func RelativeMarkdown(w io.Writer, r *compare.Relative, style RelativeStyle) error {
	n := page.NewNotes("relative")
	t := relativeTable(r, style, n, nil)
	t.Title = ""
	d := &page.Document{}
	if r.Durability != "" {
		d.Lead = append(d.Lead, page.Banner(verdict.DurabilityDiffers(r.Durability).Text))
	}
	d.Lead = append(d.Lead, t, view.Texts("", relativeCautions(r)...), n)
	return page.Markdown(w, d, true)
}
