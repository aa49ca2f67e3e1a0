package importer

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

type pgbench struct {
	*run
	*input
	progress []pgProgress
	values   map[string]string // of the summary, by name
	scripts  int               // that have their own summary
	scripted float64           // transactions in these
	lagging  bool              // the intervals have a schedule lag
	failed   string            // why it stopped
	computed bool              // the mean latency follows from the time, as nothing was measured
}

// pgProgress is a line of option -P. Times in seconds.
type pgProgress struct{ end, length, tps, failed float64 }

func isPgbench(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "pgbench (") || strings.HasPrefix(l, "transaction type: ") ||
			strings.HasPrefix(l, "progress: ") && strings.Contains(l, " tps, lat ")
	})
}

// parsePgbench reads the output of a run, files[0], and the logs of option -l if
// there are any.
func parsePgbench(files []*file, o *Options, ps *hint.Problems) []*run {
	p := newPgbench(files[0], ps)
	p.each(p.line)
	p.nameByFile(p.path)
	logs := p.ownLogs(files[1:])
	log := readPgLogs(logs, p.laid(), ps)
	p.files = append([]*file{files[0]}, logs...)
	p.finish(log)
	return []*run{p.run}
}

func newPgbench(f *file, ps *hint.Problems) *pgbench {
	p := &pgbench{run: newRun(f, fmtPgbench), input: &input{file: f, ps: ps}, values: map[string]string{}}
	p.tool, p.engine = fmtPgbench, "postgres"
	return p
}

var (
	pgProgressLine = regexp.MustCompile(`^progress: (\d+(?:\.\d+)?) s, (\d+(?:\.\d+)?) tps, lat \S+ (\S+)(?: stddev \S+)?(?:, (\d+) failed)?`)
	pgComma        = regexp.MustCompile(`^\d+,\d+$`)
	pgScript       = regexp.MustCompile(`^ - (\d+) transactions \(`)
	pgRate         = regexp.MustCompile(`\bpgbench\b.*\s(?:-R ?|--rate[= ])(\d+(?:\.\d+)?)(?:\s|$)`)
)

func (p *pgbench) line(line string) {
	switch line = strings.TrimRight(line, " \t"); {
	case strings.HasPrefix(line, "progress: "):
		p.addProgress(line)
	case strings.HasPrefix(line, "pgbench ("):
		if v, ok := between(line, "pgbench (", " "); ok {
			p.tool += " " + strings.Trim(v, "()")
		}
		if v, ok := between(line, "server ", ")"); ok {
			p.version = v
		}
	case strings.HasPrefix(line, "SQL script "):
		p.scripts++
		p.drop("pgbench's figures of each script")
	case strings.HasPrefix(line, "statement latencies"):
		p.drop("pgbench's latencies of statements")
	case pgScript.MatchString(line):
		n, _ := number(pgScript.FindStringSubmatch(line)[1])
		p.scripted += n
	case pgRate.MatchString(line):
		p.ask(p.at, "rate", pgRate.FindStringSubmatch(line)[1])
	case strings.HasPrefix(line, " - "):
	case strings.HasPrefix(line, "pgbench: error:"), strings.HasPrefix(line, "pgbench: fatal:"),
		strings.HasPrefix(line, "client ") && strings.Contains(line, " aborted "), strings.Contains(line,
			"Run was aborted"):
		if p.failed == "" {
			p.failed = fmt.Sprintf("%s:%d: %s", p.path, p.at, clip(line))
		}
	default:
		p.value(line)
	}
}

func (p *pgbench) addProgress(line string) {
	m := pgProgressLine.FindStringSubmatch(line)
	switch {
	case m == nil && p.last:
		return // cut off in the middle of a line
	case m == nil:
		p.refuse("", "%q: progress: SECONDS s, RATE tps, lat MEAN ms was expected", clip(line))
	case strings.TrimSuffix(m[3], ",") != "ms":
		p.refuse("", "latencies in %s: pgbench prints them in ms", m[3])
	}
	var g pgProgress
	g.end, _ = number(m[1])
	g.tps, _ = number(m[2])
	g.failed, _ = number(m[4])
	p.lagging = p.lagging || strings.Contains(line, ", lag ")
	if k := len(p.progress); k > 0 && g.end <= p.progress[k-1].end {
		p.refuse("split the file: one run each", "the time goes back from %g s to %g s: a second run begins here",
			p.progress[k-1].end, g.end)
	}
	p.progress = append(p.progress, g)
}

