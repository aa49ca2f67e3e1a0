package importer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/hint"
)

// ibRun is a step of the insert benchmark with all its clients.
type ibRun struct {
	*run
	o       *Options
	clients []*ibench
	seconds float64
	perOp   float64 // rows per commit; 0: unknown
	pace    float64 // promised rows per second of each client; 0: none, or unknown
}

func parseIBench(files []*file, o *Options, ps *hint.Problems) []*run {
	b := &ibRun{run: newRun(files[0], fmtIBench), o: o}
	b.tool = "the insert benchmark's iibench.py"
	for _, f := range files {
		c := readIBench(f, mostRows/len(files), ps)
		c.refuseIf(len(c.items) == 0 && c.indexed == 0, "",
			"it has no interval of the insert benchmark: 17, 12, 10 or 9 numbers were expected")
		b.clients = append(b.clients, c)
	}
	b.align()
	b.processes = len(b.clients)
	b.settings()
	b.step.Name, b.trial = repetition(stem(files[0].path))
	b.byFile = b.step.Name
	b.finish()
	return []*run{b.run}
}

// align gives the rows of all clients the same stride, as they are merged by number.
func (b *ibRun) align() {
	longest := 0
	for _, c := range b.clients {
		longest = max(longest, c.stride)
	}
	for _, c := range b.clients {
		for c.stride < longest {
			c.halve()
		}
	}
	b.noteIf(longest > 1, "The logs have more than %d intervals: %d at a time of each client are merged.", mostRows,
		longest)
}

// ibPlan are the options that runs of one step must share.
var ibPlan = strings.Fields("max_rows rows_per_commit inserts_per_second query_threads num_secondary_indexes " +
	"secondary_at_end delete_per_insert query_pk_only data_length_min data_length_max num_partitions max_seconds")

func (b *ibRun) settings() {
	first := b.clients[0]
	for _, name := range ibPlan {
		b.ask(first.optionAt, name, first.options[name])
	}
	b.ask(0, "clients", strconv.Itoa(len(b.clients)))
	b.engine = strings.Replace(first.options["dbms"], "mongo", "mongodb", 1)
	b.perOp, _ = positiveNumber(first.options["rows_per_commit"])
	b.pace, _ = positiveNumber(first.options["inserts_per_second"])
	if m := ibFile.FindStringSubmatch(stem(b.file.path)); m != nil && m[1] != fmt.Sprintf("dop%d", len(b.clients)) {
		b.warn("the files are of %s, and there are %d of them", m[1], len(b.clients))
	}
}

func (b *ibRun) finish() {
	common := math.Inf(1) // the time that all logs cover
	for _, c := range b.clients {
		last := c.end()
		if last != nil {
			b.verify(c, last)
		}
		b.cutIf(!c.ended, "the log of a client is cut off (%s:%d): it has no totals", c.path, c.lines)
		if !c.ended && last != nil {
			common = min(common, last.end+last.length/2)
		}
	}
	for _, c := range b.clients {
		c.items = slices.DeleteFunc(c.items, func(r ibRow) bool { return r.end > common })
		if last := c.end(); last != nil {
			b.seconds = max(b.seconds, last.end)
		}
	}
	b.step.Seconds = b.seconds
	b.addIndex()
	for k := range ibKinds {
		b.addKind(k)
	}
	for _, op := range []string{opInsert, opIndex, opQuery} { // queries are the primary operation if there are any
		if b.hasGroup(op) {
			if b.step.Primary = op; op != opQuery || b.step.WritesPer == "" {
				b.step.WritesPer = op
			}
		}
	}
	if b.seconds > 0 {
		b.put(metric.DurationS, b.seconds)
	}
	b.noteIf(len(b.clients) > 1, "The clients were started one after the other. The window is the longest time of a "+
		"client, "+
		"by its own clock; intervals of one number are merged.")
	b.noteIf(b.pace > 0, "A writer of the original does not make up for what it missed, and its latencies begin "+
		"when a "+
		"statement does: there is no response time.")
	b.noteIf(len(b.clients[0].shares) > 0, "Histograms have ten buckets, of which each ends at four times the one "+
		"before: "+
		"they show as curves, and give no percentiles.")
}

