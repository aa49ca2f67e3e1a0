package importer

import (
	"fmt"
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

// ycsb parses the output of YCSB, and of its port go-ycsb, which prints other lines.
type ycsb struct {
	*run
	*input
	port     bool               // it is go-ycsb's
	ended    bool               // go-ycsb has printed that its run ended: what follows are the final figures
	taken    bool               // properties are being listed
	totals   bool               // go-ycsb prints a total
	warmed   bool               // a part of the time is a warm-up
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
	bad     int64   // that returned something else than OK
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
	ycsbRank   = regexp.MustCompile(`^([\d.]+)(?:st|nd|rd|th)(?:PercentileLatency)?\(us\)$`)
	ycsbProp   = regexp.MustCompile(`^"([\w.]+)"="(.*)"$`)
)

func isYCSB(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "[OVERALL], ") || strings.HasPrefix(l, "YCSB Client ") || ycsbPort.MatchString(l) ||
			strings.Contains(l, "* properties *")
	})
}

// parseYCSB reads the output of one run.
func parseYCSB(files []*file, _ *Options, ps *hint.Problems) []*run {
	y := &ycsb{run: newRun(files[0], fmtYCSB), input: &input{file: files[0], ps: ps}, kinds: map[string]*ycsbOp{}}
	y.tool = "YCSB"
	if !y.each(y.line) {
		return nil
	}
	y.base, y.trial = repetition(stem(y.path))
	y.byFile = y.base
	if y.finish(); y.refused {
		return nil
	}
	return []*run{y.run}
}

func (y *ycsb) line(line string) {
	line = strings.TrimSpace(line)
	switch m := ycsbFigure.FindStringSubmatch(line); {
	case m != nil:
		y.figure(m[1], m[2], m[3])
	case strings.HasPrefix(line, "YCSB Client "):
		y.tool = "YCSB " + strings.TrimPrefix(line, "YCSB Client ")
	case strings.HasPrefix(line, "Command line: "):
		y.command(strings.Fields(line))
	case ycsbLine.MatchString(line):
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
			y.ask(y.at, "script", next[strings.LastIndex(next, "/")+1:])
		}
	}
	if slices.Contains(words, "-load") {
		y.ask(y.at, "script", "load")
	}
}

// figure takes a figure of YCSB's summary.
func (y *ycsb) figure(kind, name, text string) {
	v, ok := figureOf(text)
	switch {
	case strings.HasPrefix(kind, "TOTAL_GC"), ok && digits(strings.TrimPrefix(name, ">")): // buckets, or a series
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
		y.noteFigure(y.op(kind), name, v.value)
	}
}

func (y *ycsb) op(kind string) *ycsbOp {
	if y.kinds[kind] == nil {
		y.kinds[kind] = new(ycsbOp)
	}
	return y.kinds[kind]
}

func (y *ycsb) noteFigure(o *ycsbOp, name string, v float64) {
	switch {
	case name == "Operations" || name == "Count":
		o.count = int64(v)
	case name == "AverageLatency(us)" || name == "Avg(us)":
		o.note("mean", 0, v)
	case name == "MinLatency(us)" || name == "Min(us)":
		o.note("min", 0, v)
	case name == "MaxLatency(us)" || name == "Max(us)":
		o.note("max", 0, v)
	case strings.HasPrefix(name, "Return=") && name != "Return=OK":
		o.bad += int64(v)
	case ycsbRank.MatchString(name):
		percent, _ := number(ycsbRank.FindStringSubmatch(name)[1])
		o.note("percentile", percent, v)
	}
}

// portLine takes a line of go-ycsb about one kind of operations: NAME: VALUE, separated by commas.
func (y *ycsb) portLine(m []string) {
	y.port, y.tool = true, "go-ycsb"
	if y.last && y.input.file.cut {
		return
	}
	if before := y.kinds[m[1]]; before != nil && !y.ended {
		y.block() // the next one begins
	} else if before != nil && y.ended {
		y.refuse("split the file: one run each", "%s has final figures twice: a second run ends here", m[1])
		return
	}
	y.totals = y.totals || m[1] == "TOTAL"
	o := new(ycsbOp)
	text, rest, _ := strings.Cut(m[2], ", ")
	seconds, ok := figureOf(text)
	var rate figure
	for part := range strings.SplitSeq(rest, ", ") {
		name, text, _ := strings.Cut(part, ": ")
		v, fine := figureOf(text)
		if ok = ok && fine; name == "OPS" {
			rate = v
		}
		y.noteFigure(o, name, v.value)
	}
	if !ok {
		y.refuse("run go-ycsb with LC_ALL=C and its plain output", "%q: NAME: NUMBER, … was expected", clip(m[0]))
		return
	}
	o.seconds = seconds.value
	if counted := (figure{value: float64(o.count)}); rate.value > 0 && seconds.value > 0 {
		if product := rate.times(seconds); !product.agrees(counted) {
			y.contradict(m[1]+": OPS × seconds", product, "its count", counted)
		}
		if rate.value >= 10 { // it has more digits than the seconds
			o.seconds = float64(o.count) / rate.value
		}
	}
	y.kinds[m[1]] = o
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
	case len(y.status) > 1:
		y.cut("the output has no final figures (%s:%d)", y.path, y.lines)
		first, last := y.status[0], y.status[len(y.status)-1]
		y.step.Seconds = last.when.Sub(first.when).Seconds()
		addOperations(y.run, nil, nil, int64(last.done-first.done), int(clients), "intervals")
	default:
		y.refuse("run the test again; go-ycsb with outputstyle=plain",
			"the output ends without final figures, and it has no intervals: nothing is known of the run")
		return
	}
	y.step.Doc = y.tool + " " + y.params["script"]
	y.addStatusLines()
}

