package telemetry

import (
	"context"

	"rumbench/model"
	"rumbench/workload"
)

// loader loads the history of a writer's devices. It is ahead of the other loaders by at
// most a tick and its batch, so that all write at the same end of the data.
type loader struct {
	*stage
	writer int64
	seat   workload.Seat
	slot   int64
	batch  *workload.Batch
	at     int64 // the partition of batch
	args   []model.Value
}

func (s *stage) newLoader(seat workload.Seat) *loader {
	s.clock.active = append(s.clock.active, int64(seat.Client))
	return &loader{stage: s, writer: int64(seat.Client), seat: seat, at: -1}
}

func (l *loader) over() bool { return l.slot >= l.history*l.perTick }

// Waits reports whether the other loaders are behind.
func (l *loader) Waits() bool {
	return (l.batch == nil || l.batch.Rows() == 0) && !l.over() && l.slot/l.perTick > l.clock.tick()+1
}

// Ready collects a batch, unless a batch must be retried.
func (l *loader) Ready(ctx context.Context) error {
	if err := l.clock.await(ctx, func() bool { return !l.Waits() }); err != nil || l.batch != nil && l.batch.Rows() > 0 {
		return err
	}
	size := int(l.p.Int("load_batch") * l.rowsOf())
	if p := l.slot / l.perTick / l.partition; p != l.at && !l.over() {
		l.at, l.batch = p, workload.NewBatch(l.seat.Session, baseName(p), l.columns(), size)
	}
	width := len(l.columns())
	for !l.batch.Full() && !l.over() && l.slot/l.perTick/l.partition == l.at {
		d, tick := l.data.at(l.writer, l.slot)
		l.args, l.batch.Text = l.data.appendMeasurement(l.args[:0], l.batch.Text, d, tick, -1)
		for row := l.args; len(row) > 0; row = row[width:] {
			l.batch.Add(row[:width]...)
		}
		l.slot++
	}
	return nil
}

func (l *loader) Do(ctx context.Context, out *workload.Outcome) error {
	if err := l.batch.Insert(ctx, out); err != nil {
		return err
	}
	out.Rows = out.Rows * l.metrics / l.rowsOf() // values
	out.Bytes = int64(float64(out.Rows) * l.valueBytes(false))
	l.clock.writers[l.writer].set(l.slot)
	l.clock.notify()
	return nil
}

// Finish completes the load of the session.
func (l *loader) Finish(ctx context.Context) error {
	if l.batch == nil {
		return nil
	}
	return l.batch.EndLoad(ctx)
}
