package importer

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/workload"
)

// Latencies that sysbench cannot print: below half of the last digit it prints
// 0.00 ms, as for no records; above its last bucket it prints that bucket.
const (
	sbDigit   = 0.005  // ms
	sbLongest = 100000 // ms
	sbCoarse  = 0.01   // the share of a latency from which half of its last digit is a warning
)

// The names of operations. An event is one call of a script; with SQL it is a
// transaction of one or more queries.
const (
	opQuery       = "query"
	opTransaction = "transaction"
	opEvent       = "event"
	opScan        = "scan"
)

// sbClients is the group of clients of all tests, as in a run of the workload.
const sbClients = "clients"

// finish makes the rows of the run.
func (s *sysbench) finish(o *Options) {
	if s.header == 0 {
		s.at = 1
		s.refuse("", "it is not what sysbench run prints: no line begins with “sysbench VERSION”")
	}
	s.name()
	cutOff := fmt.Sprintf("the log is cut off (%s:%d)", s.path, s.end)
	if s.fatal != "" {
		cutOff = "sysbench ended with an error " + s.fatal
		s.cut("%s", cutOff)
	} else {
		s.cutIf(!s.complete, "%s: it has no final figures", cutOff)
	}
	if s.reason != "" && len(s.intervals.items) == 0 {
		s.addParts(s.parts)
	}
	switch missing := s.missing(); {
	case s.reason != "" && len(s.intervals.items) == 0:
		s.at = s.end
		s.refuse("run the test again", "%s, and there are no intervals either", cutOff)
	case s.reason == "" && missing != "":
		s.at = s.end
		s.refuse("", "the final figures have no %s: nothing can be divided by it, and it must not count as 0", missing)
	}
	if s.reason == "" {
		s.conclude()
	}
	if s.operation == opQuery {
		s.step.Access = workload.OtherAccess // its name is not informative, unlike those of sysbench's tests
	}
	r := s.rows(o)
	s.step.Seconds = r.seconds
	r.addRates()
	r.addTimes()
	s.put(metric.DurationS, r.seconds)
	r.addErrors()
	r.addPromise()
	r.addSeries()
	r.addNotes()
}

type sbRows struct {
	*sysbench
	seconds, events, queries float64
	requests                 float64 // queries without BEGIN and COMMIT in releases 0.4 and 0.5
	source                   string
	compatible               bool    // rates are taken as printed, as in published tables
	op                       string  // the kind of an event
	scanned                  float64 // rows read by each event of a test that scans whole tables, if known
}

// rows returns the counts from the final figures, else from the intervals, and the
// kind of events: scans, or queries, or transactions of several queries, or events
// without statements.
func (s *sysbench) rows(o *Options) *sbRows {
	r := &sbRows{sysbench: s, source: "final figures", compatible: o.Compatible && s.reason == "",
		seconds: s.sum(sbSeconds...).value, events: s.sum(sbNumber).value,
		requests: s.sum("queries", "read/write requests").value}
	if r.queries = r.requests; s.has("read/write requests") {
		r.queries = s.sum(sbKinds...).value
	}
	if s.reason != "" {
		r.source, r.seconds, r.events, r.requests = "intervals", 0, 0, 0
		for _, iv := range s.intervals.items {
			r.events += iv.events * iv.length
			r.requests += max(iv.queries, 0) * iv.length
			r.seconds += iv.length
		}
		r.events, r.requests = math.Round(r.events), math.Round(r.requests)
		r.queries = r.requests
	}
	sql := s.has("queries") || s.has("read/write requests") || len(s.intervals.items) > 0 &&
		s.intervals.items[0].queries >= 0
	// Counting begins and ends while events are in flight, so the counts of single
	// statements may differ by one per client.
	single := math.Abs(r.requests-r.events) <= float64(s.threads)
	s.uncounted = s.uncounted || s.reason != "" && s.partly && !single
	if script, known := s.params["script"]; script == scanScript || !known && isScan(s.test) {
		r.scanned, _ = positive(s.params["table_size"])
	}
	switch {
	case s.operation != "":
		r.op, r.scanned = s.operation, 0
	case !sql:
		r.op, r.scanned = opEvent, 0
	case !single:
		r.op, r.scanned = opTransaction, 0
	case r.scanned > 0:
		r.op = opScan
	default:
		r.op = opQuery
	}
	return r
}

