package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"io"
)

// textRows are the rows of a query by text, as text.
type textRows struct {
	conn *conn
	ctx  context.Context // nil: they have ended
	row  []byte          // was read ahead, since what tells the columns comes before it
}

// begin asks the question.
func (r *textRows) begin(ctx context.Context) (err error) {
	c := r.conn
	if err := c.watch.begin(ctx); err != nil {
		return err
	}
	c.ask()
	if r.row, err = c.next(); r.row == nil {
		return c.end(ctx, err)
	}
	r.ctx = ctx
	return nil
}

// Columns are the names of the columns.
func (r *textRows) Columns() []string { return columnNames(r.conn.described) }

// Next reads a row, which is valid until the next one.
func (r *textRows) Next(dest []sqldriver.Value) (err error) {
	if r.ctx == nil {
		return io.EOF
	}
	row := r.row
	if r.row = nil; row == nil {
		if row, err = r.conn.next(); row == nil {
			if err := r.end(err); err != nil {
				return err
			}
			return io.EOF
		}
	}
	_, row, err = count(row)
	for i := 0; i < len(dest) && err == nil; i++ {
		var v []byte
		v, row, err = field(row)
		if dest[i] = nil; v != nil {
			dest[i] = v
		}
	}
	return err
}

// Close reads what is left.
func (r *textRows) Close() error {
	if r.ctx == nil {
		return nil
	}
	return r.end(r.conn.rest())
}

func (r *textRows) end(err error) error {
	ctx := r.ctx
	r.ctx = nil
	return r.conn.end(ctx, err)
}
