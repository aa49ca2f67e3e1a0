package importer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

type pgbench struct {
	*log
	progress []pgProgress
	scripts  int     // that have their own summary
	scripted float64 // transactions in these
	lagging  bool    // the intervals have a schedule lag
	failed   string  // why it stopped
	computed bool    // the mean latency follows from the time, as nothing was measured
}

// pgProgress is a line of option -P. Times in seconds.
type pgProgress struct{ end, length, tps, failed float64 }

var isPgbench = anyLine(`^pgbench \(|^transaction type: |^progress: .* tps, lat `)

var pgbenchGrammar = grammar[*pgbench]{
	on(`^progress: (?P<end>\d+(?:\.\d+)?) s, (?P<tps>\d+(?:\.\d+)?) tps, lat \S+ (?P<unit>\S+)(?: stddev \S+)?`+
		`(?:, (?P<failed>\d+) failed)?`, (*pgbench).addProgress),
	on(`^progress: `, func(p *pgbench, m match) {
		p.refuseIf(!p.last, "", "%q: progress: SECONDS s, RATE tps, lat MEAN ms was expected", clip(m.line))
	}),
	on(`^pgbench \((?P<program>[^ ]* )?(?:.*server (?P<server>[^)]*)\))?`, func(p *pgbench, m match) {
		if v := strings.TrimSpace(m.text("program")); v != "" {
			p.tool += " " + strings.Trim(v, "()")
		}
		p.version = cmp.Or(strings.TrimSpace(m.text("server")), p.version)
	}),
	on(`^SQL script `, func(p *pgbench, _ match) {
		p.scripts++
		p.drop("pgbench's figures of each script")
	}),
	on(`^statement latencies`, func(p *pgbench, _ match) { p.drop("pgbench's latencies of statements") }),
	on(`^ - (?P<transactions>\d+) transactions \(`, func(p *pgbench, m match) { p.scripted += m.number("transactions") }),
	on(`\bpgbench\b.*\s(?:-R ?|--rate[= ])(?P<rate>\d+(?:\.\d+)?)(?:\s|$)`, (*pgbench).asked),
	on(`^ - `, func(*pgbench, match) {}),
	on(`^pgbench: (?:error|fatal):|^client .* aborted |Run was aborted`, func(p *pgbench, m match) {
		if p.failed == "" {
			p.failed = fmt.Sprintf("%s:%d: %s", p.path, p.lineNumber, clip(m.line))
		}
	}),
	on(`^(?P<name>[^ ].*?)(?:: | = )(?P<value>.*)$`, (*pgbench).total),
}

// parsePgbench reads the output of a run, files[0], and the logs of option -l if
// there are any.
func parsePgbench(files []*file, _ *Options, ps *hint.Problems) []*run {
	p := newPgbench(files, ps)
	p.each(func(line string) { pgbenchGrammar.read(p, strings.TrimRight(line, " \t")) })
	logs := p.ownLogs(files[1:])
	log := readPgLogs(logs, p.columns(), ps)
	p.files = append([]*file{files[0]}, logs...)
	p.finish(log)
	return []*run{p.run}
}

func newPgbench(files []*file, ps *hint.Problems) *pgbench {
	p := &pgbench{log: newLog(files, fmtPgbench, fmtPgbench, ps)}
	p.engine = "postgres"
	return p
}