// printedHere reports whether rumbench printed the log.
func (s *sysbench) printedHere() bool { return s.step.Name != "" && s.run.target != "" }

// addRates adds the rates of events and their queries; for transactions also the
// rates of queries, the unit of published sysbench tables.
func (s *sbRows) addRates() {
	s.about(s.group, s.threads, s.op)
	g := &s.step.Groups[0]
	switch {
	case s.operation != "":
		s.addOwn()
	case s.op == opScan:
		s.addScans()
	case s.op == opTransaction:
		s.addOp(opTransaction, s.events, "transactions")
		if !s.printedHere() && !s.uncounted {
			n := s.queries
			if s.compatible {
				n = s.requests
			}
			g.Ops = append(g.Ops, opQuery)
			s.addOp(opQuery, n, "queries", "read/write requests")
		}
	case s.op == opQuery:
		s.addOp(opQuery, s.requests, "queries", "read/write requests")
	default:
		s.addOp(s.op, s.events)
	}
	if s.op != opEvent && !s.uncounted {
		s.addStatements()
	}
}

// addOwn adds the rates of an operation that sysbench does not have. Its rows are
// among the final figures unless each operation handles one row.
func (s *sbRows) addOwn() {
	several, rows := s.has("rows"), s.sum("rows").value
	if s.reason == "" && !several {
		s.addOp(s.op, s.events)
		return
	}
	at := s.options(s.op, s.events)
	s.rate(metric.OpsPerS, s.events, at...)
	if several {
		s.put(metric.Rows, rows, at...)
		s.rate(metric.RowsPerS, rows, at...)
	}
}

// addStatements adds the rates of the queries in events, by their kinds if these are
// all of them.
func (s *sbRows) addStatements() {
	s.rate(metric.QueriesPerS, s.queries, s.options(s.op, s.queries)...)
	if s.reason != "" || s.sum(sbKinds...).value != s.queries {
		return
	}
	for i, name := range []string{metric.ReadsPerS, metric.WritesPerS, metric.OthersPerS} {
		n := s.sum(sbKinds[i]).value
		s.rate(name, n, s.options(s.op, n)...)
	}
}

// addOp adds the rates of an operation: computed, or as printed under one of the
// names if the arithmetic is compatible and it has several.
func (s *sbRows) addOp(op string, n float64, names ...string) {
	rate := account.PerSecond(n, s.seconds)
	if s.compatible && op != opEvent {
		rate = 0
		for _, name := range names {
			rate += s.rates[name].value
		}
	}
	s.work(n, rate, s.options(op, n)...)
	if s.reason == "" && n > 0 {
		s.costs = append(s.costs, account.Denominator{Per: op, Units: rate, N: int64(n)})
	}
}

// options returns the options that the rows of an operation share.
func (s *sbRows) options(op string, n float64) []account.With {
	return []account.With{account.Of(s.group, op), account.Count(int64(n)), account.Source(s.source),
		account.Warned(s.partial()...)}
}

// scanScript is the script that reads a whole table in each event.
const scanScript = "oltp_scan"

// isScan reports whether a test of the suite scans whole tables.
func isScan(test string) bool { return test == "scan" || strings.HasPrefix(test, "scan.") }

// The denominator of a scan's costs, and the unit of published rates.
const (
	scanRow       = opScan + " row"
	scanPublished = opScan + " krow"
	scanUnit      = "compatible: thousands of rows a second of one client, by the mean latency"
)

// addScans adds the rates of a test that scans whole tables, in rows. Published rates
// describe one client, in thousands of rows, computed from the mean latency.
func (s *sbRows) addScans() {
	at, rows := s.options(opScan, s.events), s.events*s.scanned
	s.put(metric.Rows, rows, at...)
	s.rate(metric.OpsPerS, s.events, at...)
	costs := account.Denominator{Per: scanRow, Units: account.PerSecond(rows, s.seconds), N: int64(rows)}
	if s.compatible {
		costs = account.Denominator{Per: scanPublished, Units: math.Round(s.scanned / s.latency["avg"].value)}
		at = append(at, account.Source("mean latency, compatible"), warned(scanUnit))
	}
	s.put(metric.RowsPerS, costs.Units, at...)
	if s.reason == "" && s.events > 0 {
		s.costs = append(s.costs, costs)
	}
}

