package declared

import (
	"context"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
)

// loader inserts rows of a table, in batches that clients take in turn.
type loader struct {
	*stage
	batch   *workload.Batch
	cols    *columns
	env     env
	values  []model.Value // of a row
	entries int64         // bytes of a row's index entries
}

func (s *stage) newLoader(seat workload.Seat) *loader {
	l := &loader{stage: s, cols: s.compiler(s.env.DataSeed()).columns(s.spec.table)}
	l.batch = workload.NewBatch(seat.Session, s.spec.table.Name, s.spec.table.given(), int(s.spec.batch))
	if !s.spec.first {
		l.batch.Again()
	}
	l.entries = s.entryBytes(s.spec.table, &model.Op{Kind: model.Insert})
	return l
}

// Ready makes the rows of the next batch, unless a batch must be retried.
func (l *loader) Ready(context.Context) error {
	if l.batch.Rows() > 0 {
		return nil
	}
	l.env.text = l.env.text[:0]
	start := min(l.batches.Take()*l.spec.batch, l.spec.rows)
	n := min(l.spec.batch, l.spec.rows-start)
	for i := range n {
		row := l.start + start + i
		l.values = l.values[:0]
		for c := range l.cols.list {
			if !l.cols.list[c].def.auto {
				l.values = append(l.values, l.cols.list[c].at(&l.env, row))
			}
		}
		l.batch.Add(l.values...)
	}
	return l.env.wrong()
}

// Do inserts a batch.
func (l *loader) Do(ctx context.Context, out *workload.Outcome) error {
	if l.batch.Rows() == 0 {
		return workload.ErrDone
	}
	if err := l.batch.Insert(ctx, out); err != nil {
		if engine.ClassOf(err) == engine.Duplicate {
			return engine.Classify(engine.Fatal, hint.With(fmt.Errorf("load table %s: %w", l.spec.table.Name, err),
				"two rows have the same key: make it unique, as with sequence, or load into empty tables"))
		}
		return err
	}
	out.Bytes += l.entries * out.Rows
	return nil
}

// Finish completes a bulk load.
func (l *loader) Finish(ctx context.Context) error { return l.batch.EndLoad(ctx) }

// builder builds indexes.
type builder struct{ *stage }

// Do builds all indexes of the step at once.
func (b *builder) Do(ctx context.Context, out *workload.Outcome) error {
	t := b.spec.table
	if err := b.env.DB.CreateIndexes(ctx, t.Name, b.spec.indexes...); err != nil {
		return err
	}
	out.Rows, out.Writes = t.live(), 1
	for i := range t.Indexes {
		if slices.Contains(b.spec.indexes, t.Indexes[i].Name) {
			out.Bytes += out.Rows * int64(t.entryBytes(&t.Indexes[i]))
		}
	}
	return nil
}
