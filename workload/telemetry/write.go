package telemetry

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// The kinds of what a writer sends. All inserts ignore rows that exist.
const (
	kindLive     = iota // in time
	kindLate            // one to three ticks late
	kindAgain           // a duplicate
	kindBackfill        // after an outage
	kindCorrect         // the update of a value
)

var writerKinds = [...]string{"live", "late", "duplicate", "backfill", "correct"}

var writerOps = func() (ops []workload.OpKind) {
	for _, name := range writerKinds {
		ops = append(ops, workload.OpKind{Name: name, Unit: "value", Of: opInsert})
	}
	return ops
}()

// task is one statement to be sent: measurements of one partition.
type task struct {
	kind      int
	partition int64
	at, n     int // its measurements in sender.sent
}

// measurement is one of a device.
type measurement struct{ d, tick int64 }

// sender sends the measurements of its devices in the order of its slots: with
// each what else is due then.
//
// It has many fields: its statements, what it sends, and what it counts.
type sender struct {
	*stage
	writer  int64
	load    bool
	size    int64                 // measurements of a full batch
	left    int64                 // operations
	inserts []map[int]engine.Stmt // by table and number of measurements
	updates []engine.Stmt
	loader  engine.Loader

	slot  int64 // the next to be looked at
	tasks []task
	next  int // of tasks
	what  []measurement
	skip  int  // tasks of the first batch that the step before has done
	ready bool // args are those of the next task
	args  []model.Value
	text  []byte

	sent   [len(writerKinds)]int64 // measurements
	wrong  int64
	result engine.Result
}

func (s *stage) newSender(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	w := &sender{
		stage: s, writer: int64(seat.Client), left: s.plan.Groups[seat.Group].Work, size: s.p.Int("batch"), load: s.plan.Creates,
		slot: s.start.slots[seat.Client], skip: int(s.start.tasks[seat.Client]),
	}
	sizes := []int{1, int(w.size), int(s.p.Int("backfill"))}
	if w.load {
		w.loader, _ = seat.Session.(engine.Loader)
		w.size = s.p.Int("load_batch")
		sizes = []int{1, int(w.size)}
	}
	for n := range s.run.tables {
		stmts := map[int]engine.Stmt{}
		for _, size := range sizes {
			op := &model.Op{Kind: model.Insert, Table: baseName(n), Columns: s.columns(), Rows: size * int(s.rowsOf()), OnConflict: model.Ignore}
			if w.load {
				op.OnConflict, op.Load = model.Fail, true
			}
			stmt, err := seat.Session.Prepare(ctx, op)
			if err != nil {
				return nil, err
			}
			stmts[size] = stmt
		}
		column := s.columns()[len(s.columns())-1]
		update, err := seat.Session.Prepare(ctx, &model.Op{Kind: model.Update, Table: baseName(n), Set: []model.Assign{{Column: column}}})
		if err != nil {
			return nil, err
		}
		w.inserts, w.updates = append(w.inserts, stmts), append(w.updates, update)
	}
	s.senders = append(s.senders, w)
	return w, nil
}

// Waits reports whether there is nothing to send before the clock advances.
func (w *sender) Waits() bool {
	w.fill()
	return w.next == len(w.tasks) && !w.clock.ended.Load()
}

func (w *sender) Ready(ctx context.Context) error {
	if w.Waits() {
		if err := w.clock.await(ctx, func() bool { return !w.Waits() }); err != nil {
			return err
		}
	}
	if !w.ready && w.next < len(w.tasks) {
		w.generate(&w.tasks[w.next])
		w.ready = true
	}
	return nil
}

// fill looks at the next slots until there is something to send, if all before is
// sent and the clock allows it.
func (w *sender) fill() {
	if w.next < len(w.tasks) {
		return
	}
	w.tasks, w.what, w.next = w.tasks[:0], w.what[:0], 0
	for len(w.tasks) == 0 && !w.over() && w.clock.open(w.slot/w.perTick) {
		w.batch()
		if len(w.tasks) == 0 { // all were silent
			w.advance()
		}
	}
	if len(w.tasks) > 0 {
		w.next, w.skip = w.skip, 0
	}
	w.clock.writers[w.writer].to.Store(w.slot)
}

// over reports whether the load has ended.
func (w *sender) over() bool { return w.load && w.slot >= w.history*w.perTick }

func (w *sender) advance() {
	w.clock.writers[w.writer].to.Store(w.slot)
	w.clock.writers[w.writer].from.Store(w.slot)
	w.clock.notify()
}

// batch looks at slots of one partition until they have a batch of measurements
// in time, which comes first, and then all else that is due in these slots.
func (w *sender) batch() {
	partition := w.slot / w.perTick / w.partition
	var first [maxBatch]measurement
	live := 0
	for int64(live) < w.size && w.slot/w.perTick/w.partition == partition && !w.over() {
		d, tick := w.at(w.writer, w.slot)
		if w.data.fate(d, tick).arrive == tick {
			first[live] = measurement{d, tick}
			live++
		}
		w.due(d, tick)
		w.slot++
	}
	extra := len(w.tasks)
	w.put(kindLive, first[:live], int(w.size))
	rotate(w.tasks, extra)
}

