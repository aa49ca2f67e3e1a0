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

func (s *loadStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	if s.index {
		b := &workload.Builder{DB: s.env.DB}
		for n := seat.Client; n < s.tables; n += s.loaders() {
			b.Queue = append(b.Queue, workload.Build{Table: tableName(n), Index: indexName(n), Rows: s.size,
				Bytes: s.size * indexBytes})
		}
		return b, nil
	}
	l := &loader{loadStage: s, session: seat.Session, table: seat.Client}
	return l, l.begin(ctx)
}

// loader inserts the rows of its tables.
type loader struct {
	*loadStage
	session   engine.Session
	table     int
	rows      gen.Stream
	whole     engine.Stmt // a batch
	rest      engine.Stmt // the last rows, fewer than a batch
	next      int64       // the first row of the batch
	batchRows int64       // rows of the batch; 0: there is none
	args      []model.Value
	text      []byte
	result    engine.Result
}

func (l *loader) begin(ctx context.Context) (err error) {
	l.rows, l.next = tableStream(l.env.Seed, l.table), 0
	batch := l.p.Int("load_batch")
	if l.whole, err = l.prepare(ctx, min(batch, l.size)); err != nil {
		return err
	}
	if rest := l.size % batch; rest > 0 && l.size > batch {
		l.rest, err = l.prepare(ctx, rest)
	}
	return err
}

func (l *loader) prepare(ctx context.Context, rows int64) (engine.Stmt, error) {
	return l.session.Prepare(ctx, &model.Op{Kind: model.Insert, Table: tableName(l.table), Columns: loadColumns,
		Rows: int(rows), Load: true})
}

func (l *loader) Ready(ctx context.Context) error {
	if l.batchRows > 0 || l.table >= l.tables {
		return nil
	}
	if l.next == l.size {
		if l.table += l.loaders(); l.table >= l.tables {
			return nil
		}
		if err := l.begin(ctx); err != nil {
			return err
		}
	}
	l.batchRows = min(l.p.Int("load_batch"), l.size-l.next)
	l.args, l.text = l.args[:0], l.text[:0]
	for i := range l.batchRows {
		l.args, l.text = appendRow(l.args, l.text, l.rows, l.next+i, l.k)
	}
	return nil
}

func (l *loader) Do(ctx context.Context, out *workload.Outcome) error {
	if l.batchRows == 0 { // it has fewer tables than other clients
		return errors.Join(workload.ErrDone, l.Finish(ctx))
	}
	stmt := l.whole
	if l.batchRows < l.p.Int("load_batch") && l.rest != nil {
		stmt = l.rest
	}
	if err := stmt.Exec(ctx, l.args, &l.result); err != nil {
		return err
	}
	out.Rows, out.Bytes, out.Writes = l.result.Rows, l.batchRows*rowBytes, 1
	l.next += l.batchRows
	l.batchRows = 0
	return nil
}

func (l *loader) Finish(ctx context.Context) error {
	if bulk, ok := l.session.(engine.Loader); ok {
		return bulk.EndLoad(ctx)
	}
	return nil
}

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
