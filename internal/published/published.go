// Package published puts results into the tables, colours and arithmetic that
// results of the insert benchmark and of sysbench are published in.
//
// Package layout writes the formats; here is what their columns are made of.
package published

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/layout"
)

// Number returns a number as absolute tables print it: without decimals of
// rates, counts and bytes, with three of costs and times.
func Number(n compare.Number) layout.Number {
	decimals := 3
	if n.Unit == "1/s" || n.Unit == "B" || n.Unit == "bool" || n.Unit == "count" && n.Per == "" {
		decimals = 0
	}
	if n.Missing != "" {
		n.Value = math.NaN()
	}
	return layout.Fixed(n.Value, decimals)
}

// Round returns a number's value as it is printed; NaN if there is none.
func Round(n compare.Number) float64 { return Number(n).Printed() }

// QPS returns a relative table in the layout of sysbench's tables. Of the tests
// that warm up or come before the writes it has, as published tables do, the
// warm-ups of range tests, or all where warmUps says so. Notes are remarks by
// the names of tests.
func QPS(r *compare.Relative, absolute, warmUps bool, notes map[string]string) *layout.QPS {
	out := &layout.QPS{}
	targets := r.Targets
	if !absolute {
		out.Base, targets = r.Base().Name, targets[1:]
	}
	for _, t := range targets {
		out.Columns = append(out.Columns, t.Name)
	}
	add := func(of compare.Group, wanted func(*compare.Step) bool) {
		for _, g := range r.Groups {
			for i := range g.Rows {
				if row := &g.Rows[i]; g.Group == of && wanted(row.Step) {
					out.Rows = append(out.Rows, layout.QPSRow{Test: row.Step.Name, Cells: qpsCells(r, row, absolute), Note: notes[row.Step.Name]})
				}
			}
		}
	}
	all := func(*compare.Step) bool { return true }
	for _, g := range compare.Groups() {
		switch g {
		case compare.Before:
			add(g, func(s *compare.Step) bool { return warmUps && !rangeWarmUp(s) })
		case compare.Range:
			add(g, all)
			add(compare.Before, rangeWarmUp)
		default:
			add(g, all)
		}
	}
	return out
}

// rangeWarmUp reports whether a step is a warm-up that published tables of rates
// have: that of a range test, such as the scan.
func rangeWarmUp(s *compare.Step) bool {
	t := s.Test()
	return t.WarmUp && !t.BeforeWrites && compare.Group(t.Access) == compare.Range
}

func qpsCells(r *compare.Relative, row *compare.RelativeRow, absolute bool) []string {
	var out []string
	base := Number(row.Cells[0].Number)
	for i := range row.Cells {
		switch n := Number(row.Cells[i].Number); {
		case absolute:
			out = append(out, n.Text)
		case i > 0 && row.Cells[i].Apart != "":
			out = append(out, layout.Fixed(math.NaN(), 0).Text)
		case i > 0:
			out = append(out, layout.Ratio(n, base, r.Compatible))
		}
	}
	return out
}

// QPSRemarks returns what a table of rates has no place for, and which tests it
// leaves out, a line each.
func QPSRemarks(r *compare.Relative, warmUps bool) (out []string) {
	for i, t := range r.Targets {
		out = append(out, otherWork(r.Base(), t, r.Unlike[i])...)
		for _, g := range r.Groups {
			for _, row := range g.Rows {
				left := g.Group == compare.Before && !warmUps && !rangeWarmUp(row.Step)
				if left && i == 0 {
					out = append(out, fmt.Sprintf("left out: %s, a warm-up or from before the writes", row.Step.Name))
				}
				if !left {
					out = append(out, notComparable(t, row.Step, row.Cells[i].Doubts)...)
				}
			}
		}
	}
	return out
}

// Remarks returns what tables with given columns have no place for, a line each.
func Remarks(c *compare.Campaign, base *compare.Target) (out []string) {
	for _, t := range c.Targets {
		whole := compare.Unlike(base, t)
		out = append(out, otherWork(base, t, whole)...)
		for _, s := range c.Steps {
			doubts := s.Doubts(t)
			var disturbed []string
			for _, metric := range []string{"device_reads", "read_kb", "write_kb", "context_switches", "host_cpu_us"} {
				if k, ok := s.About(metric); ok && s.Number(t, k).Disturbed() {
					disturbed = append(disturbed, metric)
				}
			}
			if len(disturbed) > 0 {
				doubts = append(doubts, "what other programs did may be in "+strings.Join(disturbed, ", "))
			}
			if unlike := s.Unlike(base, t); unlike != "" && len(whole) == 0 {
				doubts = append(doubts, unlike)
			}
			if s.Primary != "" {
				out = append(out, notComparable(t, s, doubts)...)
			}
		}
	}
	return out
}

func otherWork(base, t *compare.Target, unlike []string) []string {
	if len(unlike) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("⚠ %s did other work than %s: %s", t.Name, base.Name, strings.Join(unlike, "; "))}
}

func notComparable(t *compare.Target, s *compare.Step, doubts []string) []string {
	if len(doubts) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("⚠ %s in %s: %s; not comparable", t.Name, s.Name, strings.Join(doubts, ", "))}
}
