package importer

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// ycsb parses the output of YCSB, and of its port go-ycsb, which prints other lines. It has many fields:
// what both print, and what each of them does.
type ycsb struct {
	*run
	*input
	port     bool               // it is go-ycsb's
	ended    bool               // go-ycsb has printed that its run ended: what follows are the final figures
	taken    bool               // properties are being listed
	totals   bool               // go-ycsb prints a total
	warmed   bool               // a part of the time is a warm-up
	coarse   bool               // times are whole milliseconds
	intended bool               // times are response times, if there is a target
	failing  bool               // operations failed that the lines of intervals count
	took     float64            // seconds, as go-ycsb says at its end; 0: unknown
	millis   figure             // RunTime, in ms
	overall  figure             // operations per second
	kinds    map[string]*ycsbOp // by the name in the log
	status   []ycsbStatus       // lines of option -s, or blocks of go-ycsb
	progress map[string]*ycsbOp // the last block of go-ycsb before the end
}

// ycsbOp is a kind of operations; its name may begin with Intended- and end with -FAILED.
type ycsbOp struct {
	printedTimes
	counted bool    // the number of operations is known
	codes   int64   // operations that returned a code
	bad     int64   // among them whose code is none of success
	seconds float64 // of go-ycsb
}

// ycsbStatus is the number of operations done at a time.
type ycsbStatus struct {
	when  time.Time
	done  float64
	whole bool // go-ycsb's figures of each kind agree with those of all
}

var (
	ycsbFigure = regexp.MustCompile(`^\[([A-Za-z_-]+)\], ([^,]+), (\S+)$`)
	ycsbLine   = regexp.MustCompile(`^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[:.,](\d{3}) \d+ sec: (\d+) operations;`)
	ycsbPort   = regexp.MustCompile(`^([A-Z_]+) *- Takes\(s\): (.*)$`)
	ycsbRank   = regexp.MustCompile(`^([\d.]+)(?:st|nd|rd|th)?(?:PercentileLatency)?\(us\)$`)
	ycsbOther  = regexp.MustCompile(`"measurement" ?: ?"RunTime\(ms\)"|latency raw data: op|^Raw data measurement`)
	ycsbProp   = regexp.MustCompile(`^"([\w.]+)"="(.*)"$`)
)

func isYCSB(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "[OVERALL], ") || strings.HasPrefix(l, "YCSB Client ") || ycsbPort.MatchString(l) ||
			strings.Contains(l, "* properties *") || ycsbOther.MatchString(l)
	})
}

// parseYCSB reads the output of one run.
func parseYCSB(files []*file, _ *Options, ps *hint.Problems) []*run {
	y := &ycsb{run: newRun(files[0], fmtYCSB), input: &input{file: files[0], ps: ps}, kinds: map[string]*ycsbOp{}}
	y.tool = "YCSB"
	if !y.each(y.line) {
		return nil
	}
	y.nameByFile(y.path)
	if y.finish(); y.refused {
		return nil
	}
	return []*run{y.run}
}

func (y *ycsb) line(line string) {
	line = strings.TrimSpace(line)
	switch m := ycsbFigure.FindStringSubmatch(line); {
	case ycsbOther.MatchString(line):
		y.refuse("run YCSB without -p exporter=…, and with -p measurementtype=hdrhistogram",
			"the figures of this output (JSON, or raw) are not read")
	case m != nil:
		y.figure(m[1], m[2], m[3])
	case strings.HasPrefix(line, "YCSB Client "):
		y.tool = "YCSB " + strings.TrimPrefix(line, "YCSB Client ")
	case strings.HasPrefix(line, "Command line: "):
		y.command(strings.Fields(line))
	case ycsbLine.MatchString(line):
		y.failing = y.failing || strings.Contains(line, "-FAILED")
		y.addStatus(ycsbLine.FindStringSubmatch(line))
	case ycsbPort.MatchString(line):
		y.portLine(ycsbPort.FindStringSubmatch(line))
	case strings.HasPrefix(line, "Run finished, takes "):
		if y.ended {
			y.refuse("split the file: one run each", "a second run of go-ycsb ends here")
			return
		}
		y.block()
		took, err := time.ParseDuration(strings.TrimPrefix(line, "Run finished, takes "))
		if err == nil {
			y.took = took.Seconds()
		}
		y.port, y.ended, y.progress, y.kinds = true, true, y.kinds, map[string]*ycsbOp{}
	case ycsbProp.MatchString(line):
		m := ycsbProp.FindStringSubmatch(line)
		y.property(m[1], m[2])
	}
}

