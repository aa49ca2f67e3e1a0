package importer

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"rumbench/internal/result"
)

// Latencies that sysbench cannot print: below half of its last digit it prints
// 0.00 ms, as it does where it recorded none; above its longest bucket it
// prints that bucket.
const (
	sbDigit   = 0.005  // ms
	sbLongest = 100000 // ms
	sbCoarse  = 0.2    // ms: below it the last digit is more than 2.5 %
)

// The names of operations. An event is whatever a script does at a time; with
// SQL it is a transaction of one or more queries.
const (
	opQuery       = "query"
	opTransaction = "transaction"
	opEvent       = "event"
)

// finish turns what was read into rows.
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
		s.cut("the log is cut off (%s:%d): it has no final figures", s.file.path, s.last)
	}
	if s.reason != "" && len(s.intervals) == 0 {
		s.problem(s.last, "run the test again", "%s, and no intervals either: nothing is known of the run", strings.TrimSuffix(s.reason, ": it has no final figures"))
		return
	}
	if s.reason == "" {
		if missing := s.missing(); missing != "" {
			s.problem(s.last, "", "the final figures have no %s: nothing can be divided by it, and 0 would be a lie", missing)
			return
		}
	}
	sql := s.has("queries") || s.has("read/write requests") || len(s.intervals) > 0 && s.intervals[0].queries >= 0
	group := opEvent
	if sql {
		group = opQuery
	}
	s.step.Primary, s.step.WritesPer = group, group
	s.step.Groups = []result.Group{{Name: group, Clients: s.threads, Ops: []string{group}}}
	seconds, ops := s.ops(o, sql)
	s.step.Seconds = seconds
	if !sql || ops.queries == ops.events {
		s.addOp(group, group, ops, ops.events, true)
	} else {
		s.step.Groups[0].Ops = append(s.step.Groups[0].Ops, opTransaction)
		s.addOp(group, opQuery, ops, ops.queries, false)
		s.addOp(group, opTransaction, ops, ops.events, true)
	}
	s.put("duration_s", seconds)
	s.addErrors(group, ops)
	s.addSeries(group, ops)
	s.addNotes(ops)
}

var sbSuite = regexp.MustCompile(`^sb\.o\.(.+)\.range(\d+)\.pk([01])\.dop(\d+)$`)

// name names the step: of a suite's file by the test, its range and its
// clients; of another by the file and the clients.
func (s *sysbench) name() {
	if s.step.Name != "" { // it was told
		return
	}
	base := stem(s.file.path)
	if m := sbSuite.FindStringSubmatch(base); m != nil {
		if strconv.Itoa(s.threads) != m[4] && s.threads > 0 {
			s.problem(1, "", "its name says %s clients, and it tells of %d", m[4], s.threads)
			return
		}
		s.step.Name = fmt.Sprintf("%s_range=%s", m[1], m[2])
		if m[3] == "0" {
			s.step.Name += "_pk=0"
		}
		s.step.Name += "_clients=" + m[4]
		s.step.Doc = fmt.Sprintf("sysbench, test %s with range %s and %s clients", m[1], m[2], m[4])
		return
	}
	name, trial := repetition(base)
	s.trial, s.byFile = trial, name
	s.step.Name = name
	s.step.Doc = "sysbench"
	if s.threads > 0 {
		s.step.Name += fmt.Sprintf("_clients=%d", s.threads)
		s.step.Doc += fmt.Sprintf(", with %d clients", s.threads)
	}
}

func (s *sysbench) has(name string) bool { _, ok := s.totals[name]; return ok }

// missing is a final figure that a log which has an end lacks.
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

// sbOps is what was done in the window.
type sbOps struct {
	seconds, events, queries float64
	eventRate, queryRate     float64
	source                   string
	doubts                   []string
}

