package sqlkit

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"rumbench/model"
)

// textStmt is a statement that is sent with its values in it, to be parsed
// anew at every execution.
type textStmt struct {
	execer  driver.ExecerContext
	queryer driver.QueryerContext
	dialect *Dialect
	pieces  []string // what stands before, between and after the values
	args    []int    // the argument that follows each piece but the last
	buf     []byte
}

func newTextStmt(d *Dialect, conn driver.Conn, s Statement) (*textStmt, error) {
	t := &textStmt{dialect: d}
	var ok, too bool
	t.execer, ok = conn.(driver.ExecerContext)
	t.queryer, too = conn.(driver.QueryerContext)
	if !ok || !too {
		return nil, fmt.Errorf("the driver's %T does not take text", conn)
	}
	t.cut(s)
	return t, nil
}

// cut takes the statement apart at its placeholders.
func (t *textStmt) cut(s Statement) {
	from := 0
	for _, p := range s.places {
		t.pieces = append(t.pieces, s.Text[from:p.from])
		t.args = append(t.args, p.arg)
		from = p.to
	}
	t.pieces = append(t.pieces, s.Text[from:])
}

// fill writes the statement with its values.
func (s *textStmt) fill(args []model.Value) {
	s.buf = s.buf[:0]
	for i, a := range s.args {
		s.buf = append(s.buf, s.pieces[i]...)
		s.buf = s.dialect.appendLiteral(s.buf, args[a])
	}
	s.buf = append(s.buf, s.pieces[len(s.args)]...)
}

// text is what was filled, in memory that changes with the next execution:
// drivers copy it into what they send.
func (s *textStmt) text() string { return unsafe.String(unsafe.SliceData(s.buf), len(s.buf)) }

// Close does nothing: the server knows of no statement.
func (s *textStmt) Close() error { return nil }

// NumInput is not known to the driver.
func (s *textStmt) NumInput() int { return -1 }

// Exec is not used.
func (s *textStmt) Exec([]driver.Value) (driver.Result, error) {
	return nil, errors.New("a context is needed")
}

// Query is not used.
func (s *textStmt) Query([]driver.Value) (driver.Rows, error) {
	return nil, errors.New("a context is needed")
}

// ExecContext executes what was filled.
func (s *textStmt) ExecContext(ctx context.Context, _ []driver.NamedValue) (driver.Result, error) {
	return s.execer.ExecContext(ctx, s.text(), nil)
}

// QueryContext executes what was filled.
func (s *textStmt) QueryContext(ctx context.Context, _ []driver.NamedValue) (driver.Rows, error) {
	return s.queryer.QueryContext(ctx, s.text(), nil)
}

// appendLiteral appends a value as SQL writes it. Floats have an exponent,
// which makes them floats and not decimals.
func (d *Dialect) appendLiteral(dst []byte, v model.Value) []byte {
	switch v.Type() {
	case model.Null:
		return append(dst, "NULL"...)
	case model.Int:
		if v.Int() == math.MinInt64 { // its number alone is too large
			return append(dst, "(-9223372036854775807 - 1)"...)
		}
		return strconv.AppendInt(dst, v.Int(), 10)
	case model.Float:
		return strconv.AppendFloat(dst, v.Float(), 'e', -1, 64)
	}
	return d.Literal(dst, v)
}

// TimeLayout is how SQL writes a time in UTC, for Time.AppendFormat.
const TimeLayout = "2006-01-02 15:04:05.000000"

// AppendQuoted appends text in single quotes; those inside are doubled, and
// so are backslashes if they escape.
func AppendQuoted(dst, text []byte, backslashes bool) []byte {
	dst = append(dst, '\'')
	from := 0
	for i, c := range text {
		if c == '\'' || c == '\\' && backslashes {
			dst = append(append(dst, text[from:i]...), c)
			from = i
		}
	}
	return append(append(dst, text[from:]...), '\'')
}