// name names the step: for a suite's file after the test and its range, for others
// after the file. Clients are included if they distinguish steps.
func (s *sysbench) name() {
	if s.step.Name != "" { // the log itself names it
		return
	}
	s.clients = s.threads
	if t, ok := suiteTestOf(stem(s.path)); ok {
		if t.clients > 0 && s.threads > 0 && t.clients != s.threads {
			s.at = 1
			s.refuse("", "its name says %d clients, and the log has %d", t.clients, s.threads)
		}
		s.is(t)
		return
	}
	s.nameByFile(s.path)
	s.step.Doc = "sysbench"
}

// missing returns a final figure that a log lacks although it has an end.
func (s *sysbench) missing() string {
	switch {
	case s.sum(sbSeconds...).value <= 0:
		return "“total time” above 0"
	case !s.has(sbNumber):
		return "“total number of events”"
	case (s.has("transactions") || len(s.intervals.items) > 0 && s.intervals.items[0].queries >= 0) &&
		!s.has("queries") && !s.has("read/write requests") && !s.uncounted:
		return "“queries”"
	}
	return ""
}

// paced reports whether a rate was set: latencies are then measured from the time
// when an event is put into the queue.
func (s *sysbench) paced() bool {
	rate := s.params["rate"]
	return s.queue || rate != "" && rate != "0"
}

// addTimes adds the latencies of events.
func (s *sbRows) addTimes() {
	n := int64(s.events)
	if n == 0 || s.reason != "" {
		return
	}
	measure := "service"
	if s.paced() {
		measure = "response"
		s.step.Note("A rate was set: sysbench's latencies are response times, from the moment at which an event was " +
			"put " +
			"into the queue.")
		if avg, ok := s.latency["avg"]; ok && avg.value > 0 {
			s.note("The mean response time was %.4g ms.", avg.value)
		}
	}
	at := []account.With{account.Of(s.group, s.op), account.Count(n), account.Source("final figures")}
	put := func(name string, us float64, warnings []metric.Warning) {
		s.put(measure+"_"+name+"_us", us, append(at, account.Warned(warnings...))...)
	}
	if sum := s.latency["sum"].value; sum > 0 && measure == "service" {
		mean := account.PerUnit(account.MicrosOfMillis(sum), float64(n)) // avg has two digits only
		s.put(metric.ServiceMeanUS, mean, append(at, account.Source("sum of latencies ÷ events"))...)
	} else if us, warnings, ok := s.printed("avg"); ok && measure == "service" {
		put("mean", us, warnings)
	}
	if len(s.histogram) > 0 {
		s.build(func(b *account.Builder) {
			b.Latency(measure, s.group, s.op, account.Bucketed(s.histogram),
				account.Source("latency histogram, its buckets are 1.8 % apart"))
		})
	} else {
		s.addPercentile(put)
	}
	for _, name := range []string{"min", "max"} {
		if us, warnings, ok := s.printed(name); ok {
			put(name, us, warnings)
		}
	}
}

// addPercentile adds the one percentile that sysbench prints.
func (s *sbRows) addPercentile(put func(name string, us float64, warnings []metric.Warning)) {
	for name := range s.latency {
		p, ok := strings.CutPrefix(name, "p")
		if ok && p != "50" && p != "95" && p != "99" {
			s.drop("the percentile " + p)
		} else if ok {
			us, warnings, known := s.printed(name)
			if !known {
				continue
			}
			if top, _, ok := s.printed("max"); ok && us > top {
				warnings = append(warnings, remark("the middle of a bucket of sysbench's histogram, which lies "+
					"above the "+
					"greatest latency"))
			}
			put(name, us, warnings)
		}
	}
	s.noteIf(s.disabled, "Percentiles were disabled (--percentile=0).")
}

