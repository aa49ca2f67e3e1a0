package importer

import (
	"regexp"
	"strings"
)

// sbSeries are the interval lines.
type sbSeries struct {
	intervals []sbInterval
	stride    int     // how many of the log are put together in each; 0: one
	joined    int     // how many are in the last one
	until     float64 // the end of the last one of the log
}

// sbInterval is an interval line. Rates are per second; -1: not told.
type sbInterval struct {
	end, length        float64
	events, queries    float64
	latency            float64 // ms, at percentile
	percentile, errors float64
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

// sbLatencyOf finds “lat (ms,95%): 0.50” in an interval line.
func sbLatencyOf(text string) (unit, percentile, value string, ok bool) {
	if _, rest, found := strings.Cut(text, "response time: "); found { // 0.5: 1.23ms (95%)
		m := sbOld.FindStringSubmatch(rest)
		if m == nil {
			return "", "", "", false
		}
		return m[2], m[3], m[1], true
	}
	_, rest, found := strings.Cut(text, "lat")
	rest, found2 := strings.CutPrefix(strings.TrimPrefix(rest, "ency"), " (")
	unit, rest, found3 := strings.Cut(rest, ",")
	percentile, rest, ok = strings.Cut(rest, "%): ")
	value, _, _ = strings.Cut(rest, " ")
	return unit, strings.TrimSpace(percentile), value, ok && found && found2 && found3
}

var sbOld = regexp.MustCompile(`^(\d+\.\d+)(\w+) \((\d+)%\)`)

// interval reads an interval line. A line that was cut off at the end of the
// file is left out.
func (s *sysbench) interval(n int, line string) {
	end, text, ok := sbElapsed(line)
	if !ok {
		if !s.last {
			s.problem(n, "", "%q is no interval of sysbench: [ SECONDSs ] was expected", clip(line))
		}
		return
	}
	if strings.HasPrefix(text, "queue length:") {
		s.queue = true
		return
	}
	if strings.HasPrefix(text, "shed:") {
		return // of rumbench: how many were is among the final figures
	}
	if strings.HasPrefix(text, "reads:") {
		return // MiB a second of file operations: no operations are told
	}
	iv := sbInterval{end: end, events: -1, queries: -1, latency: -1}
	whole := s.rates(&iv, text)
	unit, percentile, latency, found := sbLatencyOf(text)
	if found {
		iv.percentile, _ = number(percentile)
		iv.latency, whole = value(latency, whole)
	} else {
		whole = false
	}
	if unit != "" && unit != "ms" {
		s.problem(n, "", "latencies in %s: sysbench tells them in ms, and so do the other lines", unit)
		return
	}
	if !whole || iv.events < 0 {
		if !s.last {
			s.problem(n, "", "%q is no interval of sysbench: tps, qps or eps, and lat (ms,PERCENTILE%%) were expected", clip(line))
		}
		return
	}
	if iv.length = end - s.until; iv.length <= 0 {
		s.problem(n, "the logs of two runs were put together", "the time goes back from %g s to %g s", s.until, end)
		return
	}
	s.until = end
	s.addInterval(iv)
}

// mostIntervals is how many intervals of a log are kept: three days of seconds.
// Of a longer one neighbours are put together, so that it fits into memory.
const mostIntervals = 1 << 18

func (s *sbSeries) addInterval(iv sbInterval) {
	if n := len(s.intervals); n > 0 && s.joined < s.stride {
		s.intervals[n-1] = s.intervals[n-1].with(iv)
		s.joined++
		return
	}
	if s.joined = 1; len(s.intervals) < mostIntervals {
		s.intervals = append(s.intervals, iv)
		return
	}
	for i := range mostIntervals / 2 {
		s.intervals[i] = s.intervals[2*i].with(s.intervals[2*i+1])
	}
	s.intervals, s.stride = append(s.intervals[:mostIntervals/2], iv), max(s.stride, 1)*2
}

// with is an interval and the one after it. Its latency is not known.
func (iv sbInterval) with(next sbInterval) sbInterval {
	length := iv.length + next.length
	mean := func(a, b float64) float64 {
		if a < 0 || b < 0 {
			return -1
		}
		return (a*iv.length + b*next.length) / length
	}
	return sbInterval{end: next.end, length: length, events: mean(iv.events, next.events), queries: mean(iv.queries, next.queries),
		errors: mean(iv.errors, next.errors), latency: -1, percentile: next.percentile}
}

// value reads a number, -1 if it is not told; all that was read before must have
// been good.
func value(s string, good bool) (float64, bool) {
	if s == sbUnknown {
		return -1, good
	}
	v, ok := positive(s)
	return v, ok && good
}

// sbUnknown is what rumbench prints for what is not known; sysbench has no such word.
const sbUnknown = "-"

// rates reads the names and numbers of an interval line.
func (s *sysbench) rates(iv *sbInterval, text string) (ok bool) {
	ok = true
	for _, part := range []struct {
		name string
		to   *float64
	}{{"tps: ", &iv.events}, {"eps: ", &iv.events}, {"qps: ", &iv.queries}, {"err/s: ", &iv.errors}, {"errors: ", &iv.errors}} {
		_, rest, found := strings.Cut(text, part.name)
		if !found {
			continue
		}
		word, _, _ := strings.Cut(rest, " ")
		*part.to, ok = value(strings.TrimSuffix(word, ","), ok)
	}
	if iv.queries >= 0 || !strings.HasPrefix(text, "threads:") {
		return ok
	}
	for _, name := range []string{"reads: ", "writes: "} { // 0.5 has no total
		_, rest, found := strings.Cut(text, name)
		if word, _, _ := strings.Cut(rest, ","); found {
			var v float64
			v, ok = value(word, ok)
			iv.queries = max(iv.queries, 0) + v
		}
	}
	return ok
}
