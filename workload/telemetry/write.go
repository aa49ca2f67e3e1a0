package telemetry

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// The statements of a writer.
const (
	live     = iota // measurements in time
	late            // one to three ticks late
	again           // duplicates
	backfill        // after an outage
	correct         // the update of a value
)

var statements = [...]string{live: "live", late: "late", again: "duplicate", backfill: "backfill", correct: "correct"}

// The kinds of operations: the next devices of a writer have data to send, or all are
// silent.
const (
	kindInsert = iota
	kindSilent
)

// maxBatch is the maximum number of measurements per statement.
const maxBatch = 100

// task is a pending statement: n measurements of one partition.
type task struct {
	statement  int
	partition  int64
	n          int
	start, end int // its arguments
}

// writer sends the measurements of its devices in the order of its slots. An operation
// covers the slots of a batch, including other data that these devices send in the tick.
type writer struct {
	*stage
	writer  int64
	session engine.Session
	inserts []map[int]engine.Stmt // by table and number of measurements
	updates []engine.Stmt         // by table

	slot  int64 // the first slot of the operation
	begun bool  // the operation is generated
	tasks []task
	next  int // of tasks
	args  []model.Value
	text  []byte

	sent   [len(statements)]int64 // measurements
	wrong  int64
	result engine.Result
}

func (s *stage) newWriter(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	w := &writer{stage: s, writer: int64(seat.Client), session: seat.Session, slot: s.now.Slots[seat.Client]}
	for n := range s.run.tables {
		w.inserts = append(w.inserts, map[int]engine.Stmt{})
		for _, size := range []int64{1, s.batch, s.chunk} {
			if _, err := w.insert(ctx, n, int(size)); err != nil {
				return nil, err
			}
		}
		column := s.columns()[len(s.columns())-1]
		update, err := seat.Session.Prepare(ctx,
			&model.Op{Kind: model.Update, Table: baseName(n), Set: []model.Assign{{Column: column}}})
		if err != nil {
			return nil, err
		}
		w.updates = append(w.updates, update)
	}
	s.writers = append(s.writers, w)
	s.clock.active = append(s.clock.active, w.writer)
	return w, nil
}

// insert returns the statement for a number of measurements; it is prepared on first use.
func (w *writer) insert(ctx context.Context, table int64, n int) (engine.Stmt, error) {
	if stmt := w.inserts[table][n]; stmt != nil {
		return stmt, nil
	}
	op := &model.Op{Kind: model.Insert, Table: baseName(table), Columns: w.columns(), Rows: n * int(w.rowsOf()),
		OnConflict: model.Ignore}
	if w.p.String("on_existing") == onExistingReplace {
		op.OnConflict = model.Replace
	}
	stmt, err := w.session.Prepare(ctx, op)
	w.inserts[table][n] = stmt
	return stmt, err
}

// Waits reports whether the table for the next measurements has not been dropped yet.
func (w *writer) Waits() bool { return !w.begun && !w.clock.open(w.slot/w.perTick) }

// Ready generates an operation, unless one must be retried.
func (w *writer) Ready(ctx context.Context) error {
	if err := w.clock.await(ctx, func() bool { return !w.Waits() }); err != nil || w.begun {
		return err
	}
	w.begun, w.tasks, w.next, w.args, w.text = true, w.tasks[:0], 0, w.args[:0], w.text[:0]
	end := w.slot + w.batch
	for slot := w.slot; slot < end; slot++ {
		if d, tick := w.data.at(w.writer, slot); w.data.fate(d, tick).arrive == tick {
			w.add(live, d, tick)
		}
	}
	for slot := w.slot; slot < end; slot++ {
		w.due(w.data.at(w.writer, slot))
	}
	w.clock.writers[w.writer].end.Store(end)
	for _, t := range w.tasks { // outside the service time; Do will see the error again
		if t.statement != correct {
			_, _ = w.insert(ctx, t.partition%w.run.tables, t.n)
		}
	}
	return nil
}

// due adds the data that a device sends in a tick in addition to the measurement of the
// tick.
func (w *writer) due(d, tick int64) {
	for back := int64(1); back <= correctAfter; back++ {
		switch f := w.data.fate(d, tick-back); tick {
		case f.arrive:
			if start, end := w.data.outage(d, tick-back); tick-back < start || tick-back >= end {
				w.add(late, d, tick-back)
			}
		case f.again:
			w.add(again, d, tick-back)
		case f.correct:
			w.add(correct, d, tick-back)
		}
	}
	first, n := w.data.missed(d, tick)
	for i := range n {
		w.add(backfill, d, first+i)
	}
}

// add adds a measurement to the previous statement if it has the same kind and partition,
// else to a new statement. A correction is always a separate statement.
func (w *writer) add(statement int, d, tick int64) {
	partition, index := tick/w.partition, len(w.tasks)-1
	if index < 0 || statement == correct || w.tasks[index].statement != statement ||
		w.tasks[index].partition != partition ||
		w.tasks[index].n == maxBatch {
		w.tasks = append(w.tasks, task{statement: statement, partition: partition, start: len(w.args)})
		index++
	}
	fixed := int64(-1)
	if statement == correct {
		fixed = w.data.fixedMetric(d, tick)
	}
	w.args, w.text = w.data.appendMeasurement(w.args, w.text, d, tick, fixed)
	t := &w.tasks[index]
	if t.n++; statement == correct {
		w.args = append(w.args[:t.start], w.update(w.args[t.start:], fixed)...)
	}
	t.end = len(w.args)
}

// update turns the arguments of an insert into those of a value's update: the new value,
// and the key.
func (w *writer) update(row []model.Value, metric int64) []model.Value {
	if !w.doc {
		row = row[4*metric : 4*metric+4]
	}
	args := []model.Value{row[len(row)-1]}
	for _, c := range w.key() {
		args = append(args, map[string]model.Value{colTime: row[0], colDevice: row[1], colMetric: model.IntValue(metric)}[c])
	}
	return args
}

func (w *writer) Do(ctx context.Context, out *workload.Outcome) error {
	for ; w.next < len(w.tasks); w.next++ {
		if err := w.send(ctx, &w.tasks[w.next], out); err != nil {
			return err
		}
	}
	out.Kind = kindSilent
	for _, t := range w.tasks {
		out.Kind = kindInsert
		values := int64(t.n) * w.metrics
		if t.statement == correct {
			values = 1
		}
		out.Rows += values
		if t.statement != again {
			out.Bytes += int64(float64(values) * w.valueBytes(true))
		}
		w.sent[t.statement] += int64(t.n)
	}
	w.begun = false
	w.slot += w.batch
	w.clock.advance(w.writer, w.slot)
	return nil
}

// send executes a statement.
func (w *writer) send(ctx context.Context, t *task, out *workload.Outcome) error {
	table, rows := t.partition%w.run.tables, int64(t.n)*w.rowsOf()
	stmt, err := w.updates[table], error(nil)
	if t.statement != correct {
		stmt, err = w.insert(ctx, table, t.n)
	}
	if err != nil {
		return err
	}
	out.Parts.Start()
	if err := stmt.Exec(ctx, w.args[t.start:t.end], &w.result); err != nil {
		return err
	}
	out.Parts.Stop(t.statement)
	switch t.statement {
	case correct:
		rows = 1
	case again:
		rows = 0
		if w.p.String("on_existing") == onExistingIgnore {
			out.Others++
			break
		}
		out.Writes++
		return nil // engines count replaced rows differently
	}
	if rows > 0 {
		out.Writes++
	}
	if w.result.Rows != rows {
		w.wrong++
	}
	return nil
}