// pbAsked maps values of the summary to their parameters.
var pbAsked = map[string]string{
	"transaction type": "script", "scaling factor": "scale", "query mode": "query_mode",
	"number of clients": "clients", "maximum number of tries": "max_tries",
}

// pbTaken are the other values that are taken.
var pbTaken = []string{"duration", "number of transactions per client", "number of threads", "latency average",
	"number of transactions actually processed", "number of failed transactions", "total number of retries",
	"number of transactions skipped", "rate limit schedule lag", "tps", "tps without connecting",
	"tps excluding connecting", "partition method", "partitions"}

// includingFailures follows latencies of which failed transactions are a part.
const includingFailures = " (including failures)"

// value parses a line of the summary: NAME: VALUE, or NAME = VALUE.
func (p *pgbench) value(line string) {
	if p.scripts > 0 {
		return // of one script of several; the total comes before them
	}
	name, v, ok := strings.Cut(line, ": ")
	if !ok {
		name, v, ok = strings.Cut(line, " = ")
	}
	if !ok || strings.HasPrefix(line, " ") {
		return
	}
	p.refuseIf(strings.HasPrefix(name, "latency ") && !strings.HasSuffix(strings.TrimSuffix(v, includingFailures),
		" ms"), "", "%q: a latency in ms was expected", clip(line))
	switch {
	case name != "tps":
	case !strings.HasSuffix(v, ")"):
		return // cut off in the middle of the line
	case strings.Contains(v, "(without"):
		name = "tps without connecting"
	case strings.Contains(v, "(excluding"): // up to release 13; with -C most of the time is left out of it
		name = "tps excluding connecting"
	}
	if before, seen := p.values[name]; seen && (name == "transaction type" ||
		before != v && (pbAsked[name] != "" || slices.Contains(pbTaken, name))) {
		p.refuse("split the file: one run each", "a second run of pgbench ends here: %q and, before, %q", clip(line),
			clip(before))
	}
	p.values[name] = v
	p.computed = name == "latency average" && strings.Contains(line, " = ") || p.computed && name != "latency stddev"
	if asked := pbAsked[name]; asked != "" {
		p.ask(p.at, asked, v)
	} else if first, _, _ := strings.Cut(v, " "); p.values["transaction type"] != "" && !slices.Contains(pbTaken,
		name) {
		if n, ok := number(first); ok && n != 0 {
			p.drop("pgbench's " + name)
		}
	} else {
		p.refuseIf(pgComma.MatchString(first), "run pgbench with LC_ALL=C", "%q: a decimal point was expected",
			clip(line))
	}
	switch name {
	case "duration", "number of transactions per client", "number of threads":
		p.params[strings.ReplaceAll(name, " ", "_")] = v
	}
}

// figure returns the number that a value begins with.
func (p *pgbench) figure(name string) (figure, bool) {
	word, _, _ := strings.Cut(p.values[name], " ")
	word, _, _ = strings.Cut(word, "/") // 80/80 of the planned
	return figureOf(word)
}

func (p *pgbench) num(name string) (float64, bool) {
	f, ok := p.figure(name)
	return f.value, ok
}

// paced reports whether a rate was set (-R): latencies are then measured from the
// time when a transaction was due.
func (p *pgbench) paced() bool { return p.lagging || p.values["rate limit schedule lag"] != "" }