// ycsbAsked are the properties that runs must share to be compared. Others may be passwords.
var ycsbAsked = []string{"recordcount", "operationcount", "readproportion", "updateproportion", "insertproportion",
	"scanproportion", "readmodifywriteproportion", "requestdistribution", "target", "fieldcount", "fieldlength",
	"readallfields", "writeallfields", "maxscanlength", "insertorder"}

func (y *ycsb) property(name, value string) {
	switch {
	case name == "measurement.interval":
		y.intended = value == "intended"
	case name == "warmuptime":
		y.warmed = value != "0"
	case name == "threadcount":
		y.ask(y.at, "clients", value)
	case slices.Contains(ycsbAsked, name):
		y.ask(y.at, name, value)
	case name == "dotransactions":
		y.ask(y.at, "script", map[string]string{"true": "run", "false": "load"}[value])
	}
}

// command parses YCSB's own line with its arguments.
func (y *ycsb) command(words []string) {
	var files []string
	for i, w := range words[:len(words)-1] {
		next := words[i+1]
		name, value, _ := strings.Cut(next, "=")
		switch w {
		case "-threads":
			y.ask(y.at, "clients", next)
		case "-target":
			y.ask(y.at, "target", next)
		case "-p":
			y.property(name, value)
		case "-P":
			files = append(files, next[strings.LastIndex(next, "/")+1:])
		}
	}
	// Others hold what differs between databases: hosts, users.
	isWorkload := func(name string) bool { return strings.HasPrefix(name, "workload") }
	if slices.ContainsFunc(files, isWorkload) {
		files = slices.DeleteFunc(files, func(name string) bool { return !isWorkload(name) })
	}
	script := strings.Join(files, "+")
	switch {
	case slices.Contains(words, "-load"):
		script = "load"
	case script == "" && slices.Contains(words, "-t"):
		script = "run"
	}
	y.ask(y.at, "script", script)
}

// figure takes a figure of YCSB's summary.
func (y *ycsb) figure(kind, name, text string) {
	v, ok := figureOf(text)
	switch {
	case strings.HasPrefix(kind, "TOTAL_GC"), ok && digits(strings.TrimPrefix(name, ">")): // buckets, or a series
	case kind != "OVERALL" && slices.Contains(ycsbUnknown, text): // of a kind of which none succeeded
	case !ok && !y.last:
		y.refuse("", "%q: a number was expected, with a decimal point and no sign", clip(text))
	case !ok || y.last && y.input.file.cut: // it may end in the middle of the number
	case kind == "OVERALL" && name == "RunTime(ms)":
		if y.millis.value > 0 {
			y.refuse("split the file: one run each", "a second run of YCSB ends here")
		}
		y.millis = v
	case kind == "OVERALL" && name == "Throughput(ops/sec)":
		y.overall = v
	case kind == "OVERALL":
	default:
		y.noteFigure(y.op(kind), kind, name, v.value)
	}
}

// ycsbUnknown are how YCSB prints times that there are none of.
var ycsbUnknown = []string{"NaN", "-1", "9223372036854775807", "18446744073709551615"}

func (y *ycsb) op(kind string) *ycsbOp {
	if y.kinds[kind] == nil {
		y.kinds[kind] = new(ycsbOp)
	}
	return y.kinds[kind]
}

func (y *ycsb) noteFigure(o *ycsbOp, kind, name string, v float64) {
	const limit = 1e15 // operations
	code, coded := strings.CutPrefix(name, "Return=")
	switch {
	case (name == "Operations" || name == "Count") && (v < 0 || v > limit || v != math.Trunc(v)):
		y.refuse("", "%s: %g is no number of operations", kind, v)
	case name == "Operations" || name == "Count":
		if o.counted && o.count != int64(v) {
			y.contradict(kind+": operations", figure{value: float64(o.count)}, "later", figure{value: v})
		}
		o.count, o.counted = int64(v), true
	case name == "AverageLatency(us)" || name == "Avg(us)":
		o.note("mean", 0, v)
	case name == "MinLatency(us)" || name == "Min(us)":
		o.note("min", 0, v)
	case name == "MaxLatency(us)" || name == "Max(us)":
		o.note("max", 0, v)
	case coded:
		if o.codes += int64(v); !slices.Contains(ycsbSuccess, code) {
			o.bad += int64(v)
		}
	case name == "LatencyVariance(us)":
		y.coarse = true // only the histogram of ms has it
	case ycsbRank.MatchString(name):
		percent, _ := number(ycsbRank.FindStringSubmatch(name)[1])
		o.note("percentile", percent, v)
	case strings.HasSuffix(name, "(ms)"):
		y.drop(kind + " " + name)
	}
}

func (y *ycsb) addStatus(m []string) {
	when, err := time.Parse(time.DateTime+".000", m[1]+"."+m[2])
	done, ok := number(m[3])
	if err == nil && ok {
		y.addCount(ycsbStatus{when: when, done: done})
	}
}

