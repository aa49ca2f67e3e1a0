package telemetry

import (
	"context"
	"errors"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// aggregateColumns are the columns of a roll-up after its key.
var aggregateColumns = []string{"n", "total", "low", "high", "earliest", "latest"}

// aggregate summarises the values of a device and metric in a window; values are added in
// time order. The sum is modulo 2^64.
type aggregate struct{ n, total, low, high, first, last int64 }

func (a *aggregate) add(v int64) {
	if a.n == 0 {
		*a = aggregate{low: v, high: v, first: v}
	}
	a.n, a.total, a.low, a.high, a.last = a.n+1, a.total+v, min(a.low, v), max(a.high, v), v
}

// values returns the values of aggregateColumns.
func (a *aggregate) values() [6]int64 {
	return [...]int64{a.n, a.total, a.low, a.high, a.first, a.last}
}

// batches returns how many operations roll up a window.
func (r *sizes) batches() int64 { return r.devices / r.together }

// jobsUntil returns the number of operations due by a tick: those of windows for which no
// more measurements can arrive.
func (r *sizes) jobsUntil(tick int64) int64 {
	return max(0, (tick-r.lateness())/r.window) * r.batches()
}

// aggregates returns the number of rows that a number of operations has made.
func (r *sizes) aggregates(jobs int64) int64 { return jobs * r.together * r.metrics }

// keeper does the background work of monitoring: it rolls up windows and drops partitions
// that have been rolled up.
type keeper struct {
	*stage
	workload.Transaction
	base   []*scan // by partition
	insert engine.Stmt
	job    int64 // the number of the next roll-up
	sums   []aggregate
	device int64 // the first device of the operation
	bounds bounds
	args   []model.Value
	read   engine.Result
	result engine.Result
}

func (s *stage) newKeeper(ctx context.Context, session engine.Session) (_ workload.Client, err error) {
	k := &keeper{stage: s, job: s.now.Jobs, sums: make([]aggregate, s.together*s.metrics)}
	k.read.Each = k.addRow
	n := needs{between, between, anything}
	if k.byMetric() {
		n[atMetric] = one
	}
	for t := range s.run.tables {
		sc, err := prepareScan(ctx, session, &s.tables[t], model.Op{Columns: s.columns()}, n)
		if err != nil {
			return nil, err
		}
		k.base = append(k.base, sc)
	}
	op := &model.Op{Kind: model.Insert, Table: tableRollup, Columns: s.tables[s.run.tables].ColumnNames(),
		Rows: len(k.sums), OnConflict: model.Replace}
	if k.insert, err = session.Prepare(ctx, op); err != nil {
		return nil, err
	}
	if s.p.Bool("transactions") {
		if k.Transaction, err = workload.NewTransaction(ctx, session); err != nil {
			return nil, err
		}
	}
	s.keeper = k
	return k, nil
}

// drops reports whether the oldest partition can be dropped: it is past its retention and
// rolled up.
func (k *keeper) drops() bool {
	oldest := k.clock.dropped.Load()
	return len(k.writers) > 0 && oldest < k.clock.oldest() && k.job/k.batches()*k.window >= (oldest+1)*k.partition
}

func (k *keeper) rolls() bool { return k.job < k.jobsUntil(k.clock.tick()) }

// Waits reports whether there is no work before the clock advances.
func (k *keeper) Waits() bool { return len(k.writers) > 0 && !k.rolls() && !k.drops() }

func (k *keeper) Ready(ctx context.Context) error {
	return k.clock.await(ctx, func() bool { return !k.Waits() })
}

func (k *keeper) Do(ctx context.Context, out *workload.Outcome) error {
	if k.drops() {
		return k.drop(ctx, out)
	}
	if !k.rolls() { // nothing is written either, so nothing will become due
		return workload.ErrDone
	}
	if err := k.rollUp(ctx, out); err != nil {
		return errors.Join(err, k.Rollback(ctx, err, out))
	}
	out.Rows = int64(len(k.sums))
	out.Bytes = out.Rows * rollupBytes
	k.job++
	return nil
}

func (k *keeper) drop(ctx context.Context, out *workload.Outcome) error {
	out.Kind = 1
	oldest := k.clock.dropped.Load()
	k.clock.reads.Lock()
	err := k.env.DB.ClearTable(ctx, baseName(oldest%k.run.tables))
	k.clock.reads.Unlock()
	if err != nil {
		return err
	}
	out.Rows, out.Writes = 1, 1
	k.clock.dropped.Add(1)
	k.clock.notify()
	return nil
}

// rollUp reads the window of some devices and replaces their aggregates.
func (k *keeper) rollUp(ctx context.Context, out *workload.Outcome) error {
	if err := k.Begin(ctx, out); err != nil {
		return err
	}
	first := k.job / k.batches() * k.window
	k.device = k.job % k.batches() * k.together
	if err := k.readWindow(ctx, first, out); err != nil {
		return err
	}
	k.args = k.args[:0]
	for i, a := range k.sums {
		k.args = append(k.args, model.IntValue(k.data.start(first)), model.IntValue(k.device+int64(i)/k.metrics),
			model.IntValue(int64(i)%k.metrics))
		for _, v := range a.values() {
			k.args = append(k.args, model.IntValue(v))
		}
	}
	out.Writes++
	if err := k.insert.Exec(ctx, k.args, &k.result); err != nil {
		return err
	}
	return k.Commit(ctx, out)
}

func (k *keeper) readWindow(ctx context.Context, first int64, out *workload.Outcome) error {
	clear(k.sums)
	k.bounds.set(atTime, k.data.start(first), k.data.start(first+k.window)-1)
	k.bounds.set(atDevice, k.device, k.device+k.together-1)
	times := int64(1)
	if k.byMetric() {
		times = k.metrics
	}
	for m := range times {
		out.Reads++
		k.bounds.set(atMetric, m, m)
		if err := k.base[first/k.partition%k.run.tables].exec(ctx, &k.bounds, &k.read); err != nil {
			return err
		}
	}
	return nil
}

// addRow adds the values of a row.
func (k *keeper) addRow(row []model.Value) {
	sums := k.sums[(row[1].Int()-k.device)*k.metrics:]
	if !k.doc {
		sums[row[2].Int()].add(row[3].Int())
		return
	}
	for m := range k.metrics {
		sums[m].add(valueIn(row[2].Buf(), m))
	}
}