// stored returns the number of measurements that a number of its tasks has stored.
func (w *sender) stored(tasks int) (n int64) {
	for _, t := range w.tasks[:tasks] {
		if t.kind != kindAgain && t.kind != kindCorrect {
			n += int64(t.n)
		}
	}
	return n
}

// rotate moves the tasks from at on to the beginning.
func rotate(tasks []task, at int) {
	for i := at; i < len(tasks); i++ {
		t := tasks[i]
		copy(tasks[i-at+1:i+1], tasks[i-at:i])
		tasks[i-at] = t
	}
}

// maxBatch is the greatest size of a batch.
const maxBatch = 100

// due adds what a device sends in a tick beside the measurement of the tick.
func (w *sender) due(d, tick int64) {
	if tick < w.data.first {
		return
	}
	for back := int64(1); back <= correctAfter; back++ {
		one := [1]measurement{{d, tick - back}}
		switch f := w.data.fate(d, tick-back); tick {
		case f.arrive:
			if from, to := w.data.outage(d, tick-back); tick-back < from || tick-back >= to {
				w.put(kindLate, one[:], 1)
			}
		case f.again:
			w.put(kindAgain, one[:], 1)
		case f.correct:
			w.put(kindCorrect, one[:], 1)
		}
	}
	first, n := w.data.missed(d, tick)
	if n == 0 {
		return
	}
	var missed [maxBatch]measurement
	for i := range n {
		missed[i] = measurement{d, first + i}
	}
	w.put(kindBackfill, missed[:n], int(w.data.chunk))
}

// put adds measurements as one task, if they are of the size and of one
// partition, else as one task each.
func (w *sender) put(kind int, list []measurement, size int) {
	if len(list) == 0 {
		return
	}
	if len(list) != size || list[0].tick/w.partition != list[len(list)-1].tick/w.partition {
		size = 1
	}
	for ; len(list) > 0; list = list[size:] {
		w.tasks = append(w.tasks, task{kind, list[0].tick / w.partition, len(w.what), size})
		w.what = append(w.what, list[:size]...)
	}
}

// generate makes the arguments of a task.
func (w *sender) generate(t *task) {
	w.args, w.text = w.args[:0], w.text[:0]
	fixed := int64(-1)
	for _, x := range w.what[t.at : t.at+t.n] {
		if t.kind == kindCorrect {
			fixed = w.data.fixedMetric(x.d, x.tick)
		}
		w.args, w.text = w.appendMeasurement(w.args, w.text, w.data, x.d, x.tick, fixed)
	}
	if t.kind == kindCorrect {
		w.toUpdate(fixed)
	}
}

// toUpdate makes the arguments of an insert those of the update of a value: the
// new value, and the key.
func (w *sender) toUpdate(metric int64) {
	row := w.args
	if !w.doc {
		row = w.args[4*metric : 4*metric+4]
	}
	t, d, last := row[0], row[1], row[len(row)-1]
	w.args = append(w.args[:0], last)
	for _, c := range w.key() {
		switch c {
		case colTime:
			w.args = append(w.args, t)
		case colDevice:
			w.args = append(w.args, d)
		case colMetric:
			w.args = append(w.args, model.IntValue(metric))
		}
	}
}

func (w *sender) Do(ctx context.Context, out *workload.Outcome) error {
	if w.next == len(w.tasks) { // it would wait for a writer that has ended
		return workload.ErrDone
	}
	t := &w.tasks[w.next]
	table := t.partition % w.run.tables
	stmt, rows, values := w.inserts[table][t.n], int64(t.n)*w.rowsOf(), int64(t.n)*w.metrics
	if t.kind == kindCorrect {
		stmt, rows, values = w.updates[table], 1, 1
	}
	if !w.load {
		out.Kind = t.kind
	}
	if err := stmt.Exec(ctx, w.args, &w.result); err != nil {
		return err
	}
	if t.kind == kindAgain {
		rows = 0
	}
	if w.env.Results && w.result.Rows != rows {
		w.wrong++
	}
	out.Rows, out.Writes = values, 1
	if t.kind != kindAgain {
		out.Bytes = int64(float64(values) * w.valueBytes(!w.load))
	}
	w.sent[t.kind] += int64(t.n)
	w.ready = false
	if w.next++; w.next == len(w.tasks) {
		w.advance()
	}
	if w.left--; w.left == 0 {
		w.clock.ended.Store(true)
		w.clock.notify()
	}
	return nil
}

func (w *sender) Finish(ctx context.Context) error {
	if w.loader == nil {
		return nil
	}
	return w.loader.EndLoad(ctx)
}
