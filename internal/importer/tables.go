package importer

import (
	"bytes"

	"rumbench/internal/result/layout"
	"rumbench/internal/text/hint"
)

func isTable(head []string) bool {
	is, _ := layout.IsQPS(head)
	return is
}

// isRelative reports whether a file is a table of ratios.
func isRelative(f *file) bool {
	_, ratios := layout.IsQPS(f.head)
	return ratios
}

// tableFile is a published table being read.
type tableFile struct {
	*input
	o    *Options
	runs []*run
}

// parseTable reads a published table of rates: a run for each test of each target.
// They always have the published arithmetic.
func parseTable(files []*file, o *Options, ps *hint.Problems) []*run {
	t := &tableFile{input: &input{file: files[0], ps: ps}, o: o}
	switch is, ratios := layout.IsQPS(t.head); {
	case !is:
		t.at = 1
		t.refuse("", "it is no table of rates as they are published: qps.abs")
		return nil
	case ratios:
		t.refuse("the absolute table of the same results can be imported",
			"it is a table of ratios: what they are of is not in it")
		return nil
	}
	var text bytes.Buffer
	if !t.each(func(line string) { text.WriteString(line + "\n") }) {
		return nil
	}
	tests, err := layout.ReadQPS(&text)
	if err != nil {
		ps.Add(t.path, 0, "", "%v", err)
		return nil
	}
	for _, test := range tests {
		for _, l := range test.Lines {
			if l.Rate >= 0 {
				t.test(l.Tag, test.Name).publishedRate(l.Rate, o)
			}
		}
	}
	if len(t.runs) == 0 {
		t.problem("", "there are no numbers in it")
	}
	return t.runs
}

// test begins the run of a test of the sysbench suite.
func (t *tableFile) test(target, name string) *run {
	r := newRun(t.file, fmtSysbench)
	r.tool, r.derived, r.target, r.trial, r.cpus = "a published table of sysbench", true, target, 1, t.o.CPUs
	if t.o.Target != "" && len(t.runs) > 0 && t.runs[0].target != target {
		r.guess("%s has several targets: --target is for tables of one", t.path)
	}
	t.runs = append(t.runs, r)
	r.is(testNamed(name))
	return r
}
