package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// column is a column of the summary.
type column struct {
	head string
	key  func(*step) (key, bool)
}

func summaryColumns() []column {
	return []column{
		{"rate/s", func(s *step) (key, bool) { return s.Rate(s.Primary) }},
		{"vs base", nil},
		{"p99", func(s *step) (key, bool) { return s.Latency(s.Primary, "p99") }},
		{"max", func(s *step) (key, bool) { return s.Latency(s.Primary, "max") }},
		{"CPU µs", func(s *step) (key, bool) { return s.CPU() }},
		{"write KB", (*step).Writes},
		{"read KB", (*step).Reads},
		{"on disk", func(s *step) (key, bool) { return s.Cost("db_bytes", "") }},
		{"amp", func(s *step) (key, bool) { return s.Cost("space_amplification", "") }},
	}
}

// writeText prints a block per step, with the columns aligned over all blocks.
func writeText(w io.Writer, in Input, c *campaign, limit int) {
	if len(c.Targets) == 0 {
		fmt.Fprintln(w, "no trials")
		return
	}
	if levels := c.Durability(); levels != "" {
		fmt.Fprintf(w, "⚠ %s\n", DurabilityDiffers(levels))
	} else if f := c.durability(); f.Value != "" {
		fmt.Fprintf(w, "durability: %s\n\n", f.Value)
	}
	n := &notes{}
	columns := summaryColumns()
	cells := make([][][]string, len(c.steps)) // step, target, column
	for i, s := range c.steps {
		for _, t := range c.Targets {
			if c.inSummary(s) == nil { // these are shown apart
				cells[i] = append(cells[i], c.summaryRow(s, t, columns, n))
			}
		}
	}
	heads := []string{""}
	for _, col := range columns {
		heads = append(heads, col.head)
	}
	widths := columnWidths(heads, cells)
	gap, shown := fit(widths, limit)
	if slices.ContainsFunc(cells, func(rows [][]string) bool { return len(rows) > 0 }) {
		fmt.Fprintln(w, textRow(heads[:shown], widths, gap))
	}
	for i, s := range c.steps {
		if sw := c.inSummary(s); sw != nil {
			if sw.first() == s {
				sw.textSweep(w, n, limit)
			}
			c.textAnswers(w, s, n)
			continue
		}
		if blank(cells[i], shown) {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", clip(s.headline(), limit))
		for _, row := range cells[i] {
			fmt.Fprintln(w, textRow(row[:shown], widths, gap))
		}
		c.textAnswers(w, s, n)
		c.textSettled(w, s)
		for _, t := range c.Targets {
			if line := s.failures(t).line(); line != "" {
				fmt.Fprintf(w, "  %s\n", line)
			}
		}
	}
	warned := banners(in, c)
	if c.Durability() != "" {
		warned = warned[1:] // it stands at the top
	}
	textPublished(w, c.published(in.Published, &notes{}), n, limit)
	textFoot(w, warned, n, len(heads)-shown, limit)
	fmt.Fprintf(w, "base: %s. %s\n", c.Targets[0].Name, c.caution())
	if len(c.Targets) > 1 {
		fmt.Fprintln(w, howMarked)
	}
}

// textAnswers prints what a search found in a step.
func (c *campaign) textAnswers(w io.Writer, s *step, n *notes) {
	for _, a := range c.answers(s) {
		fmt.Fprintf(w, "  %v", a)
		for _, k := range s.Keys("highest_rate") {
			for _, doubt := range s.number(a.target, k).Warnings {
				fmt.Fprintf(w, " ⚠%d", n.mark(a.target.Name, " in ", s.Name, ": ", doubt).Number)
			}
		}
		fmt.Fprintln(w)
	}
}

// blank tells whether a block has nothing to say in the columns shown.
func blank(rows [][]string, shown int) bool {
	for _, row := range rows {
		for _, c := range row[1:shown] {
			if c != unknown {
				return false
			}
		}
	}
	return true
}

// headline says what the numbers of a step are of.
func (s *step) headline() string {
	if s.Primary == "" {
		if per := s.costPer(); per != "" {
			return s.Name + "  per " + per
		}
		return s.Name
	}
	parts := []string{s.units(s.Primary) + "/s"}
	if k, ok := s.Latency(s.Primary, "p99"); ok {
		measure, _, _ := strings.Cut(k.Metric, "_")
		parts = append(parts, measure+" time of "+k.Op)
	}
	if per := s.costPer(); per != "" {
		parts = append(parts, "per "+per)
	}
	if k, ok := s.Writes(); ok && k.Per != s.costPer() {
		parts = append(parts, "writes per "+k.Per)
	}
	return s.Name + "  " + strings.Join(parts, ", ")
}

func (c *campaign) summaryRow(s *step, t *target, columns []column, n *notes) []string {
	row := []string{"  " + t.Name}
	for _, d := range s.Doubts(t) {
		row[0] += fmt.Sprintf(" ⚠%d", n.mark(t.Name+" in "+s.Name+": "+d+"; not comparable").Number)
	}
	if why := s.Unlike(c.Targets[0], t); why != "" {
		row[0] += fmt.Sprintf(" ⚠%d", n.mark(t.Name+" in "+s.Name+": "+why+"; not compared").Number)
	}
	rate, rated := s.Rate(s.Primary)
	for _, col := range columns {
		switch {
		case col.key == nil && rated:
			row = append(row, c.againstBase(s, t, rate))
		case col.key == nil:
			row = append(row, unknown)
		default:
			row = append(row, numberText(s, t, col, n))
		}
	}
	return row
}

func (c *campaign) againstBase(s *step, t *target, rate key) string {
	cell := s.cell(t, c.Targets[0], rate, &notes{})
	switch {
	case cell.Tag != "":
		return "⚠"
	case t == c.Targets[0]:
		return "base"
	case cell.Ratio == "":
		return unknown
	}
	return cell.Ratio + cell.Arrow
}

func numberText(s *step, t *target, col column, n *notes) string {
	k, ok := col.key(s)
	if !ok {
		return unknown
	}
	num := s.number(t, k)
	marks := Cell{}
	for _, w := range num.Warnings {
		marks.Notes = withNote(marks.Notes, n.mark(w))
	}
	return strings.TrimSpace(num.whole() + " " + marks.Marks())
}

func columnWidths(heads []string, cells [][][]string) []int {
	widths := make([]int, len(heads))
	for i, h := range heads {
		widths[i] = width(h)
	}
	for _, step := range cells {
		for _, row := range step {
			for i, c := range row {
				widths[i] = max(widths[i], width(c))
			}
		}
	}
	return widths
}

// fit finds the gap between columns, and how many of them fit.
func fit(widths []int, limit int) (gap, shown int) {
	if limit <= 0 {
		return 2, len(widths)
	}
	for gap = 2; gap >= 1; gap-- {
		total := 0
		for shown = 0; shown < len(widths); shown++ {
			if total += widths[shown] + gap; total-gap > limit {
				break
			}
		}
		if shown == len(widths) {
			return gap, shown
		}
	}
	return 1, max(2, shown)
}

func textRow(cells []string, widths []int, gap int) string {
	var b strings.Builder
	for i, c := range cells {
		space := strings.Repeat(" ", widths[i]-width(c))
		if i == 0 {
			b.WriteString(c + space)
		} else {
			b.WriteString(strings.Repeat(" ", gap) + space + c)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// textPublished shows of the published figures only the ratios that have a
// counterpart here; the report has the rest.
func textPublished(w io.Writer, list []Published, n *notes, limit int) {
	for i, e := range list {
		if i == 0 {
			fmt.Fprintf(w, "\nPublished. %s\n", apart)
		}
		fmt.Fprintf(w, "\n%s\n", clip(e.Source, limit))
		shown := false
		for _, t := range e.Tables {
			shown = textRatios(w, t, n, limit) || shown
		}
		if !shown {
			fmt.Fprintln(w, "  The report has its figures; none can be compared with those above.")
		}
	}
}

// textRatios shows pairs of rows, as published and here; it tells whether there
// were any.
func textRatios(w io.Writer, t Table, n *notes, limit int) bool {
	g := t.Groups[0]
	var rows [][]string
	for i := 2; i < len(g.Rows); i++ {
		if !g.Rows[i].Elsewhere && slices.ContainsFunc(g.Rows[i].Cells, func(c Cell) bool { return c.Ratio+c.Tag != "" }) {
			rows = append(rows, ratioRow("    ", g.Rows[i-1], n), ratioRow("      ", g.Rows[i], n))
		}
	}
	if len(rows) == 0 {
		return false
	}
	base := g.Rows[0].Head
	if !g.Rows[1].Elsewhere {
		base += " (" + g.Rows[1].Head + ")"
	}
	heads := []string{""}
	for _, col := range t.Columns {
		heads = append(heads, col.Name)
	}
	widths := columnWidths(heads, [][][]string{rows})
	gap, shown := fit(widths, limit)
	fmt.Fprintln(w, clip("  "+g.Name+", ratios to "+base, limit))
	fmt.Fprintln(w, textRow(heads[:shown], widths, gap))
	for _, row := range rows {
		fmt.Fprintln(w, textRow(row[:shown], widths, gap))
	}
	if hidden := len(heads) - shown; hidden > 0 {
		fmt.Fprintf(w, "    %d columns do not fit into %d characters; the report has them.\n", hidden, limit)
	}
	return true
}

func ratioRow(indent string, r TableRow, n *notes) []string {
	row := []string{indent + r.Head}
	for _, c := range r.Cells {
		row = append(row, c.bareRatio(n))
	}
	return row
}

// bareRatio is the cell's ratio with its doubts, without the number.
func (c Cell) bareRatio(n *notes) string {
	switch {
	case c.Tag != "":
		return "⚠"
	case c.Ratio == "":
		return unknown
	}
	text := c.Ratio
	for _, note := range c.Notes {
		text += fmt.Sprintf(" ⚠%d", n.mark(note.Text).Number)
	}
	return text
}

// mostNotes is how many remarks a summary has: more would push it off the screen.
const mostNotes = 12

func textFoot(w io.Writer, banners []string, n *notes, hidden, limit int) {
	fmt.Fprintln(w)
	textNotes(w, n, "the report has them all")
	for _, b := range banners {
		fmt.Fprintf(w, "⚠ %s\n", b)
	}
	if hidden > 0 {
		fmt.Fprintf(w, "%d columns do not fit into %d characters; the report has them.\n", hidden, limit)
	}
}

// textNotes prints the first remarks, and where the others are.
func textNotes(w io.Writer, n *notes, elsewhere string) {
	for i, note := range n.list {
		if i == mostNotes && len(n.list) > mostNotes+1 {
			fmt.Fprintf(w, "⚠ and %d more; %s.\n", len(n.list)-i, elsewhere)
			return
		}
		fmt.Fprintf(w, "⚠%d %s\n", note.Number, note.Text)
	}
}

func width(s string) int { return utf8.RuneCountInString(s) }

func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }

func clip(s string, limit int) string {
	if limit <= 0 || width(s) <= limit {
		return s
	}
	return string([]rune(s)[:max(1, limit-1)]) + "…"
}
