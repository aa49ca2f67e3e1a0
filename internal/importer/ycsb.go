package importer

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// ycsb reads the output of YCSB, and of its port go-ycsb, which prints other lines.
type ycsb struct {
	*log
	warmed   bool               // a part of the time is a warm-up
	coarse   bool               // times are whole milliseconds
	intended bool               // times are response times, if there is a target
	failing  bool               // operations failed that the lines of intervals count
	millis   figure             // RunTime, in ms
	overall  figure             // operations per second
	kinds    map[string]*ycsbOp // by the name in the log
	status   []ycsbStatus       // lines of option -s, or blocks of go-ycsb
	goYCSBState
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
	when     time.Time
	done     float64
	complete bool // go-ycsb's figures of each kind agree with those of all
}

const ycsbForeign = `"measurement" ?: ?"RunTime\(ms\)"|latency raw data: op|^Raw data measurement`

var isYCSB = anyLine(`^\[OVERALL\], |^YCSB Client |\* properties \*|` + goYCSBLine + `|` + ycsbForeign)

var ycsbGrammar = grammar[*ycsb]{
	on(ycsbForeign, func(y *ycsb, _ match) {
		y.refuse("run YCSB without -p exporter=…, and with -p measurementtype=hdrhistogram",
			"the figures of this output (JSON, or raw) are not read")
	}),
	on(`^\[(?P<kind>[A-Za-z_-]+)\], (?P<name>[^,]+), (?P<value>\S+)$`, (*ycsb).figure),
	on(`^YCSB Client (?P<release>.*)`, func(y *ycsb, m match) { y.tool = "YCSB " + m.text("release") }),
	on(`^Command line: (?P<words>.*)`, func(y *ycsb, m match) { y.command(strings.Fields(m.text("words"))) }),
	on(`^(?P<when>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[:.,](?P<ms>\d{3}) \d+ sec: (?P<done>\d+) operations;`, func(y *ycsb, m match) {
		y.failing = y.failing || strings.Contains(m.line, "-FAILED")
		if when, err := time.Parse(time.DateTime+".000", m.text("when")+"."+m.text("ms")); err == nil {
			y.addCount(ycsbStatus{when: when, done: m.number("done")})
		}
	}),
	on(goYCSBLine, (*ycsb).portLine),
	on(`^Run finished, takes (?P<took>.*)`, (*ycsb).endPort),
	on(`^"(?P<name>[\w.]+)"="(?P<value>.*)"$`, func(y *ycsb, m match) { y.property(m.text("name"), m.text("value")) }),
}

func parseYCSB(files []*file, _ *Options, ps *hint.Problems) []*run {
	y := &ycsb{log: newLog(files, fmtYCSB, "YCSB", ps), kinds: map[string]*ycsbOp{}}
	return y.result(func(line string) { ycsbGrammar.read(y, strings.TrimSpace(line)) }, y.finish)
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
		y.ask(y.lineNumber, "clients", value)
	case name == "dotransactions":
		y.ask(y.lineNumber, "script", map[string]string{"true": "run", "false": "load"}[value])
	case slices.Contains(ycsbAsked, name):
		y.ask(y.lineNumber, name, value)
	}
}

// command takes YCSB's arguments. Property files other than workloads hold what differs between databases: hosts,
// users.
func (y *ycsb) command(words []string) {
	var files []string
	for i, w := range words[:max(len(words)-1, 0)] {
		next := words[i+1]
		switch w {
		case "-threads":
			y.ask(y.lineNumber, "clients", next)
		case "-target":
			y.ask(y.lineNumber, "target", next)
		case "-p":
			name, value, _ := strings.Cut(next, "=")
			y.property(name, value)
		case "-P":
			files = append(files, next[strings.LastIndex(next, "/")+1:])
		}
	}
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
	y.ask(y.lineNumber, "script", script)
}

// ycsbUnknown are how YCSB prints times that there are none of.
var ycsbUnknown = []string{"NaN", "-1", "9223372036854775807", "18446744073709551615"}