// printed returns a final latency in µs, with warnings about its precision. A value
// that sysbench prints as 0.00 is unknown: it was too short, or not recorded.
func (s *sysbench) printed(name string) (us float64, warnings []metric.Warning, ok bool) {
	f, ok := s.latency[name]
	switch {
	case !ok:
		return 0, nil, false
	case f.value == 0:
		s.note("Latency %s is printed as 0: below %.3g µs, or not recorded. It is unknown.", name,
			account.MicrosOfMillis(f.half))
		return 0, nil, false
	case strings.HasPrefix(name, "p") && f.value >= sbLongest:
		s.warn("latency %s is above 100 s, the end of sysbench's histogram: it is unknown", name)
		return 0, nil, false
	case f.half > sbCoarse*f.value:
		warnings = []metric.Warning{remark("printed in steps of %.3g µs", account.MicrosOfMillis(2*f.half))}
	}
	return account.MicrosOfMillis(f.value), warnings, true
}

// addErrors adds the errors that sysbench ignored: after each it ran the event again.
func (s *sbRows) addErrors() {
	if s.reason != "" {
		return
	}
	for _, name := range []string{"ignored errors", "deadlocks"} {
		if !s.has(name) {
			continue
		}
		n := s.sum(name).value
		s.put(metric.Errors, n, account.Of(s.group, ""), account.Count(int64(n+s.events)))
		switch {
		case n > 0 && s.printedHere():
			s.warn("%.0f attempts failed: their time is in the latencies", n)
		case n > 0:
			s.warn("%.0f errors were ignored: the events were run again with other values, their failed tries are "+
				"in the "+
				"latencies and the queries", n)
		}
	}
}

// addPromise adds the rate that was asked for, and whether it was held.
func (s *sbRows) addPromise() {
	rate, _ := number(s.params["rate"])
	if rate <= 0 {
		return
	}
	if s.op == opTransaction {
		s.step.Groups[0].RateOf = opTransaction
	}
	addArrivals(s.run, rate, s.events, s.reason == "" && !s.printedHere())
}

func (s *sbRows) addSeries() {
	var intervals []account.Interval
	printed := 0.0 // the percentile of the final figures
	for name := range s.latency {
		if p, ok := strings.CutPrefix(name, "p"); ok {
			printed, _ = number(p)
		}
	}
	for _, iv := range s.intervals.items {
		units := iv.events
		if s.op == opQuery && iv.queries >= 0 {
			units = iv.queries
		}
		n := math.Round(units * iv.length)
		intervals = append(intervals, account.NewInterval(iv.end, iv.length, n))
		line := result.Line{Source: "ops", T: iv.end, DT: iv.length, Group: s.group, Op: s.op,
			Ops: int64(n), Rows: int64(n * max(1, s.scanned))}
		line.Errors = int64(math.Round(max(iv.errors, 0) * iv.length))
		p95, p99 := &line.P95, &line.P99
		if s.paced() {
			p95, p99 = &line.ResponseP95, &line.ResponseP99
		}
		switch p := cmp.Or(iv.percentile, printed); {
		case line.Ops == 0 || iv.latency < sbDigit: // unknown
		case p == 95:
			*p95 = account.MicrosOfMillis(iv.latency)
		case p == 99:
			*p99 = account.MicrosOfMillis(iv.latency)
		default:
			s.drop("latencies of intervals at other or unknown percentiles")
		}
		s.emit(line)
	}
	s.addIntervals(s.group, intervals, s.paced(), account.Warned(s.partial()...))
}

// addNotes adds the notes that readers need to interpret the figures.
func (s *sbRows) addNotes() {
	note := func(text string, args ...any) { s.note(text, args...) }
	if s.events > 0 && s.queries > s.events && s.op == opTransaction && !s.uncounted {
		note("A transaction has %.3g queries in the mean; BEGIN and COMMIT are among them.", s.queries/s.events)
	}
	if s.reset > 0 {
		note("%d of the log's intervals have impossible rates, as sysbench reset its counters in them: they are "+
			"left out.",
			s.reset)
	}
	if s.intervals.stride > 1 {
		note("The log has more than %d intervals: %d at a time are merged.", mostIntervals, s.intervals.stride)
	}
	other := s.sum("other").value
	s.warnIf(strings.Contains(s.params["script"], "delete") && other > 0 && s.reason == "" && s.has("queries"),
		"%.0f of %.0f deletes found no row: sysbench counts them as done", other, s.queries)
	if shed, late := s.sum("shed").value, s.sum("not done at the end").value; shed+late > 0 {
		s.warn("%.0f operations were shed, and %.0f had arrived and were not done at the end: they are in no "+
			"response time",
			shed, late)
	}
}