func (b *ibRun) hasGroup(op string) bool {
	return slices.ContainsFunc(b.step.Groups, func(g result.Group) bool { return g.Name == op })
}

// verify compares the totals of a client with its last interval.
func (b *ibRun) verify(c *ibench, last *ibRow) {
	rows, seconds := newFigure(last.kinds[ibInserts].total), figure{value: last.end, half: 0.05}
	if c.totalRows.value > 0 {
		b.requireSame("the total of rows", c.totalRows, "that of the intervals", rows)
	}
	b.contradictIf(c.totalSeconds.value > 0 && seconds.exceeds(c.totalSeconds), "the total of seconds", c.totalSeconds,
		"the end of the intervals", seconds)
}

// addIndex adds the index build, one operation of each client.
func (b *ibRun) addIndex() {
	var longest float64
	n := 0
	for _, c := range b.clients {
		if c.indexed > 0 {
			longest = max(longest, c.indexed)
			n++
		}
	}
	if n == 0 {
		return
	}
	b.step.Groups = append(b.step.Groups, result.Group{Name: opIndex, Clients: n, Ops: []string{opIndex}})
	b.put(metric.ServiceMaxUS, account.MicrosOfSeconds(longest), account.Of(opIndex, opIndex), account.Count(int64(n)))
	b.seconds = max(b.seconds, longest)
	b.step.Seconds = b.seconds
	b.note("The log has the time of the index build, but not its number of rows: the rate is unknown.")
}

// addKind adds the rows of one kind of operation, if there were any.
func (b *ibRun) addKind(kind int) {
	op := ibKinds[kind].op
	var total, greatest, retries float64
	for _, c := range b.clients {
		if last := c.end(); last != nil {
			total += max(last.kinds[kind].total, 0)
			retries += max(last.kinds[kind].retries, 0)
		}
		for i := range c.items {
			greatest = max(greatest, c.items[i].kinds[kind].highest)
		}
		greatest = max(greatest, c.shares[op].highest)
	}
	if total == 0 || b.seconds == 0 || op == opInsert && b.hasGroup(opIndex) {
		return // an index build has only a hundred rows
	}
	g := result.Group{Name: op, Clients: len(b.clients), Ops: []string{op}}
	if threads, _ := wholeNumber(b.clients[0].options["query_threads"]); op == opQuery && threads > 0 {
		g.Clients *= int(threads)
	}
	options := []account.With{account.Of(op, op), account.Warned(b.partial()...)}
	b.put(metric.Rows, total, append(options, account.Count(int64(total)))...)
	ops := total
	if op != opQuery {
		ops = account.PerUnit(total, b.perOp) // NaN if the size of a commit is unknown
	}
	b.rate(metric.OpsPerS, ops, options...)
	b.rate(metric.RowsPerS, total, options...)
	if greatest > 0 {
		b.put(metric.ServiceMaxUS, greatest, options...)
	}
	if first := b.clients[0].items; len(first) > 0 && first[0].kinds[kind].retries >= 0 {
		b.put(metric.Errors, retries, account.Of(op, ""), account.Count(int64(total+retries)))
	}
	b.addShares(op)
	rated := b.pace > 0 && op != opQuery
	if rated {
		g.Rate, g.Pace = b.pace*float64(len(b.clients)), "seconds"
	}
	b.step.Groups = append(b.step.Groups, g)
	b.addSteadiness(kind, rated)
	if rated {
		b.addPromise(kind)
	}
	if b.reason == "" {
		b.per(ibKinds[kind].per, account.PerSecond(total, b.seconds), int64(total))
	}
}

// addShares adds the histograms of all clients as a curve. Its points are the bounds
// of the buckets, which are too coarse for percentiles.
func (b *ibRun) addShares(op string) {
	counts := make([]int64, len(ibBounds)+1)
	var counted, seen int64
	var greatest float64
	for _, c := range b.clients {
		for i, n := range c.shares[op].counts {
			counts[i] += n
			counted += n
		}
		greatest = max(greatest, c.shares[op].highest)
	}
	if counted == 0 {
		return
	}
	c := metric.Curve{Group: op, Op: op, Measure: "service", Count: counted}
	for i, bound := range append(ibBounds, greatest) {
		if seen += counts[i]; counts[i] > 0 {
			c.Points = append(c.Points, [2]float64{100 * float64(seen) / float64(counted), min(bound, greatest)})
		}
	}
	b.step.Curves = append(b.step.Curves, c)
}

