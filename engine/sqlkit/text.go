package sqlkit

import (
	"context"
	"math"
	"strconv"
	"strings"

	"rumbench/model"
)

// textStmt is a statement that is sent with its values in it, to be parsed
// anew at every execution. The text is in memory that changes with the next one.
type textStmt struct {
	conn    Conn
	dialect *Dialect
	pieces  []string // what stands before, between and after the values
	args    []int    // the argument that follows each piece but the last
	buf     []byte
}

// newTextStmt takes a statement apart at its placeholders.
func newTextStmt(d *Dialect, conn Conn, s Statement) *textStmt {
	t := &textStmt{conn: conn, dialect: d}
	from := 0
	for _, p := range s.places {
		t.pieces = append(t.pieces, s.Text[from:p.from])
		t.args = append(t.args, p.arg)
		from = p.to
	}
	t.pieces = append(t.pieces, s.Text[from:])
	return t
}

// fill returns the statement with its values.
func (s *textStmt) fill(args []model.Value) string {
	s.buf = s.buf[:0]
	for i, a := range s.args {
		s.buf = append(s.buf, s.pieces[i]...)
		s.buf = s.dialect.appendLiteral(s.buf, args[a])
	}
	s.buf = append(s.buf, s.pieces[len(s.args)]...)
	return shared(s.buf)
}

// Exec fills in the values and executes the text.
func (s *textStmt) Exec(ctx context.Context, args []model.Value, _ []int) (rows, id int64, err error) {
	return s.conn.ExecText(ctx, s.fill(args))
}

// Query fills in the values and executes the text.
func (s *textStmt) Query(ctx context.Context, args []model.Value, _ []int, types []model.Type, each func(row []model.Value) error) error {
	return s.conn.QueryText(ctx, s.fill(args), types, each)
}

// Close does nothing: the server knows of no statement.
func (s *textStmt) Close() error { return nil }

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

// Quoted is a text as SQL writes it.
func (d *Dialect) Quoted(text string) string {
	return string(d.Literal(nil, model.StringValue([]byte(text))))
}

// QuotedList is a list of texts, for the end of a condition.
func (d *Dialect) QuotedList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = d.Quoted(t)
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}
