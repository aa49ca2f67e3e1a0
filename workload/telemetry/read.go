package telemetry

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// The kinds of queries. Documents have no queries for maximum and minimum values.
const (
	queryLast    = iota // the newest value of a device's metric
	queryRange          // the values of a device's metric in a range
	queryCompare        // those of several metrics
	querySum            // their sum, or count, computed by the engine
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

// queryOps returns the run's kinds of queries.
func (r *run) queryOps() (ops []workload.OpKind) {
	kinds := queryKinds
	if r.doc {
		kinds = kinds[:queryMax]
	}
	for _, kind := range kinds {
		ops = append(ops, workload.OpKind{Name: kind.name, Unit: "query", Of: opQuery, Returns: true})
	}
	return ops
}

// querier executes queries. It checks the result of a query before the next one.
type querier struct {
	*stage
	scans  [][]*scan // by kind and table
	draws  *gen.Source
	weight int64 // of all kinds
	drawn  bool
	query
	result engine.Result
	wrong  string // the first wrong result
	wrongs int64
}

// query is a query and its result.
type query struct {
	kind        int
	d           int64
	m, metrics  int64
	first, last int64   // ticks
	done        []int64 // the slots that each writer had done before
	bounds      bounds
	rows        []sample
	sum         int64 // of querySum
	unchecked   bool
}

// sample is a value that a query has returned.
type sample struct{ t, d, m, v int64 }

func (s *stage) newQuerier(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	stream := gen.NewStream(s.env.Seed, "telemetry", "query", s.step.Name).Sub(uint64(seat.Client))
	q := &querier{stage: s, draws: gen.NewSource(stream)}
	q.done = make([]int64, s.run.writers)
	if s.env.Results {
		q.result.Each = q.keep
	}
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

// shape returns the scan of a kind of query, and its conditions on t, d and m.
func (s *stage) shape(kind int, table int64) (op model.Op, n needs) {
	op.Columns, n = s.columns(), needs{between, one, one}
	switch kind {
	case queryLast:
		op.Desc, op.Limit, n[atTime] = true, 1, upTo
	case queryCompare:
		if !s.byMetric() {
			n[atMetric] = between
		}
	case querySum:
		op.Aggregate, op.Columns = model.Count, nil
		if s.sums() {
			op.Aggregate, op.Columns = model.Sum, []string{colValue}
		}
	case queryMax, queryMin:
		n[atDevice] = anything
		if s.schema == schemaRead {
			op.Index, op.Desc, op.Limit = indexName(table), kind == queryMax, topRows
		}
	}
	if s.doc {
		n[atMetric] = anything
	}
	return op, n
}

// sums reports whether engines compute sums of values: they are in columns, and small.
func (r *run) sums() bool { return !r.doc && r.p.String("value") != uniform }

// keep keeps the values of a row.
func (q *querier) keep(row []model.Value) {
	t, d := row[0].Int(), row[1].Int()
	if !q.doc {
		q.rows = append(q.rows, sample{t, d, row[2].Int(), row[3].Int()})
		return
	}
	for m := range q.run.metrics {
		q.rows = append(q.rows, sample{t, d, m, valueIn(row[2].Buf(), m)})
	}
}

// Ready checks the previous query, and draws the next. Nine of ten queries read the
// newest data, the others data of any time.
func (q *querier) Ready(context.Context) error {
	if q.drawn {
		return nil
	}
	q.check()
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
	q.drawTime()
	for w := range q.done {
		q.done[w] = q.clock.writers[w].start.Load()
	}
	q.bounds.set(atTime, q.data.start(q.first), q.data.start(q.last+1)-1)
	q.bounds.set(atDevice, q.d, q.d)
	q.bounds.set(atMetric, q.m, q.m+q.metrics-1)
	return nil
}

func (q *querier) drawTime() {
	anytime, place := q.draws.Uniform(10) == 0, q.draws.Unit()
	oldest := q.clock.oldest() * q.partition
	q.last = max(q.clock.tick()-1, oldest)
	if free := q.last - q.span + 1 - oldest; anytime && free > 0 {
		q.last -= int64(place * float64(free))
	}
	if q.first = max(q.last-q.span+1, oldest); q.kind == queryLast {
		q.first = oldest
	}
}

func (q *querier) Do(ctx context.Context, out *workload.Outcome) error {
	q.rows, q.sum = q.rows[:0], 0
	out.Kind, out.Rows = q.kind, 1
	q.clock.reads.RLock()
	defer q.clock.reads.RUnlock()
	if err := q.read(ctx, out); err != nil {
		return err
	}
	q.drawn, q.unchecked = false, true
	return nil
}

// read scans the partitions of the range in order; for the last value it starts at the
// newest partition.
func (q *querier) read(ctx context.Context, out *workload.Outcome) error {
	oldest, newest := q.first/q.partition, q.last/q.partition
	if q.kind == queryLast {
		for p := newest; p >= oldest; p-- {
			if err := q.scan(ctx, p, out); err != nil || q.result.Rows > 0 {
				return err
			}
		}
		return nil
	}
	step := q.metrics // metrics read by one scan
	if q.byMetric() {
		step = 1
	}
	for m := q.m; m < q.m+q.metrics; m += step {
		q.bounds.set(atMetric, m, m+step-1)
		for p := oldest; p <= newest; p++ {
			if err := q.scan(ctx, p, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *querier) scan(ctx context.Context, partition int64, out *workload.Outcome) error {
	err := q.scans[q.kind][partition%q.run.tables].exec(ctx, &q.bounds, &q.result)
	out.Reads++
	out.Bytes += q.result.Bytes
	if q.kind == querySum && err == nil {
		q.sum += q.result.Value.Int()
	}
	return err
}
