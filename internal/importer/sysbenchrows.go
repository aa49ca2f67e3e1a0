package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Latencies that sysbench cannot print: below half of the last digit it prints
// 0.00 ms, as for no records; above its last bucket it prints that bucket.
const (
	sbDigit   = 0.005  // ms
	sbLongest = 100000 // ms
	sbCoarse  = 0.2    // ms: below it the last digit is more than 2.5 %
)

// The names of operations. An event is one call of a script; with SQL it is a
// transaction of one or more queries.
const (
	opQuery       = "query"
	opTransaction = "transaction"
	opEvent       = "event"
	opScan        = "scan"
)

// finish makes the rows of the run.
func (s *sysbench) finish(o *Options) {
	if s.header == 0 {
		s.problem(1, "", "it is not what sysbench run prints: no line begins with “sysbench VERSION”")
		return
	}
	s.name()
	if s.wrong {
		return
	}
	if s.fatal != "" {
		s.cut("sysbench ended with an error (%s:%d): %s", s.file.path, s.fatalLine, s.fatal)
	} else if !s.ended {
		s.cut("the log is cut off (%s:%d): it has no final figures", s.file.path, s.at)
	}
	if s.reason != "" && len(s.intervals) == 0 {
		s.problem(s.at, "run the test again", "%s, and no intervals either: nothing is known of the run", strings.TrimSuffix(s.reason, ": it has no final figures"))
		return
	}
	if s.reason == "" {
		if missing := s.missing(); missing != "" {
			s.problem(s.at, "", "the final figures have no %s: nothing can be divided by it, and it must not count as 0", missing)
			return
		}
	}
	r := &sbRows{s, s.ops(), o.Compatible && s.reason == ""}
	s.step.Seconds = r.seconds
	r.addRates()
	s.put("duration_s", r.seconds)
	r.addErrors(s.step.Primary)
	r.addSeries(s.step.Primary)
	r.addNotes()
}

// sql reports whether events consist of SQL statements.
func (s *sysbench) sql() bool {
	return s.has("queries") || s.has("read/write requests") || len(s.intervals) > 0 && s.intervals[0].queries >= 0
}

// sbRows makes the rows of a run.
type sbRows struct {
	*sysbench
	sbOps
	compatible bool // rates are taken as printed, as in published tables
}

// single reports whether each event is one statement. Counting begins and ends while
// events are in flight, so the two counts may differ by one per client.
func (s *sbRows) single() bool {
	return math.Abs(s.queries-s.events) <= float64(s.threads)
}

// addRates adds the rates of operations: queries, and transactions if they have
// several queries; scans; or events without statements.
func (s *sbRows) addRates() {
	add := func(op string, more ...string) {
		s.step.Primary, s.step.WritesPer = op, op
		s.step.Groups = []result.Group{{Name: op, Clients: s.threads, Ops: append([]string{op}, more...)}}
	}
	queries := func() float64 { return s.rate(s.queries/s.seconds, "queries", "read/write requests") }
	switch rows := s.scanned(); {
	case rows > 0:
		add(opScan)
		s.addScans(rows)
		s.addTimes(opScan, opScan)
	case !s.sql():
		add(opEvent)
		s.addOp(opEvent, opEvent, s.events, s.events/s.seconds)
		s.addTimes(opEvent, opEvent)
	case s.single():
		add(opQuery)
		s.addOp(opQuery, opQuery, s.queries, queries())
		s.addTimes(opQuery, opQuery)
	default:
		add(opQuery, opTransaction)
		s.addOp(opQuery, opQuery, s.queries, queries())
		s.addOp(opQuery, opTransaction, s.events, s.rate(s.events/s.seconds, "transactions"))
		s.addTimes(opQuery, opTransaction)
	}
}

// rate returns the printed rate if the arithmetic is compatible, else the computed
// one.
func (s *sbRows) rate(computed float64, names ...string) float64 {
	if !s.compatible {
		return computed
	}
	var sum float64
	for _, name := range names {
		sum += s.totals[name+" per second"]
	}
	return sum
}

// scanScript is the script that reads a whole table in each event.
const scanScript = "oltp_scan"

// isScan reports whether a test of the suite scans whole tables.
func isScan(test string) bool { return test == "scan" || strings.HasPrefix(test, "scan.") }

// scanned returns the rows read per event of a test that scans whole tables; 0 for
// other tests, or if the size of a table is unknown.
func (s *sbRows) scanned() float64 {
	script, known := s.params["script"]
	if !s.sql() || !s.single() || script != scanScript && (known || !isScan(s.test)) {
		return 0
	}
	rows, _ := positive(s.params["table_size"])
	return rows
}

// The denominator of a scan's costs, and the unit of published rates.
const (
	scanRow       = opScan + " row"
	scanPublished = opScan + " krow"
	scanUnit      = "compatible: thousands of rows a second of one client, by the mean latency"
)

