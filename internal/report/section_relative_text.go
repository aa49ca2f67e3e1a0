package report

import (
	"fmt"
	"io"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
)

// RelativeText writes a relative table as text. Columns that do not fit into
// the width are placed below; a width of 0 is unlimited.
func RelativeText(w io.Writer, r *compare.Relative, style RelativeStyle, width int) error {
	t := relativeTable(r, style, &page.Notes{}, nil)
	blocks := []page.Block{page.Prose("", t.Note)}
	if r.Durability != "" {
		blocks = append([]page.Block{page.Banner(verdict.DurabilityDiffers(r.Durability))}, blocks...)
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
	blocks = append(blocks, t)
	for _, line := range relativeCautions(r) {
		blocks = append(blocks, page.Prose("", line))
	}
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
	before, after := len(first), len(first)
	for _, c := range columns[1:] {
		for !strings.HasPrefix(c.Name, first[:before]) {
			before--
		}
		for !strings.HasSuffix(c.Name, first[len(first)-after:]) {
			after--
		}
	}
	for before > 0 && !separates(first, before-1) {
		before--
	}
	for after > 0 && !separates(first, len(first)-after) {
		after--
	}
	for _, c := range columns {
		if len(c.Name) <= before+after {
			return ""
		}
	}
	if before+after < leastCommon {
		return ""
	}
	for i := range columns {
		columns[i].Name = columns[i].Name[before : len(columns[i].Name)-after]
	}
	return first[:before] + "…" + first[len(first)-after:]
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
		d.Lead = append(d.Lead, page.Banner(verdict.DurabilityDiffers(r.Durability)))
	}
	cautions := page.List{}
	for _, line := range relativeCautions(r) {
		cautions.Items = append(cautions.Items, page.Item{Text: line})
	}
	d.Lead = append(d.Lead, t, cautions, n)
	return page.Markdown(w, d, true)
}
