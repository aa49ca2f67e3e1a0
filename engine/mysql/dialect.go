package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
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
		Detached:       true, // the driver hands every context that can end to a goroutine
		Classify:       classify,
	}
}

// columnType is the type of a column. Text is kept as bytes: every collation
// that both InnoDB and MyRocks can have takes spaces at the end for nothing.
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
		return fmt.Sprintf("VARBINARY(%d)", c.Width)
	}
	switch {
	case c.Auto:
		return "BIGINT AUTO_INCREMENT"
	case c.Width == 4:
		return "INT"
	}
	return "BIGINT"
}

func hint(d *sqlkit.Dialect, t *model.Table, index string) string {
	name := "PRIMARY"
	if index != "" {
		name = d.Name(sqlkit.IndexName(t.Name, index))
	}
	return " FORCE INDEX (" + name + ")"
}

func begin(level model.Isolation, _ bool) []string {
	const start = "START TRANSACTION"
	name := map[model.Isolation]string{
		model.ReadUncommitted: "READ UNCOMMITTED", model.ReadCommitted: "READ COMMITTED",
		model.RepeatableRead: "REPEATABLE READ", model.Serializable: "SERIALIZABLE",
	}[level]
	if name == "" {
		return []string{start}
	}
	return []string{"SET TRANSACTION ISOLATION LEVEL " + name, start}
}

// classes are the errors of the server that clients have to know apart.
var classes = map[uint16]engine.Class{
	1213: engine.Conflict,  // deadlock; MyRocks also says so of a snapshot that is too old
	1020: engine.Conflict,  // the record has changed since it was read
	1205: engine.Timeout,   // a lock was waited for too long
	1969: engine.Timeout,   // max_statement_time
	3024: engine.Timeout,   // max_execution_time
	1317: engine.Timeout,   // interrupted
	1062: engine.Duplicate, // a key exists
	1586: engine.Duplicate,
	1053: engine.Gone, // the server shuts down
	1927: engine.Gone, // the connection was killed
	2006: engine.Gone,
	2013: engine.Gone,
}

// classify gives an error of the driver its class.
func classify(err error) error {
	if e, ok := errors.AsType[*driver.MySQLError](err); ok {
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
