package telemetry

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/internal/gen"
	"rumbench/model"
	"rumbench/workload"
)

// The kinds of queries. Those of greatest and least values are not for documents.
const (
	queryLast    = iota // the newest value of a device's metric
	queryRange          // the values of a device's metric in a range
	queryCompare        // those of several metrics
	querySum            // their sum, or number, on the engine's side
	queryMax            // the greatest values of a metric over all devices
	queryMin
)

var queryKinds = []struct {
	name   string
	weight int64
}{{"last", 40}, {"range", 25}, {"compare", 10}, {"sum", 10}, {"max", 11}, {"min", 4}}

const (
	compared = 4  // metrics of a compare
	topRows  = 10 // of max and min
)

// queryOps returns the kinds that the run has.
func (r *run) queryOps() (ops []workload.OpKind) {
	kinds := queryKinds
	if r.doc {
		kinds = kinds[:queryMax]
	}
	for k, kind := range kinds {
		op := workload.OpKind{Name: kind.name, Unit: "query", Of: opQuery, Returns: true}
		if k < queryMax {
			op.Finds = workload.FindsExactly
		}
		ops = append(ops, op)
	}
	return ops
}

// querier queries, and compares every row and sum returned with the pure
// functions that it comes from.
type querier struct {
	*stage
	seat   int
	scans  [][]*scan // by kind and table
	draws  *gen.Source
	weight int64 // of all kinds
	query
	wrong  string // the first result that was
	wrongs int64
}

// query is one query, and what of its result has been seen.
//
// It has many fields: what was drawn, and what is known of its result.
type query struct {
	drawn       bool
	kind        int
	d           int64
	m, metrics  int64
	first, last int64 // ticks
	froms       []int64
	bounds      bounds
	result      engine.Result

	next   int64 // the tick expected next
	want   int64
	found  int64
	sum    int64
	unsure bool  // the sum may change meanwhile
	seen   int   // rows of a partition
	before int64 // the value of the row before
}

func (s *stage) newQuerier(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	stream := gen.NewStream(s.env.Seed, "telemetry", "query", s.plan.Name).Sub(uint64(seat.Client))
	q := &querier{stage: s, seat: seat.Client, draws: gen.NewSource(stream)}
	q.froms = make([]int64, s.writers)
	q.result.Each = q.row
	for kind := range s.queryOps() {
		q.weight += queryKinds[kind].weight
		var scans []*scan
		for n := range s.run.tables {
			op, needs := s.shape(kind, n)
			sc, err := prepareScan(ctx, seat.Session, &s.tables[n], op, needs)
			if err != nil {
				return nil, err
			}
			scans = append(scans, sc)
		}
		q.scans = append(q.scans, scans)
	}
	s.queries = append(s.queries, q)
	return q, nil
}

// shape returns the scan of a kind of query, and what it asks of t, d and m.
func (s *stage) shape(kind int, table int64) (op model.Op, needs [3]need) {
	op.Columns, needs = s.columns(), [3]need{between, one, one}
	switch kind {
	case queryLast:
		op.Desc, op.Limit, needs[atTime] = true, 1, upTo
	case queryCompare:
		if !s.byMetric() {
			needs[atMetric] = between
		}
	case querySum:
		op.Aggregate, op.Columns = model.Count, nil
		if s.sums() {
			op.Aggregate, op.Columns = model.Sum, []string{colValue}
		}
	case queryMax, queryMin:
		needs[atDevice] = anything
		if s.schema == schemaRead {
			op.Index, op.Desc, op.Limit = indexName(table), kind == queryMax, topRows
		}
	}
	if s.doc {
		needs[atMetric] = anything
	}
	return op, needs
}

// sums reports whether engines sum up values: they are columns, and small.
func (r *run) sums() bool { return !r.doc && r.p.String("value") != uniform }