// merged returns the intervals of all clients, merged by number. Clients are started
// one after the other, so intervals with the same number may be some seconds apart.
func (b *ibRun) merged(kind int, clients []*ibench) (out []account.Interval) {
	n := len(clients[0].items)
	for _, c := range clients {
		n = min(n, len(c.items))
	}
	for i, first := range clients[0].items[:n] {
		units := 0.0
		for _, c := range clients {
			units += c.items[i].kinds[kind].rate * first.length
		}
		if first.length > 0 {
			out = append(out, account.NewInterval(first.end, first.length, units))
		}
	}
	return out
}

func (b *ibRun) addSteadiness(kind int, rated bool) {
	warnings, clients := b.partial(), b.clients
	if b.o.Compatible && len(clients) > 1 {
		warnings = append(warnings, noted("compatible: of the first of several clients"))
		clients = clients[:1] // as the published percentiles are
	}
	intervals := b.merged(kind, clients)
	if rated && !b.o.Compatible {
		intervals = account.Join(intervals, b.shortest())
	}
	b.addIntervals(ibKinds[kind].op, intervals, rated, account.Warned(warnings...))
	b.interval = stat.Median(stat.Values(b.clients[0].items, func(r ibRow) float64 { return r.length }))
	b.addSeries(kind)
}

// addSeries adds the series of a kind: the growth of all clients' counts.
func (b *ibRun) addSeries(kind int) {
	op, n := ibKinds[kind].op, 0
	for _, c := range b.clients {
		n = max(n, len(c.items))
	}
	perOp := b.perOp // 0: unknown
	if op == opQuery {
		perOp = 1
	}
	for i := range n {
		l := result.Line{Source: "ops", Group: op, Op: op}
		for _, c := range b.clients {
			var grown float64
			if i < len(c.items) {
				r := &c.items[i]
				grown = r.kinds[kind].total
				if i > 0 {
					grown -= c.items[i-1].kinds[kind].total
				}
				l.T, l.DT = max(l.T, r.end), max(l.DT, r.length)
				l.Max = max(l.Max, r.kinds[kind].highest)
			}
			rows := math.Round(max(grown, 0))
			l.Rows += int64(rows)
			if perOp > 0 {
				l.Clients = append(l.Clients, int64(math.Round(rows/perOp)))
			}
		}
		if perOp > 0 {
			l.Ops = int64(math.Round(float64(l.Rows) / perOp))
		}
		b.emit(l)
	}
}

// addPromise judges whether the writers kept their promised rate, from the counts
// at the ends of intervals. Lateness is the time since the last row done by then
// was due.
func (b *ibRun) addPromise(kind int) {
	target := b.pace * float64(len(b.clients))
	p := account.Promise{Target: target, Grain: b.perOp * float64(len(b.clients)),
		Intervals: account.Join(b.merged(kind, b.clients), b.shortest())}
	var late float64
	for _, c := range b.clients {
		end := c.end()
		if end == nil {
			continue // it only built indexes
		}
		planned := end.end
		if n, ok := positiveNumber(c.options["max_rows"]); ok && n > 0 {
			planned = min(planned, n/b.pace)
		}
		p.Done += end.kinds[kind].total
		p.Due += b.pace * end.end
		done := 0.0 // by the time that was planned
		lateness := func(r *ibRow) float64 { return max(0, r.end-r.kinds[kind].total/b.pace) }
		for i := range c.items {
			if late = max(late, lateness(&c.items[i])); c.items[i].end <= planned {
				done = c.items[i].kinds[kind].total
			}
		}
		p.Backlog += max(0, b.pace*planned-done)
		p.Behind = p.Behind || account.Growing(lateness(&c.items[len(c.items)/2]), lateness(end), end.end)
	}
	p.Seconds = p.Due / target
	sla := p.Judge()
	sla.MaxLateness = late
	b.build(func(out *account.Builder) { out.Promise(ibKinds[kind].op, sla) })
}

// shortest returns the shortest period, in seconds, over which a rate can be
// judged: ten commits of each client.
func (b *ibRun) shortest() float64 { return 10 * max(b.perOp, 1) / b.pace }
