package importer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"rumbench/internal/account"
)

// sbFigures are the figures at the end of a run, or at a checkpoint, which begins new
// counts.
type sbFigures struct {
	complete  bool
	totals    map[string]figure // by name, see sbTaken
	rates     map[string]figure // printed per second, by the same names
	latency   map[string]figure // ms
	disabled  bool              // percentiles were disabled
	uncounted bool              // the statements are unknown
	histogram []account.Bucket
}

func newFigures() sbFigures {
	return sbFigures{totals: map[string]figure{}, rates: map[string]figure{}, latency: map[string]figure{}}
}

// sbFinal are the final figures that rows are computed from, and sbTaken those that
// restate or check them.
const (
	sbFinal = "|total time|time elapsed|total number of events|queries|read/write requests|transactions|"
	sbTaken = sbFinal + sbEvents + "|" + sbBusy + "|events (avg/stddev)|events/s (eps)|events per second|" +
		"read|write|other|total|other operations|ignored errors|deadlocks|rows|offered|shed|not done at the end|"
	sbEvents = "total time taken by event execution"
	sbBusy   = "execution time (avg/stddev)" // the last line
	sbNumber = "total number of events"
)

// The names of totals, which differ by release.
var (
	sbSeconds    = []string{"total time", "time elapsed"}
	sbEventRates = []string{"events/s (eps)", "events per second"}
	sbRequests   = []string{"queries", "read/write requests"} // without BEGIN and COMMIT in releases 0.4 and 0.5
	sbKinds      = []string{"read", "write", "other"}
)

// total takes a line of the final figures: NAME: VALUE, or NAME: COUNT (RATE per sec.)
func (s *sysbench) total(line string) {
	name, text, ok := strings.Cut(line, ":")
	text = strings.TrimSpace(text)
	unit, timed := s.latencyUnit()
	switch first, _, _ := strings.Cut(text, " "); {
	case !ok:
		s.dropIf(strings.Contains(line, "transferred"), "bytes transferred")
	case text == "":
		s.section = line
	case name == "Total operations": // of the memory test: events
	case timed && name != sbBusy:
		s.addLatency(name, text, unit)
	case first == sbUnknown:
		s.uncounted = s.uncounted || name == "queries"
	default:
		mean, _, _ := strings.Cut(first, "/") // average/standard deviation
		s.addTotal(name, strings.TrimSuffix(mean, "s"), line)
	}
	if ok && text != "" && name == sbBusy {
		s.endFigures()
	}
}

func (s *sysbench) addTotal(name, value, line string) {
	v, ok := figureOf(value)
	switch {
	case ok && strings.Contains(sbTaken, "|"+name+"|"):
		s.totals[name] = v
		printed, _ := textBetween(line, "(", " per sec")
		if rate, ok := figureOf(printed); ok {
			s.rates[name] = rate
		}
	case strings.Contains(sbFinal, "|"+name+"|") && !s.last:
		s.refuse("", "%q: a number was expected, with a decimal point and no sign", clip(line))
	case v.value > 0 && s.started:
		s.drop(name)
	}
}

// latencyUnits are the units of latencies, in ms.
var latencyUnits = map[string]float64{"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1, "s": 1e3}

func millis(value, unit string) (ms figure, ok bool) {
	v, ok := figureOf(value)
	scale := latencyUnits[unit]
	return figure{v.value * scale, v.half * scale}, ok && scale > 0
}

// latencyUnit returns the unit of the latencies in a section, "" for the releases that
// print it behind each latency. ok is false in other sections.
func (s *sysbench) latencyUnit() (unit string, ok bool) {
	if slices.Contains([]string{"response time:", "per-request statistics:", "Latency statistics:"}, s.section) {
		return "", true
	}
	return textBetween(s.section, "Latency (", ")")
}

func (s *sysbench) addLatency(name, text, unit string) {
	if s.disabled = s.disabled || text == "disabled"; text == "disabled" || text == sbUnknown {
		return
	}
	value := strings.TrimRightFunc(text, unicode.IsLetter)
	v, ok := millis(value, cmp.Or(text[len(value):], unit))
	s.refuseIf(!ok && !s.last, "",
		"%s: %q: a latency was expected, in ns, us, ms or s, with a decimal point and no sign", name, clip(text))
	name = strings.TrimPrefix(name, "approx.")
	if p, found := strings.CutSuffix(strings.TrimSpace(name), "percentile"); found {
		name = "p" + strings.TrimRight(strings.TrimSpace(p), "thsnrd")
	}
	if ok {
		s.latency[name] = v
	}
}

var sbBucket = regexp.MustCompile(`^(\d+\.\d+) \|\**\s+(\d+)$`)

func (s *sysbench) bucket(line string) {
	if m := sbBucket.FindStringSubmatch(line); m != nil {
		v, _ := number(m[1])
		n, _ := wholeNumber(m[2])
		s.histogram = append(s.histogram, account.Bucket{Micros: account.MicrosOfMillis(v), Count: n})
	}
}

// sum returns the sum of totals. Those that the log lacks count as 0.
func (f *sbFigures) sum(names ...string) (out figure) {
	for _, name := range names {
		out = out.plus(f.totals[name])
	}
	return out
}

// hasTotal reports whether the log has one of some totals.
func (f *sbFigures) hasTotal(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := f.totals[name]; return ok })
}

