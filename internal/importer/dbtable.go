package importer

import (
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// dbTableLog is a table of db_bench results being read.
type dbResults struct {
	*input
	header
	runs []*run
}

// parseDBTable reads a table of results of db_bench: tab separated, a header before
// each benchmark, a line for each repetition. Lines of mean and standard deviation
// follow from the repetitions, and are skipped.
func parseDBTable(in *input) []*run {
	t := dbResults{input: in}
	t.each(func(line string) {
		fields := strings.Split(line, "\t")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "mean=") || strings.HasPrefix(line, "#"):
		case fields[0] == "ops_sec":
			t.header = fields
		case t.last && t.cut:
			t.problem("copy the table again", "the last line is cut off")
		default:
			t.row(fields)
		}
	})
	if len(t.runs) == 0 && !t.faulty {
		t.problem("", "there are no results below the header")
	}
	t.targets()
	return t.runs
}

func (t *dbResults) row(fields []string) {
	// the last columns may be empty
	if t.header == nil || len(fields) > len(t.header) || len(fields) < len(t.header)-2 {
		t.problem("", "%d fields do not fit the header, which has %d", len(fields), len(t.header))
		return
	}
	test := t.text(fields, "test")
	r := newDBRun(newRun(t.file, fmtDBBench), test, test)
	r.tool, r.engine, r.version = "db_bench, a table of results", "rocksdb", t.text(fields, "version")
	rate := t.text(fields, "ops_sec")
	if _, ok := positive(rate); !ok || r.step.Name == "" {
		t.problem("", "ops_sec %q and test %q: a number and a name were expected", rate, r.step.Name)
		return
	}
	at := []account.With{account.Of(opOperation, opOperation), account.Source("table")}
	for _, c := range dbColumns() {
		v := t.text(fields, c.column)
		if v == "" || v == "NA" {
			continue
		}
		n, ok := positive(v)
		if c.size {
			n, ok = sizeOf(v)
		}
		if !ok {
			t.problem("", "%s is %q: %s was expected", c.column, v, c.expected())
			continue
		}
		if c.zero || n > 0 {
			more := append(slices.Clone(at), warned(c.warnings...))
			if c.whole {
				more = append(more, account.Of("", ""))
			}
			r.put(c.metric, n*c.factor, more...)
		}
	}
	t.runs = append(t.runs, r)
}

// dbColumn is a column of the table that has a metric.
type dbColumn struct {
	column, metric string
	factor         float64
	size           bool // with a unit: 16GB
	zero           bool // 0 is a value, not unknown
	whole          bool // per step, not per operation
	warnings       []string
}

func (c dbColumn) expected() string {
	if c.size {
		return "a number with KB, MB, GB or TB"
	}
	return "a number"
}

func dbColumns() []dbColumn {
	return []dbColumn{
		{column: "ops_sec", metric: metric.OpsPerS, factor: 1, zero: true},
		{column: "ops_sec", metric: metric.RowsPerS, factor: 1, zero: true},
		{column: "usec_op", metric: metric.ServiceMeanUS, factor: 1},
		{column: "p50", metric: metric.ServiceP50US, factor: 1},
		{column: "p99", metric: metric.ServiceP99US, factor: 1},
		{column: "p99.9", metric: metric.ServiceP999US, factor: 1},
		{column: "pmax", metric: metric.ServiceMaxUS, factor: 1},
		{column: "lsm_sz", metric: metric.DataBytes, factor: 1, size: true, whole: true,
			warnings: []string{"printed as a whole number of its unit"}},
		{column: "w_amp", metric: metric.EngineWriteAmplification, factor: 1, whole: true},
		{column: "Nstall", metric: metric.EngineStalls, factor: 1, zero: true, whole: true},
	}
}

// targets names the targets of a table with several releases after the releases,
// and numbers the repetitions of a benchmark. It is a guess that lines of one
// release are repetitions and not different configurations.
func (t *dbResults) targets() {
	versions, _ := groups(t.runs, func(r *run) string { return r.version })
	versions = slices.DeleteFunc(versions, func(v string) bool { return v == "" })
	for _, r := range t.runs {
		if len(versions) > 1 && r.version != "" {
			r.target = r.version
		}
	}
	_, same := groups(t.runs, func(r *run) [2]string { return [2]string{r.target, r.step.Name} })
	for _, runs := range same {
		for i, r := range runs {
			if len(t.runs) > 1 {
				r.trial = i + 1
			}
			if len(runs) > 1 {
				r.guess("the %d lines of %s in %s are trials of one configuration; if they are of several, put them "+
					"into files "+
					"of their own",
					len(runs), strings.TrimSpace(r.version+" "+r.step.Name), t.path)
				r.warnings = append(r.warnings, remark("guessed: %s", r.guesses[0]))
			}
		}
	}
}
