package importer

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/result"
)

// pgbench reads what pgbench prints.
type pgbench struct {
	*run
	ps       *Problems
	progress []pgProgress
	values   map[string]string // of the summary, by name
	scripts  int               // that have a summary of their own
	own      bool              // the lines are of one script
	failed   string            // why it stopped
	wrong    bool
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

// parsePgbench reads the output of a run, and the logs of option -l if there
// are any: files[0] is the output.
func parsePgbench(files []*file, o *Options, ps *Problems) []*run {
	p := &pgbench{run: newRun(files[0], fmtPgbench), ps: ps, values: map[string]string{}}
	p.tool, p.engine = fmtPgbench, "postgres"
	p.file.whole = true
	if !p.file.each(ps, func(n int, line string, last bool) bool { p.line(n, last, line); return !p.wrong }) || p.wrong {
		return nil
	}
	p.base, p.trial = repetition(stem(p.file.path))
	p.byFile = p.base
	log := readPgLogs(files[1:], p.laid(), ps)
	p.finish(log)
	if p.wrong {
		return nil
	}
	return []*run{p.run}
}

func (p *pgbench) problem(line int, hint, reason string, args ...any) {
	p.ps.add(p.file.path, line, hint, reason, args...)
	p.wrong = true
}

var pgProgressLine = regexp.MustCompile(`^progress: (\d+(?:\.\d+)?) s, (\d+(?:\.\d+)?) tps, lat \S+ (\S+)(?: stddev \S+)?(?:, (\d+) failed)?`)

func (p *pgbench) line(n int, last bool, line string) {
	switch {
	case strings.HasPrefix(line, "progress: "):
		p.addProgress(n, last, line)
	case strings.HasPrefix(line, "pgbench ("):
		if p.tool != fmtPgbench {
			p.problem(n, "split the file: one run each", "a second run of pgbench begins here")
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
		p.own = true
	case strings.HasPrefix(line, "statement latencies"), strings.HasPrefix(line, " - "):
	case strings.HasPrefix(line, "pgbench: error:"), strings.HasPrefix(line, "pgbench: fatal:"), strings.Contains(line, "Run was aborted"):
		if p.failed == "" {
			p.failed = p.file.path + ":" + strconv.Itoa(n) + ": " + clip(line)
		}
	default:
		p.value(n, line)
	}
}

func (p *pgbench) addProgress(n int, last bool, line string) {
	m := pgProgressLine.FindStringSubmatch(line)
	switch {
	case m == nil && last:
		return // it was ended in the middle of a line
	case m == nil:
		p.problem(n, "", "%q: progress: SECONDS s, RATE tps, lat MEAN ms was expected", clip(line))
		return
	case strings.TrimSuffix(m[3], ",") != "ms":
		p.problem(n, "", "latencies in %s: pgbench tells them in ms", m[3])
		return
	}
	var g pgProgress
	g.end, _ = number(m[1])
	g.tps, _ = number(m[2])
	g.failed, _ = number(m[4])
	if k := len(p.progress); k > 0 && g.end <= p.progress[k-1].end {
		p.problem(n, "split the file: one run each", "the time goes back from %g s to %g s: a second run begins here", p.progress[k-1].end, g.end)
		return
	}
	p.progress = append(p.progress, g)
}

// pbAsked are the parameters that values of the summary are, by their names.
var pbAsked = map[string]string{
	"transaction type": "script", "scaling factor": "scale", "query mode": "query_mode",
	"number of clients": "clients", "maximum number of tries": "max_tries",
}

// value reads a line of the summary: NAME: VALUE, or NAME = VALUE.
func (p *pgbench) value(n int, line string) {
	if p.own {
		return // of one script of several; the total stands before them
	}
	name, v, ok := strings.Cut(line, ": ")
	if !ok {
		name, v, ok = strings.Cut(line, " = ")
	}
	if !ok || strings.HasPrefix(line, " ") {
		return
	}
	if strings.HasPrefix(name, "latency ") && !strings.HasSuffix(v, " ms") {
		p.problem(n, "", "%q: a latency in ms was expected", clip(line))
		return
	}
	if name == "tps" && (strings.Contains(v, "(excluding") || strings.Contains(v, "(without")) {
		name = "tps without connecting"
	}
	if _, seen := p.values[name]; seen && name == "transaction type" {
		p.problem(n, "split the file: one run each", "a second run of pgbench ends here")
		return
	}
	p.values[name] = v
	if asked := pbAsked[name]; asked != "" {
		p.ask(n, asked, v)
	}
	switch name {
	case "duration", "number of transactions per client", "number of threads":
		p.params[strings.ReplaceAll(name, " ", "_")] = v
	}
}

// num reads the number that a value begins with.
func (p *pgbench) num(name string) (float64, bool) {
	word, _, _ := strings.Cut(p.values[name], " ")
	word, _, _ = strings.Cut(word, "/") // 80/80 of the planned
	return positive(word)
}

// paced tells whether a rate was asked for (-R): latencies then begin when a
// transaction was due.
func (p *pgbench) paced() bool { return p.values["rate limit schedule lag"] != "" }

// finish turns what was read into rows. log is nil where there is none.
func (p *pgbench) finish(log *pgLog) {
	if log != nil && log.wrong {
		p.wrong = true
		return
	}
	done, ok := p.num("number of transactions actually processed")
	rate, rated := p.num("tps without connecting")
	if !rated {
		rate, rated = p.num("tps")
	}
	clients, _ := p.num("number of clients")
	p.clients = int(clients)
	p.step.Primary, p.step.WritesPer = opTransaction, opTransaction
	p.step.Groups = []result.Group{{Name: opTransaction, Clients: p.clients, Ops: []string{opTransaction}}}
	switch {
	case ok && rated && rate > 0:
		p.step.Seconds = done / rate
		p.summary(done, rate, log)
	case len(p.progress) > 0:
		p.cut("the output has no final figures (%s:%d)", p.file.path, p.file.lines)
		p.unfinished()
	default:
		p.problem(p.file.lines, "run the test again", "pgbench's output ends without “tps =”, and it has no progress lines: nothing is known of the run")
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
	p.put("duration_s", p.step.Seconds)
	p.pgNotes()
}

// summary adds the final figures.
func (p *pgbench) summary(done, rate float64, log *pgLog) {
	at := []account.With{of(opTransaction, opTransaction), count(int64(done)), source("final figures")}
	p.put("rows", done, at...)
	p.put("ops_per_s", rate, at...)
	p.put("rows_per_s", rate, at...)
	p.costs = append(p.costs, denominator{opTransaction, rate, int64(done)})
	if v, ok := p.num("latency average"); ok && !p.paced() && (log == nil || !log.exact()) && v > 0 {
		p.put("service_mean_us", v*1e3, at...)
	}
	if failed, ok := p.num("number of failed transactions"); ok {
		p.put("errors", failed, of(opTransaction, ""), count(int64(failed+done)))
		if failed > 0 {
			p.warn("%.0f transactions failed", failed)
		}
	}
}

// unfinished adds what the progress lines of a run without final figures tell.
func (p *pgbench) unfinished() {
	var done, before float64
	for _, g := range p.progress {
		done += math.Round(g.tps * (g.end - before))
		before = g.end
	}
	p.step.Seconds = before
	at := []account.With{of(opTransaction, opTransaction), count(int64(done)), source("intervals"), doubts(partial)}
	p.put("rows", done, at...)
	p.put("ops_per_s", done/before, at...)
	p.put("rows_per_s", done/before, at...)
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
		p.emit(result.Line{Source: "ops", T: g.end, DT: length, Group: opTransaction, Op: opTransaction, Ops: int64(n), Rows: int64(n), Errors: int64(g.failed)})
	}
	var texts []string
	if p.reason != "" {
		texts = []string{partial}
	}
	p.addIntervals(opTransaction, intervals, p.paced(), doubts(texts...))
}

// rows is the number of transactions by the summary.
func (p *pgbench) rows() float64 {
	v, _ := p.num("number of transactions actually processed")
	return v
}

func (p *pgbench) pgNotes() {
	note := func(text string) { p.step.Note(text) }
	if p.paced() {
		note("A rate was asked for: pgbench's latencies are response times, from the moment at which a transaction was due.")
	}
	if p.scripts > 1 {
		note("Several scripts: the figures are of all together.")
	}
	if v := p.values["number of transactions skipped"]; v != "" && !strings.HasPrefix(v, "0 ") {
		p.warn("%s transactions were skipped because they were late beyond the limit", v)
	}
	if p.values["tps without connecting"] == "" && p.reason == "" {
		p.warn("the rate holds the time that connecting took")
	}
}
