package importer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"rumbench/internal/account"
	"rumbench/internal/text/hint"
)

// sysbench parses the output of sysbench run, releases 0.4, 0.5, 1.0 and 1.1, and
// rumbench's imitation of it, which prints “-” for unknown values.
type sysbench struct {
	*run
	*input
	header     int    // line of the version, from 1; 0: not seen yet
	section    string // the last line that ended in a colon
	started    bool   // what follows are results
	threads    int    // 0: unknown
	queue      bool   // a rate was set
	operation  string // of a step that rumbench printed, if its events are not those of a sysbench test
	group      string // of its clients
	fatal      string // the first error that ended it, with its place
	end        int    // the last line of the run
	checkpoint bool   // the figures of a checkpoint are being read
	parts      []sbFigures
	sbSeries
	sbFigures
}

// sbFigures are the figures at the end of a run, or at a checkpoint, which begins new
// counts.
type sbFigures struct {
	complete  bool
	totals    map[string]figure // by name, see sbTaken
	rates     map[string]figure // printed per second, by the same names
	latency   map[string]figure // ms
	disabled  bool              // percentiles were disabled
	uncounted bool              // the statements are unknown
	histogram []account.Bucket
}

func newFigures() sbFigures {
	return sbFigures{totals: map[string]figure{}, rates: map[string]figure{}, latency: map[string]figure{}}
}

func isSysbench(head []string) bool {
	version := slices.ContainsFunc(head, func(l string) bool { return sbVersion(l) != "" })
	return version && slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "Running the test with following options") ||
			strings.HasPrefix(l, "Running memory speed test")
	})
}

// sbBelow begin lines that sysbench prints below its version: settings and final figures.
var sbBelow = regexp.MustCompile(`^(Running the test with|Number of threads:|Target transaction rate:|Threads started!` +
	`|General statistics:|Test execution summary:|Throughput:)`)

var sbVersionLine = regexp.MustCompile(`^sysbench v?(\d+\.\d+\S*):?( |$)`)

// sbOwnPrefix begins the head of a run that rumbench printed.
const sbOwnPrefix = "rumbench: step "

var sbOwn = regexp.MustCompile(`^rumbench: step (".*") of (".*"), trial (\d+),(?: operation (".*") of (".*"),)? as sysbench (\S+) prints it$`)

func sbVersion(line string) string {
	if !strings.HasPrefix(line, "sysbench ") && !strings.HasPrefix(line, sbOwnPrefix) {
		return ""
	}
	if m := sbOwn.FindStringSubmatch(line); m != nil {
		return m[6]
	}
	if m := sbVersionLine.FindStringSubmatch(line); m != nil {
		return strings.TrimSuffix(m[1], ":")
	}
	return ""
}

// parseSysbench reads a log. It returns nil if the log is unusable.
func parseSysbench(files []*file, o *Options, ps *hint.Problems) []*run {
	s := newSysbench(&input{file: files[0], ps: ps})
	s.each(s.line)
	s.end = s.lines
	s.finish(o)
	return []*run{s.run}
}

func newSysbench(in *input) *sysbench {
	return &sysbench{run: newRun(in.file, fmtSysbench), input: in, group: sbClients, sbFigures: newFigures(),
		sbSeries: sbSeries{intervals: thinned[sbInterval]{limit: mostIntervals}}}
}

func (s *sysbench) line(line string) {
	if v := sbVersion(line); v != "" {
		s.refuseIf(s.header > 0, "split the file: one run each",
			"a second run of sysbench begins here, after the one of line %d", s.header)
		s.header, s.tool = s.at, "sysbench "+v
		s.own(line)
		return
	}
	trimmed := strings.TrimSpace(line)
	switch {
	case s.header == 0 && sbBelow.MatchString(line):
		s.refuse("import the log as sysbench printed it",
			"%q is above the line with sysbench's version: the beginning of a run is missing", clip(line))
	case s.header == 0:
		s.command(line)
	case line == "[":
		s.drop("intervals in JSON") // of sysbench.report_json
	case strings.HasPrefix(line, "["):
		s.interval(line)
	case isReportCSV(line):
		s.csv(line)
	case strings.HasPrefix(trimmed, "FATAL:") && s.fatal == "":
		s.fatal = fmt.Sprintf("(%s:%d): %s", s.path, s.at, trimmed)
	case strings.Contains(trimmed, "|") && s.section == "histogram":
		s.bucket(trimmed)
	case strings.HasPrefix(trimmed, "Latency histogram"):
		s.section = "histogram"
		s.refuseIf(!strings.Contains(trimmed, "milliseconds"), "",
			"%q: the values of a latency histogram were expected in milliseconds", clip(trimmed))
	default:
		s.started = s.started || trimmed == "Threads started!"
		s.setting(trimmed)
		s.total(trimmed)
	}
}

