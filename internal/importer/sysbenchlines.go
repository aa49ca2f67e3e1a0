package importer

import (
	"fmt"
	"strings"
	"unicode"
)

// sbInterval is an interval line. Rates are per second; -1: unknown.
type sbInterval struct {
	end, length        float64
	events, queries    float64
	latency            float64 // ms, at percentile
	percentile, errors float64 // percentile 0: unknown
}

// sbSeries are the intervals of a run.
type sbSeries struct {
	intervals       thinned[sbInterval]
	until           float64 // the end of the last one
	partly          bool    // they count only reads and writes, as those of 0.4 and 0.5
	reset           int     // left out: counters were reset in them
	untilCheckpoint figure  // the time up to the last checkpoint
}

// sbImpossible is a rate that no client reaches. Where counters are reset within an
// interval, sysbench prints differences below 0, or these as unsigned numbers.
const sbImpossible = 1e9

// sbUnknown is printed by rumbench for unknown values; sysbench never prints it.
const sbUnknown = "-"

// mostIntervals is the greatest number of intervals kept of a log: three days of
// seconds.
const mostIntervals = 1 << 18

// interval takes an interval line. A line cut off at the end of the file is left
// out.
func (s *sysbench) interval(line string) {
	end, text, ok := sbElapsed(line)
	iv := sbInterval{end: end, events: -1, queries: -1, latency: -1}
	switch {
	case !ok:
		s.refuseIf(!s.last, "", "%q is not an interval of sysbench: [ SECONDSs ] was expected", clip(line))
	case strings.HasPrefix(text, "Checkpoint report:"):
		s.checkpoint = true
	case strings.HasPrefix(text, "queue length:"):
		s.queue = true
		s.drop("queue lengths")
	case strings.HasPrefix(text, "shed:"): // rumbench's; their number is among the final figures
	case strings.HasPrefix(text, "reads:"):
		s.drop("MiB/s of intervals") // without a number of operations
	case !iv.parse(text):
		s.refuseIf(!s.last, "", "%q is not an interval of sysbench: tps, qps or eps, and lat (ms,PERCENTILE%%) were "+
			"expected",
			clip(line))
	default:
		s.partly = s.partly || strings.Contains(text, "reads")
		iv.length = end - s.until
		s.refuseIf(iv.length <= 0, "the logs of two runs were concatenated", "the time goes back from %g s to %g s",
			s.until, end)
		if s.until = end; max(iv.events, iv.queries, iv.errors) >= sbImpossible {
			s.reset++
		} else {
			s.intervals.add(iv)
		}
	}
}

// isReportCSV reports whether a line has the form that sysbench.report_csv prints.
func isReportCSV(line string) bool {
	return strings.Count(line, ",") > 4 && strings.Trim(line, "0123456789.,-") == ""
}

// csv takes an interval as sysbench.report_csv prints it: the time, threads, tps, qps,
// reads, writes, others, latency in ms, errors/s, reconnects/s. It does not print the
// percentile.
func (s *sysbench) csv(line string) {
	f := strings.Split(line, ",")
	s.refuseIf(len(f) != 10 && !s.last, "", "%q is not an interval of sysbench.report_csv: 10 numbers were expected",
		clip(line))
	if len(f) == 10 && f[1] != "0" { // without threads it is the mean of the whole run
		s.interval(fmt.Sprintf("[ %ss ] tps: %s qps: %s lat (ms,0%%): %s err/s: %s", f[0], f[2], f[3], f[7], f[8]))
	}
}

// sbElapsed cuts the time, as in “[ 12s ] ”, off an interval line.
func sbElapsed(line string) (seconds float64, text string, ok bool) {
	elapsed, text, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	elapsed, unit := strings.CutSuffix(strings.TrimSpace(elapsed), "s")
	seconds, parsed := positiveNumber(elapsed)
	return seconds, text, ok && unit && parsed
}

// parse takes the names and numbers of an interval line. It reports whether the line
// is whole.
//
//	thds: 4 tps: 9.00 qps: 9.00 (r/w/o: 9.00/0.00/0.00) lat (ms,95%): 0.50 err/s: 0.00
//	threads: 4, tps: 9.00, reads: 9.00, writes: 0.00, response time: 1.23ms (95%), errors: 0.00
func (iv *sbInterval) parse(text string) bool {
	ok, timed := true, false
	value := func(word string) float64 {
		if word == sbUnknown {
			return -1
		}
		v, parsed := number(word)
		if ok = ok && parsed; v < 0 {
			return sbImpossible
		}
		return v
	}
	latency := func(value, unit string) {
		if timed = true; value != sbUnknown {
			ms, parsed := millis(value, unit)
			iv.latency, ok = ms.value, ok && parsed
		}
	}
	var name string // the last word
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimSuffix(word, ",")
		switch name {
		case "tps:", "eps:":
			iv.events = value(word)
		case "qps:":
			iv.queries = value(word)
		case "reads:", "writes:", "reads/s:", "writes/s:":
			iv.queries = max(iv.queries, 0) + value(word)
		case "err/s:", "err/s", "errors:":
			iv.errors = value(word)
		case "time:":
			digits := strings.TrimRightFunc(word, unicode.IsLetter)
			latency(digits, word[len(digits):])
		default:
			if unit, percentile, found := strings.Cut(name, ","); found && strings.HasPrefix(unit, "(") &&
				strings.HasSuffix(name, "%):") {
				iv.percentile, _ = number(strings.TrimSuffix(percentile, "%):"))
				latency(word, unit[1:])
			} else if strings.HasPrefix(word, "(") && strings.HasSuffix(word, "%)") {
				iv.percentile, _ = number(word[1 : len(word)-2])
			}
		}
		name = word
	}
	return ok && timed && iv.events >= 0 && !strings.HasSuffix(name, ":")
}

// join merges an interval with the next one. The latency is then unknown.
func (iv sbInterval) join(next sbInterval) sbInterval {
	length := iv.length + next.length
	mean := func(a, b float64) float64 {
		if a < 0 || b < 0 {
			return -1
		}
		return (a*iv.length + b*next.length) / length
	}
	return sbInterval{end: next.end, length: length, events: mean(iv.events, next.events), percentile: next.percentile,
		queries: mean(iv.queries, next.queries), errors: mean(iv.errors, next.errors), latency: -1}
}

// addParts adds the parts of a run without an end as intervals.
func (s *sbSeries) addParts(parts []sbFigures) {
	for i := range parts {
		p := &parts[i]
		length := p.sum(sbSeconds...).value
		iv := sbInterval{length: length, events: p.sum(sbNumber).value / length, latency: -1, queries: -1}
		if s.partly = p.hasTotal("read/write requests"); p.hasTotal(sbRequests...) {
			iv.queries = p.sum(sbRequests...).value / length
		}
		if length > 0 && max(iv.events, iv.queries) < sbImpossible {
			s.until += length
			iv.end = s.until
			s.intervals.add(iv)
		}
	}
}
