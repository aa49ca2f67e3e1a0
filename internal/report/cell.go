package report

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

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
		c.Tag = tagged(num, refusals[0])
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

// tagged adds the reason why a number is not compared to its label as the
// maximum of few samples.
func tagged(n number, reason string) string {
	if few := n.Few(); few != "" {
		return few + ", " + reason
	}
	return reason
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
