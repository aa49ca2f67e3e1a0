package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rumbench/internal/account"
)

// The names of totals, which differ by release.
var (
	sbSeconds    = []string{"total time", "time elapsed"}
	sbEventRates = []string{"events/s (eps)", "events per second"}
	sbKinds      = []string{"read", "write", "other"}
)

const sbNumber = "total number of events"

// sum returns the sum of totals. Those that the log lacks count as 0.
func (f *sbFigures) sum(names ...string) (out figure) {
	for _, name := range names {
		out = out.plus(f.totals[name])
	}
	return out
}

func (f *sbFigures) has(name string) bool { _, ok := f.totals[name]; return ok }

// busy returns the sum of latencies in ms, 0 if it is unknown.
func (f *sbFigures) busy() figure {
	return cmp.Or(f.latency["sum"], f.totals[sbEvents].times(figure{value: 1000}),
		f.latency["avg"].times(f.totals[sbNumber]))
}

// fits reports whether the histogram has the buckets of a number of events.
func (f *sbFigures) fits(events float64) bool {
	for _, b := range f.histogram {
		events -= float64(b.Count)
	}
	byMicros := func(a, b account.Bucket) int { return cmp.Compare(a.Micros, b.Micros) }
	return events == 0 && slices.IsSortedFunc(f.histogram, byMicros)
}

// endFigures ends the figures of a checkpoint or of the run.
func (s *sysbench) endFigures() {
	s.countFrom(s.before)
	s.before = s.before.plus(s.sum(sbSeconds...))
	if s.complete = true; s.checkpoint {
		s.parts, s.sbFigures, s.checkpoint = append(s.parts, s.sbFigures), newFigures(), false
	}
}

// countFrom sets the time of a part to its own, if the printed time includes that of the
// parts before: in release 1.0 and later it does. The printed rate decides.
func (f *sbFigures) countFrom(before figure) {
	all, rate := f.sum(sbSeconds...), cmp.Or(f.rates["transactions"], f.sum(sbEventRates...))
	n := f.sum("transactions")
	if !f.has("transactions") {
		n = f.sum(sbNumber)
	}
	own := figure{all.value - before.value, all.half + before.half}
	if before.value > 0 && rate.times(own).agrees(n) && !rate.times(all).agrees(n) {
		delete(f.totals, "time elapsed")
		f.totals["total time"] = own
	}
}

// conclude checks the figures of all parts, and joins them.
func (s *sysbench) conclude() {
	parts := append(s.parts, s.sbFigures)
	for i := range parts {
		s.verify(&parts[i], i == len(parts)-1)
	}
	if s.sbFigures = joined(parts); len(parts) > 1 {
		s.step.Note("Checkpoints began new counts, which are added here. Percentiles of the whole run are unknown.")
	}
	s.verifyIntervals()
}

// addParts adds the parts of a run without an end as intervals.
func (s *sbSeries) addParts(parts []sbFigures) {
	for i := range parts {
		p := &parts[i]
		length := p.sum(sbSeconds...).value
		iv := sbInterval{length: length, events: p.sum(sbNumber).value / length, latency: -1, queries: -1}
		if s.partly = p.has("read/write requests"); s.partly || p.has("queries") {
			iv.queries = p.sum("queries", "read/write requests").value / length
		}
		if length > 0 && max(iv.events, iv.queries) < sbImpossible {
			s.until += length
			iv.end = s.until
			s.intervals.add(iv)
		}
	}
}

// joined returns the figures of all parts of a run together.
func joined(parts []sbFigures) sbFigures {
	all, first := newFigures(), parts[0]
	if len(parts) == 1 {
		return first
	}
	low, high, busy := first.latency["min"], first.latency["max"], figure{}
	for i := range parts {
		p := &parts[i]
		for name, v := range p.totals {
			all.totals[name] = all.totals[name].plus(v)
		}
		if p.latency["min"].value < low.value {
			low = p.latency["min"]
		}
		if p.latency["max"].value > high.value {
			high = p.latency["max"]
		}
		busy = busy.plus(p.busy())
		all.uncounted = all.uncounted || p.uncounted
	}
	all.complete = true
	all.latency["min"], all.latency["max"], all.latency["sum"] = low, high, busy
	if n := all.sum(sbNumber).value; n > 0 {
		all.latency["avg"] = figure{busy.value / n, busy.half / n}
	}
	return all
}

