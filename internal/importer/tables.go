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

// tableKind is a layout of published tables.
type tableKind struct {
	is       func(head []string) bool
	relative func(head []string) bool // it holds ratios instead
	read     func(t *tableFile, text io.Reader) error
}

// tableKinds lists the layouts, those that are recognised more surely first.
func tableKinds() []tableKind {
	return []tableKind{
		{layout.IsQPS, layout.IsQPSRatios, (*tableFile).qps},
		{layout.IsMerged, layout.IsMergedRatios, (*tableFile).merged},
		{layout.IsCosts, nil, (*tableFile).costs},
		{layout.IsLevels, layout.IsLevelsRatios, (*tableFile).levels},
		{layout.IsQPSList, layout.IsQPSListRatios, (*tableFile).list},
	}
}

func kindOf(head []string) (k tableKind, ok bool) {
	kinds := tableKinds()
	i := slices.IndexFunc(kinds, func(k tableKind) bool { return k.is(head) })
	if i < 0 {
		return k, false
	}
	return kinds[i], true
}

func isTable(head []string) bool {
	_, ok := kindOf(head)
	return ok
}

// isRelative tells of a table of ratios.
func isRelative(f *file) bool {
	k, ok := kindOf(f.head)
	return ok && k.relative != nil && k.relative(f.head)
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
	k, ok := kindOf(f.head)
	if !ok {
		ps.add(f.path, 1, "", "it is no table of results in a layout that is known: qps.abs, o.met or the 21 columns of the insert benchmark")
		return nil
	}
	if isRelative(f) {
		ps.add(f.path, 0, "the absolute table of the same results can be imported", "it is a table of ratios: what they are of is not in it")
		return nil
	}
	var text bytes.Buffer
	if !f.each(ps, func(_ int, line string, _ bool) bool { text.WriteString(line + "\n"); return true }) {
		return nil
	}
	t := &tableFile{file: f, o: o}
	if err := k.read(t, &text); err != nil {
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
		for _, c := range test.Costs {
			r := t.test(c.Tag, test.Name)
			per := r.publishedRate(c.Rate, t.o).per
			put := func(name string, v float64) {
				r.put(name, v, source("a published table of costs"), func(row *metric.Row) { row.Per = per })
			}
			put("context_switches", c.Switches)
			put("device_reads", c.Reads)
			put("read_kb", c.ReadKB)
			put("write_kb", c.WriteKB)
			switch {
			case r.cpus > 0:
				put("host_cpu_us", cpuTime(c.CPU, r.cpus))
			case !math.IsNaN(c.CPU):
				r.warn(noCPUs)
			}
		}
	}
	return nil
}
