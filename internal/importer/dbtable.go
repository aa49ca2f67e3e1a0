package importer

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// parseDBTable reads a table of results of db_bench: tab separated, a header
// before each benchmark, a line for each repetition. Lines of mean and standard
// deviation are what the repetitions give again, and are not read.
func parseDBTable(f *file, ps *Problems) []*run {
	t := dbTable{f: f, ps: ps}
	f.each(ps, func(n int, line string, last bool) bool {
		fields := strings.Split(line, "\t")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "mean=") || strings.HasPrefix(line, "#"):
		case fields[0] == "ops_sec":
			t.header = fields
		case last && f.cut:
			ps.add(f.path, n, "copy the table again", "the last line is cut off")
		default:
			t.row(n, fields)
		}
		return true
	})
	if len(t.runs) == 0 && len(*ps) == 0 {
		ps.add(f.path, f.lines, "", "there are no results below the header")
	}
	t.targets()
	return t.runs
}

type dbTable struct {
	f      *file
	ps     *Problems
	header []string
	runs   []*run
}

func (t *dbTable) row(line int, fields []string) {
	if t.header == nil || len(fields) > len(t.header) || len(fields) < len(t.header)-2 { // the last columns may be empty
		t.ps.add(t.f.path, line, "", "%d fields do not fit the header, which has %d", len(fields), len(t.header))
		return
	}
	text := func(name string) string {
		if i := slices.Index(t.header, name); i >= 0 && i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	r := newRun(t.f, fmtDBBench)
	r.tool, r.engine, r.version = "db_bench, a table of results", "rocksdb", text("version")
	r.step.Name, r.step.Primary, r.step.WritesPer = text("test"), "operation", "operation"
	r.step.Doc = "db_bench, benchmark " + r.step.Name
	r.step.Groups = []result.Group{{Name: "operation", Ops: []string{"operation"}}}
	if _, ok := positive(text("ops_sec")); !ok || r.step.Name == "" {
		t.ps.add(t.f.path, line, "", "ops_sec %q and test %q: a number and a name were expected", text("ops_sec"), r.step.Name)
		return
	}
	at := []func(*metric.Row){of("operation", "operation"), source("table")}
	for _, c := range dbColumns() {
		v := text(c.column)
		if v == "" || v == "NA" {
			continue
		}
		n, ok := positive(v)
		if c.size {
			n, ok = sizeOf(v)
		}
		if !ok {
			t.ps.add(t.f.path, line, "", "%s is %q: %s was expected", c.column, v, c.expected())
			continue
		}
		if c.zero || n > 0 {
			more := append(slices.Clone(at), doubts(c.doubts...))
			if c.whole {
				more = append(more, of("", ""))
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
	zero           bool // 0 is a figure, not what is unknown
	whole          bool // of the step, not of its operations
	doubts         []string
}

func (c dbColumn) expected() string {
	if c.size {
		return "a number with KB, MB, GB or TB"
	}
	return "a number"
}

func dbColumns() []dbColumn {
	return []dbColumn{
		{column: "ops_sec", metric: "ops_per_s", factor: 1, zero: true},
		{column: "ops_sec", metric: "rows_per_s", factor: 1, zero: true},
		{column: "usec_op", metric: "service_mean_us", factor: 1},
		{column: "p50", metric: "service_p50_us", factor: 1},
		{column: "p99", metric: "service_p99_us", factor: 1},
		{column: "p99.9", metric: "service_p999_us", factor: 1},
		{column: "pmax", metric: "service_max_us", factor: 1},
		{column: "lsm_sz", metric: "data_bytes", factor: 1, size: true, whole: true, doubts: []string{"printed as a whole number of its unit"}},
		{column: "w_amp", metric: "engine_write_amplification", factor: 1, whole: true},
		{column: "Nstall", metric: "engine_stalls", factor: 1, zero: true, whole: true},
	}
}

// targets names the targets of a table with several releases by the releases,
// and numbers the repetitions of a benchmark. That lines of one release are
// repetitions, and not other configurations, is a guess.
func (t *dbTable) targets() {
	var versions []string
	for _, r := range t.runs {
		if r.version != "" && !slices.Contains(versions, r.version) {
			versions = append(versions, r.version)
		}
	}
	same := map[[2]string][]*run{}
	for _, r := range t.runs {
		if len(versions) > 1 && r.version != "" {
			r.target = r.version
		}
		id := [2]string{r.target, r.step.Name}
		if same[id] = append(same[id], r); len(t.runs) > 1 {
			r.trial = len(same[id])
		}
	}
	for _, r := range t.runs {
		if n := len(same[[2]string{r.target, r.step.Name}]); n > 1 {
			text := fmt.Sprintf("the %d lines of %s in %s are trials of one configuration; if they are of several, put them into files of their own",
				n, strings.TrimSpace(r.version+" "+r.step.Name), t.f.path)
			r.guess("%s", text)
			r.warnings = append(r.warnings, "guessed: "+text)
		}
	}
}
