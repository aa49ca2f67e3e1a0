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

// The names of events that are no queries, or none of single rows.
const (
	opEvent = "event"
	opScan  = "scan"
)

func (s *sysbench) finish(o *Options) {
	s.end = s.lines
	if s.header == 0 {
		s.lineNumber = 1
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
	s.lineNumber = s.end
	if s.reason == "" {
		missing := s.missing()
		s.refuseIf(missing != "", "", "the final figures have no %s: nothing can be divided by it, and it must not "+
			"count as 0",
			missing)
		s.conclude()
	} else if len(s.intervals.items) == 0 {
		s.addParts(s.parts)
		s.refuseIf(len(s.intervals.items) == 0, "run the test again", "%s, and there are no intervals either", cutOff)
	}
	if s.operation == opQuery {
		s.step.Access = workload.OtherAccess // its name is not informative, unlike those of sysbench's tests
	}
	r := s.rows(o)
	s.step.Seconds = r.seconds
	r.addRates()
	r.addTimes()
	s.lasted(r.seconds)
	r.addErrors()
	if rate, _ := number(s.params["rate"]); rate > 0 {
		if r.op == opTransaction {
			s.step.Groups[0].RateOf = opTransaction
		}
		addArrivals(s.run, rate, r.events, s.reason == "" && !s.printedHere())
	}
	r.addSeries()
	r.addNotes()
}

// name names the step: for a suite's file after the test and its range, for others
// after the file. Clients are included if they distinguish steps.
func (s *sysbench) name() {
	if s.step.Name != "" { // the log itself names it
		return
	}
	s.clients = s.threads
	if t, ok := suiteTestOf(stem(s.path)); ok {
		s.lineNumber = 1
		s.refuseIf(t.clients > 0 && s.threads > 0 && t.clients != s.threads, "",
			"its name says %d clients, and the log has %d", t.clients, s.threads)
		s.setSuiteTest(t)
		return
	}
	s.nameByFile(s.path)
	s.step.Doc = "sysbench"
}

// missing returns a final figure that a log lacks although it has an end.
func (s *sysbench) missing() string {
	queries := s.hasTotal("transactions") || len(s.intervals.items) > 0 && s.intervals.items[0].queries >= 0
	switch {
	case s.sum(sbSeconds...).value <= 0:
		return "“total time” above 0"
	case !s.hasTotal(sbNumber):
		return "“total number of events”"
	case queries && !s.hasTotal(sbRequests...) && !s.uncounted:
		return "“queries”"
	}
	return ""
}

func (s *sysbench) printedHere() bool { return s.step.Name != "" && s.run.target != "" }

// paced reports whether a rate was set: latencies are then measured from the time
// when an event is put into the queue.
func (s *sysbench) paced() bool {
	rate := s.params["rate"]
	return s.queue || rate != "" && rate != "0"
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
		seconds: s.sum(sbSeconds...).value, events: s.sum(sbNumber).value, requests: s.sum(sbRequests...).value}
	if r.queries = r.requests; s.hasTotal("read/write requests") {
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
	sql := s.hasTotal(sbRequests...) || len(s.intervals.items) > 0 && s.intervals.items[0].queries >= 0
	// Counting begins and ends while events are in flight, so the counts of single
	// statements may differ by one per client.
	single := math.Abs(r.requests-r.events) <= float64(s.threads)
	s.uncounted = s.uncounted || s.reason != "" && s.partly && !single
	script, named := s.params["script"]
	scan := script == scanScript || !named && (s.test == "scan" || strings.HasPrefix(s.test, "scan."))
	if scan && s.operation == "" && sql && single {
		r.scanned, _ = positiveNumber(s.params["table_size"])
	}
	switch {
	case s.operation != "":
		r.op = s.operation
	case !sql:
		r.op = opEvent
	case !single:
		r.op = opTransaction
	case r.scanned > 0:
		r.op = opScan
	default:
		r.op = opQuery
	}
	return r
}

// addRates adds the rates of events and their queries; for transactions also the
// rates of queries, the unit of published sysbench tables.
func (s *sbRows) addRates() {
	s.about(s.group, s.threads, s.op)
	switch {
	case s.operation != "":
		s.addOperation()
	case s.op == opScan:
		s.addScans()
	case s.op == opTransaction:
		s.addOp(opTransaction, s.events, "transactions")
		if !s.printedHere() && !s.uncounted {
			n := s.queries
			if s.compatible {
				n = s.requests
			}
			s.step.Groups[0].Ops = append(s.step.Groups[0].Ops, opQuery)
			s.addOp(opQuery, n, sbRequests...)
		}
	case s.op == opQuery:
		s.addOp(opQuery, s.requests, sbRequests...)
	default:
		s.addOp(s.op, s.events)
	}
	if s.op == opEvent || s.uncounted {
		return
	}
	s.rate(metric.QueriesPerS, s.queries, s.options(s.op, s.queries)...)
	if s.reason == "" && s.sum(sbKinds...).value == s.queries { // these kinds are all
		for i, name := range []string{metric.ReadsPerS, metric.WritesPerS, metric.OthersPerS} {
			n := s.sum(sbKinds[i]).value
			s.rate(name, n, s.options(s.op, n)...)
		}
	}
}

// addOperation adds the rates of an operation that sysbench does not have. Its rows are
// among the final figures unless each operation handles one row.
func (s *sbRows) addOperation() {
	if s.reason == "" && !s.hasTotal("rows") {
		s.addOp(s.op, s.events)
		return
	}
	options := s.options(s.op, s.events)
	s.rate(metric.OpsPerS, s.events, options...)
	if rows := s.sum("rows").value; s.hasTotal("rows") {
		s.put(metric.Rows, rows, options...)
		s.rate(metric.RowsPerS, rows, options...)
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
		s.per(op, rate, int64(n))
	}
}

func (s *sbRows) options(op string, n float64) []account.With {
	return []account.With{account.Of(s.group, op), account.Count(int64(n)), account.Source(s.source),
		account.Warned(s.partial()...)}
}

// scanScript is the script that reads a whole table in each event.
const scanScript = "oltp_scan"

// The denominator of a scan's costs, and the unit of published rates.
const (
	scanRow       = opScan + " row"
	scanPublished = opScan + " krow"
	scanUnit      = "compatible: thousands of rows a second of one client, by the mean latency"
)

// addScans adds the rates of a test that scans whole tables, in rows. Published rates
// describe one client, in thousands of rows, computed from the mean latency.
func (s *sbRows) addScans() {
	options, rows := s.options(opScan, s.events), s.events*s.scanned
	s.put(metric.Rows, rows, options...)
	s.rate(metric.OpsPerS, s.events, options...)
	costs := account.Denominator{Per: scanRow, Units: account.PerSecond(rows, s.seconds), N: int64(rows)}
	if s.compatible {
		costs = account.Denominator{Per: scanPublished, Units: math.Round(s.scanned / s.latency["avg"].value)}
		options = append(options, account.Source("mean latency, compatible"), warned(scanUnit))
	}
	s.put(metric.RowsPerS, costs.Units, options...)
	if s.reason == "" && s.events > 0 {
		s.costs = append(s.costs, costs)
	}
}

func (s *sbRows) addTimes() {
	n := int64(s.events)
	if n == 0 || s.reason != "" {
		return
	}
	measure := "service"
	if s.paced() {
		measure = "response"
		s.note("A rate was set: sysbench's latencies are response times, from the moment at which an event was put " +
			"into the queue.")
		mean := s.latency["avg"].value
		s.noteIf(mean > 0, "The mean response time was %.4g ms.", mean)
	}
	options := []account.With{account.Of(s.group, s.op), account.Count(n), account.Source("final figures")}
	put := func(name string, warnings ...metric.Warning) {
		if us, coarse, ok := s.printed(name); ok {
			name = cmp.Or(map[string]string{"avg": "mean"}[name], name)
			s.put(measure+"_"+name+"_us", us, append(options, account.Warned(append(coarse, warnings...)...))...)
		}
	}
	if sum := s.latency["sum"].value; sum > 0 && measure == "service" {
		mean := account.PerUnit(account.MicrosOfMillis(sum), float64(n)) // avg has two digits only
		s.put(metric.ServiceMeanUS, mean, append(options, account.Source("sum of latencies ÷ events"))...)
	} else if measure == "service" {
		put("avg")
	}
	if len(s.histogram) > 0 {
		s.build(func(b *account.Builder) {
			b.Latency(measure, s.group, s.op, account.Bucketed(s.histogram),
				account.Source("latency histogram, its buckets are 1.8 % apart"))
		})
	} else {
		s.addPercentile(put)
	}
	put("min")
	put("max")
}

// addPercentile adds the one percentile that sysbench prints.
func (s *sbRows) addPercentile(put func(name string, warnings ...metric.Warning)) {
	for name := range s.latency {
		switch p, ok := strings.CutPrefix(name, "p"); {
		case !ok:
		case p != "50" && p != "95" && p != "99":
			s.drop("the percentile " + p)
		case s.latency["max"].value > 0 && s.latency[name].value > s.latency["max"].value:
			put(name, noted("the middle of a bucket of sysbench's histogram, which lies above the greatest latency"))
		default:
			put(name)
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
		warnings = []metric.Warning{noted("printed in steps of %.3g µs", account.MicrosOfMillis(2*f.half))}
	}
	return account.MicrosOfMillis(f.value), warnings, true
}

// addErrors adds the errors that sysbench ignored: after each it ran the event again.
func (s *sbRows) addErrors() {
	for _, name := range []string{"ignored errors", "deadlocks"} {
		if s.reason != "" || !s.hasTotal(name) {
			continue
		}
		n := s.sum(name).value
		s.put(metric.Errors, n, account.Of(s.group, ""), account.Count(int64(n+s.events)))
		s.warnIf(n > 0 && s.printedHere(), "%.0f attempts failed: their time is in the latencies", n)
		s.warnIf(n > 0 && !s.printedHere(), "%.0f errors were ignored: the events were run again with other values, "+
			"their "+
			"failed tries are in the latencies and the queries", n)
	}
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
		line := result.Line{T: iv.end, DT: iv.length, Group: s.group, Op: s.op, Ops: int64(n),
			Rows: int64(n * max(1, s.scanned)), Errors: int64(math.Round(max(iv.errors, 0) * iv.length))}
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
		intervals = append(intervals, s.emitInterval(line))
	}
	s.addIntervals(s.group, intervals, s.paced(), account.Warned(s.partial()...))
}

// addNotes adds the notes that readers need to interpret the figures.
func (s *sbRows) addNotes() {
	s.noteIf(s.events > 0 && s.queries > s.events && s.op == opTransaction && !s.uncounted,
		"A transaction has %.3g queries in the mean; BEGIN and COMMIT are among them.", s.queries/s.events)
	s.noteIf(s.reset > 0, "%d of the log's intervals have impossible rates, as sysbench reset its counters in them: "+
		"they "+
		"are left out.", s.reset)
	s.noteIf(s.intervals.stride > 1, "The log has more than %d intervals: %d at a time are merged.", mostIntervals,
		s.intervals.stride)
	missed := s.sum("other").value
	s.warnIf(strings.Contains(s.params["script"], "delete") && missed > 0 && s.reason == "" && s.hasTotal("queries"),
		"%.0f of %.0f deletes found no row: sysbench counts them as done", missed, s.queries)
	shed, late := s.sum("shed").value, s.sum("not done at the end").value
	s.warnIf(shed+late > 0, "%.0f operations were shed, and %.0f had arrived and were not done at the end: they are "+
		"in no "+
		"response time", shed, late)
}
