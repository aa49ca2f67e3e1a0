package page

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

func TestNotes(t *testing.T) {
	wrote := func(written, deferred float64) metric.Warning {
		return metric.Warn(remark.LowerBound, metric.Values{"written": written, "deferred": deferred})
	}
	in := func(n int) []any { return []any{"in ", n} }
	for _, c := range []struct {
		name    string
		remarks [][]any
		want    []string
	}{
		{"the same", [][]any{{"a warning"}, {"a warning"}}, []string{"a warning"}},
		{"figures in words", [][]any{{"read 9 MB"}, {"read 10 MB"}}, []string{"read 9 MB", "read 10 MB"}},
		{"a figure ends a sentence", [][]any{{"in trial ", 1, "."}, {"in trial ", 3, "."}}, []string{"in trial 1 and 3."}},
		{"trials", [][]any{in(1), in(4), in(2), in(7)}, []string{"in 1, 4, 2 and 7"}},
		{"warnings of one code", [][]any{{"t", ", trial ", 1, ": ", wrote(81, 2)}, {"t", ", trial ", 2, ": ", wrote(974, 2)}},
			[]string{"t, trial 1 and 2: lower bound: 974.0 MiB were written, and 2.0 MiB more were still unwritten at the end of the step: it was too short for writes to recur (the largest of 2)"}},
		{"many figures", [][]any{{wrote(9, 1)}, {wrote(10, 1)}, {wrote(1500, 1)}, {wrote(2, 1)}, {wrote(9, 1)}},
			[]string{"lower bound: 1500.0 MiB were written, and 1.0 MiB more were still unwritten at the end of the step: it was too short for writes to recur (the largest of 4)"}},
		{"names differ", [][]any{{metric.Warn(remark.Saturated, metric.Values{"group": "a1"})}, {metric.Warn(remark.Saturated, metric.Values{"group": "a2"})}},
			[]string{"saturated: group a1 fell behind more and more; its rate is above what the engine can do", "saturated: group a2 fell behind more and more; its rate is above what the engine can do"}},
	} {
		expect.Same(t, c.want, Merged(c.remarks), c.name)
	}
}
