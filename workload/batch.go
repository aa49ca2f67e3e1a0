package workload

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// Batch collects the rows of a load, and inserts them with one statement.
type Batch struct {
	// Text is memory for values of rows: append them to it before calling Bytes or Chars.
	Text []byte
	Done int64 // rows inserted

	session engine.Session
	op      model.Op
	stmt    engine.Stmt // for op.Rows rows
	size    int
	rows    int
	args    []model.Value
	start   int // start of the next value's text
	result  engine.Result
}

// NewBatch returns an empty batch of size rows.
func NewBatch(s engine.Session, table string, columns []string, size int) *Batch {
	return &Batch{session: s, size: size, op: model.Op{Kind: model.Insert, Table: table, Columns: columns, Load: true}}
}

// Again notes that the table was loaded before: an engine must not load it in bulk.
func (b *Batch) Again() { b.op.Load = false }

// Rows returns the number of rows collected.
func (b *Batch) Rows() int { return b.rows }

// Full reports whether the batch has reached its size.
func (b *Batch) Full() bool { return b.rows >= b.size }

// Bytes returns the bytes appended to Text since the last call.
func (b *Batch) Bytes() model.Value { return model.BytesValue(b.next()) }

// Chars returns the bytes appended to Text since the last call, as a String.
func (b *Batch) Chars() model.Value { return model.StringValue(b.next()) }

func (b *Batch) next() []byte {
	text := b.Text[b.start:len(b.Text):len(b.Text)]
	b.start = len(b.Text)
	return text
}

// Add adds a row.
func (b *Batch) Add(values ...model.Value) {
	b.args = append(b.args, values...)
	b.rows++
}

// Insert inserts the collected rows, if any. After an error it can be repeated.
func (b *Batch) Insert(ctx context.Context, out *Outcome) (err error) {
	if b.rows == 0 {
		return nil
	}
	if b.op.Rows != b.rows { // the first batch, or the last
		op := b.op
		op.Rows = b.rows
		if b.stmt, err = b.session.Prepare(ctx, &op); err != nil {
			return err
		}
		b.op = op
	}
	if err := b.stmt.Exec(ctx, b.args, &b.result); err != nil {
		return err
	}
	out.Rows, out.Writes = int64(b.rows), 1
	for _, v := range b.args {
		out.Bytes += int64(v.Size())
	}
	b.Done += out.Rows
	b.rows, b.start, b.args, b.Text = 0, 0, b.args[:0], b.Text[:0]
	return nil
}

// EndLoad completes the load of the session.
func (b *Batch) EndLoad(ctx context.Context) error {
	if bulk, ok := b.session.(engine.Loader); ok {
		return bulk.EndLoad(ctx)
	}
	return nil
}

// Build is an index to be built, with the size of its entries.
type Build struct {
	Table, Index string
	Rows, Bytes  int64
}

// Builder is a client that builds indexes, one in each operation.
type Builder struct {
	DB    engine.DB
	Queue []Build
}

// Do builds the next index.
func (b *Builder) Do(ctx context.Context, out *Outcome) error {
	if len(b.Queue) == 0 {
		return ErrDone
	}
	next := b.Queue[0]
	if err := b.DB.CreateIndexes(ctx, next.Table, next.Index); err != nil {
		return err
	}
	out.Rows, out.Bytes, out.Others = next.Rows, next.Bytes, 1
	b.Queue = b.Queue[1:]
	return nil
}
