package importer

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/layout"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// merged reads tables of the insert benchmark's 21 columns: of one step, which
// the file's name has, of several, or of all steps of one run.
func (t *tableFile) merged(text io.Reader) error {
	steps, err := layout.ReadMerged(text)
	if err != nil {
		return err
	}
	for _, s := range steps {
		rows := slices.Concat(s.Blocks...)
		names := t.steps(s.Name, rows)
		for i := range rows {
			r := t.run(rows[i].Tag, fmtIBench)
			r.step.Name = names[i]
			r.summary(&rows[i])
			if s.Name == "" && names[0] != names[len(names)-1] {
				r.guess("%s does not name its steps: they are named by their order, l.i0, l.x, l.i1 …, q1, q2 …", t.path)
			}
		}
	}
	return nil
}

// steps are the names of the steps that rows are of.
func (t *tableFile) steps(name string, rows []layout.Summary) []string {
	if name == "" {
		name = strings.TrimPrefix(stem(t.path), "mrg.")
	}
	out := make([]string, len(rows))
	for i := range out {
		out[i] = name
	}
	oneRun := len(rows) > 1 && !slices.ContainsFunc(rows, func(r layout.Summary) bool { return r.Tag != rows[0].Tag })
	if !oneRun || stepDir.MatchString(strings.TrimPrefix(filepath.Base(t.path), "mrg.")) {
		return out
	}
	loads, queries := []string{"l.i0", "l.x", "l.i1", "l.i2"}, 0
	for i := range rows {
		switch {
		case rows[i].QPS > 0:
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

// summary adds what a line of 21 columns says.
func (r *run) summary(s *layout.Summary) {
	op, writes := opInsert, opInsert
	switch {
	case s.QPS > 0:
		op = opQuery
	case r.step.Name == "l.x" || r.step.Name == "l.ix":
		op, writes = opIndex, opIndex
	}
	r.step.Primary, r.step.WritesPer = op, writes
	r.step.Doc = "insert benchmark, step " + r.step.Name
	from := source("a published summary")
	for _, o := range slices.Compact([]string{op, writes}) {
		r.step.Groups = append(r.step.Groups, result.Group{Name: o, Ops: []string{o}})
	}
	r.put("rows_per_s", s.IPS, of(writes, writes), from)
	if op == opQuery {
		r.put("rows_per_s", s.QPS, of(op, op), from)
	}
	per := func(op string) func(*metric.Row) {
		if op != opQuery {
			op += " row"
		}
		return func(row *metric.Row) { row.Per = op }
	}
	low := doubts("compatible: vmstat's header lines count as zeros: 4 to 5 % too low")
	r.put("device_reads", s.ReadsPer, per(op), from)
	r.put("read_kb", s.ReadKBPer, per(op), from)
	r.put("write_kb", s.WriteKBPer, per(writes), from, doubts(undrained))
	r.put("context_switches", s.SwitchesPer, per(op), from, low)
	r.put("host_cpu_us", s.CPUPer, per(op), from, low)
	r.put("service_max_us", s.MaxOp*1e6, of(op, op), from)
	r.put("interval_ops_p50", s.P50, of(op, ""), from, doubts("of the first client"))
	r.put("interval_ops_p99", s.P99, of(op, ""), from, doubts("of the first client"))
	const gb, coarse = 1 << 30, "printed with one decimal"
	r.put("data_bytes", s.DataGB*gb, from, doubts(coarse))
	r.put("db_bytes", s.DirGB*gb, from, doubts(coarse))
	r.put("server_memory_bytes", s.MemoryGB*gb, from, doubts(coarse, "the resident set: pages that processes share count for each of them"))
}