// Ready draws a query. Nine of ten are about the newest data, the others about
// any time. Its partitions are kept until it is done.
func (q *querier) Ready(context.Context) error {
	if q.drawn {
		return nil
	}
	q.drawn = true
	draw := q.draws.Uniform(q.weight)
	for q.kind = 0; draw >= queryKinds[q.kind].weight; q.kind++ {
		draw -= queryKinds[q.kind].weight
	}
	q.d, q.m, q.metrics = q.draws.Uniform(q.devices), q.draws.Uniform(q.run.metrics), 1
	if q.kind == queryCompare {
		q.metrics = min(compared, q.run.metrics)
		q.m = q.draws.Uniform(q.run.metrics - q.metrics + 1)
	}
	anytime, place := q.draws.Uniform(10) == 0, q.draws.Unit()
	oldest := q.clock.enter(q.seat) * q.partition
	q.last = max(q.clock.tick()-1, oldest)
	if free := q.last - q.span + 1 - oldest; anytime && free > 0 {
		q.last -= int64(place * float64(free))
	}
	q.first = max(q.last-q.span+1, oldest)
	if q.kind == queryLast {
		q.first = oldest
	}
	for w := range q.froms {
		q.froms[w] = q.clock.writers[w].from.Load()
	}
	return nil
}

func (q *querier) Do(ctx context.Context, out *workload.Outcome) error {
	q.want, q.found, q.sum, q.unsure = 0, 0, 0, false
	out.Kind, out.Rows = q.kind, 1
	q.bounds.set(atTime, q.data.start(q.first), q.data.start(q.last+1)-1)
	q.bounds.set(atDevice, q.d, q.d)
	q.bounds.set(atMetric, q.m, q.m+q.metrics-1)
	err := q.read(ctx, out)
	if err != nil {
		return err
	}
	if q.env.Results {
		out.Expected, out.Found = q.want, q.found
	}
	q.drawn = false
	q.clock.leave(q.seat)
	return nil
}

