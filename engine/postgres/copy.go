package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/model"
)

// copier does the inserts of a load by COPY: one for each batch, which is
// atomic and durable as an INSERT is, but not planned, and put into pages
// many rows at a time. It tells no numbers.
type copier struct {
	session *session
	label   string
	text    string
	types   []uint32 // of the columns
	rows    int
	buf     []byte
}

// copyHeader begins the binary format: its signature, no flags, and no extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

func newCopier(s *session, t *model.Table, op *model.Op) (engine.Stmt, error) {
	at, err := t.Positions(op.Columns)
	if err != nil {
		return nil, err
	}
	c := &copier{session: s, label: op.Label(), rows: op.Rows}
	var names []string
	for _, i := range at {
		names = append(names, quote(t.Columns[i].Name))
		c.types = append(c.types, typeOf(&t.Columns[i]))
	}
	c.text = fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", quote(t.Name), strings.Join(names, ", "))
	return c, nil
}

// typeOf is the number of a column's type.
func typeOf(c *model.Column) uint32 {
	switch c.Type {
	case model.Float:
		return oidFloat8
	case model.Time:
		return oidTimestamp
	case model.String:
		return oidText // text of a fixed length is written so, too
	case model.Bytes:
		return oidBytes
	}
	if c.Width == 4 {
		return oidInt4
	}
	return oidInt8
}

// Exec copies the rows.
func (s *copier) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	c := s.session.conn()
	if c == nil {
		return errClosed
	}
	if err := s.encode(args); err != nil {
		return fmt.Errorf("%s: %w", s.label, err)
	}
	c.out = appendCopy(c.out[:0], s.text, s.buf)
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.label, err)
	}
	r.Rows = c.rows
	return nil
}

// encode writes the rows as COPY takes them.
func (s *copier) encode(args []model.Value) (err error) {
	width := len(s.types)
	if len(args) != s.rows*width {
		return fmt.Errorf("%d arguments given, %d wanted", len(args), s.rows*width)
	}
	s.buf = append(s.buf[:0], copyHeader...)
	for i, v := range args {
		if i%width == 0 {
			s.buf = binary.BigEndian.AppendUint16(s.buf, uint16(width))
		}
		if v.IsNull() {
			s.buf = binary.BigEndian.AppendUint32(s.buf, ^uint32(0))
			continue
		}
		at := len(s.buf)
		s.buf = append(s.buf, 0, 0, 0, 0)
		if s.buf, err = appendValue(s.buf, s.types[i%width], v); err != nil {
			return err
		}
		binary.BigEndian.PutUint32(s.buf[at:], uint32(len(s.buf)-at-4))
	}
	s.buf = binary.BigEndian.AppendUint16(s.buf, ^uint16(0))
	return nil
}
