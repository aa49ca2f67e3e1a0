package importer

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/text/hint"
)

type format struct {
	name string
	// detect recognises a file by its first lines.
	detect func(head []string) bool
	// parse reads the runs of files that belong together: usually one file, those
	// of all clients of the insert benchmark, or pgbench's output and then its
	// logs. It is nil for companions of a run: iostat, vmstat, time.
	parse func(files []*file, o *Options, ps *hint.Problems) []*run
}

// Names of formats that the code refers to.
const (
	fmtSysbench     = "sysbench"
	fmtIBench       = "ibench"
	fmtPgbench      = "pgbench"
	fmtPgLog        = "pgbench -l"
	fmtDBBench      = "db_bench"
	fmtYCSB         = "ycsb"
	fmtGoTPC        = "go-tpc"
	fmtHammerDB     = "hammerdb"
	fmtBenchmarkSQL = "benchmarksql"
	fmtTPCCMySQL    = "tpcc-mysql"
	fmtGoBench      = "gobench"
	fmtBenchbase    = "benchbase"
	fmtCSV          = "csv"
	fmtIOStat       = "iostat"
	fmtVMStat       = "vmstat"
	fmtTime         = "time"
	fmtMet          = "costs per operation"
)

// Options control how logs are read.
type Options struct {
	Format     string   // one of Formats; "" recognises each file by its content
	Target     string   // the name of the only target; "" names targets by their paths
	Base       string   // the base of comparisons; "" is the first target by name
	Compatible bool     // compute as the scripts behind published figures do
	Skip       bool     // leave out faulty parts, and import the rest
	CPUs       int      // of the host; 0 uses the number in the files
	Devices    []string // that hold the database, by iostat's names; none takes the only one in use
	Name       string   // of the campaign
	Command    []string // the command line of the import
	Now        time.Time
}

// rule is a kind of line of a format: an expression, whose named groups are what the line gives, and what the parser
// does with them.
type rule[P any] struct {
	expr *regexp.Regexp
	do   func(parser P, m match)
}

func on[P any](expr string, do func(P, match)) rule[P] { return rule[P]{regexp.MustCompile(expr), do} }

// grammar are the kinds of lines of a format, in the order in which they are tried.
type grammar[P any] []rule[P]

// read does what the first rule does that matches a line. It reports whether there is one.
func (g grammar[P]) read(parser P, line string) bool {
	for _, r := range g {
		if groups := r.expr.FindStringSubmatch(line); groups != nil {
			r.do(parser, match{r.expr, line, groups})
			return true
		}
	}
	return false
}

// match is a line that an expression matches.
type match struct {
	expr   *regexp.Regexp
	line   string
	groups []string
}

// text returns what a named group matched.
func (m match) text(group string) string { return m.groups[m.expr.SubexpIndex(group)] }

func (m match) number(group string) float64 { v, _ := number(m.text(group)); return v }

func (m match) figure(group string) figure { f, _ := figureOf(m.text(group)); return f }

func (m match) int(group string) int { n, _ := strconv.Atoi(m.text(group)); return n }

// anyLine returns the function that recognises a format by one of the first lines.
func anyLine(expr string) func(head []string) bool {
	re := regexp.MustCompile(expr)
	return func(head []string) bool { return slices.ContainsFunc(head, re.MatchString) }
}

// log is the log of one run that is being read.
type log struct {
	*run
	*input
	values map[string]string // what lines gave, by the names of their groups
}

func newLog(files []*file, workload, tool string, ps *hint.Problems) *log {
	return &log{newFileRun(files[0], workload, tool), &input{file: files[0], ps: ps}, map[string]string{}}
}

// result returns the run of a log after its lines.
func (l *log) result(line func(text string), finish func()) []*run {
	l.each(line)
	finish()
	return []*run{l.run}
}

// asked takes the groups of a line as parameters that runs must share, by their names.
func (l *log) asked(m match) {
	for i, name := range m.expr.SubexpNames() {
		if name != "" {
			l.ask(l.lineNumber, name, m.groups[i])
		}
	}
}

// kept keeps what the groups of a line gave, for the end.
func (l *log) kept(m match) {
	for i, name := range m.expr.SubexpNames() {
		l.values[name] = m.groups[i]
	}
}

// value returns the figure that a kept value begins with.
func (l *log) value(name string) (figure, bool) {
	word, _, _ := strings.Cut(l.values[name], " ")
	word, _, _ = strings.Cut(word, "/") // 80/80 of the planned
	return figureOf(word)
}

// secondRun refuses a file in which a second run begins or ends.
func (in *input) secondRun(condition bool, reason string, args ...any) {
	in.refuseIf(condition, "split the file: one run each", reason, args...)
}

// printedFigure is a figure with its name.
type printedFigure struct {
	name   string
	figure figure
}

// printedFigures returns the figures in a list NAME: NUMBER, NAME: NUMBER, and whether each is a number.
func printedFigures(list string) iter.Seq2[printedFigure, bool] {
	return func(yield func(printedFigure, bool) bool) {
		for part := range strings.SplitSeq(list, ", ") {
			name, text, _ := strings.Cut(part, ": ")
			if f, ok := figureOf(text); !yield(printedFigure{name, f}, ok) {
				return
			}
		}
	}
}