// finish makes the rows of the run. log is nil if there is none.
func (p *pgbench) finish(log *pgLog) {
	done, ok := p.num("number of transactions actually processed")
	rate, rated := p.num("tps without connecting")
	if !rated {
		rate, rated = p.num("tps")
	}
	clients, _ := p.num("number of clients")
	p.clients = int(clients)
	p.about(opTransaction, p.clients, opTransaction)
	p.settleProgress()
	switch {
	case ok && rated && rate > 0:
		p.step.Seconds = done / rate
		if reason := p.misfit(log); reason != "" {
			p.warn("the log %s is left out: %s", p.files[1].path, reason)
			log, p.files = nil, p.files[:1]
		}
		p.summary(done, rate, log)
		p.check(done)
	case len(p.progress) > 0:
		p.cut("the output has no final figures (%s:%d)", p.path, p.lines)
		p.unfinished()
	default:
		p.refuse("run the test again",
			"pgbench's output ends without “tps =”, and it has no progress lines")
	}
	p.cutIf(p.failed != "", "pgbench stopped: %s", p.failed)
	p.addProgressLines(log)
	if log != nil {
		p.fromLog(log)
	}
	p.step.Doc = "pgbench, " + p.values["transaction type"]
	p.put(metric.DurationS, p.step.Seconds)
	p.pgNotes()
}

// summary adds the final figures.
func (p *pgbench) summary(done, rate float64, log *pgLog) {
	at := []account.With{account.Of(opTransaction, opTransaction), account.Count(int64(done)),
		account.Source("final figures")}
	p.work(done, rate, at...)
	p.costs = append(p.costs, account.Denominator{Per: opTransaction, Units: rate, N: int64(done)})
	failed, counted := p.num("number of failed transactions")
	if counted {
		p.put(metric.Errors, failed, account.Of(opTransaction, ""), account.Count(int64(failed+done)))
		p.warnIf(failed > 0, "%.0f transactions failed", failed)
	}
	if v, ok := p.num("total number of retries"); ok {
		p.put(metric.Retries, v, account.Of(opTransaction, ""), account.Count(int64(failed+done)))
	}
	mean, ok := p.num("latency average")
	switch {
	case !ok || mean == 0 || log != nil && log.exact():
	case p.paced():
		p.addLag(mean, at)
	case strings.HasSuffix(p.values["latency average"], includingFailures):
		at = append(at, account.Count(int64(failed+done)), warned("the mean of all attempts, those that failed "+
			"included"))
		p.put(metric.ServiceMeanUS, account.MicrosOfMillis(mean), at...)
	default:
		p.put(metric.ServiceMeanUS, account.MicrosOfMillis(mean), at...)
	}
}

// addLag adds the times of a run with a rate, from its mean latency in ms: that is the
// mean response time, of which the schedule lag is a part.
func (p *pgbench) addLag(mean float64, at []account.With) {
	lag := p.values["rate limit schedule lag"]
	average, _ := between(lag, "avg ", " ")
	greatest, _ := between(lag, "(max ", ")")
	if v, ok := positive(average); ok && v <= mean {
		p.put(metric.ServiceMeanUS, account.MicrosOfMillis(mean-v),
			append(at, account.Source("mean latency − mean schedule lag"))...)
		p.note("The mean response time was %g ms.", mean)
	}
	if v, ok := positive(greatest); ok {
		p.put(metric.LatenessMaxUS, account.MicrosOfMillis(v), at...)
	}
}

// check compares the final figures with each other.
func (p *pgbench) check(done float64) {
	within := func(first string, f figure, second string, g figure) {
		p.contradictIf(f.exceeds(g), first, f, second, g)
	}
	clients, elapsed := float64(p.clients), figure{value: p.step.Seconds}
	failed, _ := p.num("number of failed transactions")
	planned, timed := p.figure("duration")
	net, old := p.figure("tps excluding connecting")
	if mean, ok := p.figure("latency average"); ok && clients > 0 && !p.paced() {
		attempts := done
		if strings.HasSuffix(p.values["latency average"], includingFailures) {
			attempts += failed
		}
		busy, all := mean.times(figure{value: attempts / 1e3}), elapsed.times(figure{value: clients})
		within("mean latency × transactions", busy, "clients × time", all)
		if p.computed && mean.value > 0 {
			within("clients × time", all, "mean latency × transactions", busy)
		}
	}
	if old {
		rate, _ := p.figure("tps")
		within("tps including connections", rate, "tps excluding them", net)
	}
	connecting, _ := p.num("initial connection time")
	if timed && p.failed == "" && !p.paced() {
		within("its duration", planned, "transactions ÷ tps", figure{value: p.step.Seconds + connecting/1e3})
		if _, known := p.values["latency average"]; !known { // up to 9.3; a transaction may have been in flight
			within("transactions ÷ tps", elapsed, "its duration", planned.times(figure{value: 1.1}))
		}
	}
	if sum := (figure{value: p.scripted}); p.scripted > 0 && !sum.agrees(figure{value: done}) {
		p.contradictIf(true, "the sum of its scripts", sum, "transactions", figure{value: done})
	}
	var sum, covered, highest float64
	for _, g := range p.progress {
		sum, covered, highest = sum+math.Round(g.tps*g.length), g.end, max(highest, g.tps)
	}
	if covered > 0 {
		within("the sum of its intervals", figure{value: sum}, "transactions", figure{value: done + clients})
		rest := p.progress[0].length
		if !timed { // the thread that prints intervals may end before others
			rest += max(0, p.step.Seconds-covered)
		}
		within("transactions", figure{value: done}, "the most that its intervals allow",
			figure{value: sum + 1.2*highest*rest + clients})
	}
}

