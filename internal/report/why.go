package report

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
)

// Why returns an explanation as blocks: a paragraph per group of steps and, with all, a
// table of every item of every sum.
func Why(e *explain.Explanation, all bool) (out []page.Block) {
	out = append(out, page.Heading{Level: 2, Text: fmt.Sprintf("Why %s and %s differ", e.New.Name, e.Base.Name)})
	for _, p := range e.Paragraphs() {
		out = append(out, page.Prose("", p.Names()+": "+strings.Join(p.Sentences, " ")))
	}
	if all {
		for _, s := range e.Steps {
			out = append(out, itemsOf(s))
		}
	}
	return append(out, differing(e))
}

// differing lists what differs of the two: causes of causes are among them, which only an
// experiment can tell apart.
func differing(e *explain.Explanation) page.Block {
	var l page.List
	for _, d := range e.Differ {
		l.Items = append(l.Items, page.Item{Text: "also differs: " + d.String()})
	}
	return l
}

// itemsOf is a table of all items of a step.
func itemsOf(s *explain.Step) page.Table {
	t := page.Table{Title: s.Of.Name, Head: "item", Note: "ln of the ratio that the item accounts for; those of a number sum to that of the number."}
	for _, name := range []string{"base", "new", "ln", "95 % interval", "share", "rule", ""} {
		t.Columns = append(t.Columns, page.Column{Name: name})
	}
	for _, sum := range s.Sums {
		g := page.Group{Name: fmt.Sprintf("%s, by %s", metric.Label(sum.Metric), sum.Of)}
		for _, c := range append([]explain.Cause{{Contribution: sum.Total}}, sum.Causes...) {
			head := string(c.Item)
			if head == "" {
				head = "in all"
			}
			g.Rows = append(g.Rows, page.Row{Head: head, Series: -1, Cells: itemCells(c)})
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

func itemCells(c explain.Cause) []page.Cell {
	number := func(v float64) page.Cell {
		if math.IsNaN(v) {
			return page.Absent("not known")
		}
		return page.Cell{Text: quantity.Digits(v), Number: true}
	}
	bounds, share, rule, proven := page.Absent("too few trials"), page.Absent("the difference is not proven"), page.Words(""), page.Words("")
	if !math.IsNaN(c.Low) {
		bounds = page.Cell{Text: quantity.Digits(c.Low) + " to " + quantity.Digits(c.High), Number: true}
	}
	if !math.IsNaN(c.Share) && c.Item != "" {
		share = page.Cell{Text: quantity.RoughShare(c.Share), Number: true}
	}
	if c.Rule.Number > 0 {
		rule = page.Words(fmt.Sprintf("%d, %s", c.Rule.Number, c.Rule.Evidence))
	}
	if c.Proven() {
		proven = page.Words("proven")
	}
	return []page.Cell{number(c.Base), number(c.New), number(c.Log), bounds, share, rule, proven}
}