// own parses the names in the head of a run that rumbench printed.
func (s *sysbench) own(line string) {
	m := sbOwn.FindStringSubmatch(line)
	if m == nil {
		return
	}
	s.tool = "rumbench, as sysbench " + m[6]
	step, err := strconv.Unquote(m[1])
	target, err2 := strconv.Unquote(m[2])
	trial, _ := whole(m[3])
	var err3, err4 error
	if m[4] != "" {
		s.operation, err3 = strconv.Unquote(m[4])
		s.group, err4 = strconv.Unquote(m[5])
	}
	s.refuseIf(cmp.Or(err, err2, err3, err4) != nil || trial == 0, "",
		"%q: the names of a step and a target in quotation marks were expected, and a trial", clip(line))
	s.step.Name, s.run.target, s.run.trial = step, target, int(trial)
}

// planned are the options that runs must share, with underscores. Credentials, and
// options that affect only the output, are not among them.
const planned = " tables table_size range_size rand_type skip_trx random_points rate db_ps_mode secondary on_id " +
	"covered hot_points update_rate "

// sbOption returns the name of an option that runs must share, "" for any other option.
// Release 0.5 had different names for some.
func sbOption(word string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(word, "--"), "-", "_")
	switch name {
	case "oltp_table_size":
		name = "table_size"
	case "oltp_tables_count":
		name = "tables"
	}
	if strings.HasPrefix(word, "--") && strings.Contains(planned, " "+name+" ") {
		return name
	}
	return ""
}

