// Package stdsql makes connections of sqlkit out of those of drivers for
// database/sql. Their interface has a cost: memory for values, and for rows.
package stdsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"
	"unsafe"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// Conn is a driver's connection.
type Conn struct {
	raw  rawConn
	time bool // times are passed as time.Time, otherwise as microseconds since 1970
	dest []driver.Value
	row  []model.Value
}

type rawConn interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
	driver.ConnPrepareContext
}

// New makes a Conn of a driver's connection. Times are passed to the driver as
// time.Time if nativeTime is set, otherwise as microseconds since 1970.
func New(conn driver.Conn, nativeTime bool) (*Conn, error) {
	raw, ok := conn.(rawConn)
	if !ok {
		return nil, fmt.Errorf("the driver's %T does not take contexts", conn)
	}
	return &Conn{raw: raw, time: nativeTime}, nil
}

// Raw returns the driver's connection.
func (c *Conn) Raw() driver.Conn { return c.raw }

func (c *Conn) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	return counts(c.raw.ExecContext(ctx, text, nil))
}

func (c *Conn) QueryText(ctx context.Context, text string, types []model.Type,
	each func(row []model.Value) error) error {
	rows, err := c.raw.QueryContext(ctx, text, nil)
	if err != nil {
		return gone(err)
	}
	return c.hand(rows, types, each)
}

// Prepare prepares a statement.
func (c *Conn) Prepare(ctx context.Context, text string) (sqlkit.Stmt, error) {
	st, err := c.raw.PrepareContext(ctx, text)
	if err != nil {
		return nil, gone(err)
	}
	raw, ok := st.(rawStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T does not take contexts", st), st.Close())
	}
	return &stmt{conn: c, rawStmt: raw}, nil
}

// Close closes the driver's connection.
func (c *Conn) Close() error { return c.raw.Close() }

type rawStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	rawStmt
	conn *Conn
	args []driver.NamedValue
}

func (s *stmt) Exec(ctx context.Context, args []model.Value) (rows, id int64, err error) {
	return counts(s.ExecContext(ctx, s.bind(args)))
}

func (s *stmt) Query(ctx context.Context, args []model.Value, types []model.Type,
	each func(row []model.Value) error) error {
	rows, err := s.QueryContext(ctx, s.bind(args))
	if err != nil {
		return gone(err)
	}
	return s.conn.hand(rows, types, each)
}

// bind makes arguments for the driver, in reused memory.
func (s *stmt) bind(args []model.Value) []driver.NamedValue {
	for i := len(s.args); i < len(args); i++ {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1})
	}
	for i, v := range args {
		s.args[i].Value = s.conn.argument(v)
	}
	return s.args[:len(args)]
}

// argument returns a value as drivers take it. Text is passed as a string that
// shares the value's memory: the driver copies the text that it keeps, and the
// value is not changed during the call.
func (c *Conn) argument(v model.Value) driver.Value {
	switch v.Type() {
	case model.Int:
		return v.Int()
	case model.Float:
		return v.Float()
	case model.Time:
		if c.time {
			return v.Time()
		}
		return v.Int()
	case model.String:
		return unsafe.String(unsafe.SliceData(v.Buf()), len(v.Buf()))
	case model.Bytes, model.UUID:
		if v.Buf() == nil {
			return []byte{} // drivers take a nil slice for NULL
		}
		return v.Buf()
	}
	return nil
}

// counts reads a result. Drivers without insert ids return an error for them.
func counts(r driver.Result, err error) (rows, id int64, _ error) {
	if err != nil {
		return 0, 0, gone(err)
	}
	rows, err = r.RowsAffected()
	id, _ = r.LastInsertId()
	return rows, id, gone(err)
}

// hand hands over the rows of an answer.
func (c *Conn) hand(rows driver.Rows, types []model.Type, each func(row []model.Value) error) (err error) {
	defer func() {
		if e := rows.Close(); err == nil {
			err = gone(e)
		}
	}()
	n := len(types)
	if types == nil {
		n = len(rows.Columns())
	}
	for len(c.row) < n {
		c.row, c.dest = append(c.row, model.Value{}), append(c.dest, nil)
	}
	dest, row := c.dest[:n], c.row[:n]
	for {
		switch err := rows.Next(dest); {
		case err == io.EOF:
			return nil
		case err != nil:
			return gone(err)
		}
		for i, v := range dest {
			if types == nil {
				row[i] = text(v)
			} else if row[i], err = value(v, types[i]); err != nil {
				return err
			}
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// value converts a driver's value to type t. Text shares the driver's memory.
func value(v driver.Value, t model.Type) (model.Value, error) {
	switch x := v.(type) {
	case nil:
		return model.Value{}, nil
	case int64:
		return sqlkit.IntValue(x, t)
	case float64:
		return sqlkit.FloatValue(x, t)
	case time.Time:
		if t == model.Time {
			return model.TimeValue(x), nil
		}
	case string:
		return sqlkit.TextValue(unsafe.Slice(unsafe.StringData(x), len(x)), t)
	case []byte:
		return sqlkit.TextValue(x, t)
	}
	return model.Value{}, sqlkit.Unfit(fmt.Sprintf("a %T", v), t)
}

// text converts a driver's value to text.
func text(v driver.Value) model.Value {
	switch x := v.(type) {
	case nil:
		return model.Value{}
	case []byte:
		return model.StringValue(x)
	}
	return model.StringValue(fmt.Append(nil, v))
}

// gone gives the error of a lost connection its class.
func gone(err error) error {
	if errors.Is(err, driver.ErrBadConn) {
		return engine.Classify(engine.Gone, err)
	}
	return err
}