// addCount adds a number of operations, unless it is none that can follow the last one.
func (y *ycsb) addCount(s ycsbStatus) {
	if n := len(y.status); n == 0 || s.when.After(y.status[n-1].when) && s.done >= y.status[n-1].done {
		y.status = append(y.status, s)
	}
}

// ycsbKinds are the operations, by their names in the log. Others are connections, transactions
// and checks. A read-modify-write is counted as a read and an update, too.
var ycsbKinds = map[string]string{
	"READ": "read", "UPDATE": "update", "INSERT": "insert", "SCAN": "scan", "DELETE": "delete",
	ycsbRMW: "read_modify_write", "READ_MODIFY_WRITE": "read_modify_write",
}

const ycsbRMW = "READ-MODIFY-WRITE"

// finish makes the rows of the run.
func (y *ycsb) finish() {
	complete := y.millis.value > 0 && y.overall.value > 0 || y.ended && len(y.kinds) > 0
	if y.port {
		complete = complete && y.checkFinal()
		if complete || y.total() {
			y.block()
		}
		if y.totals { // lines of the others are missing
			y.status = slices.DeleteFunc(y.status, func(s ycsbStatus) bool { return !s.whole })
		}
	}
	clients, _ := whole(y.params["clients"])
	switch {
	case complete && y.port:
		y.step.Seconds = y.longest()
		y.summary(int(clients))
		if !y.totals && len(y.progress) == 0 {
			y.warn("neither a total nor earlier figures: whether lines are missing cannot be seen")
		}
	case complete:
		y.step.Seconds = y.millis.value / 1e3
		y.summary(int(clients))
	case len(y.status) > 1 && y.failing:
		y.refuse("run the test to its end", "its intervals count operations that failed, too, and it has no final figures")
		return
	case len(y.status) > 1 && y.port && y.status[len(y.status)-1].done == 0:
		y.refuse("", "it has figures of no kind of operation that is known")
		return
	case len(y.status) > 1:
		y.cut("the output has no final figures (%s:%d)", y.path, y.lines)
		first, last := y.status[0], y.status[len(y.status)-1]
		y.step.Seconds = last.when.Sub(first.when).Seconds()
		addOperations(y.run, nil, nil, int64(last.done-first.done), int(clients), "intervals")
	default:
		y.refuse("run the test again; go-ycsb with outputstyle=plain",
			"the output ends without final figures (run time, throughput), and it has no intervals")
		return
	}
	y.step.Doc = y.tool + " " + y.params["script"]
	y.addStatusLines()
}

// done returns the kinds of operations, how many of each and of all succeeded, and how many of each failed.
func (y *ycsb) done() (kinds []string, done map[string]int64, all int64, failed map[string]int64) {
	done, failed = map[string]int64{}, map[string]int64{}
	uncounted := map[string]int64{} // in the codes, and in a kind of their own if that is printed
	for name, o := range y.kinds {
		switch kind, wrong := ycsbKind(name); {
		case kind == "":
		case wrong:
			failed[kind] += o.count
		case o.counted:
			counted, codesOnly := o.failed()
			kinds = append(kinds, kind)
			done[kind], uncounted[kind] = o.count-counted, codesOnly
			failed[kind] += counted
			if all += done[kind]; kind == "read_modify_write" {
				all -= 2 * done[kind]
			}
		}
	}
	for kind, n := range uncounted {
		failed[kind] = max(failed[kind], n)
	}
	slices.Sort(kinds)
	return kinds, done, all, failed
}

// ycsbKind returns the kind of operations that a name in the log is about, and whether they failed.
// YCSB's failures are KIND-REASON, go-ycsb's KIND_ERROR.
func ycsbKind(name string) (kind string, failed bool) {
	if kind := ycsbKinds[name]; kind != "" {
		return kind, false
	}
	longest := ""
	for known := range ycsbKinds {
		failure := strings.HasPrefix(name, known+"-") || name == known+"_ERROR"
		if failure && len(known) > len(longest) {
			longest = known
		}
	}
	return ycsbKinds[longest], true
}

// torn reports whether read-modify-writes may have failed in part: both tools measure them all the same, and
// how many reads and updates were theirs is not in the log.
func (y *ycsb) torn() bool {
	parts, whole := false, false
	for name, o := range y.kinds {
		kind, failed := ycsbKind(name)
		parts = parts || (failed && o.count > 0 || o.bad > 0) && (kind == "read" || kind == "update")
		whole = whole || kind == "read_modify_write" && o.count > 0
	}
	return parts && whole
}