// ops are the counts and rates: of the final figures, or else of the intervals.
func (s *sysbench) ops(o *Options, sql bool) (seconds float64, ops sbOps) {
	if s.reason != "" {
		for _, iv := range s.intervals {
			ops.events += iv.events * iv.length
			ops.queries += max(iv.queries, 0) * iv.length
			ops.seconds += iv.length
		}
		ops.events, ops.queries = math.Round(ops.events), math.Round(ops.queries)
		ops.source, ops.doubts = "intervals", []string{partial}
	} else {
		t := s.totals
		ops.seconds = t["total time"] + t["time elapsed"]
		ops.events = t["total number of events"]
		ops.queries = t["queries"] + t["read/write requests"]
		ops.source = "final figures"
	}
	if ops.seconds > 0 {
		ops.eventRate, ops.queryRate = ops.events/ops.seconds, ops.queries/ops.seconds
	}
	if o.Compatible && s.reason == "" && sql {
		// The scripts take the rates as they are printed.
		ops.eventRate = s.totals["transactions per second"]
		ops.queryRate = s.totals["queries per second"] + s.totals["read/write requests per second"]
		ops.source = "final figures, rates as printed"
	}
	return ops.seconds, ops
}

// addOp adds the rates of a kind of operation, and the latencies of events.
func (s *sysbench) addOp(group, op string, ops sbOps, n float64, timed bool) {
	at := []func(*result.Row){of(group, op), count(int64(n)), source(ops.source), doubts(ops.doubts...)}
	rate := ops.eventRate
	if op == opQuery && !timed {
		rate = ops.queryRate
	}
	s.put("rows", n, at...)
	s.put("ops_per_s", rate, at...)
	s.put("rows_per_s", rate, at...)
	if s.reason == "" && n > 0 {
		s.costs = append(s.costs, denominator{op, rate, int64(n)})
	}
	if timed && n > 0 && s.reason == "" {
		s.addTimes(group, op, int64(n))
	}
}

// paced tells whether a rate was asked for: then latencies begin when an event
// is put into the queue.
func (s *sysbench) paced() bool {
	rate := s.params["rate"]
	return s.queue || rate != "" && rate != "0"
}

func (s *sysbench) addTimes(group, op string, n int64) {
	measure := "service"
	if s.paced() {
		measure = "response"
		s.step.Notes = append(s.step.Notes, "A rate was asked for: sysbench's latencies are response times, from the moment at which an event was put into the queue.")
	}
	at := []func(*result.Row){of(group, op), count(n), source("final figures")}
	if sum := s.latency["sum"].ms; sum > 0 && measure == "service" {
		s.put("service_mean_us", sum*1e3/float64(n), append(at, source("sum of latencies ÷ events"))...) // avg has two digits only
	} else if v, ok := s.printed("avg"); ok && measure == "service" {
		s.put("service_mean_us", v.us, append(at, doubts(v.doubts...))...)
	}
	if len(s.histogram) > 0 {
		s.addBuckets(measure, group, op, s.histogram, source("latency histogram, its buckets are 1.8 % apart"))
	} else {
		s.addPercentile(measure, at)
	}
	if v, ok := s.printed("max"); ok {
		s.put(measure+"_max_us", v.us, append(at, doubts(v.doubts...))...)
	}
}

// addPercentile adds the one percentile that sysbench prints.
func (s *sysbench) addPercentile(measure string, at []func(*result.Row)) {
	for name := range s.latency {
		p, ok := strings.CutPrefix(name, "p")
		if !ok {
			continue
		}
		if p != "50" && p != "95" && p != "99" {
			s.step.Notes = append(s.step.Notes, fmt.Sprintf("The log has the percentile %s (%s ms), for which there is no metric.", p, s.latency[name].text))
			continue
		}
		v, ok := s.printed(name)
		if !ok {
			continue
		}
		if top, ok := s.printed("max"); ok && v.us > top.us {
			v.doubts = append(v.doubts, "the middle of a bucket of sysbench's histogram, which lies above the greatest latency")
		}
		s.put(measure+"_p"+p+"_us", v.us, append(at, doubts(v.doubts...))...)
	}
	if s.disabled {
		s.step.Notes = append(s.step.Notes, "Percentiles were switched off (--percentile=0).")
	}
}

// printedLatency is a latency in µs as far as it can be trusted.
type printedLatency struct {
	us     float64
	doubts []string
}