// addScans adds the rates of a test that scans whole tables, in rows. Published ones
// are of one client, in thousands of rows, from the mean latency.
func (s *sbRows) addScans(rows float64) {
	at := []account.With{of(opScan, opScan), count(int64(s.events)), source(s.source), warned(s.rowWarnings...)}
	s.put("rows", s.events*rows, at...)
	s.put("ops_per_s", s.events/s.seconds, at...)
	per, rate, n := scanRow, s.events*rows/s.seconds, int64(s.events*rows)
	if s.compatible {
		per, rate, n = scanPublished, math.Round(rows/s.latency["avg"].ms), 0
		at = append(at, source("mean latency, compatible"), warned(scanUnit))
	}
	s.put("rows_per_s", rate, at...)
	if s.reason == "" && s.events > 0 {
		s.costs = append(s.costs, denominator{per, rate, n})
	}
}

// name names the step: for a suite's file after the test and its range, for others
// after the file. Clients are included if they distinguish steps.
func (s *sysbench) name() {
	if s.step.Name != "" { // the log itself names it
		return
	}
	s.clients = s.threads
	if t, ok := suiteTestOf(stem(s.file.path)); ok {
		if t.clients > 0 && s.threads > 0 && t.clients != s.threads {
			s.problem(1, "", "its name says %d clients, and the log has %d", t.clients, s.threads)
			return
		}
		s.is(t)
		return
	}
	s.base, s.trial = repetition(stem(s.file.path))
	s.byFile = s.base
	s.step.Doc = "sysbench"
}

func (s *sysbench) has(name string) bool { _, ok := s.totals[name]; return ok }

// missing returns a final figure that a log lacks although it has an end.
func (s *sysbench) missing() string {
	switch {
	case s.totals["total time"]+s.totals["time elapsed"] <= 0:
		return "“total time” above 0"
	case !s.has("total number of events"):
		return "“total number of events”"
	case s.has("transactions") && !s.has("queries") && !s.has("read/write requests") && !s.uncounted:
		return "“queries”"
	}
	return ""
}

// sbOps holds the counts of the window.
type sbOps struct {
	seconds, events, queries float64
	source                   string
	rowWarnings              []string
}

// ops returns the counts from the final figures, else from the intervals.
func (s *sysbench) ops() (ops sbOps) {
	if s.reason != "" {
		for _, iv := range s.intervals {
			ops.events += iv.events * iv.length
			ops.queries += max(iv.queries, 0) * iv.length
			ops.seconds += iv.length
		}
		ops.events, ops.queries = math.Round(ops.events), math.Round(ops.queries)
		ops.source, ops.rowWarnings = "intervals", []string{partial}
	} else {
		t := s.totals
		ops.seconds = t["total time"] + t["time elapsed"]
		ops.events = t["total number of events"]
		ops.queries = t["queries"] + t["read/write requests"]
		ops.source = "final figures"
	}
	return ops
}

// addOp adds the rates of an operation.
func (s *sbRows) addOp(group, op string, n, rate float64) {
	at := []account.With{of(group, op), count(int64(n)), source(s.source), warned(s.rowWarnings...)}
	s.put("rows", n, at...)
	s.put("ops_per_s", rate, at...)
	s.put("rows_per_s", rate, at...)
	if s.reason == "" && n > 0 {
		s.costs = append(s.costs, denominator{op, rate, int64(n)})
	}
}

// paced reports whether a rate was set: then latencies begin when an event is put
// into the queue.
func (s *sysbench) paced() bool {
	rate := s.params["rate"]
	return s.queue || rate != "" && rate != "0"
}

// addTimes adds the latencies of events.
func (s *sbRows) addTimes(group, op string) {
	n := int64(s.events)
	if n == 0 || s.reason != "" {
		return
	}
	measure := "service"
	if s.paced() {
		measure = "response"
		s.step.Note("A rate was set: sysbench's latencies are response times, from the moment at which an event was put into the queue.")
	}
	at := []account.With{of(group, op), count(n), source("final figures")}
	if sum := s.latency["sum"].ms; sum > 0 && measure == "service" {
		s.put("service_mean_us", sum*1e3/float64(n), append(at, source("sum of latencies ÷ events"))...) // avg has two digits only
	} else if v, ok := s.printed("avg"); ok && measure == "service" {
		s.put("service_mean_us", v.us, append(at, warned(v.warnings...))...)
	}
	if len(s.histogram) > 0 {
		s.build(func(b *account.Builder) {
			b.Latency(measure, group, op, account.Bucketed(s.histogram), source("latency histogram, its buckets are 1.8 % apart"))
		})
	} else {
		s.addPercentile(measure, at)
	}
	if v, ok := s.printed("max"); ok {
		s.put(measure+"_max_us", v.us, append(at, warned(v.warnings...))...)
	}
}

