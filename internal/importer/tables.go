package importer

import (
	"bytes"
	"math"
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result/layout"
	"rumbench/internal/text/hint"
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

// tableFile is a published table being read.
type tableFile struct {
	*input
	o    *Options
	runs []*run
}

// parseTable reads a published table of results: a run for each test of each target.
// They always have the published arithmetic.
func parseTable(files []*file, o *Options, ps *hint.Problems) []*run {
	t := &tableFile{input: &input{file: files[0], ps: ps, at: 1}, o: o}
	format, ratios := layout.FormatOf(t.head)
	if format == layout.None {
		t.refuse("", "it is no table of results in a layout that is known: qps.abs, o.met or the 21 columns of the insert "+
			"benchmark")
		return nil
	}
	if t.at = 0; ratios {
		t.refuse("the absolute table of the same results can be imported",
			"it is a table of ratios: what they are of is not in it")
		return nil
	}
	var text bytes.Buffer
	if !t.each(func(line string) { text.WriteString(line + "\n") }) {
		return nil
	}
	steps, err := layout.Read(format, &text)
	if err != nil {
		ps.Add(t.path, 0, "", "%v", err)
		steps = nil
	}
	for i := range steps {
		t.add(format, &steps[i])
	}
	if len(t.runs) == 0 {
		t.problem("", "there are no numbers in it")
	}
	return t.runs
}

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
	r.is(testNamed(name))
	return r
}

func (t *tableFile) add(f layout.Format, s *layout.Step) {
	lines := slices.Concat(s.Blocks...)
	if f == layout.Summary {
		t.summaries(s.Name, lines)
		return
	}
	for i := range lines {
		l := &lines[i]
		switch f {
		case layout.Costs:
			t.costs(s.Name, l)
		default:
			if v := l.Value(layout.Rate); v >= 0 {
				t.test(l.Tag, s.Name).publishedRate(v, t.o)
			}
		}
	}
}

func (t *tableFile) costs(test string, l *layout.Line) {
	r := t.test(l.Tag, test)
	per := r.publishedRate(l.Value("o/s"), t.o).Per
	put := func(name string, v float64) {
		r.put(name, v, account.Source("a published table of costs"), account.Per(per))
	}
	put(metric.ContextSwitches, l.Value("cs/o"))
	put(metric.DeviceReads, l.Value("r/o"))
	put(metric.ReadKB, l.Value("rKB/o"))
	put(metric.WriteKB, l.Value("wKB/o"))
	if cpu := l.Value("cpu/o"); r.cpus > 0 {
		put(hostCPU, cpuTime(cpu, r.cpus))
	} else if !math.IsNaN(cpu) {
		r.warn(noCPUs)
	}
}