// done returns the kinds of operations, how many of each and of all succeeded, and how many failed.
func (y *ycsb) done() (kinds []string, done map[string]int64, all, failed int64) {
	done = map[string]int64{}
	for name, o := range y.kinds {
		base, wrong := name, false
		for _, end := range []string{"-FAILED", "_ERROR"} {
			if b, is := strings.CutSuffix(base, end); is {
				base, wrong = b, true
			}
		}
		switch kind := ycsbKinds[base]; {
		case kind == "":
		case wrong:
			failed += o.count
		default:
			kinds = append(kinds, kind)
			done[kind] = o.count
			if all += o.count; kind == "read_modify_write" {
				all -= 2 * o.count
			}
		}
	}
	slices.Sort(kinds)
	return kinds, done, all, failed
}

// block notes what go-ycsb has counted since its beginning.
func (y *ycsb) block() {
	_, _, all, _ := y.done()
	if len(y.status) == 0 {
		y.status = []ycsbStatus{{when: time.Unix(0, 0), whole: true}}
	}
	y.addCount(ycsbStatus{time.Unix(0, 0).Add(time.Duration(y.longest() * float64(time.Second))), float64(all), y.total()})
}

// longest returns how long go-ycsb has measured: since the first operation of all.
func (y *ycsb) longest() (seconds float64) {
	if all := y.kinds["TOTAL"]; all != nil {
		return all.seconds
	}
	for _, o := range y.kinds {
		seconds = max(seconds, o.seconds)
	}
	return seconds
}

// total reports whether go-ycsb's figures of each kind agree with those of all.
func (y *ycsb) total() bool {
	var sum float64
	for name, o := range y.kinds {
		if kind := ycsbKinds[name]; kind != "" && kind != "read_modify_write" {
			sum += float64(o.count)
		}
	}
	all := y.kinds["TOTAL"]
	return all != nil && (figure{value: sum}).agrees(figure{value: float64(all.count)})
}

// startTime is how long go-ycsb may take for other things than operations, in seconds.
const startTime = 2

// checkFinal reports whether the final figures are there: all kinds of the block before them, not
// fewer of each, their sum, and the time that the run took.
func (y *ycsb) checkFinal() bool {
	late := y.took-y.longest() > startTime+0.05*y.took && !y.warmed
	if late || y.totals && !y.total() {
		return false
	}
	for name, before := range y.progress {
		if now := y.kinds[name]; now == nil || now.count < before.count {
			return false
		}
	}
	return true
}

// summary adds the operations that succeeded, and their times.
func (y *ycsb) summary(clients int) {
	kinds, done, all, failed := y.done()
	if len(kinds) == 0 || all <= 0 || y.step.Seconds <= 0 {
		y.refuse("", "no operation succeeded: there is no rate")
		return
	}
	addOperations(y.run, kinds, done, all, clients, "final figures")
	if failed > 0 {
		y.put(metric.Errors, float64(failed), account.Of(sbClients, ""), account.Count(all+failed))
		y.warn("%d operations failed", failed)
	} else if counted := y.overall.times(y.millis); !y.port {
		total, sum := figure{value: counted.value / 1e3, half: counted.half / 1e3}, figure{value: float64(all)}
		if !total.agrees(sum) {
			y.contradict("throughput × run time", total, "operations", sum)
		}
	}
	for name, o := range y.kinds {
		if kind := ycsbKinds[name]; kind != "" {
			addPrinted(y.run, "service", kind, &o.printedTimes, y.tool)
		} else if kind := ycsbKinds[strings.TrimPrefix(name, "Intended-")]; kind != "" && y.params["target"] != "" {
			addPrinted(y.run, "response", kind, &o.printedTimes, y.tool)
		}
	}
	if target, ok := number(y.params["target"]); ok && target > 0 {
		addArrivals(y.run, target, float64(all), y.reason == "")
		y.step.Groups[0].Pace = "fixed"
	}
}

// addStatusLines adds the intervals of option -s, or of go-ycsb's blocks. YCSB's first line is the
// beginning of the second interval: how long its own was is printed in whole seconds.
func (y *ycsb) addStatusLines() {
	var intervals []account.Interval
	for i := 1; i < len(y.status); i++ {
		before, now := y.status[i-1], y.status[i]
		n, length := now.done-before.done, now.when.Sub(before.when).Seconds()
		end := math.Round(now.when.Sub(y.status[0].when).Seconds()*1e3) / 1e3
		intervals = append(intervals, account.NewInterval(end, length, n))
		y.emit(result.Line{Source: "ops", T: end, DT: length, Group: sbClients, Op: opOperation, Ops: int64(n),
			Rows: int64(n)})
	}
	if len(intervals) == 0 {
		return
	}
	if !y.port {
		y.drop("YCSB's latencies of intervals (-s)")
		y.step.Note(fmt.Sprintf("Its series begins with the first of %d status lines.", len(y.status)))
	}
	y.addIntervals(sbClients, intervals, y.params["target"] != "", account.Warned(y.partial()...))
}
