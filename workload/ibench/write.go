package ibench

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// insertClient inserts batches.
type insertClient struct {
	table  *table
	stmt   engine.Stmt
	rows   generator
	batch  batch
	size   int64
	fixed  int64 // user bytes of a row without its data column
	next   int64 // the first row of the next batch
	filled bool  // the batch is generated
	token  bool  // a token is held
	result engine.Result
	loader engine.Loader // nil unless a load has to be completed
}

func (s *stage) newInserter(ctx context.Context, t *table, seat workload.Seat) (*insertClient, error) {
	stmt, err := seat.Session.Prepare(ctx,
		&model.Op{Kind: model.Insert, Table: t.name, Columns: insertColumns, Rows: int(s.plan.batch), Load: s.plan.load})
	if err != nil {
		return nil, err
	}
	in := &insertClient{
		table: t, stmt: stmt, size: s.plan.batch,
		rows:  s.newGenerator(seat.Client, t.lastID),
		fixed: s.rowBytes(s.plan.withIndex || s.plan.wantsIndex),
	}
	if s.plan.load {
		in.loader, _ = seat.Session.(engine.Loader)
	}
	return in, in.batch.reserve(s.plan.batch, s.p.Int("data_max"))
}

// Ready generates the batch and waits for the deletes, if they are too far behind. After
// a failed insert the same batch is inserted again.
func (in *insertClient) Ready(ctx context.Context) error {
	if !in.filled {
		in.batch.fill(&in.rows, in.next, in.size)
		in.filled = true
	}
	return take(ctx, in.table.inserts, &in.token)
}

func (in *insertClient) Do(ctx context.Context, out *workload.Outcome) error {
	if err := in.stmt.Exec(ctx, in.batch.args, &in.result); err != nil {
		return err
	}
	out.Rows, out.Expected, out.Found = in.result.Rows, in.size, in.result.Rows
	out.Bytes = in.size*in.fixed + int64(len(in.batch.text))
	in.next += in.size
	in.filled = false
	give(in.table.deletes, &in.token)
	return nil
}

func (in *insertClient) Finish(ctx context.Context) error {
	if in.loader == nil {
		return nil
	}
	return in.loader.EndLoad(ctx)
}

// take takes a token, if the table is coupled and none is held.
func take(ctx context.Context, tokens chan struct{}, held *bool) error {
	if tokens == nil || *held {
		return nil
	}
	select {
	case <-tokens:
		*held = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// give gives the other side a token in exchange for the held one.
func give(tokens chan struct{}, held *bool) {
	if tokens != nil {
		tokens <- struct{}{} // never blocks: the channel holds all tokens
		*held = false
	}
}

// deleteClient deletes the oldest rows: those with the lowest ids at or above a cursor.
// It advances the cursor by the size of a batch, and periodically reads it again from the
// table.
type deleteClient struct {
	table     *table
	stmt      engine.Stmt
	lowest    engine.Stmt
	size      int64
	resync    int64
	since     int64 // statements since the cursor was read
	cursor    [1]model.Value
	found     int64
	token     bool
	results   bool
	result    engine.Result
	lowestKey engine.Result
}

// newDeleter returns a client with blind deletes: no other operation of the workload
// deletes rows.
func (s *stage) newDeleter(ctx context.Context, t *table, seat workload.Seat) (workload.Client, error) {
	d := &deleteClient{table: t, size: s.plan.batch, resync: s.p.Int("resync"), results: s.env.Results}
	var err error
	if d.stmt, err = seat.Session.Prepare(ctx,
		&model.Op{Kind: model.DeleteLowest, Table: t.name, Rows: int(s.plan.batch), Blind: true}); err != nil {
		return nil, err
	}
	if d.lowest, err = seat.Session.Prepare(ctx, edgeOp(t.name, false)); err != nil {
		return nil, err
	}
	d.lowestKey.Each = func(row []model.Value) { d.found = row[0].Int() }
	return d, nil
}

func (d *deleteClient) Ready(ctx context.Context) error { return take(ctx, d.table.deletes, &d.token) }

func (d *deleteClient) Do(ctx context.Context, out *workload.Outcome) error {
	if d.resync > 0 && d.since >= d.resync {
		out.Kind, out.Rows = 1, 1
		return d.readLeast(ctx, out)
	}
	d.cursor[0] = model.IntValue(d.table.firstID.Load())
	if err := d.stmt.Exec(ctx, d.cursor[:], &d.result); err != nil {
		return err
	}
	out.Rows = d.result.Rows
	if d.results {
		out.Expected, out.Found = d.size, d.result.Rows
	}
	d.since++
	d.table.firstID.Add(d.size)
	give(d.table.inserts, &d.token)
	return nil
}

func (d *deleteClient) readLeast(ctx context.Context, out *workload.Outcome) error {
	d.found = d.table.firstID.Load()
	if err := d.lowest.Exec(ctx, nil, &d.lowestKey); err != nil {
		return err
	}
	if d.results {
		out.Expected, out.Found = 1, d.lowestKey.Rows
	}
	d.table.firstID.Store(d.found)
	d.since = 0
	return nil
}

// buildClient inserts one batch and then builds the indexes of its table.
type buildClient struct {
	*stage
	insert *insertClient
	table  int
	loaded bool
}

func (x *buildClient) Ready(ctx context.Context) error {
	if x.loaded {
		return nil
	}
	return x.insert.Ready(ctx)
}

func (x *buildClient) Do(ctx context.Context, out *workload.Outcome) error {
	if !x.loaded {
		err := x.insert.Do(ctx, out)
		x.loaded = err == nil
		return err
	}
	if err := x.buildIndexes(ctx, x.table); err != nil {
		return err
	}
	out.Kind = 1
	out.Rows = (x.start + x.insert.size*int64(len(x.tables))) / int64(len(x.tables))
	out.Bytes = out.Rows * (x.rowBytes(true) - x.rowBytes(false))
	return nil
}