// summary adds the operations that succeeded, and their times.
func (y *ycsb) summary(clients int) {
	y.checkCodes()
	kinds, done, all, failures := y.done()
	failed := int64(0)
	for _, n := range failures {
		failed += n
	}
	for _, name := range slices.Sorted(maps.Keys(y.kinds)) {
		if o := y.kinds[name]; ycsbKinds[name] != "" && !o.counted {
			y.refuse("", "it has times of %s, and no number of its operations", name)
			return
		}
	}
	switch {
	case y.torn():
		y.refuse("", "reads or updates of read-modify-writes failed: how many operations succeeded is not in the log")
		return
	case len(kinds) == 0 || all <= 0 || y.step.Seconds <= 0:
		y.refuse("", "no operation succeeded: there is no rate")
		return
	}
	if y.params["script"] == "" {
		y.ask(y.at, "operations", strings.Join(kinds, "+"))
	}
	addOperations(y.run, kinds, done, all, clients, "final figures")
	operations := all + failed
	if counted := y.overall.times(y.millis); !y.port {
		total := figure{value: counted.value / 1e3, half: counted.half / 1e3}
		repeated := failures[opInsert]
		attempts, inserts := figure{value: float64(operations)}, figure{value: float64(operations - repeated)}
		if repeated > 0 && total.agrees(inserts) && !total.agrees(attempts) { // attempts, and no operations
			y.put(metric.Retries, float64(repeated), account.Of(sbClients, ""), account.Count(all))
			operations -= repeated
			failed -= repeated
		}
		if sum := (figure{value: float64(operations)}); !total.agrees(sum) {
			y.contradict("throughput × run time", total, "operations", sum)
		}
	}
	if failed > 0 {
		y.put(metric.Errors, float64(failed), account.Of(sbClients, ""), account.Count(operations))
		y.warn("%d operations failed", failed)
		y.failing = y.failing || !y.port // whose intervals count what succeeded
	}
	if y.mixed() {
		y.warn("times include those of operations that failed")
	}
	if y.coarse {
		y.warn("times are whole milliseconds, rounded down: -p measurementtype=hdrhistogram has more digits")
		y.roundTo(1000)
	}
	if y.port && y.wholeMillis() {
		y.warn("percentiles are whole milliseconds, rounded up")
		y.roundTo(1000)
	}
	measure := "service"
	if y.intended && y.params["target"] != "" {
		measure = "response"
	}
	for _, name := range slices.Sorted(maps.Keys(y.kinds)) {
		o := y.kinds[name]
		if kind := ycsbKinds[name]; kind != "" {
			addPrinted(y.run, measure, kind, &o.printedTimes, y.tool)
		} else if kind := ycsbKinds[strings.TrimPrefix(name, "Intended-")]; kind != "" && y.params["target"] != "" {
			addPrinted(y.run, "response", kind, &o.printedTimes, y.tool)
		}
	}
	if target, ok := number(y.params["target"]); ok && target > 0 {
		addArrivals(y.run, target, float64(all), y.reason == "")
		y.step.Groups[0].Pace = "fixed"
	}
}

// roundTo notes what percentiles are rounded to, in µs.
func (y *ycsb) roundTo(unit float64) {
	for _, o := range y.kinds {
		o.unit = unit
	}
}

// wholeMillis reports whether all percentiles are multiples of a millisecond, as those of old releases of go-ycsb.
func (y *ycsb) wholeMillis() bool {
	some := false
	for _, o := range y.kinds {
		for _, us := range o.percentiles {
			if some = true; math.Mod(us, 1000) != 0 {
				return false
			}
		}
	}
	return some
}

// addStatusLines adds the intervals of option -s, or of go-ycsb's blocks. YCSB's first line is the
// beginning of the second interval: how long its own was is printed in whole seconds.
func (y *ycsb) addStatusLines() {
	var intervals []account.Interval
	var lines []result.Line
	for i := 1; i < len(y.status); i++ {
		before, now := y.status[i-1], y.status[i]
		n, length := now.done-before.done, now.when.Sub(before.when).Seconds()
		end := math.Round(now.when.Sub(y.status[0].when).Seconds()*1e3) / 1e3
		intervals = append(intervals, account.NewInterval(end, length, n))
		lines = append(lines, result.Line{Source: "ops", T: end, DT: length, Group: sbClients, Op: y.step.Primary,
			Ops: int64(n), Rows: int64(n)})
	}
	if len(intervals) == 0 {
		return
	}
	if y.failing {
		y.drop("intervals, which count operations that failed, too")
		return
	}
	for _, l := range lines {
		y.emit(l)
	}
	if !y.port {
		y.drop("YCSB's latencies of intervals (-s)")
		y.step.Note(fmt.Sprintf("Its series begins with the first of %d status lines.", len(y.status)))
	}
	y.addIntervals(sbClients, intervals, y.params["target"] != "", account.Warned(y.partial()...))
}
