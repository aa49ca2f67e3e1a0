package pgwire

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"rumbench/model"
)

// Copy copies batches of rows into columns of a table: each is atomic and durable
// as an INSERT is, but not planned, and put into pages many rows at a time.
type Copy struct {
	conn  *Conn
	text  string
	types []uint32 // of the columns
	buf   []byte
}

// PrepareCopy readies copying, into names as SQL writes them.
func (c *Conn) PrepareCopy(ctx context.Context, table, columns string) (*Copy, error) {
	s, err := c.Parse(ctx, "SELECT "+columns+" FROM "+table)
	if err != nil {
		return nil, err
	}
	return &Copy{conn: c, text: "COPY " + table + " (" + columns + ") FROM STDIN (FORMAT binary)", types: slices.Clone(s.columns)}, nil
}

// Exec copies rows.
func (s *Copy) Exec(ctx context.Context, args []model.Value) (rows int64, err error) {
	if err := s.encode(args); err != nil {
		return 0, err
	}
	c := s.conn
	c.out = appendCopy(c.out[:0], s.text, s.buf)
	err = c.run(ctx)
	return c.rows, err
}

// copyHeader begins the binary format: its signature, no flags, and no extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// encode writes the rows as COPY takes them.
func (s *Copy) encode(args []model.Value) (err error) {
	width := len(s.types)
	if len(args)%width != 0 {
		return fmt.Errorf("%d arguments for rows of %d columns", len(args), width)
	}
	s.buf = append(s.buf[:0], copyHeader...)
	for i, v := range args {
		if i%width == 0 {
			s.buf = binary.BigEndian.AppendUint16(s.buf, uint16(width))
		}
		if s.buf, err = appendSized(s.buf, s.types[i%width], v); err != nil {
			return err
		}
	}
	s.buf = binary.BigEndian.AppendUint16(s.buf, ^uint16(0))
	return nil
}
