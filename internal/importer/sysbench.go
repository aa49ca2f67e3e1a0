package importer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/text/hint"
)

// sysbench reads the output of sysbench run, releases 0.4, 0.5, 1.0 and 1.1, and
// rumbench's imitation of it, which prints “-” for unknown values.
type sysbench struct {
	*log
	header, end int    // the lines of the version, 0 if not seen yet, and the last one of the run
	section     string // the last line that ended in a colon
	started     bool   // what follows are results
	threads     int    // 0: unknown
	queue       bool   // a rate was set
	operation   string // of a step that rumbench printed, if its events are not those of a sysbench test
	group       string // of its clients
	fatal       string // the first error that ended it, with its place
	checkpoint  bool   // the figures of a checkpoint are being read
	parts       []sbFigures
	sbSeries
	sbFigures
}

// The head of a run that sysbench printed, and of one that rumbench printed.
const (
	sbHead     = `^sysbench v?(?P<version>\d+\.\d+\S*?):?(?: |$)`
	sbRumbench = `^rumbench: step (?P<step>".*") of (?P<target>".*"), trial (?P<trial>\d+),` +
		`(?: operation (?P<operation>".*") of (?P<group>".*"),)? as sysbench (?P<like>\S+) prints it$`
)

// hasSBHead recognises files with a run of sysbench, or with what else it prints.
var hasSBHead = anyLine(sbHead + `|` + sbRumbench)

var hasSBRun = anyLine(`^Running (the test with following options|memory speed test)`)

func isSysbench(head []string) bool { return hasSBHead(head) && hasSBRun(head) }

// sbBelow begin lines that sysbench prints below its version: settings and final figures.
var sbBelow = regexp.MustCompile(`^(Running the test with|Number of threads:|Target transaction rate:|Threads started!` +
	`|General statistics:|Test execution summary:|Throughput:)`)

func parseSysbench(files []*file, o *Options, ps *hint.Problems) []*run {
	s := newSysbench(&input{file: files[0], ps: ps})
	return s.result(s.line, func() { s.finish(o) })
}

func newSysbench(in *input) *sysbench {
	return &sysbench{log: &log{run: newRun(in.file, fmtSysbench), input: in}, group: groupClients,
		sbFigures: newFigures(), sbSeries: sbSeries{intervals: thinned[sbInterval]{limit: mostIntervals}}}
}

func (s *sysbench) line(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case sbHeads.read(s, line):
	case s.header == 0:
		s.refuseIf(sbBelow.MatchString(line), "import the log as sysbench printed it",
			"%q is above the line with sysbench's version: the beginning of a run is missing", clip(line))
		s.command(line)
	case line == "[":
		s.drop("intervals in JSON") // of sysbench.report_json
	case strings.HasPrefix(line, "["):
		s.interval(line)
	case isReportCSV(line):
		s.csv(line)
	case strings.HasPrefix(trimmed, "FATAL:") && s.fatal == "":
		s.fatal = fmt.Sprintf("(%s:%d): %s", s.path, s.lineNumber, trimmed)
	case strings.Contains(trimmed, "|") && s.section == "histogram":
		s.bucket(trimmed)
	case strings.HasPrefix(trimmed, "Latency histogram"):
		s.section = "histogram"
		s.refuseIf(!strings.Contains(trimmed, "milliseconds"), "",
			"%q: the values of a latency histogram were expected in milliseconds", clip(trimmed))
	default:
		s.started = s.started || trimmed == "Threads started!"
		sbSettings.read(s, trimmed)
		s.total(trimmed)
	}
}

var sbHeads = grammar[*sysbench]{
	on(sbHead, func(s *sysbench, m match) { s.begin("sysbench " + m.text("version")) }),
	on(sbRumbench, (*sysbench).names),
}

func (s *sysbench) begin(tool string) {
	s.secondRun(s.header > 0, "a second run of sysbench begins here, after the one of line %d", s.header)
	s.header, s.tool = s.lineNumber, tool
}

// names takes the names in the head of a run that rumbench printed.
func (s *sysbench) names(m match) {
	s.begin("rumbench, as sysbench " + m.text("like"))
	trial := m.int("trial")
	ok := trial > 0
	name := func(group string) string {
		text, err := strconv.Unquote(cmp.Or(m.text(group), `""`))
		ok = ok && err == nil
		return text
	}
	s.step.Name, s.run.target, s.run.trial = name("step"), name("target"), trial
	s.operation, s.group = name("operation"), cmp.Or(name("group"), s.group)
	s.refuseIf(!ok, "", "%q: the names of a step and a target in quotation marks were expected, and a trial",
		clip(m.line))
}

