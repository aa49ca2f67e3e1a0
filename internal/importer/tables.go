package importer

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"

	"rumbench/internal/layout"
	"rumbench/internal/metric"
)

func isTable(head []string) bool {
	f, _ := layout.FormatOf(head)
	return f != layout.None
}

// isRelative reports whether a file is a table of ratios.
func isRelative(f *file) bool {
	_, ratios := layout.FormatOf(f.head)
	return ratios
}

// tableFile is a published table that is being read.
type tableFile struct {
	*file
	o    *Options
	runs []*run
}

// parseTable reads a published table of results: a run for each test of each
// target. They are of the published arithmetic, whatever is asked for.
func parseTable(files []*file, o *Options, ps *Problems) []*run {
	f := files[0]
	f.whole = true
	format, ratios := layout.FormatOf(f.head)
	if format == layout.None {
		ps.add(f.path, 1, "", "it is no table of results in a layout that is known: qps.abs, o.met or the 21 columns of the insert benchmark")
		return nil
	}
	if ratios {
		ps.add(f.path, 0, "the absolute table of the same results can be imported", "it is a table of ratios: what they are of is not in it")
		return nil
	}
	var text bytes.Buffer
	if !f.each(ps, func(_ int, line string, _ bool) bool { text.WriteString(line + "\n"); return true }) {
		return nil
	}
	t := &tableFile{file: f, o: o}
	read := map[layout.Format]func(io.Reader) error{
		layout.QPSTable: t.qps, layout.QPSList: t.list, layout.Summary: t.summaries, layout.Costs: t.costs, layout.Levels: t.levels,
	}
	if err := read[format](&text); err != nil {
		ps.add(f.path, 0, "", "%v", err)
		return nil
	}
	if len(t.runs) == 0 {
		ps.add(f.path, f.lines, "", "there are no numbers in it")
	}
	return t.runs
}

// run begins the run of a target.
func (t *tableFile) run(target, workload string) *run {
	r := newRun(t.file, workload)
	r.tool, r.derived, r.target, r.trial, r.cpus = "a published table of "+workload, true, target, 1, t.o.CPUs
	if t.o.Target != "" && len(t.runs) > 0 && t.runs[0].target != target {
		r.guess("%s has several targets: --target is for tables of one", t.path)
	}
	t.runs = append(t.runs, r)
	return r
}

// test begins the run of a test of the sysbench suite.
func (t *tableFile) test(target, name string) *run {
	r := t.run(target, fmtSysbench)
	test, ok := suiteTestOf(name)
	if !ok {
		test = suiteTest{test: name}
	}
	r.is(test)
	return r
}

func (t *tableFile) qps(text io.Reader) error {
	table, err := layout.ReadQPS(text)
	if err != nil {
		return err
	}
	t.addQPS(table)
	return nil
}

// list reads the layout without a header: its columns have no names.
func (t *tableFile) list(text io.Reader) error {
	table, err := layout.ReadQPSList(text)
	if err != nil {
		return err
	}
	t.addQPS(table)
	for _, r := range t.runs {
		r.guess("%s does not name its columns: they are called col-1, col-2 …", t.path)
	}
	return nil
}

func (t *tableFile) addQPS(table *layout.QPS) {
	for _, row := range table.Rows {
		for i, target := range table.Columns {
			if v, err := strconv.ParseFloat(row.Cells[i], 64); err == nil && v >= 0 {
				t.test(target, row.Test).publishedRate(v, t.o)
			}
		}
	}
}

// levels reads the layout with a column for each number of clients, of 2020.
// How many these are is not in it.
func (t *tableFile) levels(text io.Reader) error {
	tests, err := layout.ReadLevels(text)
	if err != nil {
		return err
	}
	for _, test := range tests {
		for _, row := range test.Rows {
			for i, v := range row.Values {
				if math.IsNaN(v) {
					continue
				}
				r := t.test(row.Tag, test.Name)
				if len(row.Values) > 1 {
					r.base += "_column=" + strconv.Itoa(i+1)
					r.guess("the columns of %s are of different numbers of clients, which it does not give: steps are named by the column", t.path)
				}
				r.publishedRate(v, t.o)
			}
		}
	}
	return nil
}

func (t *tableFile) costs(text io.Reader) error {
	tests, err := layout.ReadCosts(text)
	if err != nil {
		return err
	}
	for _, test := range tests {
		for _, l := range slices.Concat(test.Blocks...) {
			r := t.test(l.Tag, test.Name)
			per := r.publishedRate(l.Value("o/s"), t.o).per
			for _, c := range []struct{ column, metric string }{{"cs/o", "context_switches"}, {"r/o", "device_reads"}, {"rKB/o", "read_kb"}, {"wKB/o", "write_kb"}, {"cpu/o", "host_cpu_us"}} {
				v := l.Value(c.column)
				switch {
				case c.metric == "host_cpu_us" && r.cpus == 0:
					if !math.IsNaN(v) {
						r.warn(noCPUs)
					}
					continue
				case c.metric == "host_cpu_us":
					v = cpuTime(v, r.cpus)
				}
				r.put(c.metric, v, source("a published table of costs"), func(row *metric.Row) { row.Per = per })
			}
		}
	}
	return nil
}