func (p *pgbench) addProgress(m match) {
	unit := strings.TrimSuffix(m.text("unit"), ",")
	p.refuseIf(unit != "ms", "", "latencies in %s: pgbench prints them in ms", m.text("unit"))
	p.lagging = p.lagging || strings.Contains(m.line, ", lag ")
	g := pgProgress{end: m.number("end"), tps: m.number("tps"), failed: m.number("failed")}
	if k := len(p.progress); k > 0 {
		p.secondRun(g.end <= p.progress[k-1].end, "the time goes back from %g s to %g s: a second run begins here",
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

// total takes a line of the summary: NAME: VALUE, or NAME = VALUE. Those of one script of several come after the total.
func (p *pgbench) total(m match) {
	if p.scripts > 0 {
		return
	}
	name, v := m.text("name"), m.text("value")
	millis := strings.HasSuffix(strings.TrimSuffix(v, includingFailures), " ms")
	p.refuseIf(strings.HasPrefix(name, "latency ") && !millis, "", "%q: a latency in ms was expected", clip(m.line))
	switch {
	case name != "tps":
	case !strings.HasSuffix(v, ")"):
		return // cut off in the middle of the line
	case strings.Contains(v, "(without"):
		name = "tps without connecting"
	case strings.Contains(v, "(excluding"): // up to release 13; with -C most of the time is left out of it
		name = "tps excluding connecting"
	}
	previous, seen := p.values[name]
	taken := slices.Contains(pbTaken, name)
	p.secondRun(seen && (name == "transaction type" || previous != v && (pbAsked[name] != "" || taken)),
		"a second run of pgbench ends here: %q and, before, %q", clip(m.line), clip(previous))
	p.values[name] = v
	p.computed = name == "latency average" && strings.Contains(m.line, " = ") || p.computed && name != "latency stddev"
	first, _, _ := strings.Cut(v, " ")
	switch n, _ := number(first); {
	case pbAsked[name] != "":
		p.ask(p.lineNumber, pbAsked[name], v)
	case p.values["transaction type"] != "" && !taken:
		p.dropIf(n != 0, "pgbench's "+name)
	default:
		integer, decimals, comma := strings.Cut(first, ",")
		p.refuseIf(comma && integer != "" && decimals != "" && digits(integer+decimals), "run pgbench with LC_ALL=C",
			"%q: a decimal point was expected", clip(m.line))
	}
	switch name {
	case "duration", "number of transactions per client", "number of threads":
		p.params[strings.ReplaceAll(name, " ", "_")] = v
	}
}

func (p *pgbench) num(name string) (float64, bool) {
	f, ok := p.value(name)
	return f.value, ok
}

func (p *pgbench) rows() float64 {
	v, _ := p.num("number of transactions actually processed")
	return v
}

// paced reports whether a rate was set (-R): latencies are then measured from the
// time when a transaction was due.
func (p *pgbench) paced() bool { return p.lagging || p.values["rate limit schedule lag"] != "" }

// allAttempts reports whether the mean latency is that of all attempts.
func (p *pgbench) allAttempts() bool {
	return strings.HasSuffix(p.values["latency average"], includingFailures)
}

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
	if ok && rated && rate > 0 {
		p.step.Seconds = done / rate
		if reason := p.misfit(log); reason != "" {
			p.warn("the log %s is left out: %s", p.files[1].path, reason)
			log, p.files = nil, p.files[:1]
		}
		p.summary(done, rate, log)
		p.check(done)
	} else {
		p.refuseIf(len(p.progress) == 0, "run the test again",
			"pgbench's output ends without “tps =”, and it has no progress lines")
		p.cut("the output has no final figures (%s:%d)", p.path, p.lines)
		done = 0
		for _, g := range p.progress {
			done += math.Round(g.tps * g.length)
			p.step.Seconds = g.end
		}
		p.work(done, account.PerSecond(done, p.step.Seconds), p.options(done, "intervals",
			account.Warned(p.partial()...))...)
	}
	p.cutIf(p.failed != "", "pgbench stopped: %s", p.failed)
	p.addProgressLines(log)
	if log != nil {
		p.fromLog(log)
	}
	p.step.Doc = "pgbench, " + p.values["transaction type"]
	p.lasted(p.step.Seconds)
	p.addNotes()
}

func (p *pgbench) options(n float64, source string, additional ...account.With) []account.With {
	options := []account.With{account.Of(opTransaction, opTransaction), account.Count(int64(n)), account.Source(source)}
	return append(options, additional...)
}

func (p *pgbench) summary(done, rate float64, log *pgLog) {
	options := p.options(done, "final figures")
	p.work(done, rate, options...)
	p.per(opTransaction, rate, int64(done))
	failed, counted := p.num("number of failed transactions")
	tried := []account.With{account.Of(opTransaction, ""), account.Count(int64(failed + done))}
	if counted {
		p.put(metric.Errors, failed, tried...)
		p.warnIf(failed > 0, "%.0f transactions failed", failed)
	}
	if v, ok := p.num("total number of retries"); ok {
		p.put(metric.Retries, v, tried...)
	}
	mean, ok := p.num("latency average")
	if !ok || mean == 0 || log != nil && log.hasTransactions() {
		return
	}
	if p.paced() {
		p.addLag(mean, options)
		return
	}
	if p.allAttempts() {
		options = append(options, account.Count(int64(failed+done)),
			warned("the mean of all attempts, those that failed included"))
	}
	p.put(metric.ServiceMeanUS, account.MicrosOfMillis(mean), options...)
}

// addLag adds the times of a run with a rate, from its mean latency in ms: that is the
// mean response time, of which the schedule lag is a part.
func (p *pgbench) addLag(mean float64, options []account.With) {
	lag := p.values["rate limit schedule lag"]
	average, _ := textBetween(lag, "avg ", " ")
	greatest, _ := textBetween(lag, "(max ", ")")
	if v, ok := positiveNumber(average); ok && v <= mean {
		p.put(metric.ServiceMeanUS, account.MicrosOfMillis(mean-v),
			append(options, account.Source("mean latency − mean schedule lag"))...)
		p.note("The mean response time was %g ms.", mean)
	}
	if v, ok := positiveNumber(greatest); ok {
		p.put(metric.LatenessMaxUS, account.MicrosOfMillis(v), options...)
	}
}

func (p *pgbench) check(done float64) {
	clients, elapsed := float64(p.clients), newFigure(p.step.Seconds)
	failed, _ := p.num("number of failed transactions")
	planned, timed := p.value("duration")
	mean, printed := p.value("latency average")
	if printed && clients > 0 && !p.paced() {
		attempts := done
		if p.allAttempts() {
			attempts += failed
		}
		busy, capacity := mean.times(newFigure(attempts/1e3)), elapsed.times(newFigure(clients))
		p.requireWithin("mean latency × transactions", busy, "clients × time", capacity)
		if p.computed && mean.value > 0 {
			p.requireWithin("clients × time", capacity, "mean latency × transactions", busy)
		}
	}
	if net, ok := p.value("tps excluding connecting"); ok { // of old releases
		rate, _ := p.value("tps")
		p.requireWithin("tps including connections", rate, "tps excluding them", net)
	}
	connecting, _ := p.num("initial connection time")
	if timed && p.failed == "" && !p.paced() {
		p.requireWithin("its duration", planned, "transactions ÷ tps", newFigure(p.step.Seconds+connecting/1e3))
		if p.values["latency average"] == "" { // up to 9.3; a transaction may have been in flight
			p.requireWithin("transactions ÷ tps", elapsed, "its duration", planned.times(newFigure(1.1)))
		}
	}
	if p.scripted > 0 {
		p.requireSame("the sum of its scripts", newFigure(p.scripted), "transactions", newFigure(done))
	}
	var sum, covered, highest float64
	for _, g := range p.progress {
		sum, covered, highest = sum+math.Round(g.tps*g.length), g.end, max(highest, g.tps)
	}
	if covered > 0 {
		p.requireWithin("the sum of its intervals", newFigure(sum), "transactions", newFigure(done+clients))
		uncovered := p.progress[0].length
		if !timed { // the thread that prints intervals may end before others
			uncovered += max(0, p.step.Seconds-covered)
		}
		p.requireWithin("transactions", newFigure(done), "the most that its intervals allow",
			newFigure(sum+1.2*highest*uncovered+clients))
	}
}

// settleProgress makes the times of intervals relative to the start of the run. Option
// --progress-timestamp prints the time of day: then the first interval is as long as
// the next one.
func (p *pgbench) settleProgress() {
	start, previous := 0.0, 0.0
	if n := len(p.progress); n > 0 && p.progress[0].end >= epoch2001 {
		if n == 1 {
			p.progress = nil
			return
		}
		start = 2*p.progress[0].end - p.progress[1].end
	}
	for i := range p.progress {
		g := &p.progress[i]
		g.end = math.Round((g.end-start)*1e3) / 1e3
		g.length, previous = g.end-previous, g.end
	}
}

// addProgressLines adds the intervals of option -P, unless a log has better ones.
func (p *pgbench) addProgressLines(log *pgLog) {
	if log != nil && len(log.seconds) > 0 && !log.sampled(p.rows()) {
		return
	}
	var intervals []account.Interval
	for _, g := range p.progress {
		n := math.Round(g.tps * g.length)
		intervals = append(intervals, p.emitInterval(result.Line{T: g.end, DT: g.length, Group: opTransaction,
			Op: opTransaction, Ops: int64(n), Rows: int64(n), Errors: int64(g.failed)}))
	}
	p.dropIf(len(intervals) > 0, "pgbench's latencies of intervals (-P)")
	p.addIntervals(opTransaction, intervals, p.paced(), account.Warned(p.partial()...))
}

func (p *pgbench) addNotes() {
	p.noteIf(p.paced(), "A rate was set: pgbench's latencies are response times, from the moment at which a "+
		"transaction "+
		"was due.")
	if rate, _ := number(p.params["rate"]); rate > 0 {
		addArrivals(p.run, rate, p.rows(), p.reason == "")
	}
	p.noteIf(p.scripts > 1, "Several scripts: the figures are of all together.")
	skipped := p.values["number of transactions skipped"]
	p.warnIf(skipped != "" && !strings.HasPrefix(skipped, "0 "),
		"%s transactions were skipped because they were later than the limit", skipped)
	net, _, _ := strings.Cut(p.values["tps excluding connecting"], " ")
	p.warnIf(net != "", "the rate includes the time to connect; pgbench prints %s/s without it", net)
	p.warnIf(net == "" && p.values["tps without connecting"] == "" && p.reason == "",
		"the rate includes the time to connect")
}
