package importer

import (
	"cmp"
	"fmt"
	"slices"

	"rumbench/internal/hint"
	"rumbench/internal/quantity"
)

// Problem is one thing that is wrong with the input.
type Problem = hint.Problem

// Problems are all problems, in the order of the files.
type Problems []Problem

// Error returns the problems, of each kind the first.
func (ps Problems) Error() string {
	return hint.Problems(ps).Error()
}

// add adds a problem.
func (ps *Problems) add(file string, line int, hint, reason string, args ...any) {
	*ps = append(*ps, Problem{File: file, Line: line, Reason: fmt.Sprintf(reason, args...), Hint: hint})
}

// sorted returns the problems by file and line, without duplicates.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(quantity.Natural(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(ps)
}
