// Package published converts results to the tables, colours and arithmetic used
// in published results of the insert benchmark and of sysbench.
//
// Package layout writes the formats; this one computes their columns.
package published

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result/layout"
	"rumbench/internal/text/hint"
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

// The operations of sysbench's tests.
const (
	opQuery       = "query"
	opTransaction = "transaction"
)

// QueryRate returns the number of a step that published tables of rates contain:
// for transactions, too, they count the queries. It is a
// compare.RelativeOptions.Key.
func QueryRate(s *compare.Step) (compare.Key, bool) {
	if s.Primary != opTransaction {
		return s.About("")
	}
	if k, ok := s.Rate(opQuery); ok { // of an import
		return k, true
	}
	if k, ok := s.Key(metric.QueriesPerS, opTransaction); ok {
		return k, true
	}
	return s.About("")
}

// QPS returns the tests of a relative table for sysbench's tables. Of the tests
// that warm up or come before the writes it includes, as published tables do,
// the warm-ups of range tests. Notes are remarks by test name; the numbers have
// the returned number of decimals.
func QPS(r *compare.Relative, notes map[string]string) (tests []layout.Test, places int) {
	add := func(group compare.Group, wanted func(*compare.Step) bool) {
		for _, g := range r.Groups {
			for _, row := range g.Rows {
				if g.Group != group || !wanted(row.Step) {
					continue
				}
				var lines []layout.Line
				for i, c := range row.Cells {
					l := layout.Line{Tag: r.Targets[i].Name, Rate: math.NaN(), Unlike: c.Apart != ""}
					if c.Missing == "" {
						l.Rate, places = c.Value, decimals(c.Number)
					}
					lines = append(lines, l)
				}
				tests = append(tests, layout.Test{Name: row.Step.Name, Lines: lines, Note: notes[row.Step.Name]})
			}
		}
	}
	all := func(*compare.Step) bool { return true }
	for _, g := range compare.Groups() {
		switch g {
		case compare.Before:
		case compare.Range:
			add(g, all)
			add(compare.Before, rangeWarmUp)
		default:
			add(g, all)
		}
	}
	return tests, places
}

// rangeWarmUp reports whether a step is a warm-up that published tables of rates
// contain: the warm-up of a range test, such as the scan.
func rangeWarmUp(s *compare.Step) bool {
	t := s.Test()
	return t.WarmUp && !t.BeforeWrites && compare.Group(t.Access) == compare.Range
}

// QPSRemarks returns the limits of a table of rates and the tests that it leaves
// out, a line each.
func QPSRemarks(r *compare.Relative) (out []string) {
	for i, t := range r.Targets {
		out = append(out, otherWork(r.Base(), t, r.Unlike[i])...)
		for _, g := range r.Groups {
			for _, row := range g.Rows {
				left := g.Group == compare.Before && !rangeWarmUp(row.Step)
				if left && i == 0 {
					out = append(out, fmt.Sprintf("left out: %s, a warm-up or from before the writes", row.Step.Name))
				}
				if !left {
					out = append(out, notComparable(t, row.Step, row.Cells[i].Reasons())...)
				}
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

// Notes reads a file of remarks on tests, one a line:
//
//	# why, as far as we know
//	l.i1: sqlite waits for its journal here
//
// Empty lines and those that begin with # are left out. Only the given tests
// may have notes.
func Notes(file, src string, tests []string) (map[string]string, hint.Problems) {
	notes := map[string]string{}
	var problems hint.Problems
	first := map[string]int{}
	n := 0
	for text := range strings.Lines(src) {
		n++
		text = strings.TrimRight(text, " \t\r\n")
		body := strings.TrimLeft(text, " \t\ufeff")
		if body == "" || strings.HasPrefix(body, "#") {
			continue
		}
		column := 1 + utf8.RuneCountInString(text) - utf8.RuneCountInString(body)
		wrong := func(position int, help, reason string, args ...any) {
			problems = append(problems, hint.Problem{File: file, Line: n, Column: column + position,
				Reason: fmt.Sprintf(reason, args...), Hint: help})
		}
		test, note, ok := cut(body, tests)
		switch {
		case !utf8.ValidString(body):
			wrong(0, "save the file as UTF-8", "the line is no valid text")
		case !ok:
			wrong(0, "a line is STEP: TEXT", "there is no colon after a step's name")
		case !slices.Contains(tests, test):
			wrong(0, hint.OneOf(test, tests), "no trial has a step %q", test)
		case note == "":
			wrong(1+utf8.RuneCountInString(test), "write the note after the colon, or leave the line out",
				"there is no note on %s", test)
		case first[test] > 0:
			wrong(0, "write both in one line", "there is a note on %s in line %d already", test, first[test])
		default:
			notes[test], first[test] = note, n
		}
	}
	return notes, problems
}

// cut splits a line at the colon after the test's name, which may itself
// contain colons.
func cut(line string, tests []string) (test, note string, ok bool) {
	test, note, ok = strings.Cut(line, ":")
	test = strings.TrimSpace(test)
	longest := 0
	for _, t := range tests {
		if tail, found := strings.CutPrefix(line, t+":"); found && len(t) > longest {
			test, note, longest = t, tail, len(t)
		}
	}
	return test, strings.TrimSpace(note), ok
}
