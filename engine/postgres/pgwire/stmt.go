package pgwire

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// Stmt is a statement that the server has parsed.
type Stmt struct {
	conn    *Conn
	commit  bool     // it ends a transaction and keeps its work
	head    []byte   // of the message that gives the arguments
	wanted  []byte   // its end: the formats of the columns returned
	params  []uint32 // the types of the arguments
	columns []uint32 // the types of the columns returned
}

// newStmt prepares a statement that the server has just described.
func newStmt(c *Conn, name string, commit bool) *Stmt {
	s := &Stmt{conn: c, commit: commit, params: slices.Clone(c.parameters), columns: slices.Clone(c.columns)}
	s.head, _ = message(nil, 'B')
	s.head = append(s.head, 0) // the unnamed portal
	s.head = append(append(s.head, name...), 0)
	s.head = append(s.head, 0, 1, 0, binaryFormat) // of all arguments
	s.head = binary.BigEndian.AppendUint16(s.head, uint16(len(s.params)))
	s.wanted = binary.BigEndian.AppendUint16(nil, uint16(len(s.columns)))
	for _, oid := range s.columns {
		s.wanted = binary.BigEndian.AppendUint16(s.wanted, formatOf(oid))
	}
	return s
}

// Close does nothing: statements end with their connection.
func (s *Stmt) Close() error { return nil }

// Exec executes the statement.
func (s *Stmt) Exec(ctx context.Context, args []model.Value) (rows, id int64, err error) {
	if err := s.encode(args); err != nil {
		return 0, 0, err
	}
	c := s.conn
	if err := c.run(ctx, nil); err != nil {
		return 0, 0, err
	}
	// The commit of a failed transaction rolls it back, and the server does not report
	// that as an error.
	if s.commit && c.undone {
		return 0, 0, c.failure()
	}
	return c.rows, 0, nil
}

// Query executes the statement and hands over its rows.
func (s *Stmt) Query(ctx context.Context, args []model.Value, types []model.Type,
	each func(row []model.Value) error) error {
	if err := s.encode(args); err != nil {
		return err
	}
	return s.conn.query(ctx, s.columns, types, each)
}

// encode writes the question.
func (s *Stmt) encode(args []model.Value) error {
	b, err := s.appendMessages(s.conn.out[:0], args)
	if err != nil {
		return err
	}
	s.conn.out = append(b, syncMessage...)
	return nil
}

// appendMessages appends the messages that execute the statement.
func (s *Stmt) appendMessages(b []byte, args []model.Value) (_ []byte, err error) {
	if len(args) != len(s.params) {
		return nil, fmt.Errorf("%d arguments for %d placeholders", len(args), len(s.params))
	}
	start := len(b)
	b = append(b, s.head...)
	for i, oid := range s.params {
		if b, err = appendSized(b, oid, args[i]); err != nil {
			return nil, err
		}
	}
	b = finish(append(b, s.wanted...), start+1)
	return append(b, executeMessage...), nil
}

// Pipeline executes queries without arguments, all in one round trip, and hands over
// their rows: each receives the rows of query i, of types[i].
func (c *Conn) Pipeline(ctx context.Context, queries []sqlkit.Stmt, types [][]model.Type,
	each func(i int, row []model.Value) error) (err error) {
	c.out = c.out[:0]
	for _, s := range queries {
		if c.out, err = s.(*Stmt).appendMessages(c.out, nil); err != nil {
			return err
		}
	}
	c.out = append(c.out, syncMessage...)
	return c.run(ctx, func(b []byte) error {
		i := c.done
		row := c.rowOf(len(types[i]))
		if err := decodeRow(b, row, queries[i].(*Stmt).columns, types[i], decode); err != nil {
			return err
		}
		return each(i, row)
	})
}

// Copy copies batches of rows into columns of a table: each batch is atomic and durable
// like an INSERT, but not planned, and its rows are put into pages many at a time.
type Copy struct {
	conn  *Conn
	text  string
	types []uint32 // of the columns
	buf   []byte
}

// PrepareCopy prepares copying, into names as SQL writes them.
func (c *Conn) PrepareCopy(ctx context.Context, table, columns string) (*Copy, error) {
	s, err := c.Prepare(ctx, "SELECT "+columns+" FROM "+table)
	if err != nil {
		return nil, err
	}
	return &Copy{conn: c, text: "COPY " + table + " (" + columns + ") FROM STDIN (FORMAT binary)",
		types: slices.Clone(s.(*Stmt).columns)}, nil
}

func (s *Copy) Exec(ctx context.Context, args []model.Value) (rows int64, err error) {
	if err := s.encode(args); err != nil {
		return 0, err
	}
	c := s.conn
	c.out = appendCopy(c.out[:0], s.text, s.buf)
	err = c.run(ctx, nil)
	return c.rows, err
}

// copyHeader begins the binary format: its signature, no flags, and no extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// encode writes the rows in the format of COPY.
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