func (y *ycsb) figure(m match) {
	kind, name, text := m.text("kind"), m.text("name"), m.text("value")
	v, ok := figureOf(text)
	switch {
	case strings.HasPrefix(kind, "TOTAL_GC"), ok && digits(strings.TrimPrefix(name, ">")): // buckets, or a series
	case kind != "OVERALL" && slices.Contains(ycsbUnknown, text): // of a kind of which none succeeded
	case !ok && !y.last:
		y.refuse("", "%q: a number was expected, with a decimal point and no sign", clip(text))
	case !ok || y.torn:
	case kind == "OVERALL" && name == "RunTime(ms)":
		y.secondRun(y.millis.value > 0, "a second run of YCSB ends here")
		y.millis = v
	case kind == "OVERALL" && name == "Throughput(ops/sec)":
		y.overall = v
	case kind != "OVERALL":
		if y.kinds[kind] == nil {
			y.kinds[kind] = new(ycsbOp)
		}
		y.noteFigure(y.kinds[kind], kind, name, v.value)
	}
}

// ycsbSuccess are the codes of operations that succeeded.
var ycsbSuccess = []string{"0", "OK", "BATCHED_OK"}

func (y *ycsb) noteFigure(o *ycsbOp, kind, name string, v float64) {
	const limit = 1e15 // operations
	code, coded := strings.CutPrefix(name, "Return=")
	counts := name == "Operations" || name == "Count"
	switch {
	case counts && (v < 0 || v > limit || v != math.Trunc(v)):
		y.refuse("", "%s: %g is no number of operations", kind, v)
	case counts:
		y.contradictIf(o.counted && o.count != int64(v), kind+": operations", newFigure(float64(o.count)), "later",
			newFigure(v))
		o.count, o.counted = int64(v), true
	case coded:
		if o.codes += int64(v); !slices.Contains(ycsbSuccess, code) {
			o.bad += int64(v)
		}
	case name == "LatencyVariance(us)":
		y.coarse = true // only the histogram of ms has it
	case strings.HasSuffix(name, "(ms)"):
		y.drop(kind + " " + name)
	default:
		o.note(name, v)
	}
}

// addCount adds a number of operations, unless it is none that can follow the last one.
func (y *ycsb) addCount(s ycsbStatus) {
	if n := len(y.status); n == 0 || s.when.After(y.status[n-1].when) && s.done >= y.status[n-1].done {
		y.status = append(y.status, s)
	}
}

func (y *ycsb) finish() {
	complete := y.millis.value > 0 && y.overall.value > 0 || y.ended && len(y.kinds) > 0
	if y.port {
		complete = complete && y.checkFinal()
		if complete || y.total() {
			y.block()
		}
		if y.totals { // lines of the others are missing
			y.status = slices.DeleteFunc(y.status, func(s ycsbStatus) bool { return !s.complete })
		}
	}
	clients, _ := wholeNumber(y.params["clients"])
	switch several := len(y.status) > 1; {
	case complete:
		if y.step.Seconds = y.millis.value / 1e3; y.port {
			y.step.Seconds = y.longest()
		}
		if y.summary(int(clients)); y.port && !y.totals && len(y.progress) == 0 {
			y.warn("neither a total nor earlier figures: whether lines are missing cannot be seen")
		}
	case several && y.failing:
		y.refuse("run the test to its end", "its intervals count operations that failed, too, and it has no final "+
			"figures")
	case several && y.port && y.status[len(y.status)-1].done == 0:
		y.refuse("", "it has figures of no kind of operation that is known")
	case several:
		y.cut("the output has no final figures (%s:%d)", y.path, y.lines)
		first, last := y.status[0], y.status[len(y.status)-1]
		y.step.Seconds = last.when.Sub(first.when).Seconds()
		addOperations(y.run, nil, nil, int64(last.done-first.done), int(clients), "intervals")
	default:
		y.refuse("run the test again; go-ycsb with outputstyle=plain",
			"the output ends without final figures (run time, throughput), and it has no intervals")
	}
	y.step.Doc = y.tool + " " + y.params["script"]
	y.addStatusLines()
}