// busy returns the sum of latencies in ms, 0 if it is unknown.
func (f *sbFigures) busy() figure {
	return cmp.Or(f.latency["sum"], f.totals[sbEvents].times(newFigure(1000)),
		f.latency["avg"].times(f.totals[sbNumber]))
}

// endFigures ends the figures of a checkpoint or of the run.
func (s *sysbench) endFigures() {
	s.countFrom(s.untilCheckpoint)
	s.untilCheckpoint = s.untilCheckpoint.plus(s.sum(sbSeconds...))
	if s.complete = true; s.checkpoint {
		s.parts, s.sbFigures, s.checkpoint = append(s.parts, s.sbFigures), newFigures(), false
	}
}

// countFrom sets the time of a part to its own, if the printed time includes that of the
// parts before: in release 1.0 and later it does. The printed rate decides.
func (f *sbFigures) countFrom(previous figure) {
	printed, rate := f.sum(sbSeconds...), cmp.Or(f.rates["transactions"], f.sum(sbEventRates...))
	n := f.sum("transactions")
	if !f.hasTotal("transactions") {
		n = f.sum(sbNumber)
	}
	part := figure{printed.value - previous.value, printed.half + previous.half}
	if previous.value > 0 && rate.times(part).agrees(n) && !rate.times(printed).agrees(n) {
		delete(f.totals, "time elapsed")
		f.totals["total time"] = part
	}
}

// conclude checks the figures of all parts, and joins them.
func (s *sysbench) conclude() {
	parts := append(s.parts, s.sbFigures)
	for i := range parts {
		s.verify(&parts[i], i == len(parts)-1)
	}
	s.sbFigures = joined(parts)
	s.noteIf(len(parts) > 1, "Checkpoints began new counts, which are added here. Percentiles of the whole run are "+
		"unknown.")
	s.verifyIntervals()
}

func joined(parts []sbFigures) sbFigures {
	sums, first := newFigures(), parts[0]
	if len(parts) == 1 {
		return first
	}
	low, high, busy := first.latency["min"], first.latency["max"], figure{}
	for i := range parts {
		p := &parts[i]
		for name, v := range p.totals {
			sums.totals[name] = sums.totals[name].plus(v)
		}
		if p.latency["min"].value < low.value {
			low = p.latency["min"]
		}
		if p.latency["max"].value > high.value {
			high = p.latency["max"]
		}
		busy = busy.plus(p.busy())
		sums.uncounted = sums.uncounted || p.uncounted
	}
	sums.complete = true
	sums.latency["min"], sums.latency["max"], sums.latency["sum"] = low, high, busy
	if n := sums.sum(sbNumber).value; n > 0 {
		sums.latency["avg"] = figure{busy.value / n, busy.half / n}
	}
	return sums
}

// verify checks figures against each other. A log is refused if its events contradict
// their rate; other contradictions only exclude the step from comparisons.
func (s *sysbench) verify(f *sbFigures, last bool) {
	seconds, events, transactions := f.sum(sbSeconds...), f.sum(sbNumber), f.sum("transactions")
	require := func(printed bool, first string, a figure, second string, b figure) {
		if printed && !a.agrees(b) {
			s.lineNumber = s.end
			s.refuse("import the log as sysbench printed it", "%s", contradiction(first, a, second, b))
		}
	}
	rate, printed := f.rates["transactions"]
	require(printed, "the rate of transactions × the total time", rate.times(seconds), "their number", transactions)
	rate = f.sum(sbEventRates...)
	require(rate.value > 0, "the rate of events × the total time", rate.times(seconds), "their number", events)
	require(f.hasTotal("queries") && f.hasTotal("transactions"), "the number of transactions", transactions,
		"that of events", events)
	s.verifyStatements(f, seconds)
	s.verifyLatencies(f, seconds, events)
	if each, ok := f.totals["events (avg/stddev)"]; ok && last && s.threads > 0 { // at checkpoints threads go on
		byThread := each.times(newFigure(float64(s.threads)))
		byThread.half += float64(s.threads)
		s.requireSame("events per thread × threads", byThread, "the number of events", events)
	}
}

