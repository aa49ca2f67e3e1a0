package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"rumbench/model"
)

// stmt is a statement that the server has parsed. It takes and gives values as
// they are: it is a sqlkit.Direct.
type stmt struct {
	conn    *conn
	commit  bool     // it ends a transaction, keeping its work
	head    []byte   // of the message that gives the arguments
	wanted  []byte   // its end: the formats of the columns returned
	params  []uint32 // the types of the arguments
	columns []uint32 // the types of the columns returned
}

// newStmt readies a statement that the server has just described.
func newStmt(c *conn, name string, commit bool) *stmt {
	s := &stmt{conn: c, commit: commit, params: slices.Clone(c.parameters), columns: slices.Clone(c.columns)}
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
func (s *stmt) Close() error { return nil }

// NumInput is the number of arguments.
func (s *stmt) NumInput() int { return len(s.params) }

// Exec is not used.
func (s *stmt) Exec([]sqldriver.Value) (sqldriver.Result, error) { return nil, errDirect }

// Query is not used.
func (s *stmt) Query([]sqldriver.Value) (sqldriver.Rows, error) { return nil, errDirect }

var errDirect = errors.New("the statement takes values as they are")

// ExecContext executes a statement without arguments.
func (s *stmt) ExecContext(ctx context.Context, _ []sqldriver.NamedValue) (sqldriver.Result, error) {
	rows, _, err := s.ExecValues(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	s.conn.result = result(rows)
	return &s.conn.result, nil
}

// ExecValues executes the statement.
func (s *stmt) ExecValues(ctx context.Context, args []model.Value, order []int) (rows, id int64, err error) {
	if err := s.encode(args, order); err != nil {
		return 0, 0, err
	}
	c := s.conn
	if err := c.run(ctx); err != nil {
		return 0, 0, err
	}
	// The commit of a transaction that has failed undoes it, and is no error
	// to the server.
	if s.commit && c.undone {
		return 0, 0, c.failure()
	}
	return c.rows, 0, nil
}

// QueryValues executes the statement and hands over its rows.
func (s *stmt) QueryValues(ctx context.Context, args []model.Value, order []int, types []model.Type, each func(row []model.Value) error) error {
	if err := s.encode(args, order); err != nil {
		return err
	}
	return s.conn.query(ctx, s.columns, types, each)
}

// encode writes the question.
func (s *stmt) encode(args []model.Value, order []int) error {
	b, err := s.appendMessages(s.conn.out[:0], args, order)
	if err != nil {
		return err
	}
	s.conn.out = append(b, syncMessage...)
	return nil
}

// appendMessages appends the messages that execute the statement.
func (s *stmt) appendMessages(b []byte, args []model.Value, order []int) (_ []byte, err error) {
	given := len(args)
	if order != nil {
		given = len(order)
	}
	if given != len(s.params) {
		return nil, fmt.Errorf("%d arguments for %d placeholders", given, len(s.params))
	}
	from := len(b)
	b = append(b, s.head...)
	for i, oid := range s.params {
		if order != nil {
			i = order[i]
		}
		if args[i].IsNull() {
			b = append(b, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(b)
		if b, err = appendValue(append(b, 0, 0, 0, 0), oid, args[i]); err != nil {
			return nil, err
		}
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	b = finish(append(b, s.wanted...), from+1)
	return append(b, executeMessage...), nil
}
