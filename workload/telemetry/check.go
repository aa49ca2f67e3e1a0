package telemetry

import "fmt"

// known is the state of a measurement for a query: arrived and fixed are whether it had
// certainly arrived, and been corrected, before the query; may and mayFix whether it may
// have done so by now.
type known struct{ arrived, may, fixed, mayFix bool }

func (q *querier) known(d, tick int64) (k known) {
	w := q.data.writerOf(d)
	f := q.data.fate(d, tick)
	k.arrived, k.fixed = q.data.certain(f, d, q.done[w])
	k.may, k.mayFix = q.data.certain(f, d, q.clock.writers[w].end.Load())
	return k
}

// check compares the result of the last query with the expected one, unless the query's
// oldest partition may have been dropped in the meantime.
func (q *querier) check() {
	unchecked := q.unchecked
	if q.unchecked = false; !unchecked || !q.env.Results || q.first/q.partition < q.clock.oldest() {
		return
	}
	switch q.kind {
	case querySum:
		q.checkSum()
	case queryMax, queryMin:
		q.checkTop()
	default:
		q.checkSeries()
	}
}

// checkSeries checks that the rows are those of the queried series, in order: every
// measurement that had arrived before the query, and otherwise only measurements that
// arrived during it.
func (q *querier) checkSeries() {
	m, metrics := q.m, q.metrics
	if q.doc {
		m, metrics = 0, q.run.metrics
	}
	index, group := 0, metrics // metrics that are read together
	if q.byMetric() {
		group = 1
	}
	for end := m + metrics; m < end; m += group {
		for i := range q.last - q.first + 1 {
			tick := q.first + i
			if q.kind == queryLast {
				tick = q.last - i
			}
			if index = q.checkTick(tick, m, group, index); q.kind == queryLast && index > 0 {
				break
			}
		}
	}
	if index < len(q.rows) {
		r := q.rows[index]
		q.fail("device %d, metric %d, tick %d is not asked for, or out of order", r.d, r.m, q.data.tick(r.t))
	}
}

// checkTick checks the rows for the given metrics of one measurement, beginning at a
// row. It returns the index of the row after them.
func (q *querier) checkTick(tick, m, metrics int64, index int) int {
	k, t := q.known(q.d, tick), q.data.time(q.d, tick)
	for end := m + metrics; m < end; m++ {
		switch {
		case index < len(q.rows) && q.rows[index].t == t && q.rows[index].d == q.d && q.rows[index].m == m:
			q.checkValue(q.rows[index], tick, k)
			index++
		case k.arrived:
			q.fail("device %d, metric %d, tick %d is missing", q.d, m, tick)
		}
	}
	return index
}

func (q *querier) checkValue(r sample, tick int64, k known) {
	right := r.v == q.data.value(r.d, r.m, tick, false)
	if k.mayFix && q.data.fixedMetric(r.d, tick) == r.m {
		right = r.v == q.data.value(r.d, r.m, tick, true) || right && !k.fixed
	}
	if !right {
		q.fail("device %d, metric %d, tick %d is %d", r.d, r.m, tick, r.v)
	}
	if !k.may {
		q.fail("device %d, tick %d has not been sent", r.d, tick)
	}
}

// checkSum checks a sum or count, unless it may have changed during the query.
func (q *querier) checkSum() {
	var want int64
	for tick := q.first; tick <= q.last; tick++ {
		k := q.known(q.d, tick)
		if k.may && !k.arrived || q.sums() && k.mayFix && !k.fixed {
			return
		}
		switch {
		case k.arrived && q.sums():
			want += q.data.value(q.d, q.m, tick, k.fixed && q.data.fixedMetric(q.d, tick) == q.m)
		case k.arrived:
			want++
		}
	}
	if q.sum != want {
		q.fail("device %d, metric %d, ticks %d to %d make %d, not %d", q.d, q.m, q.first, q.last, q.sum, want)
	}
}

// checkTop checks that the rows have the metric and lie in the range. Rows from an index
// are in its order, at most topRows from each partition.
func (q *querier) checkTop() {
	seen, previousSample := 0, sample{t: -1}
	for _, r := range q.rows {
		tick := q.data.tick(r.t)
		if r.m != q.m || tick < q.first || tick > q.last || r.d < 0 || r.d >= q.devices || r.t != q.data.time(r.d, tick) {
			q.fail("device %d, metric %d at %d is not asked for", r.d, r.m, r.t)
			continue
		}
		q.checkValue(r, tick, q.known(r.d, tick))
		if q.schema != schemaRead {
			continue
		}
		if seen++; previousSample.t < 0 || q.data.tick(previousSample.t)/q.partition != tick/q.partition {
			seen = 1
		} else if r.v != previousSample.v && (r.v > previousSample.v) == (q.kind == queryMax) {
			q.fail("%d comes after %d", r.v, previousSample.v)
		}
		if previousSample = r; seen > topRows {
			q.fail("there are more than %d rows", topRows)
		}
	}
}

// fail records a wrong result.
func (q *querier) fail(format string, args ...any) {
	if q.wrongs++; q.wrong == "" {
		q.wrong = queryKinds[q.kind].name + ": " + fmt.Sprintf(format, args...)
	}
}