// verify checks figures against each other. A log is refused if its events contradict
// their rate; other contradictions only exclude the step from comparisons.
func (s *sysbench) verify(f *sbFigures, last bool) {
	seconds, events := f.sum(sbSeconds...), f.sum(sbNumber)
	refuse := func(first string, a figure, second string, b figure) {
		if !a.agrees(b) {
			s.at = s.end
			s.refuse("import the log as sysbench printed it", "%s", contradiction(first, a, second, b))
		}
	}
	if rate, ok := f.rates["transactions"]; ok {
		refuse("the rate of transactions × the total time", rate.times(seconds), "their number", f.sum("transactions"))
	}
	if rate := f.sum(sbEventRates...); rate.value > 0 {
		refuse("the rate of events × the total time", rate.times(seconds), "their number", events)
	}
	if f.has("queries") && f.has("transactions") {
		refuse("the number of transactions", f.sum("transactions"), "that of events", events)
	}
	s.verifyStatements(f, seconds)
	s.verifyLatencies(f, seconds, events)
	if each, ok := f.totals["events (avg/stddev)"]; ok && last && s.threads > 0 { // at checkpoints threads go on
		all := each.times(figure{value: float64(s.threads)})
		all.half += float64(s.threads)
		s.same("events per thread × threads", all, "the number of events", events)
	}
}

// same reports whether two figures agree, and marks the step if not.
func (s *sysbench) same(first string, a figure, second string, b figure) bool {
	if a.agrees(b) {
		return true
	}
	s.contradict(first, a, second, b)
	return false
}

// verifyStatements checks the numbers of statements. Those that contradict themselves
// are unknown.
func (s *sysbench) verifyStatements(f *sbFigures, seconds figure) {
	ok := true
	for _, name := range []string{"queries", "read/write requests", "other operations"} {
		if rate, printed := f.rates[name]; printed {
			ok = s.same("the rate of "+name+" × the total time", rate.times(seconds), "their number", f.sum(name)) && ok
		}
	}
	kinds := f.has("read") && f.has("write") && f.has("other")
	if kinds && f.has("total") {
		ok = s.same("the sum of reads, writes and others", f.sum(sbKinds...), "their total", f.sum("total")) && ok
	}
	switch {
	case !kinds:
		ok = ok && !f.has("read/write requests") // BEGIN and COMMIT are not among them
	case f.has("queries"):
		ok = s.same("the sum of reads, writes and others", f.sum(sbKinds...), "the number of queries",
			f.sum("queries")) && ok
	case f.has("read/write requests"):
		ok = s.same("the sum of reads and writes", f.sum("read", "write"), "the number of read/write requests",
			f.sum("read/write requests")) && ok
	}
	f.uncounted = f.uncounted || !ok
}

// verifyLatencies checks the latencies in ms. In a closed loop each thread has one event
// at a time; it may have been in flight before the counts began.
func (s *sysbench) verifyLatencies(f *sbFigures, seconds, events figure) {
	mean, high := f.latency["avg"], f.latency["max"]
	if mean.value > 0 && f.busy().value > 0 {
		s.same("the mean latency × the number of events", mean.times(events), "the sum of latencies", f.busy())
	}
	for _, name := range slices.Sorted(maps.Keys(f.latency)) {
		if v := f.latency[name]; name != "sum" && high.value > 0 && v.exceeds(high) {
			s.contradict("latency "+name+" in ms", v, "the greatest", high)
		}
	}
	if len(f.histogram) > 0 && !f.fits(events.value) {
		s.warn("the latency histogram is out of order, or has not as many events as the log: it is left out")
		f.histogram = nil
	}
	limit := seconds.times(figure{value: 1000}).plus(mean).times(figure{value: float64(s.threads)})
	s.contradictIf(s.threads > 0 && !s.paced() && f.busy().exceeds(limit), "the sum of latencies in ms", f.busy(),
		"the time of all threads", limit)
}

// verifyIntervals checks the sums of the intervals, whose ends are whole seconds. The log
// may have none for its last seconds.
func (s *sysbench) verifyIntervals() {
	seconds := s.sum(sbSeconds...).value
	for _, name := range []string{sbNumber, "queries"} {
		n, items := s.sum(name), s.intervals.items
		if n.value == 0 || len(items) == 0 || name == "queries" && items[0].queries < 0 || s.reset > 0 || seconds <= 0 {
			continue
		}
		sum, greatest := figure{half: float64(s.threads)}, n.value/seconds
		for i := range items {
			rate := items[i].events
			if name == "queries" {
				rate = items[i].queries
			}
			sum = sum.plus(figure{rate, 0.005}.times(figure{value: items[i].length}))
			greatest = max(greatest, rate)
		}
		sum.half += greatest
		high := sum.plus(figure{value: 2 * greatest * max(0, seconds-s.until)})
		s.contradictIf(sum.exceeds(n) || n.exceeds(high), "the sum of the intervals", sum,
			"the number of "+strings.TrimPrefix(name, "total number of "), n)
	}
}
