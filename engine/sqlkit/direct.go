package sqlkit

import (
	"context"
	"database/sql/driver"

	"rumbench/model"
)

// Direct is what a driver's prepared statement may be beside a driver.Stmt, to
// take and give values as they are: an interface holds a number or a text only
// by allocating memory for it.
//
// Errors are the driver's own; the session classifies them. A driver whose
// statements are Direct interrupts what it does when the context ends.
type Direct interface {
	// ExecValues executes a statement that returns no rows. Placeholder i takes
	// args[order[i]], or args[i] if order is nil. Text and bytes in args are
	// valid during the call only. A time comes as a model.Time also where the
	// dialect does without NativeTime. id is the last insert id; 0 where the
	// driver has none.
	ExecValues(ctx context.Context, args []model.Value, order []int) (rows, id int64, err error)
	// QueryValues executes a statement that returns rows and hands each over
	// to each, until that fails: its error is returned. A row has as many
	// columns as types, and its values are of those types, or NULL. Text and
	// bytes in it are valid during the call only.
	QueryValues(ctx context.Context, args []model.Value, order []int, types []model.Type, each func(row []model.Value) error) error
}

// DirectText is the same of a connection, for statements that are sent as text.
// The text is valid during the call only.
type DirectText interface {
	ExecText(ctx context.Context, text string) (rows, id int64, err error)
	QueryText(ctx context.Context, text string, types []model.Type, each func(row []model.Value) error) error
}

// directOf is the statement as a Direct, nil if its driver has none.
func directOf(st driver.Stmt, conn driver.Conn) Direct {
	if text, ok := st.(*textStmt); ok {
		if conn, ok := conn.(DirectText); ok {
			return &directText{text, conn}
		}
		return nil
	}
	d, _ := st.(Direct)
	return d
}

// directText is a statement that is sent with its values in it.
type directText struct {
	*textStmt
	conn DirectText
}

// ExecValues fills in the values and executes the text.
func (s *directText) ExecValues(ctx context.Context, args []model.Value, _ []int) (rows, id int64, err error) {
	s.fill(args)
	return s.conn.ExecText(ctx, s.text())
}

// QueryValues fills in the values and executes the text.
func (s *directText) QueryValues(ctx context.Context, args []model.Value, _ []int, types []model.Type, each func(row []model.Value) error) error {
	s.fill(args)
	return s.conn.QueryText(ctx, s.text(), types, each)
}