// command parses the lines before sysbench's own: the scripts that run test suites
// put the command there, and the number of CPUs.
func (s *sysbench) command(line string) {
	if cpus, ok := strings.CutSuffix(strings.TrimSpace(line), " CPUs"); ok {
		if v, ok := whole(cpus); ok {
			s.cpus = int(v)
		}
		return
	}
	arguments := sbArguments(strings.Fields(line))
	if !slices.Contains(arguments, "run") {
		return
	}
	for _, w := range arguments {
		name, value, has := strings.Cut(w, "=")
		if !has {
			value = "on"
		}
		switch {
		case name == "--test" || !strings.HasPrefix(w, "-") && w != "run" && !slices.Contains(sbBuiltIn, w):
			script := strings.TrimPrefix(w, "--test=")
			s.ask(s.at, "script", strings.TrimSuffix(script[strings.LastIndex(script, "/")+1:], ".lua"))
		case sbOption(name) == "rate" && value == "0": // as without it
		case sbOption(name) != "":
			s.ask(s.at, sbOption(name), value)
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

var sbProgram = regexp.MustCompile(`^(?:.*/)?sysbench(?:[-.]?\d[\w.]*)?$`)

// sbArguments returns the words after the program of a shell command. Before it
// there may be assignments, where any word can look like a program or a script,
// and programs that start others, with their options.
func sbArguments(words []string) []string {
	for i, w := range words {
		if sbProgram.MatchString(w) && !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return words[i+1:]
		}
	}
	return nil
}

// setting parses the options that sysbench prints before it starts.
func (s *sysbench) setting(line string) {
	switch {
	case strings.HasPrefix(line, "Number of threads:"):
		if v, ok := whole(strings.TrimSpace(line[len("Number of threads:"):])); ok {
			s.threads = int(v)
			s.ask(s.at, "clients", strconv.Itoa(s.threads))
		}
	case strings.HasPrefix(line, "Target transaction rate:"):
		s.queue = true
		if _, known := s.params["rate"]; !known {
			s.ask(s.at, "rate", strings.TrimSuffix(strings.TrimSpace(line[len("Target transaction rate:"):]), "/sec"))
		}
	case strings.HasPrefix(line, "Doing ") && strings.HasSuffix(line, " test") && s.params["file_size"] != "":
		s.ask(s.at, "script", "fileio "+line[len("Doing "):])
	case strings.HasPrefix(line, "Prime numbers limit:"):
		s.ask(s.at, "script", "cpu, primes up to "+strings.TrimSpace(line[len("Prime numbers limit:"):]))
	case strings.HasPrefix(line, "Block size "):
		s.ask(s.at, "block_size", line[len("Block size "):])
	case strings.HasSuffix(line, " total file size"):
		s.ask(s.at, "file_size", strings.TrimSuffix(line, " total file size"))
	case strings.HasPrefix(line, "operation: ") && s.section == "Running memory speed test with the following options:":
		s.ask(s.at, "script", "memory "+line[len("operation: "):])
	}
}

var sbBucket = regexp.MustCompile(`^(\d+\.\d+) \|\**\s+(\d+)$`)

func (s *sysbench) bucket(line string) {
	if m := sbBucket.FindStringSubmatch(line); m != nil {
		v, _ := number(m[1])
		n, _ := whole(m[2])
		s.histogram = append(s.histogram, account.Bucket{Micros: account.MicrosOfMillis(v), Count: n})
	}
}

// sbFinal are the final figures that rows are computed from, and sbTaken those that
// restate or check them.
const (
	sbFinal = "|total time|time elapsed|total number of events|queries|read/write requests|transactions|"
	sbTaken = sbFinal + sbEvents + "|" + sbBusy + "|events (avg/stddev)|events/s (eps)|events per second|" +
		"read|write|other|total|other operations|ignored errors|deadlocks|rows|offered|shed|not done at the end|"
	sbEvents = "total time taken by event execution"
	sbBusy   = "execution time (avg/stddev)" // the last line
)

// total parses a line of the final figures: NAME: VALUE, or NAME: COUNT (RATE per sec.)
func (s *sysbench) total(line string) {
	name, rest, ok := strings.Cut(line, ":")
	if !ok {
		s.dropIf(strings.Contains(line, "transferred"), "bytes transferred")
		return
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		s.section = line
		return
	}
	if strings.HasPrefix(line, "Total operations:") {
		return // of the memory test: events
	}
	if unit, ok := s.latencyUnit(); ok && name != sbBusy {
		s.addLatency(name, rest, unit)
		return
	}
	first, _, _ := strings.Cut(rest, " ")
	if first == sbUnknown {
		s.uncounted = s.uncounted || name == "queries"
	} else {
		first, _, _ = strings.Cut(first, "/") // average/standard deviation
		s.addTotal(name, strings.TrimSuffix(first, "s"), line)
	}
	if name == sbBusy {
		s.endFigures()
	}
}

func (s *sysbench) addTotal(name, value, line string) {
	v, ok := figureOf(value)
	switch {
	case ok && strings.Contains(sbTaken, "|"+name+"|"):
		s.totals[name] = v
		printed, _ := between(line, "(", " per sec")
		if rate, ok := figureOf(printed); ok {
			s.rates[name] = rate
		}
	case strings.Contains(sbFinal, "|"+name+"|") && !s.last:
		s.refuse("", "%q: a number was expected, with a decimal point and no sign", clip(line))
	case v.value > 0 && s.started:
		s.drop(name)
	}
}

// latencyUnits are the units of latencies, in ms.
var latencyUnits = map[string]float64{"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3}

// millis parses a latency, and converts it to ms.
func millis(value, unit string) (ms figure, ok bool) {
	v, ok := figureOf(value)
	scale := latencyUnits[unit]
	return figure{v.value * scale, v.half * scale}, ok && scale > 0
}

// latencyUnit returns the unit of the latencies in a section, "" for the releases that
// print it behind each latency. ok is false in other sections.
func (s *sysbench) latencyUnit() (unit string, ok bool) {
	if slices.Contains([]string{"response time:", "per-request statistics:", "Latency statistics:"}, s.section) {
		return "", true
	}
	return between(s.section, "Latency (", ")")
}

func (s *sysbench) addLatency(name, text, unit string) {
	switch text {
	case "disabled":
		s.disabled = true
		return
	case sbUnknown:
		return
	}
	value := strings.TrimRightFunc(text, unicode.IsLetter)
	v, ok := millis(value, cmp.Or(text[len(value):], unit))
	if !ok {
		s.refuseIf(!s.last, "", "%s: %q: a latency was expected, in ns, us, ms or s, with a decimal point and no sign",
			name, clip(text))
		return
	}
	name = strings.TrimPrefix(name, "approx.")
	if p, ok := strings.CutSuffix(strings.TrimSpace(name), "percentile"); ok {
		name = "p" + strings.TrimRight(strings.TrimSpace(p), "thsnrd")
	}
	s.latency[name] = v
}