// verifyStatements checks the numbers of statements. Those that contradict themselves
// are unknown.
func (s *sysbench) verifyStatements(f *sbFigures, seconds figure) {
	ok := true
	check := func(printed bool, first string, a figure, second string, b figure) {
		ok = (!printed || s.requireSame(first, a, second, b)) && ok
	}
	for _, name := range append(sbRequests, "other operations") {
		rate, printed := f.rates[name]
		check(printed, "the rate of "+name+" × the total time", rate.times(seconds), "their number", f.sum(name))
	}
	kinds, queries, requests := f.hasTotal("read") && f.hasTotal("write") && f.hasTotal("other"), f.hasTotal("queries"),
		f.hasTotal("read/write requests")
	check(kinds && f.hasTotal("total"), "the sum of reads, writes and others", f.sum(sbKinds...), "their total",
		f.sum("total"))
	check(kinds && queries, "the sum of reads, writes and others", f.sum(sbKinds...), "the number of queries",
		f.sum("queries"))
	check(kinds && !queries && requests, "the sum of reads and writes", f.sum("read", "write"),
		"the number of read/write requests", f.sum("read/write requests"))
	f.uncounted = f.uncounted || !ok || !kinds && requests // BEGIN and COMMIT are not among them
}

// verifyLatencies checks the latencies in ms. In a closed loop each thread has one event
// at a time; it may have been in flight before the counts began.
func (s *sysbench) verifyLatencies(f *sbFigures, seconds, events figure) {
	mean, high, busy := f.latency["avg"], f.latency["max"], f.busy()
	if mean.value > 0 && busy.value > 0 {
		s.requireSame("the mean latency × the number of events", mean.times(events), "the sum of latencies", busy)
	}
	for _, name := range slices.Sorted(maps.Keys(f.latency)) {
		if name != "sum" && high.value > 0 {
			s.requireWithin("latency "+name+" in ms", f.latency[name], "the greatest", high)
		}
	}
	if len(f.histogram) > 0 && !f.fits(events.value) {
		s.warn("the latency histogram is out of order, or has not as many events as the log: it is left out")
		f.histogram = nil
	}
	if s.threads > 0 && !s.paced() {
		s.requireWithin("the sum of latencies in ms", busy, "the time of all threads",
			seconds.times(newFigure(1000)).plus(mean).times(newFigure(float64(s.threads))))
	}
}

// fits reports whether the histogram has the buckets of a number of events.
func (f *sbFigures) fits(events float64) bool {
	for _, b := range f.histogram {
		events -= float64(b.Count)
	}
	byMicros := func(a, b account.Bucket) int { return cmp.Compare(a.Micros, b.Micros) }
	return events == 0 && slices.IsSortedFunc(f.histogram, byMicros)
}

// verifyIntervals checks the sums of the intervals, whose ends are whole seconds. The log
// may have none for its last seconds.
func (s *sysbench) verifyIntervals() {
	seconds, items := s.sum(sbSeconds...).value, s.intervals.items
	for _, name := range []string{sbNumber, "queries"} {
		n, rates := s.sum(name), func(iv *sbInterval) float64 { return iv.events }
		if name == "queries" {
			rates = func(iv *sbInterval) float64 { return iv.queries }
		}
		if n.value == 0 || len(items) == 0 || rates(&items[0]) < 0 || s.reset > 0 || seconds <= 0 {
			continue
		}
		sum, greatest := figure{half: float64(s.threads)}, n.value/seconds
		for i := range items {
			rate := rates(&items[i])
			sum = sum.plus(figure{rate, 0.005}.times(newFigure(items[i].length)))
			greatest = max(greatest, rate)
		}
		sum.half += greatest
		high := sum.plus(newFigure(2 * greatest * max(0, seconds-s.until)))
		s.contradictIf(sum.exceeds(n) || n.exceeds(high), "the sum of the intervals", sum,
			"the number of "+strings.TrimPrefix(name, "total number of "), n)
	}
}
