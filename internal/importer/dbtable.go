package importer

import (
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// dbColumns are the columns of a table of results of db_bench that have a metric.
var dbColumns = []struct {
	name, metric string
	size         bool // with a unit: 16GB
	zero         bool // 0 is a value, not unknown
	perStep      bool // per step, not per operation
}{
	{name: "ops_sec", metric: metric.OpsPerS, zero: true},
	{name: "ops_sec", metric: metric.RowsPerS, zero: true},
	{name: "usec_op", metric: metric.ServiceMeanUS},
	{name: "p50", metric: metric.ServiceP50US},
	{name: "p99", metric: metric.ServiceP99US},
	{name: "p99.9", metric: metric.ServiceP999US},
	{name: "pmax", metric: metric.ServiceMaxUS},
	{name: "lsm_sz", metric: metric.DataBytes, size: true, perStep: true},
	{name: "w_amp", metric: metric.EngineWriteAmplification, perStep: true},
	{name: "Nstall", metric: metric.EngineStalls, zero: true, perStep: true},
}

var isDBTable = anyLine(`^ops_sec\t`)

// parseDBTable reads a table of results of db_bench: tab separated, a header before
// each benchmark, a line for each repetition. Lines of mean and standard deviation
// follow from the repetitions, and are skipped.
func parseDBTable(in *input) (runs []*run) {
	var columns header
	in.each(func(line string) {
		fields := strings.Split(line, "\t")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "mean=") || strings.HasPrefix(line, "#"):
		case fields[0] == "ops_sec":
			columns = fields
		case in.torn:
			in.problem("copy the table again", "the last line is cut off")
		// the last columns may be empty
		case columns == nil || len(fields) > len(columns) || len(fields) < len(columns)-2:
			in.problem("", "%d fields do not fit the header, which has %d", len(fields), len(columns))
		default:
			if r := in.dbRow(columns, fields); r != nil {
				runs = append(runs, r)
			}
		}
	})
	if len(runs) == 0 && !in.faulty {
		in.problem("", "there are no results below the header")
	}
	nameDBTargets(runs)
	return runs
}

// dbRow returns the run of a line; nil if it has no rate, or no name.
func (in *input) dbRow(columns header, fields []string) *run {
	test, rate := columns.text(fields, "test"), columns.text(fields, "ops_sec")
	r := newDBRun(newRun(in.file, fmtDBBench), test, test)
	r.tool, r.engine, r.version = "db_bench, a table of results", "rocksdb", columns.text(fields, "version")
	if _, ok := positiveNumber(rate); !ok || test == "" {
		in.problem("", "ops_sec %q and test %q: a number and a name were expected", rate, test)
		return nil
	}
	for _, c := range dbColumns {
		v := columns.text(fields, c.name)
		if v == "" || v == "NA" {
			continue
		}
		n, ok := positiveNumber(v)
		expected := "a number"
		options := []account.With{account.Of(opOperation, opOperation), account.Source("table")}
		if c.perStep {
			options[0] = account.Of("", "")
		}
		if c.size {
			n, ok = sizeOf(v)
			expected = "a number with KB, MB, GB or TB"
			options = append(options, warned("printed as a whole number of its unit"))
		}
		if !ok {
			in.problem("", "%s is %q: %s was expected", c.name, v, expected)
		} else if c.zero || n > 0 {
			r.put(c.metric, n, options...)
		}
	}
	return r
}

// nameDBTargets names the targets of a table with several releases after the releases,
// and numbers the repetitions of a benchmark. It is a guess that lines of one
// release are repetitions and not different configurations.
func nameDBTargets(table []*run) {
	versions, _ := groups(table, func(r *run) string { return r.version })
	versions = slices.DeleteFunc(versions, func(v string) bool { return v == "" })
	for _, r := range table {
		if len(versions) > 1 && r.version != "" {
			r.target = r.version
		}
	}
	_, same := groups(table, func(r *run) [2]string { return [2]string{r.target, r.step.Name} })
	for _, runs := range same {
		for i, r := range runs {
			if len(table) > 1 {
				r.trial = i + 1
			}
			if len(runs) > 1 {
				r.guess("the %d lines of %s in %s are trials of one configuration; if they are of several, put them "+
					"into files "+
					"of their own", len(runs), strings.TrimSpace(r.version+" "+r.step.Name), r.file.path)
				r.warnings = append(r.warnings, noted("guessed: %s", r.guesses[0]))
			}
		}
	}
}
