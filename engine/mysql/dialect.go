package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	driver "github.com/go-sql-driver/mysql"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// newDialect is the server's dialect, for tables that end in tableOptions.
// Releases without fractions of seconds keep times as microseconds.
func newDialect(tableOptions string, fractions bool) *sqlkit.Dialect {
	return &sqlkit.Dialect{
		Quote:          "`",
		MaxArgs:        65535,
		ColumnType:     func(c *model.Column) string { return columnType(c, fractions) },
		TableOptions:   func(*model.Table) string { return tableOptions },
		NativeTime:     fractions,
		AlterIndexes:   true,
		Parallel:       true,
		Hint:           hint,
		OnDuplicateKey: true,
		Number:         sqlkit.FirstNumber,
		DeleteLimit:    true,
		Begin:          begin,
		PlainCommands:  true,
		Classify:       classify,
	}
}

// longestChar is how wide a CHAR may be.
const longestChar = 255

// columnType is the type of a column. Text is kept as bytes: every collation
// that both InnoDB and MyRocks can have takes spaces at the end for nothing.
// Fixed text has none there, and latin1 gives it one byte a letter.
func columnType(c *model.Column, fractions bool) string {
	switch c.Type {
	case model.Float:
		return "DOUBLE"
	case model.Time:
		if fractions {
			return "DATETIME(6)"
		}
		return "BIGINT"
	case model.String, model.Bytes:
		if c.Fixed && c.Width <= longestChar {
			return fmt.Sprintf("CHAR(%d) CHARACTER SET latin1 COLLATE latin1_bin", c.Width)
		}
		return fmt.Sprintf("VARBINARY(%d)", c.Width)
	}
	name := "BIGINT"
	if c.Width == 4 {
		name = "INT"
	}
	if c.Auto {
		name += " AUTO_INCREMENT"
	}
	return name
}

func hint(d *sqlkit.Dialect, t *model.Table, index string) string {
	name := "PRIMARY"
	if index != "" {
		name = d.Name(sqlkit.IndexName(t.Name, index))
	}
	return " FORCE INDEX (" + name + ")"
}

func begin(level model.Isolation, _ bool) []string {
	const start = "BEGIN"
	if level == model.DefaultIsolation {
		return []string{start}
	}
	return []string{"SET TRANSACTION ISOLATION LEVEL " + levelName(level), start}
}

// levelName is an isolation level as SQL writes it.
func levelName(level model.Isolation) string {
	return strings.ToUpper(strings.ReplaceAll(level.String(), "-", " "))
}

// literal appends a time, text or bytes as the server reads it. Backslashes
// escape, as the sessions' sql_mode says.
func literal(dst []byte, v model.Value, fractions bool) []byte {
	switch v.Type() {
	case model.Time:
		if !fractions {
			return strconv.AppendInt(dst, v.Int(), 10)
		}
		dst = append(dst, '\'')
		return append(v.Time().AppendFormat(dst, sqlkit.TimeLayout), '\'')
	case model.Bytes:
		dst = append(dst, "_binary"...)
	}
	return sqlkit.AppendQuoted(dst, v.Buf(), true)
}

// classes are the errors of the server that clients have to know apart.
var classes = map[uint16]engine.Class{
	1213: engine.Deadlock,
	1020: engine.Conflict,    // the record has changed since it was read
	1205: engine.LockTimeout, // of a row or of a table's definition
	1969: engine.Timeout,     // max_statement_time
	3024: engine.Timeout,     // max_execution_time
	1317: engine.Timeout,     // interrupted
	1062: engine.Duplicate,   // a key exists
	1586: engine.Duplicate,
	1053: engine.Gone, // the server shuts down
	1927: engine.Gone, // the connection was killed
	2006: engine.Gone,
	2013: engine.Gone,
}

// classify gives an error of the driver its class.
func classify(err error) error {
	if e, ok := errors.AsType[*driver.MySQLError](err); ok {
		if strings.Contains(e.Message, "snapshot conflict") { // MyRocks calls it a deadlock too
			return engine.Classify(engine.Conflict, err)
		}
		if class, known := classes[e.Number]; known {
			return engine.Classify(class, err)
		}
		if e.Number == 1021 || e.Number == 1114 || strings.Contains(e.Message, "No space left on device") || strings.Contains(e.Message, "errno: 28") {
			err = &fullError{err}
		}
		return engine.Classify(engine.Fatal, err)
	}
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, driver.ErrInvalidConn), errors.Is(err, sqldriver.ErrBadConn), errors.Is(err, io.EOF),
		errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNREFUSED),
		errors.Is(err, os.ErrNotExist), errors.As(err, &network):
		return engine.Classify(engine.Gone, err)
	}
	return err
}

// fullError is the server's error of a full disk, or of a table that cannot
// grow, which is also the system's.
type fullError struct{ error }

func (e *fullError) Unwrap() []error { return []error{e.error, syscall.ENOSPC} }