// planned are the options that runs must share, with underscores. Credentials, and
// options that affect only the output, are not among them.
const planned = " tables table_size range_size rand_type skip_trx random_points rate db_ps_mode secondary on_id " +
	"covered hot_points update_rate "

// sbOption returns the name of an option that runs must share, "" for any other option.
// Release 0.5 had different names for some.
func sbOption(word string) string {
	name, ok := strings.CutPrefix(word, "--")
	name = strings.ReplaceAll(name, "-", "_")
	name = cmp.Or(map[string]string{"oltp_table_size": "table_size", "oltp_tables_count": "tables"}[name], name)
	if !ok || !strings.Contains(planned, " "+name+" ") {
		return ""
	}
	return name
}

// command takes the lines before sysbench's own: the scripts that run test suites
// put the command there, and the number of CPUs.
func (s *sysbench) command(line string) {
	if cpus, ok := strings.CutSuffix(strings.TrimSpace(line), " CPUs"); ok {
		if v, ok := wholeNumber(cpus); ok {
			s.cpus = int(v)
		}
		return
	}
	arguments := sbArguments(strings.Fields(line))
	if !slices.Contains(arguments, "run") {
		return
	}
	for _, w := range arguments {
		name, value, assigned := strings.Cut(w, "=")
		if !assigned {
			value = "on"
		}
		switch option := sbOption(name); {
		case name == "--test" || !strings.HasPrefix(w, "-") && w != "run" && !slices.Contains(sbBuiltIn, w):
			script := strings.TrimPrefix(w, "--test=")
			s.ask(s.lineNumber, "script", strings.TrimSuffix(script[strings.LastIndex(script, "/")+1:], ".lua"))
		case option == "rate" && value == "0": // as without it
		case option != "":
			s.ask(s.lineNumber, option, value)
		case name == "--db-driver":
			s.engine = strings.Replace(value, "pgsql", "postgres", 1)
		case name == "--mysql-storage-engine":
			s.storage = strings.ToLower(value)
		case name == "--time" || name == "--warmup-time" || name == "--events":
			s.params[strings.ReplaceAll(name[2:], "-", "_")] = value
		}
	}
}

// sbBuiltIn are the tests without a script. Their parameters are among the settings
// that sysbench prints.
var sbBuiltIn = []string{"cpu", "memory", "fileio", "threads", "mutex"}

var sbProgram = regexp.MustCompile(`^(?:(?:[^-=][^=]*)?/)?sysbench(?:[-.]?\d[\w.]*)?$`)

// sbArguments returns the words after the program of a shell command. Before it
// there may be assignments, where any word can look like a program or a script,
// and programs that start others, with their options.
func sbArguments(words []string) []string {
	if i := slices.IndexFunc(words, sbProgram.MatchString); i >= 0 {
		return words[i+1:]
	}
	return nil
}

// sbSettings are the options that sysbench prints before it starts.
var sbSettings = grammar[*sysbench]{
	on(`^Number of threads:\s*(?P<threads>\d{1,18})$`, func(s *sysbench, m match) {
		s.threads = m.int("threads")
		s.ask(s.lineNumber, "clients", strconv.Itoa(s.threads))
	}),
	on(`^Target transaction rate:\s*(?P<rate>.*?)(?:/sec)?$`, func(s *sysbench, m match) {
		if s.queue = true; s.params["rate"] == "" {
			s.asked(m)
		}
	}),
	on(`^Doing (?P<test>(?:.* )?test)$`, func(s *sysbench, m match) {
		if s.params["file_size"] != "" {
			s.ask(s.lineNumber, "script", "fileio "+m.text("test"))
		}
	}),
	on(`^Prime numbers limit:\s*(?P<limit>.*)`, func(s *sysbench, m match) {
		s.ask(s.lineNumber, "script", "cpu, primes up to "+m.text("limit"))
	}),
	on(`^Block size (?P<block_size>.*)`, (*sysbench).asked),
	on(`^(?P<file_size>.*) total file size$`, (*sysbench).asked),
	on(`^operation: (?P<operation>.*)`, func(s *sysbench, m match) {
		if s.section == "Running memory speed test with the following options:" {
			s.ask(s.lineNumber, "script", "memory "+m.text("operation"))
		}
	}),
}