// addPercentile adds the one percentile that sysbench prints.
func (s *sbRows) addPercentile(measure string, at []func(*metric.Row)) {
	for name := range s.latency {
		p, ok := strings.CutPrefix(name, "p")
		if !ok {
			continue
		}
		if p != "50" && p != "95" && p != "99" {
			s.step.Note(fmt.Sprintf("The log has the percentile %s (%s ms), for which there is no metric.", p, s.latency[name].text))
			continue
		}
		v, ok := s.printed(name)
		if !ok {
			continue
		}
		if top, ok := s.printed("max"); ok && v.us > top.us {
			v.warnings = append(v.warnings, "the middle of a bucket of sysbench's histogram, which lies above the greatest latency")
		}
		s.put(measure+"_p"+p+"_us", v.us, append(at, warned(v.warnings...))...)
	}
	if s.disabled {
		s.step.Note("Percentiles were disabled (--percentile=0).")
	}
}

// printedLatency is a printed latency in µs, with warnings about its precision.
type printedLatency struct {
	us       float64
	warnings []string
}

// printed returns a final latency. What sysbench prints as 0.00 is unknown: it was
// too short, or not recorded.
func (s *sysbench) printed(name string) (out printedLatency, ok bool) {
	l, ok := s.latency[name]
	switch {
	case !ok:
		return out, false
	case l.ms == 0:
		s.step.Note(fmt.Sprintf("Latency %s is printed as 0.00 ms: below %g µs, or not recorded. It is unknown.", name, sbDigit*1e3))
		return out, false
	case strings.HasPrefix(name, "p") && l.ms >= sbLongest:
		s.warn("latency %s is above 100 s, the end of sysbench's histogram: it is unknown", name)
		return out, false
	}
	out.us = l.ms * 1e3
	if l.ms < sbCoarse && !strings.HasSuffix(l.text, "ms") {
		out.warnings = []string{"printed in steps of 10 µs"}
	}
	return out, true
}

// addErrors adds the errors that sysbench ignored: after each it ran the event again.
func (s *sbRows) addErrors(group string) {
	if s.reason != "" {
		return
	}
	for _, name := range []string{"ignored errors", "deadlocks"} {
		n, ok := s.totals[name]
		if !ok {
			continue
		}
		s.put("errors", n, of(group, ""), count(int64(n+s.events)))
		switch {
		case n > 0 && s.step.Name != "" && s.run.target != "": // rumbench printed it
			s.warn("%.0f attempts failed: their time is in the latencies", n)
		case n > 0:
			s.warn("%.0f errors were ignored: the events were run again with other values, their failed tries are in the latencies and the queries", n)
		}
	}
}

// addSeries adds the intervals.
func (s *sbRows) addSeries(group string) {
	var intervals []account.Interval
	single := group != opQuery || s.single()
	perEvent := max(1, s.scanned())
	for _, iv := range s.intervals {
		units := iv.queries
		if units < 0 || single {
			units = iv.events
		}
		n := math.Round(units * iv.length)
		intervals = append(intervals, account.NewInterval(iv.end, iv.length, n))
		line := result.Line{Step: s.step.Name, Source: "ops", T: iv.end, DT: iv.length, Group: group, Op: group,
			Ops: int64(n), Rows: int64(n * perEvent), Errors: int64(math.Round(max(iv.errors, 0) * iv.length))}
		timed := line
		if !single {
			timed.Op, timed.Ops, timed.Errors = opTransaction, int64(math.Round(iv.events*iv.length)), line.Errors
			timed.Rows = timed.Ops
			line.Errors = 0
		}
		if iv.percentile == 99 && timed.Ops > 0 && iv.latency >= sbDigit {
			if timed.P99 = iv.latency * 1e3; s.paced() {
				timed.P99, timed.ResponseP99 = 0, timed.P99
			}
		}
		if !single {
			s.emit(line)
		}
		s.emit(timed)
	}
	s.addIntervals(group, intervals, s.paced(), warned(s.rowWarnings...))
}

// addNotes adds what readers need to know about the figures.
func (s *sbRows) addNotes() {
	note := func(text string, args ...any) { s.step.Note(fmt.Sprintf(text, args...)) }
	if s.has("read/write requests") {
		note("sysbench 0.5: queries are its read/write requests; BEGIN and COMMIT are not among them.")
	} else if s.events > 0 && s.queries > s.events && !s.single() {
		note("A transaction has %.3g queries in the mean; BEGIN and COMMIT are among them.", s.queries/s.events)
	}
	if s.stride > 1 {
		note("The log has more than %d intervals: %d at a time are merged.", mostIntervals, s.stride)
	}
	if other := s.totals["other"]; strings.Contains(s.params["script"], "delete") && other > 0 && s.reason == "" {
		s.warn("%.0f of %.0f deletes found no row: sysbench counts them as done", other, s.queries)
	}
	if shed, late := s.totals["shed"], s.totals["not done at the end"]; shed+late > 0 {
		s.warn("%.0f operations were shed, and %.0f had arrived and were not done at the end: they are in no response time", shed, late)
	}
	if rate, _ := number(s.params["rate"]); rate > 0 {
		g := &s.step.Groups[0]
		g.Rate, g.Pace = rate, "poisson"
		if slices.Contains(g.Ops, opTransaction) {
			g.RateOf = opTransaction
		}
	}
}