// summary adds the operations that succeeded, and their times.
func (y *ycsb) summary(clients int) {
	y.checkCodes()
	kinds, done, total, failures := y.done()
	failed := int64(0)
	for _, n := range failures {
		failed += n
	}
	for _, name := range slices.Sorted(maps.Keys(y.kinds)) {
		if o := y.kinds[name]; ycsbKinds[name] != "" && !o.counted {
			y.refuse("", "it has times of %s, and no number of its operations", name)
		}
	}
	switch {
	case y.tornPairs():
		y.refuse("", "reads or updates of read-modify-writes failed: how many operations succeeded is not in the log")
	case len(kinds) == 0 || total <= 0 || y.step.Seconds <= 0:
		y.refuse("", "no operation succeeded: there is no rate")
	}
	if y.params["script"] == "" {
		y.ask(y.lineNumber, "operations", strings.Join(kinds, "+"))
	}
	addOperations(y.run, kinds, done, total, clients, "final figures")
	operations := total + failed
	if !y.port {
		retried := y.checkThroughput(operations, failures[opInsert])
		if retried > 0 {
			y.put(metric.Retries, float64(retried), account.Of(groupClients, ""), account.Count(total))
		}
		operations, failed = operations-retried, failed-retried
	}
	if y.failures("operations", failed, operations); failed > 0 {
		y.failing = y.failing || !y.port // whose intervals count what succeeded
	}
	y.addTimes()
	if target, ok := number(y.params["target"]); ok && target > 0 {
		addArrivals(y.run, target, float64(total), y.reason == "")
		y.step.Groups[0].Pace = "fixed"
	}
}

// checkThroughput compares YCSB's throughput with the operations, and returns how many inserts that failed were
// attempts, and no operations.
func (y *ycsb) checkThroughput(operations, failedInserts int64) (retried int64) {
	counted := y.overall.times(y.millis)
	total := figure{value: counted.value / 1e3, half: counted.half / 1e3}
	attempts, inserts := newFigure(float64(operations)), newFigure(float64(operations-failedInserts))
	if failedInserts > 0 && total.agrees(inserts) && !total.agrees(attempts) {
		attempts, retried = inserts, failedInserts
	}
	y.contradictIf(!total.agrees(attempts), "throughput × run time", total, "operations", attempts)
	return retried
}

func (y *ycsb) addTimes() {
	y.warnIf(y.timesFailures(), "times include those of operations that failed")
	milliseconds := y.port && y.wholeMillis()
	y.warnIf(y.coarse, "times are whole milliseconds, rounded down: -p measurementtype=hdrhistogram has more digits")
	y.warnIf(milliseconds, "percentiles are whole milliseconds, rounded up")
	measure := "service"
	if y.intended && y.params["target"] != "" {
		measure = "response"
	}
	for _, name := range slices.Sorted(maps.Keys(y.kinds)) {
		o := y.kinds[name]
		if y.coarse || milliseconds {
			o.unit = 1000
		}
		if kind := ycsbKinds[name]; kind != "" {
			addPrinted(y.run, measure, kind, &o.printedTimes, y.tool)
		} else if kind := ycsbKinds[strings.TrimPrefix(name, "Intended-")]; kind != "" && y.params["target"] != "" {
			addPrinted(y.run, "response", kind, &o.printedTimes, y.tool)
		}
	}
}

// addStatusLines adds the intervals of option -s, or of go-ycsb's blocks. YCSB's first line is the
// beginning of the second interval: how long its own was is printed in whole seconds.
func (y *ycsb) addStatusLines() {
	if len(y.status) < 2 {
		return
	}
	if y.failing {
		y.drop("intervals, which count operations that failed, too")
		return
	}
	var intervals []account.Interval
	for i := 1; i < len(y.status); i++ {
		previous, now := y.status[i-1], y.status[i]
		n, length := now.done-previous.done, now.when.Sub(previous.when).Seconds()
		end := math.Round(now.when.Sub(y.status[0].when).Seconds()*1e3) / 1e3
		intervals = append(intervals, y.emitInterval(result.Line{T: end, DT: length, Group: groupClients,
			Op:  y.step.Primary,
			Ops: int64(n), Rows: int64(n)}))
	}
	if !y.port {
		y.drop("YCSB's latencies of intervals (-s)")
		y.note("Its series begins with the first of %d status lines.", len(y.status))
	}
	y.addIntervals(groupClients, intervals, y.params["target"] != "", account.Warned(y.partial()...))
}
