package importer

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// pgbench parses the output of pgbench.
type pgbench struct {
	*run
	*input
	progress []pgProgress
	values   map[string]string // of the summary, by name
	scripts  int               // that have their own summary
	failed   string            // why it stopped
}

// pgProgress is a line of option -P. Times in seconds.
type pgProgress struct{ end, tps, failed float64 }

func isPgbench(head []string) bool {
	for _, l := range head {
		if strings.HasPrefix(l, "pgbench (") || strings.HasPrefix(l, "transaction type: ") ||
			strings.HasPrefix(l, "progress: ") && strings.Contains(l, " tps, lat ") {
			return true
		}
	}
	return false
}

// parsePgbench reads the output of a run, files[0], and the logs of option -l if
// there are any.
func parsePgbench(files []*file, o *Options, ps *hint.Problems) []*run {
	p := newPgbench(files[0], ps)
	if !p.each(p.line) {
		return nil
	}
	p.base, p.trial = repetition(stem(p.path))
	p.byFile = p.base
	log := readPgLogs(files[1:], p.laid(), ps)
	if log != nil && log.refused {
		return nil
	}
	if p.finish(log); p.refused {
		return nil
	}
	return []*run{p.run}
}

func newPgbench(f *file, ps *hint.Problems) *pgbench {
	p := &pgbench{run: newRun(f, fmtPgbench), input: &input{file: f, ps: ps}, values: map[string]string{}}
	p.tool, p.engine = fmtPgbench, "postgres"
	return p
}

var pgProgressLine = regexp.MustCompile(`^progress: (\d+(?:\.\d+)?) s, (\d+(?:\.\d+)?) tps, lat \S+ (\S+)(?: stddev \S+)?(?:, (\d+) failed)?`)

func (p *pgbench) line(line string) {
	switch {
	case strings.HasPrefix(line, "progress: "):
		p.addProgress(line)
	case strings.HasPrefix(line, "pgbench ("):
		if p.tool != fmtPgbench {
			p.refuse("split the file: one run each", "a second run of pgbench begins here")
			return
		}
		if v, ok := between(line, "pgbench (", " "); ok {
			p.tool += " " + strings.Trim(v, "()")
		}
		if v, ok := between(line, "server ", ")"); ok {
			p.version = v
		}
	case strings.HasPrefix(line, "SQL script "):
		p.scripts++
	case strings.HasPrefix(line, "statement latencies"), strings.HasPrefix(line, " - "):
	case strings.HasPrefix(line, "pgbench: error:"), strings.HasPrefix(line, "pgbench: fatal:"),
		strings.Contains(line, "Run was aborted"):
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
		return
	case strings.TrimSuffix(m[3], ",") != "ms":
		p.refuse("", "latencies in %s: pgbench prints them in ms", m[3])
		return
	}
	var g pgProgress
	g.end, _ = number(m[1])
	g.tps, _ = number(m[2])
	g.failed, _ = number(m[4])
	if k := len(p.progress); k > 0 && g.end <= p.progress[k-1].end {
		p.refuse("split the file: one run each", "the time goes back from %g s to %g s: a second run begins here",
			p.progress[k-1].end, g.end)
		return
	}
	p.progress = append(p.progress, g)
}

// pbAsked maps values of the summary to their parameters.
var pbAsked = map[string]string{
	"transaction type": "script", "scaling factor": "scale", "query mode": "query_mode",
	"number of clients": "clients", "maximum number of tries": "max_tries",
}

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
	if strings.HasPrefix(name, "latency ") && !strings.HasSuffix(v, " ms") {
		p.refuse("", "%q: a latency in ms was expected", clip(line))
		return
	}
	if name == "tps" && (strings.Contains(v, "(excluding") || strings.Contains(v, "(without")) {
		name = "tps without connecting"
	}
	if _, seen := p.values[name]; seen && name == "transaction type" {
		p.refuse("split the file: one run each", "a second run of pgbench ends here")
		return
	}
	p.values[name] = v
	if asked := pbAsked[name]; asked != "" {
		p.ask(p.at, asked, v)
	}
	switch name {
	case "duration", "number of transactions per client", "number of threads":
		p.params[strings.ReplaceAll(name, " ", "_")] = v
	}
}

// num returns the number that a value begins with.
func (p *pgbench) num(name string) (float64, bool) {
	word, _, _ := strings.Cut(p.values[name], " ")
	word, _, _ = strings.Cut(word, "/") // 80/80 of the planned
	return positive(word)
}

// paced reports whether a rate was set (-R): latencies are then measured from the
// time when a transaction was due.
func (p *pgbench) paced() bool { return p.values["rate limit schedule lag"] != "" }

// finish makes the rows of the run. log is nil if there is none.
func (p *pgbench) finish(log *pgLog) {
	done, ok := p.num("number of transactions actually processed")
	rate, rated := p.num("tps without connecting")
	if !rated {
		rate, rated = p.num("tps")
	}
	clients, _ := p.num("number of clients")
	p.clients = int(clients)
	p.about(opTransaction, p.clients)
	switch {
	case ok && rated && rate > 0:
		p.step.Seconds = done / rate
		p.summary(done, rate, log)
	case len(p.progress) > 0:
		p.cut("the output has no final figures (%s:%d)", p.path, p.lines)
		p.unfinished()
	default:
		p.refuse("run the test again",
			"pgbench's output ends without “tps =”, and it has no progress lines: nothing is known of the run")
		return
	}
	if p.failed != "" {
		p.cut("pgbench stopped: %s", p.failed)
	}
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
	if v, ok := p.num("latency average"); ok && !p.paced() && (log == nil || !log.exact()) && v > 0 {
		p.put(metric.ServiceMeanUS, account.MicrosOfMillis(v), at...)
	}
	if failed, ok := p.num("number of failed transactions"); ok {
		p.put(metric.Errors, failed, account.Of(opTransaction, ""), account.Count(int64(failed+done)))
		if failed > 0 {
			p.warn("%.0f transactions failed", failed)
		}
	}
}

// unfinished adds the rows of a run without final figures, from its progress lines.
func (p *pgbench) unfinished() {
	var done, before float64
	for _, g := range p.progress {
		done += math.Round(g.tps * (g.end - before))
		before = g.end
	}
	p.step.Seconds = before
	at := []account.With{account.Of(opTransaction, opTransaction), account.Count(int64(done)),
		account.Source("intervals"), account.Warned(p.partial()...)}
	p.work(done, account.PerSecond(done, before), at...)
}

// addProgressLines adds the intervals of option -P, unless a log has better ones.
func (p *pgbench) addProgressLines(log *pgLog) {
	if log != nil && len(log.seconds) > 0 && !log.sampled(p.rows()) {
		return
	}
	var intervals []account.Interval
	before := 0.0
	for _, g := range p.progress {
		length := g.end - before
		before = g.end
		n := math.Round(g.tps * length)
		intervals = append(intervals, account.NewInterval(g.end, length, n))
		p.emit(result.Line{Source: "ops", T: g.end, DT: length, Group: opTransaction, Op: opTransaction, Ops: int64(n),
			Rows: int64(n), Errors: int64(g.failed)})
	}
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
	if p.scripts > 1 {
		note("Several scripts: the figures are of all together.")
	}
	if v := p.values["number of transactions skipped"]; v != "" && !strings.HasPrefix(v, "0 ") {
		p.warn("%s transactions were skipped because they were later than the limit", v)
	}
	if p.values["tps without connecting"] == "" && p.reason == "" {
		p.warn("the rate includes the time to connect")
	}
}
