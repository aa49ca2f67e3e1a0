package importer

import (
	"strings"
	"unicode"
)

// sbInterval is an interval line. Rates are per second; -1: unknown.
type sbInterval struct {
	end, length        float64
	events, queries    float64
	latency            float64 // ms, at percentile
	percentile, errors float64
}

// mostIntervals is the greatest number of intervals kept of a log: three days of
// seconds.
const mostIntervals = 1 << 18

// interval parses an interval line. A line cut off at the end of the file is left
// out.
func (s *sysbench) interval(line string) {
	end, text, ok := sbElapsed(line)
	if !ok {
		if !s.last {
			s.refuse("", "%q is not an interval of sysbench: [ SECONDSs ] was expected", clip(line))
		}
		return
	}
	if strings.HasPrefix(text, "queue length:") {
		s.queue = true
		return
	}
	if strings.HasPrefix(text, "shed:") {
		return // rumbench's own; their number is among the final figures
	}
	if strings.HasPrefix(text, "reads:") {
		return // MiB per second of file operations, without a number of operations
	}
	iv := sbInterval{end: end, events: -1, queries: -1, latency: -1}
	unit, whole := iv.parse(text)
	if unit != "" && unit != "ms" {
		s.refuse("", "latencies in %s: sysbench prints them in ms, and so do the other lines", unit)
		return
	}
	if !whole || unit == "" || iv.events < 0 {
		if !s.last {
			s.refuse("", "%q is not an interval of sysbench: tps, qps or eps, and lat (ms,PERCENTILE%%) were expected",
				clip(line))
		}
		return
	}
	if iv.length = end - s.until; iv.length <= 0 {
		s.refuse("the logs of two runs were concatenated", "the time goes back from %g s to %g s", s.until, end)
		return
	}
	s.until = end
	s.intervals.add(iv)
}

// sbElapsed cuts the time, as in “[ 12s ] ”, off an interval line.
func sbElapsed(line string) (seconds float64, rest string, ok bool) {
	at, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	if !ok {
		return 0, "", false
	}
	at, ok = strings.CutSuffix(strings.TrimSpace(at), "s")
	seconds, good := positive(at)
	return seconds, rest, ok && good
}

// parse parses the names and numbers of an interval line. It returns the unit of the
// latency, "" if there is none, and whether all numbers are whole.
//
//	thds: 4 tps: 9.00 qps: 9.00 (r/w/o: 9.00/0.00/0.00) lat (ms,95%): 0.50 err/s: 0.00
//	threads: 4, tps: 9.00, reads: 9.00, writes: 0.00, response time: 1.23ms (95%), errors: 0.00
func (iv *sbInterval) parse(text string) (unit string, ok bool) {
	ok = true
	value := func(word string) float64 {
		if word == sbUnknown {
			return -1
		}
		v, good := positive(word)
		ok = ok && good
		return v
	}
	var name, old string // the last word, and the unit that 0.5 prints behind the latency
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimSuffix(word, ",")
		switch {
		case name == "tps:", name == "eps:":
			iv.events = value(word)
		case name == "qps:":
			iv.queries = value(word)
		case name == "reads:", name == "writes:": // 0.5 has no total
			iv.queries = max(iv.queries, 0) + value(word)
		case name == "err/s:", name == "errors:":
			iv.errors = value(word)
		case strings.HasPrefix(name, "(") && strings.HasSuffix(name, "%):"):
			var percentile string
			unit, percentile, _ = strings.Cut(name[1:len(name)-3], ",")
			iv.percentile, _ = number(percentile)
			iv.latency = value(word)
		case name == "time:":
			digits := strings.TrimRightFunc(word, unicode.IsLetter)
			iv.latency, old = value(digits), word[len(digits):]
		case old != "" && strings.HasPrefix(word, "(") && strings.HasSuffix(word, "%)"):
			unit = old
			iv.percentile, _ = number(word[1 : len(word)-2])
		}
		name = word
	}
	return unit, ok && !strings.HasSuffix(name, ":")
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
	return sbInterval{end: next.end, length: length, events: mean(iv.events, next.events),
		queries: mean(iv.queries, next.queries),
		errors:  mean(iv.errors, next.errors), latency: -1, percentile: next.percentile}
}

// sbUnknown is printed by rumbench for unknown values; sysbench never prints it.
const sbUnknown = "-"