// settleProgress makes the times of intervals relative to the start of the run. Option
// --progress-timestamp prints the time of day: then the first interval is as long as
// the next one.
func (p *pgbench) settleProgress() {
	start := 0.0
	if n := len(p.progress); n > 0 && p.progress[0].end >= epoch2001 {
		if n == 1 {
			p.progress = nil
			return
		}
		start = 2*p.progress[0].end - p.progress[1].end
	}
	before := 0.0
	for i := range p.progress {
		g := &p.progress[i]
		g.end = math.Round((g.end-start)*1e3) / 1e3
		g.length, before = g.end-before, g.end
	}
}

// unfinished adds the rows of a run without final figures, from its progress lines.
func (p *pgbench) unfinished() {
	var done float64
	for _, g := range p.progress {
		done += math.Round(g.tps * g.length)
		p.step.Seconds = g.end
	}
	at := []account.With{account.Of(opTransaction, opTransaction), account.Count(int64(done)),
		account.Source("intervals"), account.Warned(p.partial()...)}
	p.work(done, account.PerSecond(done, p.step.Seconds), at...)
}

// addProgressLines adds the intervals of option -P, unless a log has better ones.
func (p *pgbench) addProgressLines(log *pgLog) {
	if log != nil && len(log.seconds) > 0 && !log.sampled(p.rows()) {
		return
	}
	var intervals []account.Interval
	for _, g := range p.progress {
		n := math.Round(g.tps * g.length)
		intervals = append(intervals, account.NewInterval(g.end, g.length, n))
		p.emit(result.Line{Source: "ops", T: g.end, DT: g.length, Group: opTransaction, Op: opTransaction,
			Ops:  int64(n),
			Rows: int64(n), Errors: int64(g.failed)})
	}
	p.dropIf(len(intervals) > 0, "pgbench's latencies of intervals (-P)")
	p.addIntervals(opTransaction, intervals, p.paced(), account.Warned(p.partial()...))
}

// rows returns the number of transactions in the summary.
func (p *pgbench) rows() float64 {
	v, _ := p.num("number of transactions actually processed")
	return v
}

func (p *pgbench) pgNotes() {
	note := func(text string) { p.step.Note(text) }
	if p.paced() {
		note("A rate was set: pgbench's latencies are response times, from the moment at which a transaction was due.")
	}
	if rate, _ := number(p.params["rate"]); rate > 0 {
		addArrivals(p.run, rate, p.rows(), p.reason == "")
	}
	if p.scripts > 1 {
		note("Several scripts: the figures are of all together.")
	}
	if v := p.values["number of transactions skipped"]; v != "" && !strings.HasPrefix(v, "0 ") {
		p.warn("%s transactions were skipped because they were later than the limit", v)
	}
	if v, _, _ := strings.Cut(p.values["tps excluding connecting"], " "); v != "" {
		p.warn("the rate includes the time to connect; pgbench prints %s/s without it", v)
	} else {
		p.warnIf(p.values["tps without connecting"] == "" && p.reason == "", "the rate includes the time to connect")
	}
}
