package importer

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/result/layout"
)

// summaries adds lines of the insert benchmark's 21 columns: of one step, whose name
// is that of the file if name is "", or of all steps of one run.
func (t *tableFile) summaries(name string, lines []layout.Line) {
	names := t.steps(name, lines)
	for i := range lines {
		r := t.run(lines[i].Tag, fmtIBench)
		r.step.Name = names[i]
		r.summary(&lines[i])
		if name == "" && names[0] != names[len(names)-1] {
			r.guess("%s does not name its steps: they are named by their order, l.i0, l.x, l.i1 …, q1, q2 …", t.path)
		}
	}
}

func (t *tableFile) steps(name string, rows []layout.Line) []string {
	name = cmp.Or(name, strings.TrimPrefix(stem(t.path), "mrg."))
	out := make([]string, len(rows))
	for i := range out {
		out[i] = name
	}
	oneRun := len(rows) > 1 && !slices.ContainsFunc(rows, func(l layout.Line) bool { return l.Tag != rows[0].Tag })
	if !oneRun || stepDir.MatchString(strings.TrimPrefix(filepath.Base(t.path), "mrg.")) {
		return out
	}
	loads, queries := []string{"l.i0", "l.x", "l.i1", "l.i2"}, 0
	for i := range rows {
		switch {
		case rows[i].Value("qps") > 0:
			queries++
			out[i] = fmt.Sprintf("q%d", queries)
		case i < len(loads):
			out[i] = loads[i]
		default:
			out[i] = fmt.Sprintf("l%d", i+1)
		}
	}
	return out
}

// summary adds the rows of a line of 21 columns.
func (r *run) summary(l *layout.Line) {
	const gb, coarse = 1 << 30, "printed with one decimal"
	op, writes := opInsert, opInsert
	switch {
	case l.Value("qps") > 0:
		op = opQuery
	case r.step.Name == "l.x" || r.step.Name == "l.ix":
		op, writes = opIndex, opIndex
	}
	r.step.Primary, r.step.WritesPer = op, writes
	r.step.Doc = "insert benchmark, step " + r.step.Name
	for _, o := range slices.Compact([]string{op, writes}) {
		r.step.Groups = append(r.step.Groups, result.Group{Name: o, Ops: []string{o}})
	}
	put := func(name, column string, factor float64, more ...account.With) {
		r.put(name, l.Value(column)*factor, append(more, account.Source("a published summary"))...)
	}
	per := func(op string) account.With {
		if op != opQuery {
			op += " row"
		}
		return account.Per(op)
	}
	low := warned("compatible: vmstat's header lines count as zeros: 4 to 5 % too low")
	put(metric.RowsPerS, "ips", 1, account.Of(writes, writes))
	if op == opQuery {
		put(metric.RowsPerS, "qps", 1, account.Of(op, op))
	}
	put(metric.DeviceReads, "rpq", 1, per(op))
	put(metric.ReadKB, "rkbpq", 1, per(op))
	put(metric.WriteKB, "wkbpi", 1, per(writes), account.Warned(undrained()))
	put(metric.ContextSwitches, "cspq", 1, per(op), low)
	put(hostCPU, "cpupq", 1, per(op), low)
	put(metric.ServiceMaxUS, "maxop", 1e6, account.Of(op, op))
	put(metric.IntervalOpsP50, "p50", 1, account.Of(op, ""), warned("of the first client"))
	put(metric.IntervalOpsP99, "p99", 1, account.Of(op, ""), warned("of the first client"))
	put(metric.DataBytes, "dbgb1", gb, warned(coarse))
	put(metric.DBBytes, "dbgb2", gb, warned(coarse))
	put(metric.ServerMemoryBytes, "rss", gb,
		warned(coarse, "the resident set: pages that processes share count for each of them"))
}
