package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgconn"
)

// stmt is a statement that the server has parsed.
type stmt struct {
	conn    *conn
	sd      *pgconn.StatementDescription
	commit  bool // it ends a transaction, keeping its work
	buf     []byte
	params  [][]byte
	formats []int16 // of all arguments
	wanted  []int16 // of each column returned
	result  result
	rows    rows
}

func newStmt(c *conn, sd *pgconn.StatementDescription) *stmt {
	s := &stmt{conn: c, sd: sd, commit: sd.SQL == "COMMIT", buf: make([]byte, 0, 64), params: make([][]byte, len(sd.ParamOIDs))}
	if len(sd.ParamOIDs) > 0 {
		s.formats = []int16{binaryFormat}
	}
	s.rows = rows{stmt: s}
	for _, f := range sd.Fields {
		s.wanted = append(s.wanted, formatOf(f.DataTypeOID))
	}
	return s
}

// Close does nothing: statements end with their connection.
func (s *stmt) Close() error { return nil }

// NumInput is the number of arguments.
func (s *stmt) NumInput() int { return len(s.params) }

// Exec is not used.
func (s *stmt) Exec([]sqldriver.Value) (sqldriver.Result, error) {
	return nil, errors.New("a context is needed")
}

// Query is not used.
func (s *stmt) Query([]sqldriver.Value) (sqldriver.Rows, error) {
	return nil, errors.New("a context is needed")
}

// ExecContext executes the statement. The result is valid until the next time.
func (s *stmt) ExecContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	if err := s.bind(args); err != nil {
		return nil, err
	}
	if err := s.conn.watch.begin(ctx); err != nil {
		return nil, err
	}
	tag, err := s.conn.pg.ExecStatement(background, s.sd, s.params, s.formats, s.wanted).Close()
	if err := s.conn.end(ctx, err); err != nil {
		return nil, err
	}
	// The commit of a transaction that has failed undoes it, and is no error
	// to the server.
	if s.commit && tag.String() == "ROLLBACK" {
		return nil, s.conn.undone()
	}
	s.result = result(tag)
	return &s.result, nil
}

// QueryContext executes the statement. The rows are valid until the next time.
func (s *stmt) QueryContext(ctx context.Context, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	if err := s.bind(args); err != nil {
		return nil, err
	}
	if err := s.conn.watch.begin(ctx); err != nil {
		return nil, err
	}
	s.rows.reader = s.conn.pg.ExecStatement(background, s.sd, s.params, s.formats, s.wanted)
	s.rows.ctx = ctx
	return &s.rows, nil
}

// bind encodes the arguments. What they refer to is sent before the call ends.
func (s *stmt) bind(args []sqldriver.NamedValue) (err error) {
	if len(args) != len(s.params) {
		return fmt.Errorf("%d arguments for %d placeholders", len(args), len(s.params))
	}
	s.buf = s.buf[:0]
	for i := range args {
		if args[i].Value == nil {
			s.params[i] = nil
			continue
		}
		from := len(s.buf)
		if s.buf, err = appendArgument(s.buf, s.sd.ParamOIDs[i], args[i].Value); err != nil {
			return err
		}
		s.params[i] = s.buf[from:]
	}
	return nil
}

// result counts rows.
type result pgconn.CommandTag

// RowsAffected is the number of rows inserted, changed or deleted.
func (r *result) RowsAffected() (int64, error) { return pgconn.CommandTag(*r).RowsAffected(), nil }

// LastInsertId is not known: numbers are returned as rows.
func (r *result) LastInsertId() (int64, error) { return 0, errors.New("numbers are returned as rows") }

// rows are the rows of an execution.
type rows struct {
	stmt   *stmt
	ctx    context.Context
	reader *pgconn.ResultReader // nil: they have ended
}

// Columns are the names of the columns.
func (r *rows) Columns() []string {
	var names []string
	for _, f := range r.stmt.sd.Fields {
		names = append(names, f.Name)
	}
	return names
}

// Next reads a row. Its text and bytes are valid until the next one.
func (r *rows) Next(dest []sqldriver.Value) (err error) {
	if r.reader == nil {
		return io.EOF
	}
	if !r.reader.NextRow() {
		if err := r.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	fields := r.stmt.sd.Fields
	for i, v := range r.reader.Values() {
		if dest[i], err = decode(v, fields[i].DataTypeOID); err != nil {
			return err
		}
	}
	return nil
}

// Close reads what is left.
func (r *rows) Close() error {
	if r.reader == nil {
		return nil
	}
	_, err := r.reader.Close()
	r.reader = nil
	return r.stmt.conn.end(r.ctx, err)
}
