package sysbench

import (
	"context"
	"errors"
	"fmt"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// loadStage is the load, or the index build after the load.
type loadStage struct {
	*run
	env   workload.Env
	index bool
	k     gen.Distribution
}

func (r *run) openLoad(_ context.Context, env workload.Env) (workload.Stage, error) {
	for n := range r.removed { // the rows will be new
		r.removed[n].Store(0)
	}
	k, err := newDistribution(r.p, r.p.String("distribution"), r.size)
	return &loadStage{run: r, env: env, k: k}, err
}

func (r *run) openIndex(_ context.Context, env workload.Env) (workload.Stage, error) {
	return &loadStage{run: r, env: env, index: true}, nil
}

func (s *loadStage) Client(_ context.Context, seat workload.Seat) (workload.Client, error) {
	if s.index {
		b := &workload.Builder{DB: s.env.DB}
		for n := seat.Client; n < s.tables; n += s.loaders() {
			b.Queue = append(b.Queue, workload.Build{Table: tableName(n), Index: indexName(n), Rows: s.size,
				Bytes: s.size * indexBytes})
		}
		return b, nil
	}
	l := &loader{loadStage: s, session: seat.Session, table: seat.Client}
	l.begin()
	return l, nil
}

// loader inserts the rows of its tables.
type loader struct {
	*loadStage
	session engine.Session
	table   int
	rows    gen.Stream
	next    int64 // row of the table
	batch   *workload.Batch
	row     []model.Value
}

// begin begins a table.
func (l *loader) begin() {
	l.rows, l.next = tableStream(l.env.Seed, l.table), 0
	l.batch = workload.NewBatch(l.session, tableName(l.table), loadColumns, int(l.p.Int("load_batch")))
}

// Ready makes the rows of the next batch, unless one must be retried.
func (l *loader) Ready(context.Context) error {
	if l.batch.Rows() > 0 {
		return nil
	}
	if l.next == l.size && l.table+l.loaders() < l.tables {
		l.table += l.loaders()
		l.begin()
	}
	for ; !l.batch.Full() && l.next < l.size; l.next++ {
		l.row, l.batch.Text = appendRow(l.row[:0], l.batch.Text, l.rows, l.next, l.k)
		l.batch.Add(l.row...)
	}
	return nil
}

func (l *loader) Do(ctx context.Context, out *workload.Outcome) error {
	if l.batch.Rows() == 0 { // it has fewer tables than other clients
		return errors.Join(workload.ErrDone, l.Finish(ctx))
	}
	err := l.batch.Insert(ctx, out)
	out.Bytes = out.Rows * rowBytes
	return err
}

// Finish completes the load of the session.
func (l *loader) Finish(ctx context.Context) error { return l.batch.EndLoad(ctx) }

// Finish checks that all rows exist and are numbered without gaps: tests draw ids
// from 1 to the table size.
func (s *loadStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	f.Live = s.live(int64(s.tables)*s.size, s.index)
	if !s.env.Results || s.p.String("check") == "none" || s.index {
		return f, nil
	}
	err = workload.InSession(ctx, s.env.DB, func(ctx context.Context, session engine.Session) error {
		for n := range s.tables {
			last, err := lastID(ctx, session, n)
			if err != nil {
				return err
			}
			if last != s.size {
				f.Broken = append(f.Broken, fmt.Sprintf("table %s ends with id %d after %d rows were loaded", tableName(n),
					last, s.size))
			}
		}
		return nil
	})
	return f, err
}
