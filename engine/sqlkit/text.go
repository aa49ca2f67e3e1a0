package sqlkit

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// textStmt is a statement that is sent with its values in it, to be parsed anew
// at every execution. The memory of its text is reused by the next one.
type textStmt struct {
	conn    Conn
	dialect *Dialect
	pieces  []string // the text before, between and after the values
	args    []int    // the argument that follows each piece but the last
	buf     []byte
}

// newTextStmt takes a statement apart at its placeholders.
func newTextStmt(d *Dialect, conn Conn, s Statement) *textStmt {
	t := &textStmt{conn: conn, dialect: d}
	start := 0
	for _, p := range s.places {
		t.pieces = append(t.pieces, s.Text[start:p.start])
		t.args = append(t.args, p.arg)
		start = p.end
	}
	t.pieces = append(t.pieces, s.Text[start:])
	return t
}

func (s *textStmt) fill(args []model.Value) string {
	s.buf = s.buf[:0]
	for i, a := range s.args {
		s.buf = append(s.buf, s.pieces[i]...)
		s.buf = s.dialect.appendLiteral(s.buf, args[a])
	}
	s.buf = append(s.buf, s.pieces[len(s.args)]...)
	return shared(s.buf)
}

func (s *textStmt) Exec(ctx context.Context, args []model.Value) (rows, id int64, err error) {
	return s.conn.ExecText(ctx, s.fill(args))
}

func (s *textStmt) Query(ctx context.Context, args []model.Value, types []model.Type,
	each func(row []model.Value) error) error {
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
	start := 0
	for i, c := range text {
		if c == '\'' || c == '\\' && backslashes {
			dst = append(append(dst, text[start:i]...), c)
			start = i
		}
	}
	return append(append(dst, text[start:]...), '\'')
}

// Quoted returns a text as SQL writes it.
func (d *Dialect) Quoted(text string) string {
	return string(d.Literal(nil, model.StringValue([]byte(text))))
}

// QuotedList returns a list of texts, for the end of a condition.
func (d *Dialect) QuotedList(texts []string) string {
	return "(" + strings.Join(quantity.Texts(texts, d.Quoted), ", ") + ")"
}

// IntValue returns a whole number that a server returned, as a value of type t.
func IntValue(n int64, t model.Type) (model.Value, error) {
	switch t {
	case model.Int:
		return model.IntValue(n), nil
	case model.Time:
		return model.MicrosValue(n), nil
	case model.Float:
		return model.FloatValue(float64(n)), nil
	}
	return model.Value{}, Unfit("a number", t)
}

// FloatValue returns a float that a server returned, as a value of type t.
func FloatValue(f float64, t model.Type) (model.Value, error) {
	switch t {
	case model.Float:
		return model.FloatValue(f), nil
	case model.Int:
		return model.IntValue(int64(f)), nil
	}
	return model.Value{}, Unfit("a float", t)
}

// TextValue returns a value of type t that came as text, such as a decimal sum.
// Text and bytes share its memory.
func TextValue(b []byte, t model.Type) (model.Value, error) {
	switch t {
	case model.String:
		return model.StringValue(b), nil
	case model.Bytes:
		return model.BytesValue(b), nil
	case model.UUID:
		return uuidValue(b)
	case model.Int:
		n, err := strconv.ParseInt(shared(b), 10, 64)
		return model.IntValue(n), err
	case model.Float:
		f, err := strconv.ParseFloat(shared(b), 64)
		return model.FloatValue(f), err
	case model.Time:
		return timeValue(b)
	}
	return model.Value{}, Unfit("text", t)
}

// uuidValue returns a UUID from its 16 bytes, or from its 36 characters, whose memory it uses.
func uuidValue(b []byte) (model.Value, error) {
	if len(b) == 16 {
		return model.UUIDValue(b), nil
	}
	digits := b[:0]
	for _, c := range b {
		if c != '-' {
			digits = append(digits, c)
		}
	}
	n, err := hex.Decode(b, digits)
	return model.UUIDValue(b[:n]), err
}

// timeValue reads microseconds since 1970, or a time as SQL writes it.
func timeValue(b []byte) (model.Value, error) {
	if len(b) < len("2006-01-02 15:04:05") || b[4] != '-' {
		n, err := strconv.ParseInt(shared(b), 10, 64)
		return model.MicrosValue(n), err
	}
	t, err := time.Parse("2006-01-02 15:04:05.999999", shared(b))
	return model.TimeValue(t), err
}

// shared returns a string in the same memory, for functions that keep none of it:
// errors copy the text that they quote.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Unfit returns the error of an answer that is not a value of a column's type.
func Unfit(subject string, t model.Type) error {
	return fmt.Errorf("the server returned %s for a column of type %s", subject, t)
}