func (q *querier) read(ctx context.Context, out *workload.Outcome) error {
	switch q.kind {
	case queryLast:
		return q.readLast(ctx, out)
	case querySum:
		return q.readSum(ctx, out)
	case queryMax, queryMin:
		return q.scanPartitions(ctx, out)
	}
	if !q.byMetric() || q.metrics == 1 {
		return q.readSeries(ctx, out)
	}
	for m := q.m; m < q.m+q.metrics; m++ {
		q.bounds.set(atMetric, m, m)
		if err := q.readSeries(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// readSeries reads a device's measurements in the range, in order.
func (q *querier) readSeries(ctx context.Context, out *workload.Outcome) error {
	q.next = q.first
	err := q.scanPartitions(ctx, out)
	if err == nil && q.env.Results {
		q.missing(q.last + 1)
	}
	return err
}

// scanPartitions executes the scan in each partition of the range, in order.
func (q *querier) scanPartitions(ctx context.Context, out *workload.Outcome) error {
	for p := q.first / q.partition; p <= q.last/q.partition; p++ {
		if err := q.scan(ctx, p, out); err != nil {
			return err
		}
	}
	return nil
}

func (q *querier) scan(ctx context.Context, partition int64, out *workload.Outcome) error {
	q.seen = 0
	err := q.scans[q.kind][partition%q.run.tables].exec(ctx, &q.bounds, &q.result)
	out.Reads++
	out.Bytes += q.result.Bytes
	return err
}

// readLast reads from the newest partition on until a value is found.
func (q *querier) readLast(ctx context.Context, out *workload.Outcome) error {
	for p := q.last / q.partition; p*q.partition >= q.first; p-- {
		q.next = max(q.first, p*q.partition)
		if err := q.scan(ctx, p, out); err != nil || q.result.Rows > 0 {
			return err
		}
	}
	if q.next = q.first; q.env.Results {
		q.missing(q.last + 1)
	}
	return nil
}

func (q *querier) readSum(ctx context.Context, out *workload.Outcome) error {
	var got int64
	for p := q.first / q.partition; p <= q.last/q.partition; p++ {
		if err := q.scan(ctx, p, out); err != nil {
			return err
		}
		got += q.result.Value.Int()
	}
	if !q.env.Results {
		return nil
	}
	for tick := q.first; tick <= q.last; tick++ {
		s := q.stateOf(q.d, tick)
		q.unsure = q.unsure || !s.arrived && s.may || q.sums() && s.mayFix != s.fixed
		if !s.arrived {
			continue
		}
		q.want++
		if q.sum++; q.sums() {
			q.sum += q.data.value(q.d, q.m, tick, s.fixed && q.data.fixedMetric(q.d, tick) == q.m) - 1
		}
	}
	if q.found = q.want; !q.unsure && got != q.sum {
		q.fail("sum", "device %d, metric %d, ticks %d to %d: %d, not %d", q.d, q.m, q.first, q.last, got, q.sum)
	}
	return nil
}

// known is what is known of a measurement: whether it had arrived, and was
// corrected, before the query, and whether it may have meanwhile.
type known struct{ arrived, may, fixed, mayFix bool }

func (q *querier) stateOf(d, tick int64) (s known) {
	w := int64(q.data.place[d]) % q.run.writers
	f := q.data.fate(d, tick)
	s.arrived, s.fixed = q.certain(f, d, q.data, q.froms[w])
	s.may, s.mayFix = q.certain(f, d, q.data, q.clock.writers[w].to.Load())
	return s
}

// row checks a row returned.
func (q *querier) row(row []model.Value) {
	if !q.env.Results {
		return
	}
	t, d := row[0].Int(), row[1].Int()
	tick := q.data.tick(t)
	if d < 0 || d >= q.devices || t != q.data.time(d, tick) || tick < q.first || tick > q.last {
		q.fail("row", "device %d at %d is not in the range", d, t)
		return
	}
	s := q.stateOf(d, tick)
	if !s.may {
		q.fail("row", "device %d, tick %d has not been sent", d, tick)
	}
	if q.doc {
		for m := range q.run.metrics {
			q.checkValue(d, m, tick, valueIn(row[2].Buf(), m), s)
		}
	} else {
		q.checkValue(d, row[2].Int(), tick, row[3].Int(), s)
	}
	switch q.kind {
	case queryMax, queryMin:
		q.checkTop(row)
	case queryLast:
		if d != q.d || !q.doc && row[2].Int() != q.m {
			q.fail("row", "device %d is not asked for", d)
			return
		}
		q.want, q.found, q.next = 1, 1, tick+1
		q.missing(q.last + 1)
	default:
		q.checkOrder(d, tick, row)
	}
}

// checkOrder checks that no measurement of a series is left out or repeated.
func (q *querier) checkOrder(d, tick int64, row []model.Value) {
	if d != q.d || !q.doc && (row[2].Int() < q.bounds[2*atMetric].Int() || row[2].Int() > q.bounds[2*atMetric+1].Int()) {
		q.fail("row", "device %d is not asked for", d)
		return
	}
	within := int64(0) // rows of a measurement are adjacent, in the order of metrics
	if !q.doc {
		within = row[2].Int() - q.bounds[2*atMetric].Int()
	}
	if within == 0 {
		if tick < q.next {
			q.fail("order", "device %d, tick %d comes after tick %d", d, tick, q.next-1)
		}
		q.missing(tick)
		q.next = tick + 1
	} else if tick != q.next-1 {
		q.fail("order", "metric %d of device %d, tick %d comes after tick %d", row[2].Int(), d, tick, q.next-1)
	}
	q.want++
	q.found++
}

// missing reports measurements from the next one expected until a tick that had
// arrived and were not returned.
func (q *querier) missing(until int64) {
	for ; q.next < until; q.next++ {
		if q.stateOf(q.d, q.next).arrived {
			q.want++
			q.fail("series", "device %d, tick %d is missing", q.d, q.next)
		}
	}
}

func (q *querier) checkValue(d, m, tick, v int64, s known) {
	before := v == q.data.value(d, m, tick, false)
	if s.mayFix && q.data.fixedMetric(d, tick) == m {
		after := v == q.data.value(d, m, tick, true)
		before = after || before && !s.fixed
	}
	if !before {
		q.fail("value", "device %d, metric %d, tick %d is %d", d, m, tick, v)
	}
}

// checkTop checks that a row is of the metric, and in the order of the index if one
// was read.
func (q *querier) checkTop(row []model.Value) {
	if row[2].Int() != q.m {
		q.fail("row", "metric %d is not asked for", row[2].Int())
	}
	if q.schema != schemaRead {
		return
	}
	v := row[3].Int()
	if q.seen++; q.seen > 1 && v != q.before && (v > q.before) == (q.kind == queryMax) {
		q.fail("order", "%d comes after %d", v, q.before)
	}
	if q.before = v; q.seen > topRows {
		q.fail("row", "there are more than %d", topRows)
	}
}

// fail notes a wrong result.
func (q *querier) fail(what, format string, args ...any) {
	if q.wrongs++; q.wrong == "" {
		q.wrong = fmt.Sprintf("%s of a %s query: ", what, queryKinds[q.kind].name) + fmt.Sprintf(format, args...)
	}
}
