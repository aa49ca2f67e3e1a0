package telemetry

import (
	"context"
	"errors"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// colCount is the number of values of an aggregate.
const colCount = "n"

// aggregateColumns are the columns of an aggregate after its key.
var aggregateColumns = []string{colCount, "total", "low", "high", "earliest", "latest"}

// aggregate sums up the values of a device and metric in a window. The sum is
// modulo 2^64. first and last are the values at from and to.
type aggregate struct{ n, total, low, high, first, last, from, to int64 }

func (a *aggregate) add(t int64, o aggregate) {
	if a.n == 0 {
		*a = o
		a.from, a.to = t, t
		return
	}
	a.n, a.total, a.low, a.high = a.n+o.n, a.total+o.total, min(a.low, o.low), max(a.high, o.high)
	if t < a.from {
		a.from, a.first = t, o.first
	}
	if t > a.to {
		a.to, a.last = t, o.last
	}
}

// job is a roll-up operation: a window of one level for some devices.
type job struct{ level, window, batch int64 }

// batches returns how many operations roll up a window.
func (r *sizes) batches() int64 { return r.devices / r.together }

// jobAt returns a job by its number: the windows of the first level in order, and
// after all that make one of the second level that one.
func (r *sizes) jobAt(n int64) job {
	per, ratio := r.batches(), r.windows[1]/r.windows[0]
	cycle, i := n/(per*(ratio+1)), n%(per*(ratio+1))
	if i < per*ratio {
		return job{0, cycle*ratio + i/per, i % per}
	}
	return job{1, cycle, i % per}
}

// jobsUntil returns how many jobs are due in a tick: those of windows of which
// nothing can arrive any more.
func (r *sizes) jobsUntil(tick int64) int64 {
	closed := max(0, (tick-r.lateness())/r.windows[0])
	return (closed + closed*r.windows[0]/r.windows[1]) * r.batches()
}

// aggregates returns how many rows of a level a number of jobs has made.
func (r *sizes) aggregates(jobs int64, level int) int64 {
	per, ratio := r.batches(), r.windows[1]/r.windows[0]
	cycles, i := jobs/(per*(ratio+1)), jobs%(per*(ratio+1))
	n := cycles*per*ratio + min(i, per*ratio)
	if level == 1 {
		n = cycles*per + max(0, i-per*ratio)
	}
	return n * r.together * r.metrics
}

// rolledUp returns the first tick that a number of jobs has not rolled up.
func (r *sizes) rolledUp(jobs int64) int64 {
	j := r.jobAt(jobs)
	if j.level == 1 { // its windows of the first level are done
		j.window++
	}
	return j.window * r.windows[j.level]
}

// keeper does what monitoring does in the background: it rolls up windows and
// drops partitions that are rolled up.
type keeper struct {
	*stage
	base, upper             []*scan // by partition; of the first roll-up
	inserts                 [2]engine.Stmt
	begin, commit, rollback engine.Stmt // nil without transactions
	job                     int64
	sums                    []aggregate
	firstDevice             int64
	metric                  int64 // that is read; -1: all
	bounds                  bounds
	args                    []model.Value
	read, result            engine.Result
}

func (s *stage) newKeeper(ctx context.Context, session engine.Session) (workload.Client, error) {
	k := &keeper{stage: s, job: s.start.jobs, sums: make([]aggregate, s.together*s.metrics), metric: -1}
	needs := [3]need{between, between, anything}
	if k.byMetric() {
		needs[atMetric] = one
	}
	for n := range s.run.tables {
		sc, err := prepareScan(ctx, session, &s.tables[n], model.Op{Columns: s.columns()}, needs)
		if err != nil {
			return nil, err
		}
		k.base = append(k.base, sc)
	}
	columns := append([]string{colTime, colDevice, colMetric}, aggregateColumns...)
	sc, err := prepareScan(ctx, session, &s.tables[s.run.tables], model.Op{Columns: columns}, [3]need{between, between, anything})
	if err != nil {
		return nil, err
	}
	k.upper = []*scan{sc}
	for level := range k.inserts {
		op := &model.Op{Kind: model.Insert, Table: rollupName(level), Columns: columns, Rows: len(k.sums), OnConflict: model.Replace}
		if k.inserts[level], err = session.Prepare(ctx, op); err != nil {
			return nil, err
		}
	}
	if s.p.Bool("transactions") {
		for kind, to := range map[model.Kind]*engine.Stmt{model.Begin: &k.begin, model.Commit: &k.commit, model.Rollback: &k.rollback} {
			if *to, err = session.Prepare(ctx, &model.Op{Kind: kind}); err != nil {
				return nil, err
			}
		}
	}
	s.keeper = k
	return k, nil
}

// byMetric reports whether the key begins with the metric, so that each is read
// by itself.
func (r *run) byMetric() bool { return r.key()[0] == colMetric }

// drops reports whether the oldest partition is to be dropped: over its
// retention and rolled up.
func (k *keeper) drops() bool {
	oldest := k.clock.dropped.Load()
	return k.rolledUp(k.job) >= (oldest+1)*k.partition && k.clock.droppable(oldest)
}

func (k *keeper) rolls() bool { return k.job < k.jobsUntil(k.clock.tick()) }

// Waits reports whether there is nothing to do before the clock advances.
func (k *keeper) Waits() bool { return len(k.senders) > 0 && !k.rolls() && !k.drops() }

func (k *keeper) Ready(ctx context.Context) error {
	if !k.Waits() {
		return nil
	}
	return k.clock.await(ctx, func() bool { return !k.Waits() })
}

func (k *keeper) Do(ctx context.Context, out *workload.Outcome) error {
	if k.drops() {
		return k.drop(ctx, out)
	}
	if !k.rolls() { // and nothing is written, so nothing will be due
		return workload.ErrDone
	}
	j := k.jobAt(k.job)
	out.Kind = int(j.level)
	if err := k.rollUp(ctx, j, out); err != nil {
		if k.rollback != nil {
			err = errors.Join(err, k.rollback.Exec(ctx, nil, &k.result))
		}
		return err
	}
	out.Rows = int64(len(k.sums))
	out.Bytes = out.Rows * rollupBytes
	k.job++
	return nil
}

func (k *keeper) drop(ctx context.Context, out *workload.Outcome) error {
	out.Kind = 2
	oldest := k.clock.dropped.Load()
	if err := k.env.DB.ClearTable(ctx, baseName(oldest%k.run.tables)); err != nil {
		return err
	}
	out.Rows, out.Writes = 1, 1
	k.clock.dropped.Add(1)
	k.clock.notify()
	return nil
}

// rollUp reads the window of some devices and replaces their aggregates.
func (k *keeper) rollUp(ctx context.Context, j job, out *workload.Outcome) error {
	if k.begin != nil {
		if err := k.begin.Exec(ctx, nil, &k.result); err != nil {
			return err
		}
		out.Others += 2
	}
	clear(k.sums)
	first := j.window * k.windows[j.level]
	k.firstDevice = j.batch * k.together
	k.bounds.set(atTime, k.data.start(first), k.data.start(first+k.windows[j.level])-1)
	k.bounds.set(atDevice, k.firstDevice, k.firstDevice+k.together-1)
	if err := k.readWindow(ctx, j, first/k.partition%k.run.tables, out); err != nil {
		return err
	}
	k.args = k.args[:0]
	for i, a := range k.sums {
		for _, v := range [...]int64{k.data.start(first), k.firstDevice + int64(i)/k.metrics, int64(i) % k.metrics, a.n, a.total, a.low, a.high, a.first, a.last} {
			k.args = append(k.args, model.IntValue(v))
		}
	}
	out.Writes++
	if err := k.inserts[j.level].Exec(ctx, k.args, &k.result); err != nil || k.commit == nil {
		return err
	}
	return k.commit.Exec(ctx, nil, &k.result)
}

func (k *keeper) readWindow(ctx context.Context, j job, table int64, out *workload.Outcome) error {
	if j.level == 1 {
		out.Reads++
		k.read.Each = k.addAggregate
		return k.upper[0].exec(ctx, &k.bounds, &k.read)
	}
	k.read.Each = k.addValue
	times := int64(1)
	if k.byMetric() {
		times = k.metrics
	}
	for m := range times {
		out.Reads++
		k.bounds.set(atMetric, m, m)
		if err := k.base[table].exec(ctx, &k.bounds, &k.read); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) sum(d, m int64) *aggregate { return &k.sums[(d-k.firstDevice)*k.metrics+m] }

func (k *keeper) addValue(row []model.Value) {
	t, d := row[0].Int(), row[1].Int()
	if !k.doc {
		v := row[3].Int()
		k.sum(d, row[2].Int()).add(t, aggregate{n: 1, total: v, low: v, high: v, first: v, last: v})
		return
	}
	for m := range k.metrics {
		v := valueIn(row[2].Buf(), m)
		k.sum(d, m).add(t, aggregate{n: 1, total: v, low: v, high: v, first: v, last: v})
	}
}

func (k *keeper) addAggregate(row []model.Value) {
	at := func(i int) int64 { return row[i].Int() }
	k.sum(at(1), at(2)).add(at(0), aggregate{n: at(3), total: at(4), low: at(5), high: at(6), first: at(7), last: at(8)})
}