// printed is a final latency. What sysbench prints as 0.00 is not known: it
// was too short to be printed, or was not recorded.
func (s *sysbench) printed(name string) (out printedLatency, ok bool) {
	l, ok := s.latency[name]
	switch {
	case !ok:
		return out, false
	case l.ms == 0:
		s.step.Notes = append(s.step.Notes, fmt.Sprintf("Latency %s is printed as 0.00 ms: below %g µs, or not recorded. It is unknown.", name, sbDigit*1e3))
		return out, false
	case strings.HasPrefix(name, "p") && l.ms >= sbLongest:
		s.warn("latency %s is above 100 s, the end of sysbench's histogram: it is unknown", name)
		return out, false
	}
	out.us = l.ms * 1e3
	if l.ms < sbCoarse && !strings.HasSuffix(l.text, "ms") {
		out.doubts = []string{"printed in steps of 10 µs"}
	}
	return out, true
}

// addErrors adds the errors that sysbench ignored: each made it run the event again.
func (s *sysbench) addErrors(group string, ops sbOps) {
	if s.reason != "" {
		return
	}
	for _, name := range []string{"ignored errors", "deadlocks"} {
		n, ok := s.totals[name]
		if !ok {
			continue
		}
		s.put("errors", n, of(group, ""), count(int64(n+ops.events)))
		switch {
		case n > 0 && s.step.Name != "" && s.run.target != "": // rumbench printed it
			s.warn("%.0f attempts failed: their time is in the latencies", n)
		case n > 0:
			s.warn("%.0f errors were ignored: the events were run again with other values, their failed tries are in the latencies and the queries", n)
		}
	}
}

// addSeries adds the intervals.
func (s *sysbench) addSeries(group string, ops sbOps) {
	var slices []slice
	single := ops.queries == ops.events || group == opEvent
	for _, iv := range s.intervals {
		units := iv.queries
		if units < 0 || single {
			units = iv.events
		}
		n := math.Round(units * iv.length)
		slices = append(slices, slice{iv.end, iv.length, n})
		line := result.Line{Step: s.step.Name, Source: "ops", T: iv.end, DT: iv.length, Group: group, Op: group, Ops: int64(n), Rows: int64(n), Errors: int64(math.Round(max(iv.errors, 0) * iv.length))}
		timed := line
		if !single {
			timed.Op, timed.Ops, timed.Errors = opTransaction, int64(math.Round(iv.events*iv.length)), line.Errors
			timed.Rows = timed.Ops
			line.Errors = 0
		}
		if iv.percentile == 99 && timed.Ops > 0 && iv.latency >= sbDigit {
			if timed.P99 = iv.latency * 1e3; s.paced() {
				timed.P99, timed.ResponseP9 = 0, timed.P99
			}
		}
		if !single {
			s.lines = append(s.lines, line)
		}
		s.lines = append(s.lines, timed)
	}
	s.addIntervals(group, slices, s.paced(), doubts(ops.doubts...))
}

// addNotes adds what a reader must know of the figures.
func (s *sysbench) addNotes(ops sbOps) {
	note := func(text string, args ...any) { s.step.Notes = append(s.step.Notes, fmt.Sprintf(text, args...)) }
	if s.has("read/write requests") {
		note("sysbench 0.5: queries are its read/write requests; BEGIN and COMMIT are not among them.")
	} else if ops.queries > ops.events {
		note("A transaction has %.3g queries in the mean; BEGIN and COMMIT are among them.", ops.queries/ops.events)
	}
	if other := s.totals["other"]; strings.Contains(s.params["script"], "delete") && other > 0 && s.reason == "" {
		s.warn("%.0f of %.0f deletes found no row: sysbench counts them as done", other, ops.queries)
	}
	if shed, late := s.totals["shed"], s.totals["not done at the end"]; shed+late > 0 {
		s.warn("%.0f operations were shed, and %.0f had arrived and were not done at the end: they are in no response time", shed, late)
	}
	if rate, _ := number(s.params["rate"]); rate > 0 {
		s.step.Groups[0].Rate, s.step.Groups[0].Pace = rate, "poisson"
		if ops.events > 0 && ops.queries > 0 {
			s.step.Groups[0].Rate = rate * ops.queries / ops.events
		}
	}
}
