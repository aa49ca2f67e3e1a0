// Package published converts results to the tables, colours and arithmetic in
// which results of the insert benchmark and of sysbench are published.
//
// Package layout writes the formats; this one computes their columns.
package published

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/published/layout"
)

// Number returns a number as absolute tables print it.
func Number(n compare.Number) layout.Number {
	if n.Missing != "" {
		n.Value = math.NaN()
	}
	return layout.Fixed(n.Value, decimals(n))
}

// decimals returns 0 for rates, counts and bytes, and 3 for costs and times.
func decimals(n compare.Number) int {
	if n.Unit == "1/s" || n.Unit == "B" || n.Unit == "bool" || n.Unit == "count" && n.Per == "" {
		return 0
	}
	return 3
}

// Round returns a number's value as it is printed; NaN if there is none.
func Round(n compare.Number) float64 { return Number(n).Printed() }

// QPS returns the tests of a relative table for sysbench's tables. Of those
// that warm up or come before the writes it has, as published tables do, the
// warm-ups of range tests, or all where warmUps says so. Notes are remarks by
// test name; the numbers have the returned number of decimals.
func QPS(r *compare.Relative, warmUps bool, notes map[string]string) (tests []layout.Step, places int) {
	inGroups := map[compare.Group][]layout.Step{}
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			if leftOut(g.Group, row.Step, warmUps) {
				continue
			}
			test := layout.Step{Name: row.Step.Name, Blocks: make([][]layout.Line, 1), Note: notes[row.Step.Name]}
			for i, c := range row.Cells {
				l := layout.Line{Tag: r.Targets[i].Name, Unlike: c.Apart != ""}
				if c.Missing == "" {
					l.Values, places = map[string]float64{layout.Rate: c.Value}, decimals(c.Number)
				}
				test.Blocks[0] = append(test.Blocks[0], l)
			}
			in := g.Group
			if in == compare.Before && rangeWarmUp(row.Step) {
				in = rangeWarmUps
			}
			inGroups[in] = append(inGroups[in], test)
		}
	}
	for _, g := range compare.Groups() {
		if tests = append(tests, inGroups[g]...); g == compare.Range {
			tests = append(tests, inGroups[rangeWarmUps]...)
		}
	}
	return tests, places
}

// rangeWarmUps are the warm-ups that follow the range tests.
const rangeWarmUps compare.Group = "warm-ups of range tests"

// leftOut reports whether a table of rates lacks a step.
func leftOut(g compare.Group, s *compare.Step, warmUps bool) bool {
	return g == compare.Before && !warmUps && !rangeWarmUp(s)
}

// rangeWarmUp reports whether a step is a warm-up that published tables of
// rates contain: that of a range test, such as the scan.
func rangeWarmUp(s *compare.Step) bool {
	t := s.Test()
	return t.WarmUp && !t.BeforeWrites && compare.Group(t.Access) == compare.Range
}

// QPSRemarks returns what a table of rates cannot show and which tests it
// leaves out, a line each.
func QPSRemarks(r *compare.Relative, warmUps bool) (out []string) {
	for i, t := range r.Targets {
		out = append(out, otherWork(r.Base(), t, r.Unlike[i])...)
		for _, g := range r.Groups {
			for _, row := range g.Rows {
				left := leftOut(g.Group, row.Step, warmUps)
				if left && i == 0 {
					out = append(out, fmt.Sprintf("left out: %s, a warm-up or from before the writes", row.Step.Name))
				}
				if !left {
					out = append(out, notComparable(t, row.Step, row.Cells[i].Refusals)...)
				}
			}
		}
	}
	return out
}

// Remarks returns what tables with fixed columns cannot show, a line each.
func Remarks(c *compare.Campaign, base *compare.Target) (out []string) {
	for _, t := range c.Targets {
		whole := compare.Unlike(base, t)
		out = append(out, otherWork(base, t, whole)...)
		for _, s := range c.Steps {
			refusals := s.Refusals(t)
			var disturbed []string
			for _, metric := range []string{"device_reads", "read_kb", "write_kb", "context_switches", "host_cpu_us"} {
				if k, ok := s.About(metric); ok && s.Number(t, k).Disturbed() {
					disturbed = append(disturbed, metric)
				}
			}
			if len(disturbed) > 0 {
				refusals = append(refusals, "what other programs did may be in "+strings.Join(disturbed, ", "))
			}
			if unlike := s.Unlike(base, t); unlike != "" && len(whole) == 0 {
				refusals = append(refusals, unlike)
			}
			if s.Primary != "" {
				out = append(out, notComparable(t, s, refusals)...)
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

func notComparable(t *compare.Target, s *compare.Step, refusals []string) []string {
	if len(refusals) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("⚠ %s in %s: %s; not comparable", t.Name, s.Name, strings.Join(refusals, ", "))}
}
